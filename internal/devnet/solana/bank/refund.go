package bank

import (
	"github.com/swapper-go/swapper/internal/solana/wire"
)

// refunded is what a refund moves, and who gets it.
type refunded struct {
	offerer, claimer *Info
	e                wire.EscrowState
	escrow           *Info
	to, vault        *Info
	wallet           wire.TokenAccount // that to is, if a wallet paid in
	balance          wire.UserVault    // that to is otherwise
	claimerVault     *Info             // nil if the claimer has none
	reputation       wire.UserVault    // that claimerVault is
	sysvar           *Info
}

// refund gives an escrow back to its offerer: to the wallet that paid in, or the balance
// in the program. It is possible after the expiry, and before with the claimer's
// signature. In v1 the offerer has to sign, in v2 anybody may send it.
func refund(x *call, payIn bool) error {
	authExpiry, err := wire.DecodeNumber(x.args)
	if err != nil {
		return argumentsNotReadable
	}
	r := x.readRefund(payIn)
	x.checkRefund(r, payIn)
	e := r.e
	agreed := authExpiry > 0
	if agreed {
		x.agreed(e, authExpiry, r.sysvar)
	} else {
		x.expired(e.Data, r.sysvar)
	}
	if x.err != nil {
		return x.err
	}
	if !e.Data.PayOut {
		failed(&r.reputation, e.Data, agreed)
	}
	x.Emit(wire.Event{Kind: wire.Refunded, Hash: e.Data.Hash, Sequence: e.Data.Sequence}.Bytes())
	if payIn {
		x.payFromVault(r.vault, r.to, e.Mint, e.Data.Amount)
	} else {
		r.balance.Amount = x.add(r.balance.Amount, e.Data.Amount)
	}
	if x.err != nil {
		return x.err
	}
	s, err := refundShares(x.p.Version, e, r.escrow.Lamports, agreed)
	if err != nil {
		return err
	}
	initializer := r.claimer
	if initializerOf(x.p.Version, e) == r.offerer.Key {
		initializer = r.offerer
	}
	s.pay(r.escrow, nil, r.offerer, r.claimer, initializer)
	// In this order: of a wallet that was both parties, the later is what stays.
	if !payIn {
		r.to.Data = r.balance.Bytes()
	}
	if r.claimerVault != nil {
		r.claimerVault.Data = r.reputation.Bytes()
	}
	return nil
}

// readRefund reads the accounts in the order of the program, which decides what it refuses first.
func (x *call) readRefund(payIn bool) (r refunded) {
	r.offerer, r.claimer = x.account("offerer"), x.account("claimer")
	if x.p.Version == wire.V1 {
		x.signer("offerer")
	}
	if payIn {
		r.wallet, r.to = x.token("offererAta")
	}
	r.e, r.escrow = x.escrow("escrowState")
	if payIn {
		_, r.vault = x.token("vault")
		x.runs("tokenProgram", wire.TokenProgram)
	} else {
		r.balance, r.to = x.userVault("offererUserData")
	}
	r.reputation, r.claimerVault = x.userVault("claimerUserData")
	r.sysvar = x.account("ixSysvar")
	return r
}

func (x *call) checkRefund(r refunded, payIn bool) {
	x.writable(r.offerer, r.claimer)
	if payIn {
		x.writable(r.to)
		x.require(r.wallet.Mint == r.e.Mint, constraintTokenMint)
	}
	x.writable(r.escrow)
	x.require(r.e.Offerer == r.offerer.Key && r.e.Claimer == r.claimer.Key, constraintRaw)
	x.require(r.e.Data.PayIn == payIn, constraintRaw)
	x.require(!payIn || r.e.OffererATA == r.to.Key, constraintRaw)
	x.require(r.e.Data.PayOut || r.claimerVault != nil, constraintRaw)
	if payIn {
		x.is(r.vault, x.p.Vault(r.e.Mint))
		x.writable(r.vault)
		x.authority()
	} else {
		x.is(r.to, x.p.UserVault(r.e.Offerer, r.e.Mint))
		x.writable(r.to)
	}
	if r.claimerVault != nil {
		x.is(r.claimerVault, x.p.UserVault(r.e.Claimer, r.e.Mint))
		x.writable(r.claimerVault)
	}
	x.require(r.sysvar == nil || r.sysvar.Key == wire.InstructionsData, constraintAddress)
}

// agreed demands that the claimer has signed the refund, and that its signature is
// still good.
func (x *call) agreed(e wire.EscrowState, until uint64, sysvar *Info) {
	x.require(sysvar != nil, ProgramFailedToComplete)
	x.require(until > x.unixTime(), authExpired)
	if x.err == nil {
		x.fail(signedBefore(x.Instructions()[0], e.Claimer, x.p.SwapData(e).RefundMessage(until)))
	}
}

// firstTime is the lowest expiry that is a time: others are Bitcoin heights.
const firstTime = 1_000_000_000

// expired demands that an escrow's time has ended, or that Bitcoin is above its height.
func (x *call) expired(t wire.Terms, sysvar *Info) {
	if t.Expiry >= firstTime {
		x.require(t.Expiry < x.unixTime(), notExpiredYet)
		return
	}
	x.require(sysvar != nil, ProgramFailedToComplete)
	if x.err == nil {
		x.fail(heightBefore(x.Instructions()[0], x.p, uint32(t.Expiry), wire.HeightAbove))
	}
}
