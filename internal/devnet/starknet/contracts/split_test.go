package contracts_test

import (
	"math/big"
	"testing"
	"time"

	"github.com/swapper-go/swapper/internal/devnet/starknet/contracts"
)

// Two chains have the same blocks, then each its own, of the same heights and times, and
// then one of them is left.
func TestSplit(t *testing.T) {
	for name, prevails := range map[string]bool{"the second prevails": true, "the first stays": false} {
		t.Run(name, func(t *testing.T) {
			k := newKit(t, contracts.Options{})
			common := k.transfer(alice, 0, big.NewInt(1))
			k.send(common)
			s, err := k.Split()
			k.must(err)
			if _, err := k.Split(); err == nil {
				t.Error("split twice")
			}
			if err := k.Branch(1, 1, false); err == nil {
				t.Error("blocks were replaced in a chain that is split")
			}
			mine, theirs := k.transfer(alice, 1, big.NewInt(2)), k.transfer(alice, 1, big.NewInt(3))
			k.must(s.Chain.Send(theirs))
			k.send(mine)
			k.Produce(2)
			k.now = k.now.Add(time.Hour)
			k.Advance(time.Minute)
			a, b := k.Head(), s.Chain.Head()
			if a.Number != b.Number || a.Time != b.Time || a.Hash == b.Hash {
				t.Errorf("the heads are %d at %d and %d at %d, hashes %v and %v", a.Number, a.Time, b.Number, b.Time, a.Hash, b.Hash)
			}
			has := func(c *contracts.Chain, tx *contracts.Tx) (has bool) {
				c.Read(0, func(v *contracts.View) { has = v.Tx(tx.Hash) != nil })
				return has
			}
			for _, c := range []struct {
				chain        *contracts.Chain
				mine, theirs bool
			}{{k.Chain, true, false}, {s.Chain, false, true}} {
				if !has(c.chain, common) || has(c.chain, mine) != c.mine || has(c.chain, theirs) != c.theirs {
					t.Errorf("has %t %t %t, want true %t %t", has(c.chain, common), has(c.chain, mine), has(c.chain, theirs), c.mine, c.theirs)
				}
			}
			k.must(s.End(prevails))
			if s.End(prevails) == nil {
				t.Error("the split ended twice")
			}
			if has(k.Chain, mine) == prevails || has(k.Chain, theirs) != prevails || k.Head().Number != a.Number {
				t.Errorf("has %t %t at %d, was at %d", has(k.Chain, mine), has(k.Chain, theirs), k.Head().Number, a.Number)
			}
			k.send(k.transfer(alice, 2, big.NewInt(4)))
			if got, nonce := k.Head().Number, k.nonce(alice.Address()); got != a.Number+1 || nonce != 3 {
				t.Errorf("height %d after %d, nonce %d", got, a.Number, nonce)
			}
		})
	}
}
