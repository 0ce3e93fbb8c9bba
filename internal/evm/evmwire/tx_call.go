package evmwire

import (
	"math/big"

	"github.com/ethereum/go-ethereum/common"

	"github.com/swapper-go/swapper/internal/bigs"
)

// Role says what a call is for, which decides how strictly a signed one is
// compared with it.
type Role int

const (
	RoleAction   Role = iota // the step itself: must come back exactly
	RoleApproval             // lets a contract take tokens: may be missing
	RoleRelay                // brings Bitcoin headers to the relay: may be missing
	RoleProof                // an action whose data begins as asked for and ends with a proof that the contract judges
	RoleProofs               // the same, once or more
)

// Call is a transaction before it has a sender, a nonce and a fee.
type Call struct {
	Role  Role
	To    common.Address
	Value *big.Int // base units of the native coin; nil is zero
	Data  []byte
	// Gas is the limit that the protocol names. Where a node estimates more, as
	// for large Bitcoin transactions, more must be given (protocol: chain-evm.md §13.20).
	Gas uint64

	Allowance *Allowance // with RoleApproval
	Reveals   bool       // publishes a preimage
}

// Allowance is how much of a token a contract must be able to take from the sender.
type Allowance struct {
	Token   common.Address
	Spender common.Address
	Amount  *big.Int
}

// value never is nil.
func (c Call) value() *big.Int { return bigs.OrZero(c.Value) }
