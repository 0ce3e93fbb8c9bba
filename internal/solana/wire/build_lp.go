package wire

// DepositTx makes the transaction that moves an LP's tokens into its balance in the
// program. wsol is its WSOL balance, nil if there is no account.
func (p Programs) DepositTx(signer, mint Key, amount uint64, f FeeRate, wsol *uint64) (*Tx, error) {
	var a Action
	if mint == WSOL {
		var have uint64
		if wsol != nil {
			have = *wsol
		}
		if have < amount {
			a.Instructions, a.Units = wrapInstructions(signer, amount-have, wsol == nil, EnsureATA)
		}
	}
	a.do(unitsVault, p.DepositInstruction(signer, mint, amount))
	return a.Tx(signer, f)
}

// SendTx makes the transaction that sends tokens, or SOL for the mint WSOL. wrapped
// says whether the sender has a WSOL account, which is emptied first; to is what is
// known of the recipient's token account.
func SendTx(signer, to, mint Key, amount uint64, f FeeRate, wrapped bool, ata ToATA) (*Tx, error) {
	var a Action
	if mint == WSOL {
		if wrapped {
			a.do(unitsUnwrap, Unwrap(signer))
		}
		a.do(unitsSendSOL, Transfer(signer, to, amount))
		return a.Tx(signer, f)
	}
	if err := ata.ensure(&a, signer, to, mint, nil); err != nil {
		return nil, err
	}
	a.do(unitsSendToken, TransferToken(ATA(signer, mint), ATA(to, mint), signer, amount))
	return a.Tx(signer, f)
}
