package wire

import (
	"math/big"
	"slices"

	"github.com/ethereum/go-ethereum/common"

	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/bigs"
)

// allowances collects what a contract takes from the sender, one entry for each
// token, in the order of first mention.
type allowances []Allowance

func (a *allowances) add(token common.Address, amount *big.Int) {
	for i := range *a {
		if (*a)[i].Token == token {
			(*a)[i].Amount = new(big.Int).Add((*a)[i].Amount, amount)
			return
		}
	}
	*a = append(*a, Allowance{Token: token, Amount: amount})
}

func (a allowances) calls(spender common.Address) ([]Call, error) {
	var calls []Call
	for _, need := range a {
		if !InBits(need.Amount, 256) {
			return nil, fault.Invalid("amount", "plus the deposit must be at most 2^256-1")
		}
		need.Spender = spender
		data, err := ERC20ABI().Pack("approve", spender, need.Amount)
		if err != nil {
			return nil, err
		}
		calls = append(calls, Call{Role: RoleApproval, To: need.Token, Data: data, Gas: gasTransfer,
			Alike: Alike{Method: "approve", To: need.Token, Claimer: spender, Len: len(data)}, Allowance: &need})
	}
	return calls, nil
}

// WithoutApproved leaves the approvals out whose allowance is already large
// enough. granted returns the present allowance; nil counts as none.
func WithoutApproved(calls []Call, granted func(Allowance) *big.Int) []Call {
	return slices.DeleteFunc(slices.Clone(calls), func(c Call) bool {
		return c.Role == RoleApproval && c.Allowance != nil && bigs.OrZero(granted(*c.Allowance)).Cmp(c.Allowance.Amount) >= 0
	})
}
