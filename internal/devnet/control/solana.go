package control

import (
	"context"
	"fmt"
	"math"

	"github.com/swapper-go/swapper/internal/devnet"
	"github.com/swapper-go/swapper/internal/devnet/solana"
	"github.com/swapper-go/swapper/internal/solana/wire"
)

// onSolana adds the calls about Solana.
func onSolana(n *devnet.Net, on handle) {
	smartChain{
		path: "/solana",
		head: func() map[string]any {
			b := n.Solana.Head()
			return map[string]any{"slot": b.Slot, "blockHeight": b.Height}
		},
		mine: n.Solana.Mine, reorg: n.Solana.Reorg, forget: n.Solana.Forget, url: n.Solana.URL,
		fund: func(ctx context.Context, address, token, amount string) error {
			to, err := wire.ParseKey(address)
			if err != nil {
				return fmt.Errorf("address: %w", err)
			}
			units, err := number(amount, 1, math.MaxInt64)
			if err != nil {
				return fmt.Errorf("amount: %w", err)
			}
			for _, t := range n.SolanaTokens() {
				switch {
				case t.Ticker != token:
				case t.Ticker == "SOL":
					return n.Solana.Fund(ctx, to, uint64(units))
				default:
					return n.Solana.Mint(ctx, wire.MustKey(t.Address), to, uint64(units))
				}
			}
			return fmt.Errorf("token: %q is not SOL, WBTC or USDC", token)
		},
		misbehave: func(q func(string) string) error {
			var f solana.NodeFault
			if err := readFault(q, map[string]*bool{"down": &f.Down, "loseTransaction": &f.LoseTransaction, "loseAnswer": &f.LoseAnswer, "silent": &f.Silent},
				map[string]bounded{"status": {&f.Status, 200, 599}, "behind": {&f.Behind, 0, 1000}}); err != nil {
				return err
			}
			n.Solana.Server().Misbehave(f)
			return nil
		},
	}.serve(on)
}
