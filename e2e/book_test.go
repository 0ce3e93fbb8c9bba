package e2e

import (
	"maps"
	"math/big"
	"slices"

	"github.com/ethereum/go-ethereum/common"
)

// book is who has how much: tokens in base units, bitcoin in sats, Lightning in
// millisats. Native coins are left out, because every transaction costs some.
type book map[string]*big.Int

// book reads what everybody has who may gain or lose by a swap.
func (w *world) book(recipients ...string) book {
	w.t.Helper()
	b := w.tokens()
	lp := w.net.LPs[0]
	for _, r := range recipients {
		b["recipient WBTC"], b["recipient USDC"] = w.holds(r, "WBTC"), w.holds(r, "USDC")
	}
	for name, v := range map[string]int64{
		"user sats": w.net.Wallet.Balance() + w.net.Taproot.Balance(), "LP sats": lp.Wallet().Balance(),
		"user msat": w.net.Payer.BalanceMsat(), "recipient msat": w.net.Recipient.BalanceMsat(), "LP msat": lp.Node().BalanceMsat(), "all msat": w.net.Lightning.TotalMsat(),
	} {
		b[name] = big.NewInt(v)
	}
	return b
}

// since returns what has changed since an earlier book.
func (w *world) since(before book, recipients ...string) map[string]int64 {
	w.t.Helper()
	changed := map[string]int64{}
	for name, now := range w.book(recipients...) {
		d := new(big.Int).Set(now)
		if was := before[name]; was != nil {
			d.Sub(d, was)
		}
		if d.Sign() != 0 {
			changed[name] = d.Int64()
		}
	}
	return changed
}

// only checks that this has changed, and nothing else.
func (w *world) only(got, want map[string]int64) {
	w.t.Helper()
	if !maps.Equal(got, want) {
		w.t.Errorf("changed: %v\nwant:    %v", sorted(got), sorted(want))
	}
}

type entry struct {
	name string
	by   int64
}

func sorted(m map[string]int64) (all []entry) {
	for _, name := range slices.Sorted(maps.Keys(m)) {
		all = append(all, entry{name, m[name]})
	}
	return all
}

func (w *world) balanceOf(who, token common.Address) *big.Int {
	w.t.Helper()
	balance, err := w.net.EVM.Balance(w.t.Context(), token, who)
	if err != nil {
		w.t.Fatal(err)
	}
	return balance
}
