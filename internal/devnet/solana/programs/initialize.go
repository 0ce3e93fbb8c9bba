package programs

import (
	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/devnet/solana/bank"
	"github.com/swapper-go/swapper/internal/solana/wire"
)

// parties are who opens an escrow. The initializer pays for it: in v1 the one who pays
// in, or else the claimer, in v2 either of both.
type parties struct{ offerer, claimer, initializer *bank.Info }

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

// initialize opens an escrow: with tokens of the offerer's wallet, or with some of its
// balance in the program.
func initialize(x *call, payIn bool) error {
	args, err := x.p.DecodeInitArgs(x.args, payIn)
	if err != nil {
		return argumentsNotReadable
	}
	terms := args.Terms
	of := x.parties(payIn)
	var wallet wire.TokenAccount
	var balance wire.UserVault
	var from *bank.Info
	if payIn {
		wallet, from = x.token("offererAta")
	} else {
		balance, from = x.userVault("offererUserData")
	}
	mint := x.mint("mint")
	x.runs("systemProgram", wire.SystemProgram)
	if payIn {
		x.runs("tokenProgram", wire.TokenProgram)
	}
	_, claimerVault := x.userVault("claimerUserData")
	claimerATA := x.account("claimerAta")
	var claimerToken wire.TokenAccount
	if x.p.Version == wire.V1 {
		claimerToken, _ = x.token("claimerAta")
	}

	escrow := x.account("escrowState")
	x.create(escrow, of.initializer, len(x.p.EncodeEscrow(wire.EscrowState{})), x.Program, []byte("state"), terms.Hash[:])
	x.require(terms.PayOut && claimerATA != nil || !terms.PayOut && claimerVault != nil, constraintRaw)
	var vault *bank.Info
	if payIn {
		vault = x.openVault(of.initializer, mint)
	}

	if x.p.Version == wire.V2 {
		x.require(terms.PayOut || of.claimer.Signer, constraintRaw)
		x.writable(of.initializer)
		x.require(of.initializer == of.offerer || of.initializer == of.claimer, constraintRaw)
	} else {
		x.writable(of.initializer)
	}
	if payIn {
		x.writable(from)
		x.require(wallet.Amount >= terms.Amount, constraintRaw)
		x.require(wallet.Mint == mint.Key, constraintTokenMint)
		x.authority()
	} else {
		x.is(from, x.p.UserVault(of.offerer.Key, mint.Key))
		x.writable(from)
		x.require(balance.Amount >= terms.Amount, constraintRaw)
	}
	if claimerVault != nil {
		x.is(claimerVault, x.p.UserVault(of.claimer.Key, mint.Key))
	}
	x.require(x.p.Version == wire.V2 || claimerATA == nil || claimerToken.Mint == mint.Key, constraintTokenMint)

	x.require(terms.PayIn == payIn, wrongPayIn)
	x.fail(openable(args, x.unixTime()))
	state := wire.EscrowState{Data: terms, Offerer: of.offerer.Key, Claimer: of.claimer.Key, Mint: mint.Key,
		SecurityDeposit: args.SecurityDeposit, ClaimerBounty: args.ClaimerBounty,
		OffererInitializer: of.initializer == of.offerer}
	if payIn {
		state.OffererATA = from.Key
	}
	if terms.PayOut && claimerATA != nil {
		state.ClaimerATA = claimerATA.Key
	}
	if x.p.Version == wire.V2 {
		x.topUp(escrow, of.initializer, args)
	}
	if x.err == nil {
		x.Emit(wire.Event{Kind: wire.Initialized, Hash: terms.Hash, TxoHash: args.TxoHash, Nonce: terms.Nonce, Escrow: terms.Kind, Sequence: terms.Sequence}.Bytes())
	}
	if x.p.Version == wire.V1 {
		x.topUp(escrow, of.initializer, args)
	}
	if payIn {
		x.invoke(wire.TransferToken(from.Key, vault.Key, of.offerer.Key, terms.Amount))
	}
	if x.err != nil {
		return x.err
	}
	escrow.Data = x.p.EncodeEscrow(state)
	if !payIn {
		balance.Amount -= terms.Amount
		from.Data = balance.Bytes()
	}
	return nil
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
func (x *call) topUp(escrow, payer *bank.Info, a wire.InitArgs) {
	if want := max(a.SecurityDeposit, a.ClaimerBounty); x.err == nil && escrow.Lamports < want {
		x.invoke(wire.Transfer(payer.Key, escrow.Key, want-escrow.Lamports))
	}
}
