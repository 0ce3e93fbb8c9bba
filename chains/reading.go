package chains

import (
	"encoding/json"
	"math/big"
)

// PlanReader is implemented by contract sets that can read transactions that somebody else
// has made, for wallets whose service is not trusted.
type PlanReader interface {
	Contract

	// ReadPlan reads transactions as the plan that they carry out, and demands that they
	// are what [Contract.Check] accepts for it: calls of this contract set with nothing
	// added, approvals of exactly what the contract takes unless the wallet has signed
	// them. Openings, claims with a secret and refunds can be read. What the plan says of
	// the escrow is what the transactions say: the caller compares it with what is agreed.
	// Errors have the code fault.InvalidInput and name txs[i] or signedTxs[i]. Pure but for
	// the clock, bounded, never panics.
	ReadPlan(text PlanText) (Reading, error)
}

// PublicReader is implemented by contract sets that can read an escrow back from what a
// service shows of it.
type PublicReader interface {
	Contract

	// ReadPublic reads what [Contract.Public] returns, as any service of the published interface
	// shows it, and demands the configured handlers. The rest is compared by the caller: an
	// escrow is the one of its hash. Errors have the code fault.InvalidInput. Pure, bounded.
	ReadPublic(data json.RawMessage) (Escrow, error)
}

// PlanText are transactions before they were read.
type PlanText struct {
	Txs    []string // as an action carries them, or as a wallet returns them if Signed
	Signed bool
	Signer string  // who is to sign them; "" if Signed: whoever has
	About  *Escrow // which escrow a claim or refund is taken to be about where it does not say itself, as on Solana
}

// Name is what errors call the list.
func (t PlanText) Name() string {
	if t.Signed {
		return "signedTxs"
	}
	return "txs"
}

// Reading is what transactions carry out.
type Reading struct {
	Plan Plan     // Signer and Steps; FeeRate where the authorisation covers it
	Txs  []string // as they were read and written again, so that no other reader sees anything else; nil if signed
	IDs  []string // of signed ones
	// Nonce and Confirmations are what an opening says of the Bitcoin payment that claims the
	// escrow; 0 where it has only a hash of them, as on EVM chains and Starknet.
	Nonce         uint64
	Confirmations uint16
	// MaxFee is the most that the network can charge for all of them, in base units of the
	// native token, without what the escrow itself takes.
	MaxFee *big.Int
	// Authorized says that the LP's authorisation is part of what was checked, as on Solana,
	// where it is a signature of the transaction. Else [Contract.VerifyInit] checks it.
	Authorized bool
}
