package programs

import (
	"github.com/swapper-go/swapper/internal/devnet/solana/bank"
	"github.com/swapper-go/swapper/internal/solana/wire"
)

// refund gives an escrow back to its offerer: to the wallet that paid in, or the balance
// in the program. It is possible after the expiry, and before with the claimer's
// signature. In v1 the offerer has to sign, in v2 anybody may send it.
func refund(x *call, payIn bool) error {
	authExpiry, err := wire.DecodeNumber(x.args)
	if err != nil {
		return argumentsNotReadable
	}
	offerer, claimer := x.account("offerer"), x.account("claimer")
	if x.p.Version == wire.V1 {
		x.signer("offerer")
	}
	var wallet wire.TokenAccount
	var balance, reputation wire.UserVault
	var to, vault *bank.Info
	if payIn {
		wallet, to = x.token("offererAta")
	}
	e, escrow := x.escrow("escrowState")
	if payIn {
		_, vault = x.token("vault")
		x.runs("tokenProgram", wire.TokenProgram)
	} else {
		balance, to = x.userVault("offererUserData")
	}
	reputation, claimerVault := x.userVault("claimerUserData")
	sysvar := x.account("ixSysvar")

	x.writable(offerer, claimer)
	if payIn {
		x.writable(to)
		x.require(wallet.Mint == e.Mint, constraintTokenMint)
	}
	x.writable(escrow)
	x.require(e.Offerer == offerer.Key && e.Claimer == claimer.Key, constraintRaw)
	x.require(e.Data.PayIn == payIn, constraintRaw)
	x.require(!payIn || e.OffererATA == to.Key, constraintRaw)
	x.require(e.Data.PayOut || claimerVault != nil, constraintRaw)
	if payIn {
		x.is(vault, x.p.Vault(e.Mint))
		x.writable(vault)
		x.authority()
	} else {
		x.is(to, x.p.UserVault(e.Offerer, e.Mint))
		x.writable(to)
	}
	if claimerVault != nil {
		x.is(claimerVault, x.p.UserVault(e.Claimer, e.Mint))
		x.writable(claimerVault)
	}
	x.require(sysvar == nil || sysvar.Key == wire.InstructionsData, constraintAddress)

	agreed := authExpiry > 0
	if agreed {
		x.agreed(e, authExpiry, sysvar)
	} else {
		x.expired(e.Data, sysvar)
	}
	if x.err != nil {
		return x.err
	}
	if !e.Data.PayOut {
		failed(&reputation, e.Data, agreed)
	}
	x.Emit(wire.Event{Kind: wire.Refunded, Hash: e.Data.Hash, Sequence: e.Data.Sequence}.Bytes())
	if payIn {
		x.payFromVault(vault, to, e.Mint, e.Data.Amount)
	} else {
		balance.Amount = x.add(balance.Amount, e.Data.Amount)
	}
	if x.err != nil {
		return x.err
	}
	s, err := refundShares(x.p.Version, e, escrow.Lamports, agreed)
	if err != nil {
		return err
	}
	initializer := claimer
	if initializerOf(x.p.Version, e) == offerer.Key {
		initializer = offerer
	}
	s.pay(escrow, nil, offerer, claimer, initializer)
	// In this order: of a wallet that was both parties, the later is what stays.
	if !payIn {
		to.Data = balance.Bytes()
	}
	if claimerVault != nil {
		claimerVault.Data = reputation.Bytes()
	}
	return nil
}

// agreed demands that the claimer has signed the refund, and that its signature is
// still good.
func (x *call) agreed(e wire.EscrowState, until uint64, sysvar *bank.Info) {
	x.require(sysvar != nil, bank.ProgramFailedToComplete)
	x.require(until > x.unixTime(), authExpired)
	if x.err == nil {
		x.fail(signedBefore(x.Instructions()[0], e.Claimer, x.p.SwapData(e).RefundMessage(until)))
	}
}

// firstTime is the lowest expiry that is a time: others are Bitcoin heights.
const firstTime = 1_000_000_000

// expired demands that an escrow's time is over, or that Bitcoin is above its height.
func (x *call) expired(t wire.Terms, sysvar *bank.Info) {
	if t.Expiry >= firstTime {
		x.require(t.Expiry < x.unixTime(), notExpiredYet)
		return
	}
	x.require(sysvar != nil, bank.ProgramFailedToComplete)
	if x.err == nil {
		x.fail(heightBefore(x.Instructions()[0], x.p, uint32(t.Expiry), wire.HeightAbove))
	}
}
