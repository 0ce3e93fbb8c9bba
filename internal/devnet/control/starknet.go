package control

import (
	"context"
	"fmt"
	"math/big"
	"strconv"

	"github.com/swapper-go/swapper/internal/devnet"
	"github.com/swapper-go/swapper/internal/devnet/starknet"
	"github.com/swapper-go/swapper/internal/starknet/wire"
)

// onStarknet adds the calls about Starknet.
func onStarknet(n *devnet.Net, on handle) {
	chain := smartChain{
		path: "/starknet",
		head: func() map[string]any { return map[string]any{"block": n.Starknet.Head().Height} },
		mine: n.Starknet.Mine, reorg: n.Starknet.Reorg, forget: n.Starknet.Forget, url: n.Starknet.URL,
		fund: func(ctx context.Context, address, token, amount string) error {
			to, err := wire.ParseAddress(address)
			if err != nil {
				return fmt.Errorf("address: %w", err)
			}
			units, ok := new(big.Int).SetString(amount, 10)
			if !ok || units.Sign() <= 0 || units.BitLen() > 128 {
				return fmt.Errorf("amount: must be base units from 1 to 2^128-1, in decimal digits")
			}
			for _, t := range n.StarknetTokens() {
				if t.Ticker == token {
					return n.Starknet.Mint(ctx, wire.MustFelt(t.Address), to, units)
				}
			}
			return fmt.Errorf("token: %q is not STRK, WBTC or USDC", token)
		},
		misbehave: func(q func(string) string) error {
			var f starknet.NodeFault
			if err := readFault(q, map[string]*bool{"down": &f.Down, "loseTransaction": &f.LoseTransaction, "loseAnswer": &f.LoseAnswer, "noEvents": &f.NoEvents},
				map[string]bounded{"status": {&f.Status, 200, 599}, "behind": {&f.Behind, 0, 1000}, "perSecond": {&f.PerSecond, 1, 1000}}); err != nil {
				return err
			}
			n.Starknet.Server().Misbehave(f)
			return nil
		},
	}
	chain.serve(on)
	on("POST /starknet/mining", func(_ context.Context, q func(string) string) (any, error) {
		automatic, err := strconv.ParseBool(q("automatic"))
		if err != nil {
			return nil, fmt.Errorf("automatic: must be true or false")
		}
		n.Starknet.SetMining(automatic)
		return chain.head(), nil
	})
}
