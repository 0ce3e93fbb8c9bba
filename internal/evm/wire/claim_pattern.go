package wire

// BitcoinClaimPattern is the part of a claim's data that says which escrow is
// claimed: the selector and the escrow's words.
func (d Deployment) BitcoinClaimPattern(s SwapData) ([]Call, error) {
	data, err := EscrowABI().Pack("claim", s.tuple(), []byte{})
	if err != nil {
		return nil, err
	}
	const escrowWords = 13
	return []Call{
		{Role: RoleRelay, To: d.BtcRelay.Address},
		{Role: RoleProof, To: d.EscrowManager.Address, Data: data[:4+32*escrowWords]},
	}, nil
}

// VaultClaimPattern is the same for vaults: the selector, the owner and the id.
// All withdrawals before the wanted one are claimed in the same way.
func (d Deployment) VaultClaimPattern(ref VaultRef) []Call {
	method := VaultABI().Methods["claim"]
	data := words(append([]byte(nil), method.ID...)).address(ref.Owner).uint(ref.ID)
	return []Call{
		{Role: RoleRelay, To: d.BtcRelay.Address},
		{Role: RoleProofs, To: d.VaultManager.Address, Data: data},
	}
}
