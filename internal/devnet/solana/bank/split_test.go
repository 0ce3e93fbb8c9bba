package bank_test

import (
	"testing"
	"time"

	"github.com/swapper-go/swapper/internal/devnet/solana/bank"
	"github.com/swapper-go/swapper/internal/solana/wire"
	"github.com/swapper-go/swapper/internal/trial"
)

// Two banks have one chain, then each its own, with blocks alike, and then one again.
func TestSplit(t *testing.T) {
	for name, prevails := range map[string]bool{"the second prevails": true, "the first stays": false} {
		t.Run(name, func(t *testing.T) {
			k := newKit(t, bank.Options{})
			pay := func(b *bank.Bank, n uint64) wire.Signature {
				t.Helper()
				return trial.Must(b.Send(k.sign(keys("alice"), wire.Transfer(key("alice").PublicKey(), key("bob").PublicKey(), n))))(t)
			}
			has := func(b *bank.Bank, id wire.Signature) (has bool) {
				b.Read(bank.Processed, 0, func(v *bank.View) { has = v.Tx(id) != nil })
				return has
			}
			head := func(b *bank.Bank) (head bank.Block) {
				b.Read(bank.Processed, 0, func(v *bank.View) { head = *v.Head() })
				return head
			}
			common := pay(k.Bank, 1)
			k.Produce(1)
			s := trial.Must(k.Split())(t)
			if _, err := k.Split(); err == nil {
				t.Error("split twice")
			}
			if err := k.Fork(1, false); err == nil {
				t.Error("blocks were replaced in a chain that is split")
			}
			mine, theirs := pay(k.Bank, 2), pay(s.Bank, 3)
			k.Produce(2)
			k.now = k.now.Add(time.Hour)
			k.Elapse(time.Hour)
			trial.Do(t, k.Advance(time.Minute))
			a, b := head(k.Bank), head(s.Bank)
			if a.Slot != b.Slot || a.Height != b.Height || a.Time != b.Time || a.Hash == b.Hash {
				t.Errorf("the heads are %+v and %+v", a, b)
			}
			for _, c := range []struct {
				bank                 *bank.Bank
				common, mine, theirs bool
			}{{k.Bank, true, true, false}, {s.Bank, true, false, true}} {
				if has(c.bank, common) != c.common || has(c.bank, mine) != c.mine || has(c.bank, theirs) != c.theirs {
					t.Errorf("has %t %t %t, want %t %t %t", has(c.bank, common), has(c.bank, mine), has(c.bank, theirs), c.common, c.mine, c.theirs)
				}
			}
			trial.Do(t, s.End(prevails))
			if s.End(prevails) == nil {
				t.Error("the split ended twice")
			}
			if has(k.Bank, mine) == prevails || has(k.Bank, theirs) != prevails || head(k.Bank).Slot != a.Slot {
				t.Errorf("has %t %t in slot %d, was in %d", has(k.Bank, mine), has(k.Bank, theirs), head(k.Bank).Slot, a.Slot)
			}
			if later := pay(k.Bank, 4); later == mine {
				t.Error("the same transaction")
			}
			k.Produce(1)
			if got := head(k.Bank).Height; got != a.Height+1 {
				t.Errorf("height %d after %d", got, a.Height)
			}
		})
	}
}
