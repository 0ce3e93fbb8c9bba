package e2e

import (
	"maps"
	"math/big"
	"slices"

	"github.com/ethereum/go-ethereum/common"

	"github.com/swapper-go/swapper/internal/evm/evmwire"
)

// book is who has how much: tokens in base units, bitcoin in sats, Lightning in
// millisats. Native coins are left out, because every transaction costs some.
type book map[string]*big.Int

// book reads what everybody has who may gain or lose by a swap. What the escrows
// hold is what the contract has without what is the LP's in it.
func (w *world) book(recipients ...common.Address) book {
	w.t.Helper()
	b := book{}
	c, lp := w.net.EVM.Contracts(), w.net.LPs[0]
	for name, token := range map[string]common.Address{"WBTC": c.Token, "USDC": c.Dollar} {
		funds := w.funds(lp.Account().Address, token)
		b["user "+name] = w.balanceOf(w.net.EVM.User.Address, token)
		b["tower "+name] = w.balanceOf(w.net.EVM.Watchtower.Address, token)
		b["LP "+name] = new(big.Int).Add(w.balanceOf(lp.Account().Address, token), funds)
		b["escrows "+name] = new(big.Int).Sub(w.balanceOf(c.EscrowManager.Address, token), funds)
		b["vaults "+name] = w.balanceOf(c.VaultManager.Address, token)
		for _, r := range recipients {
			b["recipient "+name] = w.balanceOf(r, token)
		}
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
func (w *world) since(before book, recipients ...common.Address) map[string]int64 {
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

// funds is what an LP has in the escrow contract.
func (w *world) funds(lp, token common.Address) *big.Int {
	w.t.Helper()
	data, err := evmwire.FundsCall(lp, token)
	if err != nil {
		w.t.Fatal(err)
	}
	raw, err := w.net.EVM.Read(w.t.Context(), lp, evmwire.Call{To: w.net.EVM.Contracts().EscrowManager.Address, Data: data})
	if err != nil || len(raw) < 32 {
		w.t.Fatalf("%d bytes, %v", len(raw), err)
	}
	return new(big.Int).SetBytes(raw[len(raw)-32:]) // a list of one
}
