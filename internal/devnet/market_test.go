package devnet_test

import (
	"math/big"
	"testing"

	"github.com/swapper-go/swapper/internal/devnet"
	"github.com/swapper-go/swapper/internal/devnet/lp"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/tokens"
)

// What providers take for the tokens' prices is what the local market says: a client
// that goes by the market refuses other quotes.
func TestProvidersGoByTheMarket(t *testing.T) {
	t.Parallel()
	market := trial.Must(devnet.StartPrices(""))(t)
	defer market.Close()
	for chain, all := range map[string][]lp.Token{"SOLANA": lp.SolanaTokens(), "STARKNET": lp.StarknetTokens()} {
		if len(all) != 3 {
			t.Errorf("%d tokens on %s", len(all), chain)
		}
		for _, has := range all {
			for _, token := range tokens.Known(chain) {
				if token.Address != has.Address {
					continue
				}
				want, err := market.Market().Price(t.Context(), token)
				if err != nil {
					t.Fatal(token.ID(), err)
				}
				off := new(big.Int).Sub(want, has.Price.MicroSat)
				if off.Mul(off.Abs(off), big.NewInt(1000)).Cmp(want) > 0 { // sources round
					t.Errorf("%s: providers say %s, the market %s", token.ID(), has.Price.MicroSat, want)
				}
			}
		}
	}
}
