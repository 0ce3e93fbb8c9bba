package wire

import (
	"fmt"
)

// InitInstruction opens an escrow. sender is who pays for it; the LP's authorisation
// is good until authExpiry, in Unix seconds (§7).
func (p Programs) InitInstruction(d *SwapData, sender Key, authExpiry uint64) (Instruction, error) {
	claimerATA := when(d.PayOut, func() Key { return ATA(d.Claimer, d.Token) })
	claimerVault := when(!d.PayOut, func() Key { return p.UserVault(d.Claimer, d.Token) })
	escrow := p.Escrow(d.PaymentHash)
	var txoHash [32]byte
	if d.TxoHash != nil {
		txoHash = *d.TxoHash
	}
	a := InitArgs{d.Terms(), d.SecurityDeposit, d.ClaimerBounty, txoHash, authExpiry}
	if !p.deposits(d.PayIn) {
		if d.SecurityDeposit != 0 || d.ClaimerBounty != 0 {
			return Instruction{}, fmt.Errorf("v1 of the swap program takes no security deposit (%d) and no bounty (%d) from an offerer who pays in", d.SecurityDeposit, d.ClaimerBounty)
		}
		a.TxoHash = [32]byte{} // this form never carries it
	}
	args := p.initArgs(a, d.PayIn)

	var from []Key // what the amount is taken from
	name := ixInit
	if d.PayIn {
		name = ixInitPayIn
		from = keys(ATA(d.Offerer, d.Token), escrow, p.Vault(d.Token), p.authority(), d.Token, SystemProgram, TokenProgram)
	} else {
		from = keys(p.UserVault(d.Offerer, d.Token), escrow, d.Token, SystemProgram)
	}
	var parties []Key
	switch {
	case p.Version == V2:
		parties = []Key{d.Offerer, d.Claimer, sender}
	case d.PayIn:
		parties = []Key{d.Offerer, d.Claimer}
	default:
		parties = []Key{d.Claimer, d.Offerer}
	}
	ix := p.swapCall(name, args, keys(parties, from, claimerVault, claimerATA)...)
	if p.Version == V2 && !d.PayOut {
		for i := range ix.Accounts {
			if ix.Accounts[i].PublicKey == d.Claimer {
				ix.Accounts[i].IsSigner = true
			}
		}
	}
	return ix, nil
}

// ClaimInstruction claims an escrow: with the secret of a hash lock, or, by Bitcoin
// proof, with the transaction in a data account. One of both is nil.
func (p Programs) ClaimInstruction(d *SwapData, signer Key, secret *[32]byte, data *Key) (Instruction, error) {
	var inline []byte
	if secret != nil {
		inline = secret[:]
	}
	return p.claimInstruction(d, signer, inline, data)
}

// inlineClaimInstruction claims an escrow by Bitcoin proof, with the [Payload] in the
// instruction itself.
func (p Programs) inlineClaimInstruction(d *SwapData, signer Key, payload []byte) (Instruction, error) {
	return p.claimInstruction(d, signer, payload, nil)
}

func (p Programs) claimInstruction(d *SwapData, signer Key, inline []byte, data *Key) (Instruction, error) {
	args := new(writer).u32(uint32(len(inline))).bytes(inline...)
	parties := []Key{d.Offerer, d.Claimer}
	if p.Version == V1 {
		parties = []Key{d.rentPayer()}
	}
	shared := keys(signer, parties, p.Escrow(d.PaymentHash), InstructionsData)
	payload := when(data != nil, func() Key { return *data })
	if !d.PayOut {
		return p.swapCall(ixClaim, args, keys(shared, p.UserVault(d.Claimer, d.Token), payload)...), nil
	}
	if d.ClaimerATA == nil || d.ClaimerATA.IsZero() {
		return Instruction{}, fmt.Errorf("the escrow pays out, but claimerAta names no token account")
	}
	return p.swapCall(ixClaimPayOut, args, keys(shared, *d.ClaimerATA, p.Vault(d.Token), p.authority(), TokenProgram, payload)...), nil
}

// rentPayer is who v1 returns the rent of an escrow to.
func (d *SwapData) rentPayer() Key {
	if d.PayIn {
		return d.Offerer
	}
	return d.Claimer
}

// initializer is who opened the escrow, or would as a rule, and gets its rent back.
func (d *SwapData) initializer() Key {
	if d.OffererInitializer == nil {
		return d.rentPayer()
	}
	if *d.OffererInitializer {
		return d.Offerer
	}
	return d.Claimer
}

// RefundInstruction takes an escrow back: after its expiry with an authExpiry of 0,
// or early with the claimer's authorisation, which instruction 0 must verify.
func (p Programs) RefundInstruction(d *SwapData, authExpiry uint64) Instruction {
	args := new(writer).u64(authExpiry)
	escrow := p.Escrow(d.PaymentHash)
	claimerVault := when(!d.PayOut, func() Key { return p.UserVault(d.Claimer, d.Token) })
	sysvar := when(authExpiry != 0, func() Key { return InstructionsData })
	if d.PayIn {
		return p.swapCall(ixRefundPayIn, args, keys(d.Offerer, d.Claimer, ATA(d.Offerer, d.Token), escrow, p.Vault(d.Token), p.authority(), TokenProgram, claimerVault, sysvar)...)
	}
	return p.swapCall(ixRefund, args, keys(d.Offerer, d.Claimer, escrow, p.UserVault(d.Offerer, d.Token), claimerVault, sysvar)...)
}

// InitDataInstruction makes a data account its signer's.
func (p Programs) InitDataInstruction(signer, account Key) Instruction {
	return p.swapCall(ixInitData, new(writer), signer, account)
}

// WriteDataInstruction writes bytes at an offset into a data account's payload.
func (p Programs) WriteDataInstruction(signer, account Key, offset uint32, data []byte) Instruction {
	return p.swapCall(ixWriteData, new(writer).u32(offset).u32(uint32(len(data))).bytes(data...), signer, account)
}

// CloseDataInstruction gives a data account's rent back.
func (p Programs) CloseDataInstruction(signer, account Key) Instruction {
	return p.swapCall(ixCloseData, new(writer), signer, account)
}

// DepositInstruction moves tokens of an LP into its balance in the program.
func (p Programs) DepositInstruction(signer, mint Key, amount uint64) Instruction {
	return p.swapCall(ixDeposit, new(writer).u64(amount),
		keys(signer, ATA(signer, mint), p.UserVault(signer, mint), p.Vault(mint), p.authority(), mint, SystemProgram, TokenProgram)...)
}
