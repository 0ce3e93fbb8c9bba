package chaintest

import (
	"bytes"
	"slices"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/trial"
)

// testReading reads transactions as the plans that they were built for, and with each
// change as another plan or not at all.
func testReading(k *kit) {
	reader, ok := k.k.(chains.PlanReader)
	if !ok {
		k.Skip("the contracts cannot read transactions: a wallet cannot use this chain through a service that it does not trust")
	}
	user := k.net.Account(k.T)
	for i, native := range []bool{false, true} {
		spec := k.payIn(lock(secret(int64(95+i))), k.facts.Token)
		if native {
			spec.Token = k.chain.Info().Native.Address
		}
		spec.Offerer = user.Address()
		e := k.expect(spec)
		rate := trial.Must(k.chain.FeeRate(k.Context()))(k)
		until := k.net.Time().Add(10 * time.Minute)
		plan := func(step chains.Step) chains.Plan {
			return chains.Plan{SwapID: "reading", Signer: user.Address(), FeeRate: rate, Steps: []chains.Step{step}}
		}
		open := plan(chains.Step{Kind: chains.StepInit, Escrow: e, Auth: k.lp.AuthorizeInit(k.T, e, rate, user.Address(), until)})
		k.reads(reader, "an opening", user, open)
		k.run(user, open)
		early := plan(chains.Step{Kind: chains.StepRefundAuth, Escrow: e, Auth: k.lp.AuthorizeRefund(k.T, e, until)})
		k.reads(reader, "an early refund", user, early)
		k.reads(reader, "a claim", user, plan(chains.Step{Kind: chains.StepClaimSecret, Escrow: e, Preimage: secret(int64(95 + i))}))
	}
	for name, text := range map[string]chains.PlanText{
		"nothing":        {Signer: user.Address()},
		"garbage":        {Signer: user.Address(), Txs: []string{"garbage"}},
		"empty texts":    {Signer: user.Address(), Txs: []string{""}},
		"signed garbage": {Txs: []string{"garbage"}, Signed: true},
		"very many":      {Signer: user.Address(), Txs: slices.Repeat([]string{"0x02c0"}, 1000)},
	} {
		if _, err := reader.ReadPlan(text); err == nil {
			k.Errorf("%s is read", name)
		}
	}
}

// reads demands that what is built for a plan is read as that plan, unsigned and signed.
func (k *kit) reads(reader chains.PlanReader, name string, by Account, plan chains.Plan) {
	k.Helper()
	want := plan.Steps[0]
	built := trial.Must(k.k.Build(k.Context(), plan))(k)
	same := func(r chains.Reading) bool {
		if len(r.Plan.Steps) != 1 || r.Plan.Signer != by.Address() {
			return false
		}
		got := r.Plan.Steps[0]
		return got.Kind == want.Kind && got.Preimage == want.Preimage && got.Auth.Prefix == want.Auth.Prefix && got.Auth.Timeout == want.Auth.Timeout &&
			bytes.Equal(got.Escrow.Hash, want.Escrow.Hash) && k.k.Diff(want.Escrow, got.Escrow, chains.Tolerance{}) == nil
	}
	text := chains.PlanText{Txs: built.Txs, Signer: by.Address(), About: &want.Escrow}
	r, err := reader.ReadPlan(text)
	if err != nil || !same(r) || r.MaxFee.Sign() <= 0 || len(r.Txs) != len(built.Txs) {
		k.Fatalf("%s is read as %d steps for %s, want it as it was built: %v", name, len(r.Plan.Steps), r.Plan.Signer, err)
	}
	if want.Kind == chains.StepInit && !r.Authorized {
		if _, err := k.k.VerifyInit(k.Context(), r.Plan.Steps[0].Escrow, r.Plan.Steps[0].Auth, plan.FeeRate, by.Address()); err != nil {
			k.Errorf("%s: the authorization that was read: %v", name, err)
		}
	}
	signed := by.Sign(k.T, chains.Unsigned{Txs: r.Txs, Signer: by.Address()})
	if _, err := k.k.Check(plan, signed); err != nil {
		k.Errorf("%s: what was read and written again, signed: %v", name, err)
	}
	ids := trial.Must(k.k.IDs(signed))(k)
	if s, err := reader.ReadPlan(chains.PlanText{Txs: signed, Signed: true, About: &want.Escrow}); err != nil || !same(s) || !slices.Equal(s.IDs, ids) {
		k.Errorf("%s, signed, is read as %d steps with the ids %v, want it as it was built with %v: %v", name, len(s.Plan.Steps), s.IDs, ids, err)
	}
	stranger := text
	stranger.Signer = k.lp.Address()
	if r, err := reader.ReadPlan(stranger); err == nil && (same(r) || want.Kind == chains.StepInit) { // anybody may claim or refund for a party
		k.Errorf("%s is read for somebody else as %s by %s", name, r.Plan.Steps[0].Kind, r.Plan.Signer)
	}
	for what, txs := range map[string][]string{"signed already": signed, "twice": slices.Concat(built.Txs, built.Txs), "without its end": built.Txs[:len(built.Txs)-1]} {
		if r, err := reader.ReadPlan(chains.PlanText{Txs: txs, Signer: by.Address(), About: &want.Escrow}); err == nil && same(r) {
			k.Errorf("%s, %s, is read as the same", name, what)
		}
	}
	if want.Escrow.Token == k.chain.Info().Native.Address {
		return // alterations are those of a token's transactions
	}
	last := len(built.Txs) - 1
	for what, alter := range k.facts.Alterations {
		bad := slices.Clone(built.Txs)
		bad[last] = alter(k.T, bad[last])
		r, err := reader.ReadPlan(chains.PlanText{Txs: bad, Signer: by.Address(), About: &want.Escrow})
		if err == nil && same(r) && (r.Authorized || want.Kind != chains.StepInit) {
			k.Errorf("%s with %s is read as the same", name, what)
		}
	}
}
