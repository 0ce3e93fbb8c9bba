package control

import (
	"context"
	"fmt"
	"math/big"
	"strconv"

	"github.com/swapper-go/swapper/internal/devnet"
	"github.com/swapper-go/swapper/internal/devnet/starknet/rpc"
	"github.com/swapper-go/swapper/internal/starknet/wire"
)

// onStarknet adds the calls about Starknet.
func onStarknet(n *devnet.Net, on func(path string, do func(ctx context.Context, q func(string) string) (any, error)), number func(text string, least, most int64) (int64, error)) {
	head := func() any { return map[string]any{"block": n.Starknet.Head().Height} }
	on("/starknet/mine", func(_ context.Context, q func(string) string) (any, error) {
		blocks, err := number(q("blocks"), 1, 1000)
		if err != nil {
			return nil, fmt.Errorf("blocks: %w", err)
		}
		n.Starknet.Mine(int(blocks))
		return head(), nil
	})
	on("/starknet/mining", func(_ context.Context, q func(string) string) (any, error) {
		automatic, err := strconv.ParseBool(q("automatic"))
		if err != nil {
			return nil, fmt.Errorf("automatic: must be true or false")
		}
		n.Starknet.SetMining(automatic)
		return head(), nil
	})
	on("/starknet/reorg", func(_ context.Context, q func(string) string) (any, error) {
		blocks, err := number(q("blocks"), 1, 100)
		if err != nil {
			return nil, fmt.Errorf("blocks: %w", err)
		}
		replace := n.Starknet.Reorg
		if lost, _ := strconv.ParseBool(q("lost")); lost {
			replace = n.Starknet.Forget
		}
		err = replace(int(blocks))
		return head(), err
	})
	on("/starknet/fund", func(ctx context.Context, q func(string) string) (any, error) {
		to, err := wire.ParseAddress(q("address"))
		if err != nil {
			return nil, fmt.Errorf("address: %w", err)
		}
		amount, ok := new(big.Int).SetString(q("amount"), 10)
		if !ok || amount.Sign() <= 0 || amount.BitLen() > 128 {
			return nil, fmt.Errorf("amount: must be base units from 1 to 2^128-1, in decimal digits")
		}
		for _, t := range n.StarknetTokens() {
			if t.Ticker == q("token") {
				err = n.Starknet.Mint(ctx, wire.MustFelt(t.Address), to, amount)
				return head(), err
			}
		}
		return nil, fmt.Errorf("token: %q is not STRK, WBTC or USDC", q("token"))
	})
	on("/starknet/misbehave", func(_ context.Context, q func(string) string) (any, error) {
		var f rpc.Fault
		for name, to := range map[string]*bool{"down": &f.Down, "loseTransaction": &f.LoseTransaction, "loseAnswer": &f.LoseAnswer, "noEvents": &f.NoEvents} {
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
		}{"status": {&f.Status, 200, 599}, "behind": {&f.Behind, 0, 1000}, "perSecond": {&f.PerSecond, 1, 1000}} {
			if q(name) == "" {
				continue
			}
			v, err := number(q(name), of.least, of.most)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			*of.to = int(v)
		}
		n.Starknet.Server().Misbehave(f)
		return map[string]any{"rpc": n.Starknet.URL()}, nil
	})
}
