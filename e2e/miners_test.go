package e2e

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/btcsuite/btcd/btcutil/psbt"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/chains/bitcoin/mempoolspace"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/trial"
)

// greedy is a Bitcoin backend in league with a miner: asked to, it says of all coins that
// their parents are unconfirmed, heavy and pay nothing, or names fee rates that nobody pays.
type greedy struct {
	*mempoolspace.Client
	parents atomic.Int64 // vB; 0: the truth
	rate    atomic.Int64 // sat/vB; 0: the truth
}

func (g *greedy) AddressUTXOs(ctx context.Context, a bitcoin.Address) ([]bitcoin.UTXO, error) {
	list, err := g.Client.AddressUTXOs(ctx, a)
	if g.parents.Load() > 0 {
		for i := range list {
			list[i].Height = 0
		}
	}
	return list, err
}

func (g *greedy) CPFPs(ctx context.Context, ids []bitcoin.Hash) []bitcoin.Result[*bitcoin.CPFP] {
	size := g.parents.Load()
	if size == 0 {
		return g.Client.CPFPs(ctx, ids)
	}
	out := make([]bitcoin.Result[*bitcoin.CPFP], len(ids))
	for i := range out {
		out[i].Value = &bitcoin.CPFP{AdjustedVSize: float64(size)}
	}
	return out
}

func (g *greedy) FeeRates(ctx context.Context) (bitcoin.FeeRates, error) {
	if rate := g.rate.Load(); rate > 0 {
		return bitcoin.FeeRates{Fastest: float64(rate), Minimum: 1}, nil
	}
	return g.Client.FeeRates(ctx)
}

// What the user pays Bitcoin's miners stands in the quote, in the action and, once it is
// signed, in the status and the list, to the sat. A backend that lies makes it no more than
// the bound: such a transaction is not handed out.
func TestMinersFeeIsShownAndBounded(t *testing.T) {
	t.Parallel()
	liar := &greedy{}
	w := start(t, options{slow: true, config: func(c *swapper.Config) { liar.Client, c.Bitcoin = c.Bitcoin.(*mempoolspace.Client), liar }})
	for name, id := range map[string]string{
		"a vault swap":  w.withdrawal("WBTC").SwapID,
		"a gas payment": w.gas(w.gasInput("BITCOIN-BTC", w.newcomer())).SwapID,
	} {
		t.Run(name, func(t *testing.T) {
			w := w.in(t)
			own := swapper.GetSwapStatusInput{SwapID: id, BitcoinAddress: w.user.Bitcoin.Address.String(), BitcoinPublicKey: w.user.Bitcoin.PublicKey()}
			if fee := w.look(id).Quote.Fees.NetworkInput; fee == nil || raw(*fee) < 100 || raw(*fee) > 5000 {
				t.Errorf("the quote says %+v for miners", fee)
			}
			if a := asksFor[*swapper.SignPSBT](w.look(id)); a != nil && raw(*a.Raw[0].MaxNetworkFee) != 100_000 {
				t.Errorf("miners may get %+v", a.Raw[0].MaxNetworkFee)
			}
			for lie, tell := range map[string]func(on int64){
				"parents":        func(on int64) { liar.parents.Store(on * 101_000) },
				"larger parents": func(on int64) { liar.parents.Store(on * 4_000_000) },
				"rates":          func(on int64) { liar.rate.Store(on * 9000) },
			} {
				tell(1)
				s, err := w.client.GetSwapStatus(w.within(30*time.Second), own)
				if e, ok := errors.AsType[*fault.Error](err); !ok || e.Code != fault.InvalidInput || e.Field != "bitcoinAddress" {
					t.Errorf("%s: %v, %+v", lie, err, s)
				}
				tell(0)
			}
			s, err := w.client.GetSwapStatus(w.within(30*time.Second), own)
			if err != nil {
				t.Fatal(err)
			}
			ask := asksFor[*swapper.SignPSBT](s).Funded[0]
			fee := paidToMiners(t, ask.PSBTBase64)
			if raw(*ask.NetworkFee) != fee || raw(*s.Quote.Fees.NetworkInput) != fee {
				t.Errorf("miners get %d sats, the action says %+v, the quote %+v", fee, ask.NetworkFee, s.Quote.Fees.NetworkInput)
			}
			rate := ask.FeeRate + 3 // the user wants another one
			own.BitcoinFeeRate = &rate
			s = trial.Must(w.client.GetSwapStatus(w.within(30*time.Second), own))(t)
			dearer := paidToMiners(t, asksFor[*swapper.SignPSBT](s).Funded[0].PSBTBase64)
			trial.Do(t, w.user.Do(w.within(time.Minute), id, s.CurrentAction))
			if got := raw(*w.look(id).Quote.Fees.NetworkInput); dearer <= fee || got != dearer {
				t.Errorf("miners get %d sats, the status says %d", dearer, got)
			}
		})
	}
}

// paidToMiners is what a PSBT's inputs hold more than its outputs, in sats.
func paidToMiners(t *testing.T, text string) (fee int64) {
	t.Helper()
	b := trial.Must(base64.StdEncoding.DecodeString(text))(t)
	p := trial.Must(psbt.NewFromRawBytes(bytes.NewReader(b), false))(t)
	for _, in := range p.Inputs {
		fee += in.WitnessUtxo.Value
	}
	for _, out := range p.UnsignedTx.TxOut {
		fee -= out.Value
	}
	return fee
}
