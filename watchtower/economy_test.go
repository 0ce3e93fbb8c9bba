package watchtower

import (
	"math/big"
	"testing"
)

func TestJudge(t *testing.T) {
	n := big.NewInt
	for name, c := range map[string]struct {
		policy    Policy
		pay, cost int64
		own       bool
		want      verdict
	}{
		"pays":                                    {pay: 10, cost: 9, want: claim},
		"pays exactly":                            {pay: 10, cost: 10, want: claim},
		"one short":                               {pay: 10, cost: 11, want: wait},
		"offers nothing":                          {pay: 0, cost: 0, want: leave},
		"offers nothing, and costs":               {pay: 0, cost: 5, want: leave},
		"the profit":                              {policy: Policy{Profit: n(3)}, pay: 10, cost: 7, want: claim},
		"less than the profit":                    {policy: Policy{Profit: n(3)}, pay: 10, cost: 8, want: wait},
		"the allowance is not for others":         {policy: Policy{Allowance: n(100)}, pay: 10, cost: 11, want: wait},
		"own, pays":                               {pay: 10, cost: 10, own: true, want: claim},
		"own, needs no profit":                    {policy: Policy{Profit: n(3)}, pay: 10, cost: 10, own: true, want: claim},
		"own, at a loss without allowance":        {pay: 10, cost: 11, own: true, want: wait},
		"own, unpaid within the allowance":        {policy: Policy{Allowance: n(5)}, cost: 5, own: true, want: claim},
		"own, beyond the allowance":               {policy: Policy{Allowance: n(5)}, cost: 6, own: true, want: wait},
		"own, unpaid without allowance":           {cost: 1, own: true, want: wait},
		"the highest fee":                         {policy: Policy{MaxFee: n(9)}, pay: 100, cost: 9, want: claim},
		"beyond the highest fee, however it pays": {policy: Policy{MaxFee: n(9)}, pay: 100, cost: 10, want: wait},
		"own, beyond the highest fee":             {policy: Policy{MaxFee: n(9), Allowance: n(100)}, cost: 10, own: true, want: wait},
	} {
		t.Run(name, func(t *testing.T) {
			if got := c.policy.judge(offer{n(c.pay), n(c.cost), c.own}); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}
