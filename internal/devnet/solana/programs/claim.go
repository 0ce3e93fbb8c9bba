package programs

import (
	"crypto/sha256"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/devnet/solana/bank"
	"github.com/swapper-go/swapper/internal/solana/wire"
)

// claim pays an escrow to its claimer: into its token account, or its balance in the
// program. Anybody may send it, also after the expiry, until the escrow is refunded.
func claim(x *call, payOut bool) error {
	secret, err := wire.DecodeSecret(x.args)
	if err != nil {
		return argumentsNotReadable
	}
	signer := x.signer("signer")
	var offerer, claimer, initializer *bank.Info
	if x.p.Version == wire.V1 {
		initializer = x.account("initializer")
	} else {
		offerer, claimer = x.account("offerer"), x.account("claimer")
	}
	e, escrow := x.escrow("escrowState")
	var balance wire.UserVault
	var wallet wire.TokenAccount
	var to, vault *bank.Info
	if payOut {
		wallet, to = x.token("claimerAta")
		_, vault = x.token("vault")
		x.runs("tokenProgram", wire.TokenProgram)
	} else {
		balance, to = x.userVault("claimerUserData")
	}
	data := x.account("data")

	x.writable(signer)
	for _, party := range []*bank.Info{initializer, offerer, claimer} {
		if party != nil {
			x.writable(party)
		}
	}
	x.writable(escrow)
	x.require(!payOut || e.ClaimerATA == to.Key, constraintRaw)
	x.require(e.Data.PayOut == payOut, constraintRaw)
	if x.p.Version == wire.V1 {
		x.require(initializer.Key == initializerOf(x.p.Version, e), constraintRaw)
	} else {
		x.require(e.Offerer == offerer.Key && e.Claimer == claimer.Key, constraintRaw)
		initializer = claimer
		if e.OffererInitializer {
			initializer = offerer
		}
	}
	x.require(x.account("ixSysvar").Key == wire.InstructionsData, constraintAddress)
	if payOut {
		x.writable(to)
		x.require(wallet.Mint == e.Mint, constraintTokenMint)
		x.is(vault, x.p.Vault(e.Mint))
		x.writable(vault)
		x.authority()
	} else {
		x.is(to, x.p.UserVault(e.Claimer, e.Mint))
		x.writable(to)
	}
	if data != nil {
		x.writable(data)
	}
	if x.err != nil {
		return x.err
	}

	if data != nil {
		if secret, err = x.takeData(data, signer.Key); err != nil {
			return err
		}
	}
	result, err := proven(e.Data, secret, x.Instructions()[0], x.p)
	if err != nil {
		return err
	}
	if data != nil {
		signer.Lamports, data.Lamports = signer.Lamports+data.Lamports, 0
	}
	x.Emit(wire.Event{Kind: wire.Claimed, Hash: e.Data.Hash, Result: result, Sequence: e.Data.Sequence}.Bytes())
	if payOut {
		x.payFromVault(vault, to, e.Mint, e.Data.Amount)
	} else {
		balance.Amount = x.add(balance.Amount, e.Data.Amount)
		succeeded(&balance, e.Data)
	}
	if x.err != nil {
		return x.err
	}
	s, err := claimShares(x.p.Version, e, escrow.Lamports)
	if err != nil {
		return err
	}
	if !payOut {
		to.Data = balance.Bytes()
	}
	s.pay(escrow, signer, offerer, claimer, initializer)
	return nil
}

// proven checks what a claim brings against what the escrow waits for, and returns what
// the event tells: the secret, or the id of the Bitcoin transaction in internal order.
// first is the first instruction of the transaction.
func proven(t wire.Terms, secret []byte, first wire.Instruction, p wire.Programs) (result [32]byte, err error) {
	switch t.Kind {
	case chains.HTLC:
		if len(secret) < len(result) {
			return result, bank.ProgramFailedToComplete
		}
		copy(result[:], secret)
		if sha256.Sum256(result[:]) != t.Hash {
			return result, invalidSecret
		}
		return result, nil
	case chains.OnchainTxID:
		result = t.Hash
	default:
		if result, err = paidBy(t, secret); err != nil {
			return result, err
		}
	}
	return result, verifiedBefore(first, p, result, uint32(t.Confirmations))
}
