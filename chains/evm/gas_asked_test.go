package evm_test

import (
	"slices"
	"testing"

	devnet "github.com/swapper-go/swapper/internal/devnet/evm"
	"github.com/swapper-go/swapper/internal/evm/wire"
	"github.com/swapper-go/swapper/internal/trial"
)

// The node estimates the opening of a user's first swap, and not that of the next ones
// like it, which get the same limit: what it says is within the protocol's constant.
func TestOneEstimateServesSwapsAlike(t *testing.T) {
	t.Parallel()
	l := newNet(t, devnet.Options{})
	var limits []uint64
	for n := byte(1); n <= 3; n++ {
		k, _, plan := l.payIn(t, n)
		plan.SwapID = string('a' + rune(n))
		l.Server().Requests()
		_, u := l.nonceOf(t, k, plan)
		asked := 0
		for _, methods := range l.Server().Requests() {
			if slices.Contains(methods, "eth_estimateGas") {
				asked++
			}
		}
		if want := map[bool]int{true: 1}[n == 1]; asked != want {
			t.Errorf("swap %d: %d requests with an estimate, want %d", n, asked, want)
		}
		tx := trial.Must(wire.ParseTransaction(u.Txs[0]))(t)
		limits = append(limits, tx.Gas)
	}
	if limits[0] < 66_000 || limits[1] != limits[0] || limits[2] != limits[0] {
		t.Errorf("limits of gas: %d", limits)
	}
}
