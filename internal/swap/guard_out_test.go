package swap

import (
	"testing"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/lp"
)

// outPass is a pass over a swap to Bitcoin or Lightning in a state, whose escrow
// stands like that. It expires in an hour, the quote in ten minutes.
func outPass(state int, f chains.EscrowFact) func() Decision {
	return func() Decision {
		r := &Record{
			Head:   Head{Type: ToBTCLN, State: state, Signer: "me", LP: LP{URL: "https://lp"}, Expiry: ago(-10 * time.Minute), CreatedAt: ago(time.Minute)},
			Escrow: &EscrowPart{Real: &chains.Escrow{Hash: []byte{1}, ClaimHash: []byte{2}, Expiry: noon.Add(time.Hour).Unix()}, Init: &chains.Auth{}}, Lightning: &LightningPart{Hash: "aa"},
		}
		if f.Head.Height == 0 {
			f.Head = chains.Block{Height: 100, Time: noon.Unix()}
		}
		return Decision{R: r, Obs: &Observation{Escrow: known(f)}, Now: noon}
	}
}

func submits(pass func() Decision, sub Submit) func() Decision {
	return func() Decision {
		in := pass()
		in.Input = sub
		return in
	}
}

func otherAction(in *Decision) {
	sub := in.Input.(Submit)
	sub.Action = "other"
	in.Input = sub
}

func TestOutgoingRows(t *testing.T) {
	auth := &chains.Auth{Timeout: noon.Add(time.Hour).Unix()}
	refund := func() Decision {
		in := outPass(OutCommitted, chains.EscrowFact{State: chains.EscrowOpen})()
		in.Obs.LP, in.Obs.Refund = known(lp.Status{Code: lp.CodeRefund, Auth: auth}), known(struct{}{})
		return in
	}
	late := func(in *Decision) {
		in.Now = time.Unix(in.R.Escrow.Real.Expiry, 0).Add(chains.RefundGrace + time.Second)
	}
	checkRows(t, newToBTCLN(), []row{
		{why: "the provider authorized the refund", pass: refund, without: changes{
			"the authorisation was not verified": func(in *Decision) { in.Obs.Refund = Fact[struct{}]{} },
			"the authorisation does not verify":  func(in *Decision) { in.Obs.Refund = failed(struct{}{}) },
			"the provider did not answer":        func(in *Decision) { in.Obs.LP = failed(in.Obs.LP.Value) },
			"there is no authorisation":          func(in *Decision) { in.Obs.LP = known(lp.Status{}) },
		}},
		{why: "the provider has proven its payment", pass: func() Decision {
			in := outPass(OutCommitted, chains.EscrowFact{State: chains.EscrowOpen})()
			in.Obs.Payout = known(PayoutFact{Proven: true})
			return in
		}, without: changes{
			"it is not proven":        func(in *Decision) { in.Obs.Payout = known(PayoutFact{}) },
			"the proof is not looked": func(in *Decision) { in.Obs.Payout = failed(PayoutFact{Proven: true}) },
		}},
		{why: "the authorization expired and the escrow was never opened", pass: outPass(OutSoftExpired, chains.EscrowFact{Auth: chains.AuthOver}), without: changes{
			"a transaction under way may be accepted": func(in *Decision) { in.Obs.Escrow.Value.Auth = chains.AuthLate },
			"the chain does not answer":               func(in *Decision) { in.Obs.Escrow = failed(in.Obs.Escrow.Value) },
			"what the user signed is under way":       busyWith(ActionInit),
			"the escrow was seen, and may come back":  func(in *Decision) { in.R.Escrow.InitTx = "0x1" },
			"the clock has not passed the time to rest": func(in *Decision) {
				in.R.Escrow.InitTx, in.Now = "0x1", time.Unix(in.R.Escrow.Real.Expiry, 0).Add(restAfter)
			},
		}, with: changes{
			"the clock has passed the time to rest": func(in *Decision) {
				in.R.Escrow.InitTx, in.Now = "0x1", time.Unix(in.R.Escrow.Real.Expiry, 0).Add(restAfter+time.Second)
			},
			"the escrow's time is up by both clocks": func(in *Decision) {
				in.Obs.Escrow.Value.Auth = chains.AuthUnknown
				late(in)
				in.Obs.Escrow.Value.Head.Time = in.Now.Unix()
			},
			"the chain does not tell its time": func(in *Decision) {
				in.Obs.Escrow.Value.Auth = chains.AuthUnknown
				late(in)
				in.Obs.Escrow.Value.Head.Time = 0
			},
		}},
		{why: "the quote expired", pass: func() Decision {
			in := outPass(OutCreated, chains.EscrowFact{Auth: chains.AuthLate})()
			in.Now = noon.Add(time.Hour)
			return in
		}, without: changes{
			"its time has not come":           func(in *Decision) { in.Now = noon },
			"the authorisation is still good": func(in *Decision) { in.Obs.Escrow.Value.Auth = chains.AuthGood },
		}, with: changes{"the chain does not answer": func(in *Decision) { in.Obs.Escrow = failed(chains.EscrowFact{Auth: chains.AuthGood}) }}},
		{why: "the escrow has expired", pass: func() Decision {
			in := outPass(OutCommitted, chains.EscrowFact{State: chains.EscrowOpen})()
			late(&in)
			in.Obs.Escrow.Value.Head.Time = in.Now.Unix()
			return in
		}, without: changes{
			"its time is not up by the chain's clock": func(in *Decision) { in.Obs.Escrow.Value.Head.Time = noon.Unix() },
			"its time is not up by our clock":         func(in *Decision) { in.Now = noon },
			"the last second of the grace runs":       func(in *Decision) { in.Now = in.Now.Add(-time.Second) },
		}, with: changes{"the chain does not answer": func(in *Decision) { in.Obs.Escrow = failed(chains.EscrowFact{}) }}},
		{why: "the user signed", pass: submits(outPass(OutCreated, chains.EscrowFact{Auth: chains.AuthGood}), signed(ActionInit)), without: changes{
			"it is for another action":          otherAction,
			"what the user signed is under way": busyWith(ActionInit),
			"another swap pays for the same":    rivalPays,
			"the chain does not answer":         func(in *Decision) { in.Obs.Escrow = failed(in.Obs.Escrow.Value) },
			"the authorisation is too old":      func(in *Decision) { in.Obs.Escrow.Value.Auth = chains.AuthLate },
		}},
		{why: "the user signed the refund", pass: submits(outPass(OutRefundable, chains.EscrowFact{State: chains.EscrowOpen}), signed(ActionRefund)), without: changes{
			"it is for another action":          otherAction,
			"what the user signed is under way": busyWith(ActionRefund),
		}},
	})
}

// TestEscrowEndsAreTakenBackByNodesThatKnow lets only a node that has reached the
// block of an end contradict it.
func TestEscrowEndsAreTakenBackByNodesThatKnow(t *testing.T) {
	seen := func(state int, f chains.EscrowFact) func() Decision {
		return func() Decision {
			in := outPass(state, f)()
			in.R.Seen = Seen{Chain: 100, At: ago(time.Minute)}
			return in
		}
	}
	behind := changes{
		"the node is behind what was seen":     func(in *Decision) { in.R.Seen.Chain = 101 },
		"it is not known when it was seen":     func(in *Decision) { in.R.Seen = Seen{Chain: 101} },
		"it is not known what was seen":        func(in *Decision) { in.R.Seen = Seen{} },
		"the chain does not answer":            func(in *Decision) { in.Obs.Escrow = failed(in.Obs.Escrow.Value) },
		"its head is no younger than what was": func(in *Decision) { in.R.Seen = Seen{Chain: 101, At: ago(lagMost)} },
	}
	young := changes{"its head is younger by enough": func(in *Decision) { in.R.Seen = Seen{Chain: 101, At: ago(lagMost + time.Second)} }}
	checkRows(t, newToBTC(), []row{
		{why: "the escrow was claimed, not refunded", pass: seen(OutRefunded, chains.EscrowFact{State: chains.EscrowClaimed}), without: behind, with: young},
		{why: "the escrow was refunded, not claimed", pass: seen(OutClaimed, chains.EscrowFact{State: chains.EscrowRefunded}), without: behind, with: young},
		{why: "a reorganisation opened the escrow again", pass: seen(OutClaimed, chains.EscrowFact{State: chains.EscrowOpen}), without: behind, with: young},
		{why: "a reorganisation removed the escrow", pass: seen(OutClaimed, chains.EscrowFact{}), without: behind, with: young},
		{why: "a reorganisation removed the escrow", pass: seen(OutCommitted, chains.EscrowFact{}), without: behind, with: young},
	})
}

func TestOutgoingAsksAndShows(t *testing.T) {
	f := newToBTCLN()
	t.Run("a late opening", func(t *testing.T) {
		needs(t, outPass(OutSoftExpired, chains.EscrowFact{Auth: chains.AuthGood}), func(in Decision) bool { return f.View(in).Late != nil }, changes{
			"the chain does not answer":         func(in *Decision) { in.Obs.Escrow = failed(in.Obs.Escrow.Value) },
			"the authorisation is too old":      func(in *Decision) { in.Obs.Escrow.Value.Auth = chains.AuthLate },
			"there is no authorisation":         func(in *Decision) { in.R.Escrow.Init = nil },
			"what the user signed is under way": busyWith(ActionInit),
			"another swap pays for the same":    rivalPays,
		})
	})
	t.Run("an opening", func(t *testing.T) {
		needs(t, outPass(OutCreated, chains.EscrowFact{Auth: chains.AuthGood}), func(in Decision) bool { return f.View(in).Action != nil }, changes{
			"the authorisation is too old":      func(in *Decision) { in.Obs.Escrow.Value.Auth = chains.AuthLate },
			"the quote has ended":               func(in *Decision) { in.Obs.Escrow, in.Now = failed(chains.EscrowFact{}), noon.Add(time.Hour) },
			"there is no authorisation":         func(in *Decision) { in.R.Escrow.Init = nil },
			"what the user signed is under way": busyWith(ActionInit),
			"another swap pays for the same":    rivalPays,
		})
	})
	refundable := func() Decision {
		in := outPass(OutRefundable, chains.EscrowFact{State: chains.EscrowOpen})()
		in.R.Escrow.Refund = &chains.Auth{Timeout: noon.Add(chains.AuthGrace).Unix()}
		return in
	}
	refund := func(in Decision) bool { a, ok := f.View(in).Action.(*Sign); return ok && a.For == ActionRefund }
	t.Run("a refund", func(t *testing.T) {
		needs(t, refundable, refund, changes{
			"there is no authorisation":         func(in *Decision) { in.R.Escrow.Refund = nil },
			"there is no time to send it":       func(in *Decision) { in.R.Escrow.Refund.Timeout-- },
			"what the user signed is under way": busyWith(ActionRefund),
			"nothing is known of what was signed": func(in *Decision) {
				busyWith(ActionRefund)(in)
				in.R.Submission.Since, in.Obs.Escrow = ago(time.Hour), failed(chains.EscrowFact{})
			},
		})
		for name, change := range (changes{
			"without an authorisation": func(in *Decision) { in.R.Escrow.Refund = nil },
			"blind": func(in *Decision) {
				busyWith(ActionRefund)(in)
				in.R.Submission.Since, in.Obs.Escrow = ago(time.Hour), failed(chains.EscrowFact{})
			},
		}) {
			in := refundable()
			change(&in)
			if v := f.View(in); v.Blocked == nil || v.Action == nil {
				t.Errorf("%s: %v and %+v, want the reason and to wait", name, v.Blocked, v.Action)
			}
		}
	})
	t.Run("asking for an authorisation", func(t *testing.T) {
		asksLP := func(in Decision) bool { return f.Ask(in).LP != nil }
		needs(t, func() Decision { in := refundable(); in.R.Escrow.Refund = nil; return in }, asksLP, changes{
			"one is at hand":               func(in *Decision) { in.R.Escrow.Refund = refundable().R.Escrow.Refund },
			"the provider is not known":    func(in *Decision) { in.R.LP = LP{} },
			"time alone allows the refund": func(in *Decision) { in.Now = in.Now.Add(2 * time.Hour); in.Obs.Escrow.Value.Head.Time = in.Now.Unix() },
			"the swap rests":               func(in *Decision) { in.R.Settled = true },
			"the escrow is not known":      func(in *Decision) { in.R.Escrow.Real = nil },
			"there is no escrow":           func(in *Decision) { in.R.Escrow = nil },
		})
		asksRefund := func(in Decision) bool { return f.Ask(in).Refund != nil }
		needs(t, func() Decision {
			in := refundable()
			in.Obs.LP = known(lp.Status{Code: lp.CodeRefund, Auth: &chains.Auth{}})
			return in
		}, asksRefund, changes{
			"the provider sent none":      func(in *Decision) { in.Obs.LP.Value.Auth = nil },
			"the provider says otherwise": func(in *Decision) { in.Obs.LP.Value.Code = lp.CodeProcessing },
			"the provider did not answer": func(in *Decision) { in.Obs.LP = failed(in.Obs.LP.Value) },
		})
	})
	t.Run("a new authorisation", func(t *testing.T) {
		fresh := &chains.Auth{Timeout: noon.Add(time.Hour).Unix()}
		needs(t, func() Decision {
			in := refundable()
			in.Obs.LP, in.Obs.Refund = known(lp.Status{Code: lp.CodeRefund, Auth: fresh}), known(struct{}{})
			return in
		}, func(in Decision) bool { next, _ := f.Step(in); return next.Escrow.Refund == fresh }, changes{
			"it does not verify":          func(in *Decision) { in.Obs.Refund = failed(struct{}{}) },
			"the provider did not answer": func(in *Decision) { in.Obs.LP = failed(in.Obs.LP.Value) },
			"the swap is over":            func(in *Decision) { in.R.State = OutClaimed },
		})
	})
}
