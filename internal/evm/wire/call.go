package wire

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

	// Alike names what the call's use of gas follows from, beside its sender. The zero
	// value: no other call is known to use as much.
	Alike Alike

	Allowance *Allowance // with RoleApproval
	Reveals   bool       // publishes a preimage
}

// Allowance is how much of a token a contract must be able to take from the sender.
type Allowance struct {
	Token   common.Address
	Spender common.Address
	Amount  *big.Int
}

// Alike are the parts of a call from which its use of gas follows: of two calls of one
// sender that are alike, one uses as much as the other but for the zeros in their data
// and for slots that are written for the first time, which the constants of the protocol
// allow for.
type Alike struct {
	Method                        string
	To, Offerer, Claimer          common.Address
	Token, DepositToken           common.Address
	ClaimHandler, RefundHandler   common.Address
	PayIn, PayOut, Reputation     bool
	HasDeposit, HasBounty, Excess bool // deposit, bounty, and which of them is larger
	Len                           int  // of the data
}

// alike describes a call about an escrow.
func (s SwapData) alike(method string, to common.Address, data []byte) Alike {
	deposit, bounty := bigs.OrZero(s.SecurityDeposit), bigs.OrZero(s.ClaimerBounty)
	return Alike{Method: method, To: to, Offerer: s.Offerer, Claimer: s.Claimer, Token: s.Token, DepositToken: s.DepositToken,
		ClaimHandler: s.ClaimHandler, RefundHandler: s.RefundHandler, PayIn: s.PayIn, PayOut: s.PayOut, Reputation: s.Reputation,
		HasDeposit: deposit.Sign() > 0, HasBounty: bounty.Sign() > 0, Excess: deposit.Cmp(bounty) > 0, Len: len(data)}
}

// value never is nil.
func (c Call) value() *big.Int { return bigs.OrZero(c.Value) }
