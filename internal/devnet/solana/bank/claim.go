package bank

import (
	"crypto/sha256"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/solana/wire"
)

// claimed is what a claim moves, and who gets it.
type claimed struct {
	signer, offerer, claimer, initializer *Info
	e                                     wire.EscrowState
	escrow                                *Info
	to, vault                             *Info
	wallet                                wire.TokenAccount // that to is, if the escrow pays out
	balance                               wire.UserVault    // that to is otherwise
	data                                  *Info             // nil if the claim carries its data itself
}

// claim pays an escrow to its claimer: into its token account, or its balance in the
// program. Anybody may send it, also after the expiry, until the escrow is refunded.
func claim(x *call, payOut bool) error {
	secret, err := wire.DecodeSecret(x.args)
	if err != nil {
		return argumentsNotReadable
	}
	c := x.readClaim(payOut)
	x.checkClaim(&c, payOut)
	if x.err != nil {
		return x.err
	}

	if c.data != nil {
		if secret, err = x.takeData(c.data, c.signer.Key); err != nil {
			return err
		}
	}
	e := c.e
	result, err := proven(e.Data, secret, x.Instructions()[0], x.p)
	if err != nil {
		return err
	}
	if c.data != nil {
		c.signer.Lamports, c.data.Lamports = c.signer.Lamports+c.data.Lamports, 0
	}
	x.Emit(wire.Event{Kind: wire.Claimed, Hash: e.Data.Hash, Result: result, Sequence: e.Data.Sequence}.Bytes())
	if payOut {
		x.payFromVault(c.vault, c.to, e.Mint, e.Data.Amount)
	} else {
		c.balance.Amount = x.add(c.balance.Amount, e.Data.Amount)
		succeeded(&c.balance, e.Data)
	}
	if x.err != nil {
		return x.err
	}
	s, err := claimShares(x.p.Version, e, c.escrow.Lamports)
	if err != nil {
		return err
	}
	if !payOut {
		c.to.Data = c.balance.Bytes()
	}
	s.pay(c.escrow, c.signer, c.offerer, c.claimer, c.initializer)
	return nil
}

// readClaim reads the accounts in the order of the program, which decides what it refuses first.
func (x *call) readClaim(payOut bool) (c claimed) {
	c.signer = x.signer("signer")
	if x.p.Version == wire.V1 {
		c.initializer = x.account("initializer")
	} else {
		c.offerer, c.claimer = x.account("offerer"), x.account("claimer")
	}
	c.e, c.escrow = x.escrow("escrowState")
	if payOut {
		c.wallet, c.to = x.token("claimerAta")
		_, c.vault = x.token("vault")
		x.runs("tokenProgram", wire.TokenProgram)
	} else {
		c.balance, c.to = x.userVault("claimerUserData")
	}
	c.data = x.account("data")
	return c
}

func (x *call) checkClaim(c *claimed, payOut bool) {
	x.writable(c.signer)
	for _, party := range []*Info{c.initializer, c.offerer, c.claimer} {
		if party != nil {
			x.writable(party)
		}
	}
	x.writable(c.escrow)
	x.require(!payOut || c.e.ClaimerATA == c.to.Key, constraintRaw)
	x.require(c.e.Data.PayOut == payOut, constraintRaw)
	if x.p.Version == wire.V1 {
		x.require(c.initializer.Key == initializerOf(x.p.Version, c.e), constraintRaw)
	} else {
		x.require(c.e.Offerer == c.offerer.Key && c.e.Claimer == c.claimer.Key, constraintRaw)
		c.initializer = c.claimer
		if c.e.OffererInitializer {
			c.initializer = c.offerer
		}
	}
	x.require(x.account("ixSysvar").Key == wire.InstructionsData, constraintAddress)
	if payOut {
		x.writable(c.to)
		x.require(c.wallet.Mint == c.e.Mint, constraintTokenMint)
		x.is(c.vault, x.p.Vault(c.e.Mint))
		x.writable(c.vault)
		x.authority()
	} else {
		x.is(c.to, x.p.UserVault(c.e.Claimer, c.e.Mint))
		x.writable(c.to)
	}
	if c.data != nil {
		x.writable(c.data)
	}
}

// proven checks what a claim brings against what the escrow waits for, and returns what
// the event tells: the secret, or the id of the Bitcoin transaction in internal order.
// first is the first instruction of the transaction.
func proven(t wire.Terms, secret []byte, first wire.Instruction, p wire.Programs) (result [32]byte, err error) {
	switch t.Kind {
	case chains.HTLC:
		if len(secret) < len(result) {
			return result, ProgramFailedToComplete
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
