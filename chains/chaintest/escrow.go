package chaintest

import (
	"math/big"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/fault"
)

// checkOpened looks at the fact of an open escrow.
func (k *kit) checkOpened(e chains.Escrow, opening []chains.Signed) {
	k.Helper()
	f := k.state(e, chains.EscrowOpen)
	if f.InitTx != opening[len(opening)-1].ID || f.ClaimTx != "" || f.RefundTx != "" || f.Opened.Height == 0 || f.Opened.Hash == "" || f.Opened.Time == 0 || f.Finished.Height != 0 {
		k.Errorf("open escrow: %+v", f)
	}
}

func testPayIn(k *kit) {
	native := k.chain.Info().Native.Address
	for i, token := range []string{native, k.facts.Token} {
		s := secret(int64(10 + i))
		e := k.expect(k.payIn(lock(s), token))
		if f := k.state(e, chains.EscrowNone); f.Final || f.InitTx != "" || f.Opened.Height != 0 {
			k.Errorf("before: %+v", f)
		}
		wallet, vault := k.balance(k.user.Address(), token), k.liquidity(token)
		k.buildRefused(k.lp, chains.Step{Kind: chains.StepClaimSecret, Escrow: e, Preimage: s}, "a claim before the opening, which would show the secret,")
		opening := k.open(e)
		k.checkOpened(e, opening)
		if paid := wallet.Sub(wallet, k.balance(k.user.Address(), token)); paid.Cmp(e.Amount) < 0 || token != native && paid.Cmp(e.Amount) != 0 {
			k.Errorf("%s: the user paid %s of %s", token, paid, e.Amount)
		}
		k.buildRefused(k.user, chains.Step{Kind: chains.StepRefund, Escrow: e}, "a refund before the expiry")
		k.reopenRefused(e)
		k.buildRefused(k.lp, chains.Step{Kind: chains.StepClaimSecret, Escrow: e, Preimage: secret(999)}, "a claim by another secret")
		claim := k.run(k.lp, chains.Plan{SwapID: "claim", Steps: []chains.Step{{Kind: chains.StepClaimSecret, Escrow: e, Preimage: s}}})
		f := k.state(e, chains.EscrowClaimed)
		if f.InitTx != opening[len(opening)-1].ID || f.ClaimTx != claim[len(claim)-1].ID || string(f.Result) != string(s[:]) || f.Finished.Height < f.Opened.Height || f.Finished.Time == 0 {
			k.Errorf("claimed escrow: %+v", f)
		}
		if got := k.liquidity(token); got.Sub(got, vault).Cmp(e.Amount) != 0 {
			k.Errorf("%s: the LP got %s of %s", token, got, e.Amount)
		}
		k.final(e)
		k.reopenRefused(e)
	}
}

// reopenRefused tries to open an escrow a second time: a hash is used once.
func (k *kit) reopenRefused(e chains.Escrow) {
	k.Helper()
	auth, _ := k.authorize(e)
	k.buildRefused(k.user, chains.Step{Kind: chains.StepInit, Escrow: e, Auth: auth}, "a second opening")
}

// final mines until the escrow's end is final.
func (k *kit) final(e chains.Escrow) {
	k.Helper()
	k.eventually("the escrow to be final", func() bool {
		f := k.fact(chains.EscrowQuery{Escrow: &e, Settled: true})
		if !f.Final {
			k.net.Mine(k.T, 1)
		}
		return f.Final
	})
}

func (k *kit) buildRefused(by Account, step chains.Step, what string) {
	k.Helper()
	if _, err := k.k.Build(k.Context(), chains.Plan{SwapID: "no", Signer: by.Address(), Steps: []chains.Step{step}}); err == nil {
		k.Errorf("%s is built", what)
	}
}

func testPayOut(k *kit) {
	for i, token := range []string{k.chain.Info().Native.Address, k.facts.Token} {
		s := secret(int64(20 + i))
		e := k.expect(k.payOut(lock(s), token))
		vault := k.liquidity(token)
		opening := k.open(e)
		k.checkOpened(e, opening)
		if got := k.liquidity(token); vault.Sub(vault, got).Cmp(e.Amount) != 0 {
			k.Errorf("%s: %s of %s were taken from the LP", token, vault, e.Amount)
		}
		before := k.balance(k.user.Address(), token)
		k.run(k.user, chains.Plan{SwapID: "claim", Steps: []chains.Step{{Kind: chains.StepClaimSecret, Escrow: e, Preimage: s}}})
		if f := k.state(e, chains.EscrowClaimed); string(f.Result) != string(s[:]) {
			k.Errorf("claimed escrow: %+v", f)
		}
		got := k.balance(k.user.Address(), token)
		if token == k.facts.Token && got.Sub(got, before).Cmp(e.Amount) != 0 {
			k.Errorf("the user got %s of %s", got, e.Amount)
		}
	}
	// Opening and claiming in one plan, as "Settle manually" hands them out.
	s := secret(29)
	e := k.expect(k.payOut(lock(s), k.facts.Token))
	auth, rate := k.authorize(e)
	txs := k.run(k.user, chains.Plan{SwapID: "both", FeeRate: rate, Steps: []chains.Step{
		{Kind: chains.StepInit, Escrow: e, Auth: auth}, {Kind: chains.StepClaimSecret, Escrow: e, Preimage: s},
	}})
	if txs[0].Reveals || txs[0].Step != 0 || txs[len(txs)-1].Step != 1 {
		k.Errorf("steps of the plan: %+v", txs)
	}
	k.state(e, chains.EscrowClaimed)
	k.buildRefused(k.net.Account(k.T), chains.Step{Kind: chains.StepInit, Escrow: k.expect(k.payOut(lock(s), k.facts.Token)), Auth: auth}, "an opening by a stranger")
}

// testLPInit lets the LP open towards a user who has signed nothing, and a
// watchtower claim for him: he gets the amount and the gas drop.
func testLPInit(k *kit) {
	for _, v := range k.chain.Info().Versions {
		if v.Name == k.k.Version() && !v.LPInit {
			k.Skip("an LP cannot open alone")
		}
	}
	native := k.chain.Info().Native.Address
	s := secret(30)
	spec := k.payOut(lock(s), k.facts.Token)
	spec.Sequence = new(big.Int)
	e := k.expect(spec)
	opening := k.run(k.lp, chains.Plan{SwapID: "lp", Steps: []chains.Step{{Kind: chains.StepInit, Escrow: e, Auth: chains.Auth{Timeout: k.net.Time().Add(time.Hour).Unix()}}}})
	k.checkOpened(e, opening)
	tower := k.net.Account(k.T)
	coins, tokens, bounty := k.balance(k.user.Address(), native), k.balance(k.user.Address(), k.facts.Token), k.balance(tower.Address(), native)
	k.run(tower, chains.Plan{SwapID: "tower", Steps: []chains.Step{{Kind: chains.StepClaimSecret, Escrow: e, Preimage: s}}})
	drop := new(big.Int).Sub(spec.SecurityDeposit, spec.ClaimerBounty)
	if got := k.balance(k.user.Address(), native); got.Sub(got, coins).Cmp(drop) != 0 {
		k.Errorf("gas drop of %s, want %s", got, drop)
	}
	if got := k.balance(k.user.Address(), k.facts.Token); got.Sub(got, tokens).Cmp(spec.Amount) != 0 {
		k.Errorf("payout of %s, want %s", got, spec.Amount)
	}
	if got := k.balance(tower.Address(), native); !k.facts.GasPayers && got.Sub(got, bounty).Cmp(spec.ClaimerBounty) != 0 {
		k.Errorf("bounty of %s, want %s", got, spec.ClaimerBounty)
	}
}

func testRefund(k *kit) {
	for _, token := range []string{k.chain.Info().Native.Address, k.facts.Token} {
		e := k.expect(k.payIn(lock(secret(40)), token))
		opening := k.open(e)
		k.checkOpened(e, opening)
		after := k.balance(k.user.Address(), token)
		k.net.Advance(k.T, time.Unix(e.Expiry, 0).Sub(k.net.Time())-chains.ClaimGrace+time.Minute)
		k.buildRefused(k.lp, chains.Step{Kind: chains.StepClaimSecret, Escrow: e, Preimage: secret(40)}, "a claim too shortly before the expiry")
		if _, err := k.k.Build(k.Context(), chains.Plan{SwapID: "late", Signer: k.lp.Address(), Steps: []chains.Step{{Kind: chains.StepClaimSecret, Escrow: e, Preimage: secret(40), Public: true}}}); err != nil {
			k.Errorf("a late claim by a secret that is public is not built: %v", err)
		}
		k.net.Advance(k.T, time.Unix(e.Expiry, 0).Sub(k.net.Time())+chains.RefundGrace+time.Minute)
		refund := k.run(k.user, chains.Plan{SwapID: "refund", Steps: []chains.Step{{Kind: chains.StepRefund, Escrow: e}}})
		f := k.state(e, chains.EscrowRefunded)
		if f.RefundTx != refund[len(refund)-1].ID || f.ClaimTx != "" || f.InitTx == "" || len(f.Result) != 0 || f.Finished.Time == 0 {
			k.Errorf("refunded escrow: %+v", f)
		}
		if got := k.balance(k.user.Address(), token); token == k.facts.Token && got.Sub(got, after).Cmp(e.Amount) != 0 {
			k.Errorf("%s came back of %s", got, e.Amount)
		}
	}
}

func testRefundAuth(k *kit) {
	e := k.expect(k.payIn(lock(secret(50)), k.facts.Token))
	k.open(e)
	after := k.balance(k.user.Address(), k.facts.Token)
	auth := k.lp.AuthorizeRefund(k.T, e, k.net.Time().Add(10*time.Minute))
	k.must(k.k.VerifyRefund(k.Context(), e, auth))
	refund := k.run(k.user, chains.Plan{SwapID: "refund", Steps: []chains.Step{{Kind: chains.StepRefundAuth, Escrow: e, Auth: auth}}})
	if f := k.state(e, chains.EscrowRefunded); f.RefundTx != refund[len(refund)-1].ID {
		k.Errorf("refunded escrow: %+v", f)
	}
	if got := k.balance(k.user.Address(), k.facts.Token); got.Sub(got, after).Cmp(e.Amount) != 0 {
		k.Errorf("%s came back of %s", got, e.Amount)
	}
	k.reopenRefused(e)
	unsigned := auth
	unsigned.Signature = ""
	k.buildRefused(k.user, chains.Step{Kind: chains.StepRefundAuth, Escrow: e, Auth: unsigned}, "a refund without signature")
	_, err := k.k.Build(k.Context(), chains.Plan{Signer: "invalid", Steps: []chains.Step{{Kind: chains.StepRefundAuth, Escrow: e, Auth: auth}}})
	if fault.CodeOf(err) != fault.InvalidInput {
		k.Errorf("a plan for an invalid signer: %v", err)
	}
	for _, kind := range []chains.StepKind{chains.StepVaultClaim, chains.StepClaimBitcoin, 99} {
		k.buildRefused(k.user, chains.Step{Kind: kind, Escrow: e}, "a step of kind "+kind.String()+" without its data")
		if _, err := k.k.Check(chains.Plan{Signer: k.user.Address(), Steps: []chains.Step{{Kind: kind}}}, nil); err == nil {
			k.Errorf("an empty step of kind %d passes", kind)
		}
	}
}
