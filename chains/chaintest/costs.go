package chaintest

import (
	"math/big"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/trial"
)

func testFunds(k *kit) {
	native := k.chain.Info().Native.Address
	for _, token := range []string{native, k.facts.Token} {
		if b := k.balance(k.user.Address(), token); b.Sign() <= 0 {
			k.Errorf("the user has %s of %s", b, token)
		}
		if b := k.liquidity(token); b.Sign() <= 0 {
			k.Errorf("the LP has %s of %s", b, token)
		}
		if b := k.balance(k.facts.SameAddress[0], token); b.Sign() < 0 {
			k.Errorf("balance %s", b)
		}
		for what, bad := range map[string][2]string{"owner": {"invalid", token}, "token": {k.user.Address(), "nothing"}} {
			if b, err := k.chain.Balance(k.Context(), bad[0], bad[1]); err == nil {
				k.Errorf("the balance with a bad %s is %s", what, b)
			}
		}
	}
	before := k.reputation()
	s := secret(140)
	e := k.expect(k.payIn(lock(s), k.facts.Token))
	k.open(e)
	k.run(k.lp, chains.Plan{SwapID: "rep", Steps: []chains.Step{{Kind: chains.StepClaimSecret, Escrow: e, Preimage: s}}})
	after := k.reputation()
	if after.Successes != before.Successes+1 || new(big.Int).Sub(after.SuccessVolume, before.SuccessVolume).Cmp(e.Amount) != 0 {
		k.Errorf("reputation %+v after %+v", after, before)
	}
	e = k.expect(k.payIn(lock(secret(141)), k.facts.Token))
	k.open(e)
	k.run(k.user, chains.Plan{SwapID: "rep", Steps: []chains.Step{{Kind: chains.StepRefundAuth, Escrow: e, Auth: k.lp.AuthorizeRefund(k.T, e, k.net.Time().Add(10*60e9))}}})
	if got := k.reputation(); got.CoopCloses != after.CoopCloses+1 || got.Successes != after.Successes {
		k.Errorf("reputation %+v after %+v", got, after)
	}
	k.estimates()
}

func (k *kit) reputation() chains.Reputation {
	k.Helper()
	f := trial.Must(k.k.Liquidity(k.Context(), k.lp.Address(), k.facts.Token))(k)
	r, ok := f.Reputation[chains.HTLC]
	if !ok || r.SuccessVolume == nil || r.CoopCloseVolume == nil || r.FailureVolume == nil {
		k.Fatalf("reputation: %+v", f.Reputation)
	}
	return r
}

func (k *kit) estimates() {
	rate := trial.Must(k.chain.FeeRate(k.Context()))(k)
	kinds := []chains.StepKind{chains.StepInit, chains.StepClaimSecret, chains.StepClaimBitcoin, chains.StepRelayHeader}
	if _, ok := k.k.(chains.VaultContract); ok {
		kinds = append(kinds, chains.StepVaultClaim)
	}
	for _, kind := range kinds {
		for _, token := range []string{k.chain.Info().Native.Address, k.facts.Token} {
			cost := chains.Cost{Kind: kind, Token: token, Payer: k.user.Address()}
			fixed := trial.Must(k.k.Estimate(k.Context(), cost, rate))(k)
			now := trial.Must(k.k.Estimate(k.Context(), cost, ""))(k)
			if fixed.Sign() <= 0 || now.Sign() <= 0 {
				k.Errorf("cost %d of %s: %s and %s", kind, token, fixed, now)
			}
		}
	}
	for name, ask := range map[string]func() (*big.Int, error){
		"unknown expense": func() (*big.Int, error) { return k.k.Estimate(k.Context(), chains.Cost{Kind: 99}, rate) },
		"bad fee rate":    func() (*big.Int, error) { return k.k.Estimate(k.Context(), chains.Cost{}, "cheap") },
		"bad token":       func() (*big.Int, error) { return k.k.Estimate(k.Context(), chains.Cost{Token: "x"}, rate) },
	} {
		if got, err := ask(); err == nil {
			k.Errorf("%s: %s", name, got)
		}
	}
	// What an estimate of opening says covers what it takes.
	e := k.expect(k.payIn(lock(secret(142)), k.facts.Token))
	cost := trial.Must(k.k.Estimate(k.Context(), chains.Cost{Kind: chains.StepInit, Token: k.facts.Token, Payer: k.user.Address()}, ""))(k)
	native := k.chain.Info().Native.Address
	before := k.balance(k.user.Address(), native)
	k.open(e)
	if spent := before.Sub(before, k.balance(k.user.Address(), native)); spent.Cmp(cost) > 0 {
		k.Errorf("opening cost %s, the estimate was %s", spent, cost)
	}
}
