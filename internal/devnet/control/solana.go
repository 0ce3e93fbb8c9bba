package control

import (
	"context"
	"fmt"
	"math"
	"strconv"

	"github.com/swapper-go/swapper/internal/devnet"
	"github.com/swapper-go/swapper/internal/devnet/solana/rpc"
	"github.com/swapper-go/swapper/internal/solana/wire"
)

// onSolana adds the calls about Solana.
func onSolana(n *devnet.Net, on func(path string, do func(ctx context.Context, q func(string) string) (any, error)), number func(text string, least, most int64) (int64, error)) {
	head := func() any {
		b := n.Solana.Head()
		return map[string]any{"slot": b.Slot, "blockHeight": b.Height}
	}
	on("/solana/mine", func(_ context.Context, q func(string) string) (any, error) {
		blocks, err := number(q("blocks"), 1, 1000)
		if err != nil {
			return nil, fmt.Errorf("blocks: %w", err)
		}
		n.Solana.Mine(int(blocks))
		return head(), nil
	})
	on("/solana/reorg", func(_ context.Context, q func(string) string) (any, error) {
		blocks, err := number(q("blocks"), 1, 100)
		if err != nil {
			return nil, fmt.Errorf("blocks: %w", err)
		}
		replace := n.Solana.Reorg
		if lost, _ := strconv.ParseBool(q("lost")); lost {
			replace = n.Solana.Forget
		}
		err = replace(int(blocks))
		return head(), err
	})
	on("/solana/fund", func(ctx context.Context, q func(string) string) (any, error) {
		to, err := wire.ParseKey(q("address"))
		if err != nil {
			return nil, fmt.Errorf("address: %w", err)
		}
		amount, err := number(q("amount"), 1, math.MaxInt64)
		if err != nil {
			return nil, fmt.Errorf("amount: %w", err)
		}
		for _, t := range n.SolanaTokens() {
			switch {
			case t.Ticker != q("token"):
			case t.Ticker == "SOL":
				err = n.Solana.Fund(ctx, to, uint64(amount))
				return head(), err
			default:
				err = n.Solana.Mint(ctx, wire.MustKey(t.Address), to, uint64(amount))
				return head(), err
			}
		}
		return nil, fmt.Errorf("token: %q is not SOL, WBTC or USDC", q("token"))
	})
	on("/solana/misbehave", func(_ context.Context, q func(string) string) (any, error) {
		var f rpc.Fault
		for name, to := range map[string]*bool{"down": &f.Down, "loseTransaction": &f.LoseTransaction, "loseAnswer": &f.LoseAnswer, "silent": &f.Silent} {
			if q(name) == "" {
				continue
			}
			var err error
			if *to, err = strconv.ParseBool(q(name)); err != nil {
				return nil, fmt.Errorf("%s: must be true or false", name)
			}
		}
		for name, of := range map[string]struct {
			to          *int
			least, most int64
		}{"status": {&f.Status, 200, 599}, "behind": {&f.Behind, 0, 1000}} {
			if q(name) == "" {
				continue
			}
			v, err := number(q(name), of.least, of.most)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			*of.to = int(v)
		}
		n.Solana.Server().Misbehave(f)
		return map[string]any{"rpc": n.Solana.URL()}, nil
	})
}
