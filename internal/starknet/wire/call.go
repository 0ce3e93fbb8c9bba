package wire

import "math/big"

// Role says what a call is for, which decides how strictly a signed one is compared
// with it.
type Role int

const (
	RoleAction   Role = iota // the step itself: must come back exactly
	RoleApproval             // lets a contract take tokens: may be missing
	RoleRelay                // brings Bitcoin headers to the relay: may be missing
	RoleProof                // an action whose calldata begins as asked for and ends with a proof that the contract judges
	RoleProofs               // the same, once or more
)

// Call is one call of a transaction. An account makes all calls of a transaction, or
// none of them.
type Call struct {
	Role     Role
	To       Felt
	Entry    string // name of the entry point; in what was read from calldata "", as only Selector is known
	Selector Felt   // zero: that of Entry
	Calldata []Felt
	// Gas is what the protocol reckons with. Where a node estimates more, more must be
	// given.
	Gas       Gas
	Allowance *Allowance // with RoleApproval
	Reveals   bool       // publishes a preimage
}

// Allowance is how much of a token a contract must be able to take from the sender.
type Allowance struct {
	Token   Felt
	Spender Felt
	Amount  *big.Int
}

func (c Call) selector() Felt {
	if c.Entry != "" {
		return Selector(c.Entry)
	}
	return c.Selector
}

// Required reports whether the call may not be missing.
func (c Call) Required() bool {
	return c.Role == RoleAction || c.Role == RoleProof || c.Role == RoleProofs
}

// gasOf is what calls use together.
func gasOf(calls []Call) (g Gas) {
	for _, c := range calls {
		g = g.plus(c.Gas)
	}
	return g
}

// ExecuteCalldata is what an account of Cairo 1 gets to make calls (§10.5).
func ExecuteCalldata(calls []Call) []Felt {
	w := make(felts, 0, 1).uint(uint64(len(calls)))
	for _, c := range calls {
		w = w.add(c.To, c.selector()).span(c.Calldata...)
	}
	return w
}

// maxCalls bounds the calls of one transaction. An action has a claim for each of ten
// withdrawals at most.
const maxCalls = 64

// ParseExecuteCalldata is the inverse of [ExecuteCalldata].
func ParseExecuteCalldata(calldata []Felt) ([]Call, error) {
	r := &reader{rest: calldata}
	n := r.uint(64)
	if r.err == nil && n > maxCalls {
		r.fail("%d calls are more than %d", n, maxCalls)
	}
	var calls []Call
	for range n {
		if r.err != nil {
			break
		}
		calls = append(calls, Call{To: r.address(), Selector: r.felt(), Calldata: r.span()})
	}
	return calls, r.end()
}
