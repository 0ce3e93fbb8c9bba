package chains

import (
	"encoding/json"
	"fmt"
	"math/big"

	"github.com/swapper-go/swapper/chains/bitcoin"
)

// Kind is the condition on which an escrow pays out. The numbers are part of
// the wire format.
type Kind int

const (
	HTLC          Kind = 0 // a preimage of a SHA-256 hash
	Onchain       Kind = 1 // a Bitcoin payment to a script
	OnchainNonced Kind = 2 // a Bitcoin payment to a script that carries a nonce
	OnchainTxID   Kind = 3 // one Bitcoin transaction
)

// String returns the protocol's name of the kind.
func (k Kind) String() string {
	switch k {
	case HTLC:
		return "HTLC"
	case Onchain:
		return "CHAIN"
	case OnchainNonced:
		return "CHAIN_NONCED"
	case OnchainTxID:
		return "CHAIN_TXID"
	}
	return fmt.Sprintf("Kind(%d)", int(k))
}

// Escrow is the neutral view of one escrow, together with the chain's own JSON
// of it. Values are immutable. Addresses are canonical, amounts are base units.
type Escrow struct {
	Version          string // contract version
	Kind             Kind
	Offerer, Claimer string
	Token            string
	Amount           *big.Int
	PayIn            bool // the amount came from the offerer's wallet, not from an LP vault
	PayOut           bool // the amount goes to the claimer's wallet, not to an LP vault
	ClaimHash        []byte
	Hash             []byte // escrow hash, the key of the contract's state and of events
	Sequence         *big.Int
	Expiry           int64 // Unix seconds from which the offerer can take a refund
	SecurityDeposit  *big.Int
	ClaimerBounty    *big.Int
	DepositToken     string

	// Data is the escrow as the LP protocol, stored records and watchtower
	// messages contain it. Only the chain interprets it.
	Data json.RawMessage
}

// Spec is the input from which [Contract.Expect] builds an escrow.
type Spec struct {
	Kind             Kind
	Offerer, Claimer string
	Token            string
	Amount           *big.Int
	Condition        Condition
	Sequence         *big.Int
	Expiry           int64 // Unix seconds
	PayIn, PayOut    bool
	SecurityDeposit  *big.Int // nil is 0
	ClaimerBounty    *big.Int // nil is 0
	DepositToken     string   // "" is the native token
	Hints            bool     // carry the output hash, nonce and confirmations as extra data (legacy Bitcoin source)
}

// Condition is what has to be proven to claim. Which fields count depends on
// the kind.
type Condition struct {
	Kind          Kind
	PaymentHash   [32]byte // HTLC
	Script        []byte   // Onchain, OnchainNonced: the output script
	Sats          uint64   // Onchain, OnchainNonced: the output value
	Nonce         uint64   // OnchainNonced
	TxID          bitcoin.Hash
	Confirmations uint16 // all but HTLC
}

// AwaitedPayment is an escrow that waits for a bitcoin payment, by the transaction that opened it.
type AwaitedPayment struct {
	Escrow        Escrow
	Output        [32]byte // SHA-256 of the amount in sats, as 8 bytes little endian, and the script
	Nonce         uint64
	Confirmations uint16
	Opened        Block // Time is 0 where it is unknown
}

// Tolerance says in what an escrow may differ from the one that was expected; see
// [Contract.Diff].
type Tolerance struct {
	AnySequence    bool // chosen by the LP
	AnyExpiry      bool // chosen by the LP; the caller checks its bounds
	AtLeastAmount  bool // the amount may be more than expected
	AtMostDeposits bool // the security deposit and the bounty may be less than expected
	AnyExtraData   bool // what is published beside the escrow and not hashed into it
}

// DiffError names the field in which two escrows differ. It is the LP's fault.
type DiffError struct {
	Member    string // the chain's own name of the field
	Want, Got string
}

func (e *DiffError) Error() string {
	return fmt.Sprintf("escrow data: %s is %s, expected %s", e.Member, e.Got, e.Want)
}

// Public returns the same: the data is the LP's, or public on the chain.
func (e *DiffError) Public() string { return e.Error() }

// Auth is an LP's authorisation to open an escrow or to refund one early,
// stored and sent exactly as it came.
type Auth struct {
	Prefix    string `json:"prefix"`         // claim_initialize, initialize or refund
	Timeout   int64  `json:"timeout,string"` // Unix seconds until which the contract accepts it
	Signature string `json:"signature"`
}

// AuthError says that a signature does not verify, is malformed, or has
// expired. It is the LP's fault, unless Late is set.
type AuthError struct {
	Reason string
	Late   bool // expired by the local clock, which may be the one that is wrong
	// Proven says that the authorisation and the escrow alone show it, or that at least two
	// nodes say so and none objects. The LP is not punished for what is not proven.
	Proven bool
	Err    error
}

func (e *AuthError) Error() string {
	if e.Err != nil {
		return e.Public() + ": " + e.Err.Error()
	}
	return e.Public()
}

// Public leaves the cause out, which may be what a node said.
func (e *AuthError) Public() string { return "authorization: " + e.Reason }

func (e *AuthError) Unwrap() error { return e.Err }
