package bank

import (
	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/solana/wire"
)

// parties are who opens an escrow. The initializer pays for it: in v1 the one who pays
// in, or else the claimer, in v2 either of both.
type parties struct{ offerer, claimer, initializer *Info }

// parties reads who opens an escrow. In v1 both sign; in v2 the claimer does only if it
// is not paid out, because its reputation is at stake then.
func (x *call) parties(payIn bool) (of parties) {
	if x.p.Version == wire.V1 {
		of = parties{offerer: x.signer("offerer"), claimer: x.signer("claimer")}
		of.initializer = of.claimer
		if payIn {
			of.initializer = of.offerer
		}
		return of
	}
	return parties{x.signer("offerer"), x.account("claimer"), x.signer("initializer")}
}

// opening is an escrow about to be opened: what the instruction says, and its accounts.
type opening struct {
	wire.InitArgs
	parties
	payIn        bool
	wallet       wire.TokenAccount // the offerer's, with payIn
	balance      wire.UserVault    // or its balance in the program
	from         *Info             // the one or the other
	mint         *Info
	claimerVault *Info // nil if absent
	claimerATA   *Info // nil if absent
	claimerToken wire.TokenAccount
	escrow       *Info
	vault        *Info // with payIn
}

// initialize opens an escrow: with tokens of the offerer's wallet, or with some of its
// balance in the program.
func initialize(x *call, payIn bool) error {
	args, err := x.p.DecodeInitArgs(x.args, payIn)
	if err != nil {
		return argumentsNotReadable
	}
	o := &opening{InitArgs: args, payIn: payIn}
	x.readOpening(o)
	x.createOpening(o)
	x.checkOpening(o)
	x.require(o.Terms.PayIn == payIn, wrongPayIn)
	x.fail(openable(args, x.unixTime()))
	return x.open(o)
}

// readOpening reads the accounts that there must be.
func (x *call) readOpening(o *opening) {
	o.parties = x.parties(o.payIn)
	if o.payIn {
		o.wallet, o.from = x.token("offererAta")
	} else {
		o.balance, o.from = x.userVault("offererUserData")
	}
	o.mint = x.mint("mint")
	x.runs("systemProgram", wire.SystemProgram)
	if o.payIn {
		x.runs("tokenProgram", wire.TokenProgram)
	}
	_, o.claimerVault = x.userVault("claimerUserData")
	o.claimerATA = x.account("claimerAta")
	if x.p.Version == wire.V1 {
		o.claimerToken, _ = x.token("claimerAta")
	}
}

// createOpening creates the escrow's account, which must not exist, and the program's
// account of the token, which may.
func (x *call) createOpening(o *opening) {
	o.escrow = x.account("escrowState")
	x.create(o.escrow, o.initializer, len(x.p.EncodeEscrow(wire.EscrowState{})), x.Program, []byte("state"), o.Terms.Hash[:])
	x.require(o.Terms.PayOut && o.claimerATA != nil || !o.Terms.PayOut && o.claimerVault != nil, constraintRaw)
	if o.payIn {
		o.vault = x.openVault(o.initializer, o.mint)
	}
}

// checkOpening looks at the constraints of the accounts. Only v1 looks at the claimer's
// token account.
func (x *call) checkOpening(o *opening) {
	v2 := x.p.Version == wire.V2
	x.require(!v2 || o.Terms.PayOut || o.claimer.Signer, constraintRaw)
	x.writable(o.initializer)
	x.require(o.initializer == o.offerer || o.initializer == o.claimer, constraintRaw)
	if o.payIn {
		x.writable(o.from)
		x.require(o.wallet.Amount >= o.Terms.Amount, constraintRaw)
		x.require(o.wallet.Mint == o.mint.Key, constraintTokenMint)
		x.authority()
	} else {
		x.is(o.from, x.p.UserVault(o.offerer.Key, o.mint.Key))
		x.writable(o.from)
		x.require(o.balance.Amount >= o.Terms.Amount, constraintRaw)
	}
	if o.claimerVault != nil {
		x.is(o.claimerVault, x.p.UserVault(o.claimer.Key, o.mint.Key))
	}
	x.require(v2 || o.claimerATA == nil || o.claimerToken.Mint == o.mint.Key, constraintTokenMint)
}

// open writes the escrow down and takes what it locks.
func (x *call) open(o *opening) error {
	if x.p.Version == wire.V2 {
		x.topUp(o)
	}
	t := o.Terms
	if x.err == nil {
		x.Emit(wire.Event{Kind: wire.Initialized, Hash: t.Hash, TxoHash: o.TxoHash, Nonce: t.Nonce, Escrow: t.Kind, Sequence: t.Sequence}.Bytes())
	}
	if x.p.Version == wire.V1 {
		x.topUp(o)
	}
	if o.payIn {
		x.invoke(wire.TransferToken(o.from.Key, o.vault.Key, o.offerer.Key, t.Amount))
	}
	if x.err != nil {
		return x.err
	}
	o.escrow.Data = x.p.EncodeEscrow(o.state())
	if !o.payIn {
		o.balance.Amount -= t.Amount
		o.from.Data = o.balance.Bytes()
	}
	return nil
}

// state is what the escrow's account says.
func (o *opening) state() wire.EscrowState {
	e := wire.EscrowState{Data: o.Terms, Offerer: o.offerer.Key, Claimer: o.claimer.Key, Mint: o.mint.Key,
		SecurityDeposit: o.SecurityDeposit, ClaimerBounty: o.ClaimerBounty, OffererInitializer: o.initializer == o.offerer}
	if o.payIn {
		e.OffererATA = o.from.Key
	}
	if o.Terms.PayOut {
		e.ClaimerATA = o.claimerATA.Key
	}
	return e
}

// openable checks what an escrow's terms must be, at a time in Unix seconds.
func openable(a wire.InitArgs, now uint64) error {
	switch {
	case a.AuthExpiry <= now:
		return authExpired
	case a.Terms.Confirmations > wire.MaxConfirmations:
		return tooManyConfirmations
	case a.Terms.Kind != chains.OnchainNonced && a.Terms.Nonce != 0:
		return wrongNonce
	}
	return nil
}

// topUp makes the escrow's account hold the larger of deposit and bounty: at its end
// only one of them can be paid. The rent counts towards it.
func (x *call) topUp(o *opening) {
	if want := max(o.SecurityDeposit, o.ClaimerBounty); x.err == nil && o.escrow.Lamports < want {
		x.invoke(wire.Transfer(o.initializer.Key, o.escrow.Key, want-o.escrow.Lamports))
	}
}
