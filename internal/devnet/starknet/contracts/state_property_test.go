package contracts_test

import (
	"fmt"
	"math/big"
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/swapper-go/swapper/internal/devnet/starknet/contracts"
	"github.com/swapper-go/swapper/internal/starknet/wire"
)

// TestProperties does anything in any order. What STRK there is stays as much, nonces
// count the transactions of the chain, and a chain that was reorganised is the one that
// the same transactions make on their own.
func TestProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := newKit(t, contracts.Options{Manual: rapid.Bool().Draw(t, "manual"), L1Lag: rapid.IntRange(0, 2).Draw(t, "lag")})
		people := []contracts.Key{alice, bob, carol}
		t.Repeat(map[string]func(*rapid.T){
			"send": func(t *rapid.T) {
				by := people[rapid.IntRange(0, 1).Draw(t, "by")]
				amount := rapid.SampledFrom([]*big.Int{big.NewInt(1), strk(1), strk(10_000)}).Draw(t, "amount")
				nonce := k.nonce(by.Address()) + rapid.Uint64Range(0, 2).Draw(t, "ahead")
				_ = k.Send(k.transfer(by, nonce, amount)) // some are refused
			},
			"deploy":    func(*rapid.T) { _ = k.Send(k.signed(carol, network.NewDeploy(carol.Address(), rate()))) },
			"mine":      func(t *rapid.T) { k.Produce(rapid.IntRange(1, 2).Draw(t, "blocks")) },
			"hold":      func(t *rapid.T) { k.Hold(rapid.Bool().Draw(t, "hold")) },
			"drop":      func(*rapid.T) { k.DropPending() },
			"vanish":    func(*rapid.T) { k.DropPreConfirmed() },
			"automatic": func(t *rapid.T) { k.SetAutomatic(rapid.Bool().Draw(t, "automatic")) },
			"advance":   func(t *rapid.T) { k.Advance(time.Duration(rapid.IntRange(0, 100).Draw(t, "seconds")) * time.Second) },
			"clock":     func(*rapid.T) { k.now = k.now.Add(7 * time.Second) },
			"reorg": func(t *rapid.T) {
				depth := rapid.IntRange(1, 3).Draw(t, "depth")
				if uint64(depth)+1 < k.Head().Number { // what the network was set up with stays
					k.must(k.Branch(depth, rapid.IntRange(1, depth+1).Draw(t, "length"), rapid.Bool().Draw(t, "lost")))
				}
			},
			"": func(*rapid.T) { checkInvariants(k, people) },
		})
		k.Produce(1)
		checkReplay(k)
	})
}

func checkInvariants(k *kit, people []contracts.Key) {
	k.Read(0, func(v *contracts.View) {
		counts := map[wire.Felt]uint64{}
		last := uint64(0)
		for n := uint64(0); n <= v.Open().Number; n++ {
			b := v.Open()
			if n < b.Number {
				b = v.Block(n)
			}
			if b.Number != n || b.Time < last || n > 0 && b.Parent != v.Block(n-1).Hash {
				k.Errorf("block %d is %+v", n, b)
			}
			last = b.Time
			for i, tx := range b.Txs {
				if tx.Index != i || tx.Block != b || v.Tx(tx.Hash) != tx {
					k.Errorf("transaction %d of block %d is astray", i, n)
				}
				if tx.Type == wire.Invoke || tx.Type == wire.DeployAccount {
					if tx.Nonce != counts[tx.Sender] {
						k.Errorf("nonce %d after %d transactions", tx.Nonce, counts[tx.Sender])
					}
					counts[tx.Sender]++
				}
			}
			sum := v.Balance(v.Sequencer(), b)
			for _, p := range people {
				sum.Add(sum, v.Balance(p.Address(), b))
				if got := v.Nonce(p.Address(), b); got != counts[p.Address()] {
					k.Errorf("after block %d the nonce is %d, not %d", n, got, counts[p.Address()])
				}
			}
			if n > 0 && sum.Cmp(strk(3000)) != 0 {
				k.Errorf("after block %d there are %d", n, sum)
			}
		}
	})
}

// checkReplay sends what is in the chain to another one, block by block.
func checkReplay(k *kit) {
	again := newKit(k.tb, contracts.Options{Manual: true})
	var blocks []*contracts.Block
	k.Read(0, func(v *contracts.View) {
		for n := again.Head().Number + 1; n <= v.Head().Number; n++ {
			blocks = append(blocks, v.Block(n))
		}
	})
	for _, b := range blocks {
		again.now = time.Unix(int64(b.Time), 0)
		for _, tx := range b.Txs {
			again.send(tx.Tx)
		}
		again.Produce(1)
		got := again.Head()
		if got.Time != b.Time || len(got.Txs) != len(b.Txs) {
			k.Fatalf("block %d has %d transactions, in the other chain %d", b.Number, len(b.Txs), len(got.Txs))
		}
		for i, tx := range b.Txs {
			if other := got.Txs[i]; other.Reverted != tx.Reverted || other.Fee.Cmp(tx.Fee) != 0 || !reflect.DeepEqual(other.Events, tx.Events) {
				k.Errorf("transaction %s did something else", wire.Hex(tx.Hash))
			}
		}
		diff := func(c *kit, b *contracts.Block) (d string) {
			c.Read(0, func(v *contracts.View) { d = fmt.Sprint(v.Diff(b)) })
			return d
		}
		if a, o := diff(k, b), diff(again, got); a != o {
			k.Errorf("block %d changed\n%s\nand in the other chain\n%s", b.Number, a, o)
		}
	}
}
