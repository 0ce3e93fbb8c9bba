package balance_test

import (
	"math/big"
	"testing"

	"github.com/swapper-go/swapper/balance"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/btc/rawtx"
	"github.com/swapper-go/swapper/tokens"
)

// Whatever is asked, nothing panics and nobody is promised more than there is.
func FuzzEstimate(f *testing.F) {
	f.Add("BITCOIN", btcWallet, "CITREA", true, "12.5", 0.0, 0.0, int64(100_000), uint64(3))
	f.Add("BITCOIN", btcWallet, "", false, "", 45.0, 1.5, int64(1000), uint64(0))
	f.Add("CITREA", evmWallet, "", false, "123,4", 0.0, 0.0, int64(1000), uint64(7))
	f.Add("STARKNET", "0x1234", "", false, "1,2,3;v3", 0.0, 0.0, int64(1000), uint64(7))
	f.Add("SOLANA", "D9jMcCbw7uUrT7ivhoCDM8oG6VSkjQqXgD4G2ytHgvXf", "", false, "9000;0", 0.0, 0.0, int64(1), uint64(2))
	f.Add("CITREA", evmWallet, "", false, "", 0.0, 1.2345678, int64(1<<62), uint64(1<<63))
	f.Fuzz(func(t *testing.T, id, wallet, target string, gasDrop bool, rate string, minimum, multiplier float64, held int64, cost uint64) {
		s := newSetup()
		q := balance.Query{Wallet: wallet, TargetChain: target, GasDrop: gasDrop, FeeRate: rate, Token: tokens.BTC()}
		if minimum != 0 {
			q.MinFeeRate = &minimum
		}
		if multiplier != 0 {
			q.FeeMultiplier = &multiplier
		}
		if held < 0 {
			held = 0
		}
		most := big.NewInt(held)
		s.rates = bitcoin.FeeRates{Fastest: float64(cost%1000) / 7}
		s.utxos = []bitcoin.UTXO{{Value: min(held, rawtx.MaxMoney), Height: 1}}
		if c := s.chains[id]; c != nil {
			q.Token = c.info.Native
			c.held.SetInt64(held)
			c.cost.SetUint64(cost)
		}
		got, err := s.estimator().Estimate(t.Context(), q)
		if err != nil {
			return
		}
		if got.Amount.Raw.Sign() < 0 || got.Amount.Raw.Cmp(most) > 0 || got.FeeRateSatVB < 0 {
			t.Errorf("%v of %d at %v", got.Amount.Raw, held, got.FeeRateSatVB)
		}
	})
}
