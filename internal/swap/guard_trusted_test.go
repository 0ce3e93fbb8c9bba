package swap

import (
	"math/big"
	"testing"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/lp"
)

// trustedBTCPass is a pass over gas for bitcoin in a state. The quote ends in ten minutes;
// 100 base units are agreed for 50 sats.
func trustedBTCPass(state int) func() Decision {
	return func() Decision {
		r := &Record{
			Head:    Head{Type: TrustedFromBTC, State: state, LP: LP{URL: "https://lp"}, Expiry: ago(-10 * time.Minute), CreatedAt: ago(time.Minute)},
			Bitcoin: &BitcoinPart{Address: "bc1q", Sats: 50, Confirmations: 1},
			Gas:     &GasPart{Hash: "aa", Sequence: big.NewInt(1), Total: big.NewInt(100)},
		}
		r.Terms.Output.Raw = big.NewInt(100)
		return Decision{R: r, Obs: &Observation{}, Now: noon}
	}
}

func trustedLNPass(state int) func() Decision {
	return func() Decision {
		r := &Record{Head: Head{Type: TrustedFromBTCLN, State: state, LP: LP{URL: "https://lp"}, Expiry: ago(-10 * time.Minute), CreatedAt: ago(time.Minute)}, Lightning: &LightningPart{Hash: "aa", Invoice: "lnbc1"}}
		r.Terms.Output.Raw = big.NewInt(100)
		return Decision{R: r, Obs: &Observation{}, Now: noon}
	}
}

func says(code int) func(*Decision) {
	return func(in *Decision) { in.Obs.LP = known(lp.Status{Code: code}) }
}

func receives(txs ...*bitcoin.Tx) func(*Decision) {
	return func(in *Decision) { in.Obs.Received = known(txs) }
}

func all(cs ...func(*Decision)) func(*Decision) {
	return func(in *Decision) {
		for _, c := range cs {
			c(in)
		}
	}
}

func payout(state chains.TxState, paid *big.Int) func(*Decision) {
	return func(in *Decision) {
		in.Obs.GasTx = known(GasFact{Status: chains.TxStatus{State: state, Final: true}, Paid: paid})
	}
}

func lpSilent(in *Decision) { in.Obs.LP = failed(in.Obs.LP.Value) }

// shortPayouts are payouts that must not count.
var shortPayouts = changes{
	"the chain shows less":          payout(chains.TxConfirmed, big.NewInt(99)),
	"the chain shows nothing to us": payout(chains.TxConfirmed, new(big.Int)),
	"it waits":                      payout(chains.TxPending, big.NewInt(100)),
	"it was reverted":               payout(chains.TxReverted, big.NewInt(100)),
	"the chain does not answer":     func(in *Decision) { in.Obs.GasTx = failed(in.Obs.GasTx.Value) },
	"the provider did not answer":   lpSilent,
	"the provider says only that":   says(lp.CodeGasSent),
}

func TestTrustedBTCRows(t *testing.T) {
	one := &bitcoin.Tx{ID: bitcoin.Hash{9}}
	refunded := func(confirmations uint32, sats int64) func(*Decision) {
		return func(in *Decision) { in.Obs.Refunded = known(RefundedFact{Confirmations: confirmations, Sats: sats}) }
	}
	passed := func(in *Decision) { in.Now = in.R.Expiry.Time().Add(time.Millisecond) }
	under := func(in *Decision) {
		in.R.Submission = &Submission{PSBT: bitcoin.Hash{9}, Since: At(in.Now)}
		in.R.Tried = map[string]Try{string(Broadcast): {Outcome: Done}}
	}
	arrived := all(says(lp.CodeDone), payout(chains.TxConfirmed, big.NewInt(100)))
	checkRows(t, newTrustedFromBTC(), []row{
		{why: "the tokens were sent, and the chain shows it", pass: passOf(trustedBTCPass(TrustedBTCCreated), arrived), without: shortPayouts, with: changes{
			"the chain cannot tell how much": payout(chains.TxConfirmed, nil),
		}},
		{why: "the tokens were sent, and the chain shows it", pass: passOf(trustedBTCPass(TrustedBTCExpired), all(arrived, receives(one))), without: changes{"nobody paid": receives()}},
		{why: "a reorganisation undid the payout", pass: passOf(trustedBTCPass(TrustedBTCFinished), payout(chains.TxPending, nil)), without: changes{
			"it is there": payout(chains.TxConfirmed, nil), "the chain does not answer": func(in *Decision) { in.Obs.GasTx = failed(in.Obs.GasTx.Value) },
		}},
		{why: "the payment was sent back, and Bitcoin shows it", pass: passOf(trustedBTCPass(TrustedBTCRefundable), all(says(lp.CodeGasRefunded), refunded(1, 1))), without: changes{
			"it waits": refunded(0, 1), "nothing came back": refunded(1, 0), "the provider did not answer": lpSilent,
			"Bitcoin does not answer": func(in *Decision) { in.Obs.Refunded = failed(in.Obs.Refunded.Value) }, "the provider says otherwise": says(lp.CodeGasRefundable),
		}},
		{why: "a reorganisation undid the refund", pass: passOf(trustedBTCPass(TrustedBTCRefunded), refunded(0, 1)), without: changes{
			"it is there": refunded(1, 1), "Bitcoin does not answer": func(in *Decision) { in.Obs.Refunded = failed(in.Obs.Refunded.Value) },
		}, with: changes{"nothing came back": refunded(1, 0)}},
		{why: "the provider cannot use the payment", pass: passOf(trustedBTCPass(TrustedBTCFailed), all(says(lp.CodeGasRefundable), receives(one))), without: changes{"nobody paid": receives()}},
		{why: "the provider has a payment after all", pass: passOf(trustedBTCPass(TrustedBTCFailed), all(says(lp.CodeGasReceived), receives(one))), without: changes{"nobody paid": receives(), "the provider did not answer": lpSilent}},
		{why: "the provider reports the paid swap as expired", pass: passOf(trustedBTCPass(TrustedBTCCreated), all(says(lp.CodeExpired), receives(one))), without: changes{"nobody paid": receives(), "the provider did not answer": lpSilent}},
		{why: "the quote expired unpaid", pass: passOf(trustedBTCPass(TrustedBTCCreated), all(says(lp.CodeExpired), receives(), passed)), without: changes{
			"it is the last moment": func(in *Decision) { in.Now = in.R.Expiry.Time() }, "somebody paid": receives(one), "Bitcoin does not answer": func(in *Decision) { in.Obs.Received = failed[[]*bitcoin.Tx](nil) },
			"a payment is under way": under, "the provider says otherwise": says(lp.CodeGasUnpaid), "the provider did not answer": lpSilent,
		}},
		{why: "the quote expired long ago without a payment, and the provider is not responding", pass: passOf(trustedBTCPass(TrustedBTCCreated), all(lpSilent, receives(), func(in *Decision) { in.Now = in.R.Expiry.Time().Add(trustedBTCSilence + time.Millisecond) })), without: changes{
			"it is the last moment": func(in *Decision) { in.Now = in.R.Expiry.Time().Add(trustedBTCSilence) }, "somebody paid": receives(one), "Bitcoin does not answer": func(in *Decision) { in.Obs.Received = failed[[]*bitcoin.Tx](nil) },
			"a payment is under way": all(under, func(in *Decision) { in.R.Submission.PSBT = bitcoin.Hash{} }), "the provider answers": says(lp.CodeGasUnpaid),
		}},
		{why: "the provider reports no payment, and none is found", pass: passOf(trustedBTCPass(TrustedBTCRefundable), all(says(lp.CodeExpired), receives())), without: changes{
			"somebody paid": receives(one), "Bitcoin does not answer": func(in *Decision) { in.Obs.Received = failed[[]*bitcoin.Tx](nil) }, "the provider did not answer": lpSilent,
		}},
		{why: "the provider has the payment and has not responded for two weeks", pass: passOf(trustedBTCPass(TrustedBTCCreated), all(lpSilent, receives(one), func(in *Decision) { in.R.CreatedAt = ago(trustedBTCRest + time.Millisecond) })), without: changes{
			"the time is not over": func(in *Decision) { in.R.CreatedAt = ago(trustedBTCRest) }, "nobody paid": receives(), "the provider answers": says(lp.CodeGasReceived),
		}, with: changes{"the provider once had it": all(receives(), func(in *Decision) { in.R.State = TrustedBTCRefundable })}},
		{why: "the user signed the payment", pass: submits(trustedBTCPass(TrustedBTCCreated), Submit{Action: ActionFund, PSBT: psbtOf()}), without: changes{
			"it is for another action": otherAction, "there is no transaction": func(in *Decision) { in.Input = Submit{Action: ActionFund} }, "somebody paid": receives(one),
			"a payment was seen": func(in *Decision) { in.R.Bitcoin.TxID = bitcoin.Hash{1} }, "a payment is under way": under, "the quote has ended": func(in *Decision) { in.Now = in.R.Expiry.Time() },
		}},
		{why: "the user gave a refund address", pass: passOf(trustedBTCPass(TrustedBTCRefundable), func(in *Decision) { in.Input = RefundTo{"bc1q"} }), without: changes{
			"another place is set": func(in *Decision) { in.R.Gas.RefundTo = "bc1p" },
		}, with: changes{"it is set": func(in *Decision) { in.R.Gas.RefundTo = "bc1q" }}},
	})
}

func TestTrustedLightningRows(t *testing.T) {
	arrived := all(says(lp.CodeDone), payout(chains.TxConfirmed, big.NewInt(100)))
	checkRows(t, newTrustedFromBTCLN(), []row{
		{why: "the tokens were sent, and the chain shows it", pass: passOf(trustedLNPass(TrustedLNPaid), arrived), without: shortPayouts, with: changes{"the chain cannot tell how much": payout(chains.TxConfirmed, nil)}},
		{why: "the provider still waits for the payment", pass: passOf(trustedLNPass(TrustedLNFailed), says(lp.CodeGasUnpaid)), without: changes{
			"the quote has ended": func(in *Decision) { in.Now = in.R.Expiry.Time().Add(time.Millisecond) }, "the provider says otherwise": says(lp.CodeExpired), "the provider did not answer": lpSilent,
		}, with: changes{"it is the last moment": func(in *Decision) { in.Now = in.R.Expiry.Time() }}},
		{why: "the invoice expired unpaid", pass: passOf(trustedLNPass(TrustedLNCreated), all(says(lp.CodeExpired), func(in *Decision) { in.Now = in.R.Expiry.Time().Add(time.Millisecond) })), without: changes{
			"it is the last moment": func(in *Decision) { in.Now = in.R.Expiry.Time() }, "the provider says otherwise": says(lp.CodeGasUnpaid), "the provider did not answer": lpSilent,
		}},
		{why: "no payment can arrive any more, and the provider is not responding", pass: passOf(trustedLNPass(TrustedLNCreated), all(lpSilent, func(in *Decision) { in.Now = in.R.Expiry.Time().Add(trustedBTCSilence + time.Millisecond) })), without: changes{
			"it is the last moment": func(in *Decision) { in.Now = in.R.Expiry.Time().Add(trustedBTCSilence) }, "the invoice still holds": func(in *Decision) { in.R.Lightning.EndsAt = At(in.Now) }, "the provider answers": says(lp.CodeGasUnpaid),
		}, with: changes{"the invoice ended": func(in *Decision) { in.R.Lightning.EndsAt, in.Now = ago(time.Millisecond), noon }}},
		{why: "the provider has the payment and has not responded for two weeks", pass: passOf(trustedLNPass(TrustedLNPaid), all(lpSilent, func(in *Decision) { in.R.CreatedAt = ago(trustedLNRest + time.Millisecond) })), without: changes{
			"the time is not over": func(in *Decision) { in.R.CreatedAt = ago(trustedLNRest) }, "the provider answers": says(lp.CodeGasReceived),
		}},
	})
}

// TestTrustedLooksUntilItIsSure names when a trusted swap is not looked at any more,
// and what is asked meanwhile.
func TestTrustedLooksUntilItIsSure(t *testing.T) {
	coin, gas := newTrustedFromBTC(), newTrustedFromBTCLN()
	rests := func(f *Flow) func(Decision) bool {
		return func(in Decision) bool { next, _ := f.Step(in); return next.Settled }
	}
	final := func(pass func() Decision) func() Decision {
		return passOf(pass, all(payout(chains.TxConfirmed, nil), func(in *Decision) { in.R.Ended = ago(settleAfter) }))
	}
	unsure := changes{
		"it is not final":           func(in *Decision) { in.Obs.GasTx.Value.Status.Final = false },
		"it waits":                  payout(chains.TxPending, nil),
		"the chain does not answer": func(in *Decision) { in.Obs.GasTx = failed(in.Obs.GasTx.Value) },
		"it was seen just now":      func(in *Decision) { in.R.Ended = ago(settleAfter - time.Millisecond) },
		"it is the first answer":    func(in *Decision) { in.R.Ended = 0 },
	}
	needs(t, final(trustedBTCPass(TrustedBTCFinished)), rests(coin), unsure)
	needs(t, final(trustedLNPass(TrustedLNFinished)), rests(gas), unsure)
	needs(t, passOf(trustedBTCPass(TrustedBTCFailed), func(in *Decision) { in.R.CreatedAt = ago(trustedBTCRest + time.Millisecond) }), rests(coin), changes{
		"the time is not over": func(in *Decision) { in.R.CreatedAt = ago(trustedBTCRest) },
		"it failed later":      func(in *Decision) { in.R.Ended = ago(trustedBTCRest) },
		"it is still open":     func(in *Decision) { in.R.State = TrustedBTCRefundable },
	})
	needs(t, passOf(trustedLNPass(TrustedLNFailed), func(in *Decision) { in.R.Ended = ago(trustedLNRest + time.Millisecond) }), rests(gas), changes{
		"the time is not over":          func(in *Decision) { in.R.Ended = ago(trustedLNRest) },
		"it is not known when it ended": func(in *Decision) { in.R.Ended = 0 },
		"it is still open":              func(in *Decision) { in.R.State = TrustedLNPaid },
	})
	needs(t, passOf(trustedBTCPass(TrustedBTCRefunded), func(in *Decision) {
		in.Obs.Refunded, in.R.Ended = known(RefundedFact{Confirmations: trustedBTCRefundFinal, Sats: 1}), ago(settleAfter)
	}), rests(coin), changes{
		"a confirmation is missing": func(in *Decision) { in.Obs.Refunded.Value.Confirmations-- },
		"Bitcoin does not answer":   func(in *Decision) { in.Obs.Refunded = failed(in.Obs.Refunded.Value) },
	})
	asksPayout := func(f *Flow) func(Decision) bool { return func(in Decision) bool { return f.Ask(in).GasTx != nil } }
	for name, c := range map[string]struct {
		f    *Flow
		pass func() Decision
		none func(*Decision)
	}{
		"coin": {coin, passOf(trustedBTCPass(TrustedBTCCreated), func(in *Decision) { in.Obs.LP = known(lp.Status{Code: lp.CodeDone, PayoutTxID: "0x1"}) }), func(in *Decision) { in.Obs.LP.Value.PayoutTxID = "" }},
		"gas":  {gas, passOf(trustedLNPass(TrustedLNPaid), func(in *Decision) { in.Obs.LP = known(lp.Status{Code: lp.CodeDone, TxID: "0x1"}) }), func(in *Decision) { in.Obs.LP.Value.TxID = "" }},
	} {
		t.Run(name, func(t *testing.T) {
			needs(t, c.pass, asksPayout(c.f), changes{
				"the provider names none": c.none, "the provider did not answer": lpSilent, "the swap rests": func(in *Decision) { in.R.Settled = true },
				"that was done": payout(chains.TxPending, nil), "the provider says otherwise": func(in *Decision) { in.Obs.LP.Value.Code = lp.CodeGasReceived },
			})
		})
	}
	for name, c := range map[string]struct {
		f    *Flow
		pass func() Decision
	}{"coin": {coin, trustedBTCPass(TrustedBTCFinished)}, "gas": {gas, trustedLNPass(TrustedLNFinished)}} {
		t.Run(name+" finished", func(t *testing.T) {
			needs(t, passOf(c.pass, func(in *Decision) { in.R.PayoutTx = "0x1" }), asksPayout(c.f), changes{
				"none is known": func(in *Decision) { in.R.PayoutTx = "" }, "the swap rests": func(in *Decision) { in.R.Settled = true }, "that was done": payout(chains.TxPending, nil),
			})
		})
	}
}

// TestTrustedUnpaidAndShort names when a trusted quote counts as unpaid, and when the
// user hears that the provider pays less.
func TestTrustedUnpaidAndShort(t *testing.T) {
	coin, gas := newTrustedFromBTC(), newTrustedFromBTCLN()
	needs(t, trustedBTCPass(TrustedBTCCreated), func(in Decision) bool { return coin.IsUnpaid(in.R) }, changes{
		"it was paid":            func(in *Decision) { in.R.Gas.Paid = true },
		"a payment was seen":     func(in *Decision) { in.R.Bitcoin.TxID = bitcoin.Hash{1} },
		"a payment is under way": func(in *Decision) { in.R.Submission = &Submission{} },
		"the provider has it":    func(in *Decision) { in.R.State = TrustedBTCRefundable },
	})
	needs(t, trustedLNPass(TrustedLNCreated), func(in Decision) bool { return gas.IsUnpaid(in.R) }, changes{
		"the provider has it":         func(in *Decision) { in.R.State = TrustedLNPaid },
		"the provider names a payout": func(in *Decision) { in.R.PayoutTx = "0x1" },
	})
	less := passOf(trustedBTCPass(TrustedBTCCreated), func(in *Decision) {
		in.Obs.LP = known(lp.Status{Code: lp.CodeGasReceived, AdjustedAmount: big.NewInt(25), AdjustedTotal: big.NewInt(49)})
	})
	needs(t, less, func(in Decision) bool { next, _ := coin.Step(in); return next.Problem != "" }, changes{
		"it is what was agreed for each sat": func(in *Decision) { in.Obs.LP.Value.AdjustedTotal = big.NewInt(50) },
		"the provider does not say how much": func(in *Decision) { in.Obs.LP.Value.AdjustedTotal = nil },
		"the provider does not say for what": func(in *Decision) { in.Obs.LP.Value.AdjustedAmount = nil },
		"the provider did not answer":        lpSilent,
		"nothing was agreed":                 func(in *Decision) { in.R.Bitcoin.Sats = 0 },
	})
	for name, c := range map[string]struct {
		f    *Flow
		pass func() Decision
	}{"coin": {coin, trustedBTCPass(TrustedBTCCreated)}, "gas": {gas, trustedLNPass(TrustedLNPaid)}} {
		t.Run(name, func(t *testing.T) {
			needs(t, passOf(c.pass, payout(chains.TxConfirmed, big.NewInt(99))), func(in Decision) bool { return c.f.View(in).Blocked != nil }, changes{
				"it is paid in full":        payout(chains.TxConfirmed, big.NewInt(100)),
				"it waits":                  payout(chains.TxPending, big.NewInt(99)),
				"the chain does not answer": func(in *Decision) { in.Obs.GasTx = failed(in.Obs.GasTx.Value) },
			})
			allows(t, c.pass, func(in Decision) bool { return c.f.View(in).Blocked != nil }, changes{"it was reverted": payout(chains.TxReverted, nil)})
		})
	}
	refuses := func(try Try) func(*Decision) {
		return func(in *Decision) { in.R.Gas.RefundTo, in.R.Tried = "bc1q", map[string]Try{string(SetRefund): try} }
	}
	blocked := func(in Decision) bool { return coin.View(in).Blocked != nil }
	needs(t, trustedBTCPass(TrustedBTCRefundable), blocked, changes{"the place is set": refuses(Try{})})
	allows(t, trustedBTCPass(TrustedBTCRefundable), blocked, changes{"the provider does not take it": refuses(Try{Outcome: Refused})})
	needs(t, passOf(trustedBTCPass(TrustedBTCRefundable), refuses(Try{})), func(in Decision) bool { return len(coin.Effects(in)) == 1 }, changes{
		"the provider has it": refuses(Try{Outcome: Done}),
		"there is no place":   func(in *Decision) { in.R.Gas.RefundTo = "" },
		"nothing is refunded": func(in *Decision) { in.R.State = TrustedBTCCreated },
	})
}
