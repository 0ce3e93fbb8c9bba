package evm

import (
	"context"
	"math/big"
	"slices"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/ethclient"

	"github.com/swapper-go/swapper/internal/evm/wire"
	"github.com/swapper-go/swapper/internal/trial"
)

// Two nodes have one chain, then each its own, of the same heights and times, and then one
// again: the one that is kept.
func TestSplit(t *testing.T) {
	t.Parallel()
	for name, prevails := range map[string]bool{"the server prevails": true, "the server rejoins": false} {
		t.Run(name, func(t *testing.T) {
			ctx := context.Background()
			n := start(t, Options{})
			second := trial.Must(n.Serve(""))(t)
			here, there := trial.Must(ethclient.Dial(n.URL()))(t), trial.Must(ethclient.Dial(second.URL()))(t)
			defer here.Close()
			defer there.Close()
			pay := func(to common.Address) wire.Call { return wire.Call{To: to, Value: big.NewInt(5), Gas: 21_000} }
			heads := func() (heads []*types.Header) {
				for _, c := range []*ethclient.Client{here, there} {
					heads = append(heads, trial.Must(c.HeaderByNumber(ctx, nil))(t))
				}
				return heads
			}
			has := func(c *ethclient.Client, who common.Address) int64 {
				return trial.Must(c.BalanceAt(ctx, who, nil))(t).Int64()
			}
			both, mine, theirs := common.Address{9}, common.Address{10}, common.Address{11}
			trial.Must(n.User.Send(ctx, pay(both)))(t)
			split := trial.Must(n.Split(second))(t)
			if h := heads(); h[0].Hash() != h[1].Hash() {
				t.Errorf("the heads are %s and %s when the chains part", h[0].Hash(), h[1].Hash())
			}
			if _, err := n.Split(second); err == nil {
				t.Error("split twice")
			}
			if err := n.Reorg(1); err == nil {
				t.Error("blocks were replaced in a split network")
			}
			ok(t, there.SendTransaction(ctx, trial.Must(n.LP.Sign(pay(theirs)))(t)))
			r := trial.Must(n.User.Send(ctx, pay(mine)))(t)
			for _, advance := range []func() error{func() error { return n.Mine(2) }, func() error { return n.Advance(1e12) }} {
				ok(t, advance())
				if h := heads(); h[0].Number.Cmp(h[1].Number) != 0 || h[0].Time != h[1].Time || h[0].Hash() == h[1].Hash() {
					t.Errorf("the heads are %d at %d and %d at %d, hashes %s and %s", h[0].Number, h[0].Time, h[1].Number, h[1].Time, h[0].Hash(), h[1].Hash())
				}
			}
			for _, c := range []struct {
				node *ethclient.Client
				want []int64
			}{{here, []int64{5, 5, 0}}, {there, []int64{5, 0, 5}}} {
				if got := []int64{has(c.node, both), has(c.node, mine), has(c.node, theirs)}; !slices.Equal(got, c.want) {
					t.Errorf("has %d, want %d", got, c.want)
				}
			}
			want := []int64{5, 5, 0}
			end := split.Rejoin
			if prevails {
				want, end = []int64{5, 0, 5}, split.Prevail
			}
			height := n.Head().Number.Uint64()
			ok(t, end())
			if end() == nil {
				t.Error("the split ended twice")
			}
			for _, c := range []*ethclient.Client{here, there} {
				if got := []int64{has(c, both), has(c, mine), has(c, theirs)}; !slices.Equal(got, want) {
					t.Errorf("afterwards it has %d, want %d", got, want)
				}
				if _, err := c.TransactionReceipt(ctx, r.TxHash); (err != nil) != prevails {
					t.Errorf("the receipt: %v", err)
				}
			}
			trial.Must(n.User.Send(ctx, pay(both)))(t)
			if h := heads(); h[0].Hash() != h[1].Hash() || h[0].Number.Uint64() != height+1 || has(there, both) != 10 || has(there, mine) != want[1] {
				t.Errorf("the heads are %d %s and %d %s; %d, %d", h[0].Number, h[0].Hash(), h[1].Number, h[1].Hash(), has(there, both), has(there, mine))
			}
		})
	}
}
