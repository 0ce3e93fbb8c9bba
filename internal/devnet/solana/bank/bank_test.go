package bank_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/swapper-go/swapper/internal/devnet/solana/bank"
	"github.com/swapper-go/swapper/internal/solana/wire"
)

func TestTransfer(t *testing.T) {
	k := newKit(t, bank.Options{})
	bob := key("bob").PublicKey()
	tx := k.must(keys("alice"), wire.SetPrice(1_000_000), wire.Transfer(key("alice").PublicKey(), bob, 7*sol))
	if got := k.lamports(bob); got != 107*sol {
		t.Errorf("bob has %d", got)
	}
	if want := 93*sol - tx.Fee; k.lamports(key("alice").PublicKey()) != want || tx.Fee != 5000+1_000_001 {
		t.Errorf("alice has %d, the fee is %d", k.lamports(key("alice").PublicKey()), tx.Fee)
	}
	want := []string{
		"Program ComputeBudget111111111111111111111111111111 invoke [1]", "Program ComputeBudget111111111111111111111111111111 success",
		"Program 11111111111111111111111111111111 invoke [1]", "Program 11111111111111111111111111111111 success",
		"Program ComputeBudget111111111111111111111111111111 invoke [1]", "Program ComputeBudget111111111111111111111111111111 success",
	}
	if d := cmp.Diff(want, tx.Logs); d != "" {
		t.Error(d)
	}
}
