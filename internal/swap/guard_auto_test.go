package swap

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"testing"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/lp"
)

// autoPreimage and its hash are those of the passes of autoPass.
var autoPreimage = chains.Preimage{7}

// autoPass is a pass over a swap from Lightning in a state, whose escrow stands like
// that. Its escrow expires in an hour, and the preimage is known and secret.
func autoPass(state int, f chains.EscrowFact) func() Decision {
	return func() Decision {
		hash := sha256.Sum256(autoPreimage[:])
		r := &Record{
			Head:      Head{Type: FromBTCLNAuto, State: state, Signer: "me", LP: LP{URL: "https://lp"}, Expiry: ago(-10 * time.Minute), CreatedAt: ago(time.Minute), Seen: Seen{Chain: 90, At: ago(time.Minute)}},
			Lightning: &LightningPart{Invoice: "lnbc1", Hash: hex.EncodeToString(hash[:]), Preimage: autoPreimage, EndsAt: ago(-2 * time.Hour)},
			Escrow:    &EscrowPart{Expected: &chains.Escrow{ClaimHash: hash[:]}},
		}
		in := Decision{R: r, Obs: &Observation{}, Now: noon}
		if state == LnPaid || state == LnCommitted || state == LnClaimed || state == LnFailed || state == LnHTLCExpired {
			r.Escrow.Real = &chains.Escrow{ClaimHash: hash[:], Hash: []byte{1}, Expiry: noon.Add(time.Hour).Unix()}
			f.Head = chains.Block{Height: 100, Time: noon.Unix()}
			in.Obs.Escrow = known(f)
		}
		return in
	}
}

// lastMoment is the last second in which an escrow's claim may begin.
func lastMoment(in *Decision) { in.Now = time.Unix(in.R.Escrow.Real.Expiry, 0).Add(-chains.ClaimGrace) }

func tooLate(in *Decision) { lastMoment(in); in.Now = in.Now.Add(time.Second) }

func TestAutoRows(t *testing.T) {
	announced := func() Decision {
		in := autoPass(LnCreated, chains.EscrowFact{})()
		in.Obs.Delivered = known(&chains.Escrow{Expiry: noon.Add(time.Hour).Unix()})
		return in
	}
	withdraws := func() Decision {
		in := autoPass(LnCreated, chains.EscrowFact{})()
		in.R.Lightning.Withdraw = &Withdraw{}
		in.Input = UseWithdraw{}
		return in
	}
	ended := func() Decision {
		in := autoPass(LnHTLCExpired, chains.EscrowFact{})()
		tooLate(&in)
		in.R.Lightning.EndsAt = ago(time.Minute)
		return in
	}
	forgotten := func() Decision {
		in := autoPass(LnHTLCExpired, chains.EscrowFact{State: chains.EscrowOpen})()
		in.R.State = LnExpired
		tooLate(&in)
		return in
	}
	checkRows(t, newFromBTCLNAuto(), []row{
		{why: "the provider announced the agreed escrow", pass: announced, without: changes{
			"it is not what was agreed": func(in *Decision) { in.Obs.Delivered = failed(in.Obs.Delivered.Value) },
			"one is known already":      func(in *Decision) { in.R.Escrow.Real = in.Obs.Delivered.Value },
			"its time is over":          func(in *Decision) { in.Obs.Delivered.Value.Expiry = noon.Add(lp.DutyOpen.Margin()).Unix() - 1 },
			"its time is over by the chain's clock": func(in *Decision) {
				in.Obs.Found = known(chains.EscrowFact{Head: chains.Block{Time: noon.Add(time.Hour).Unix()}})
			},
		}},
		{why: "the escrow is open", pass: autoPass(LnPaid, chains.EscrowFact{State: chains.EscrowOpen}), without: changes{
			"its time is over":                      tooLate,
			"its time is over by the chain's clock": func(in *Decision) { in.Obs.Escrow.Value.Head.Time += 3600 },
			"the chain does not answer":             func(in *Decision) { in.Obs.Escrow = failed(in.Obs.Escrow.Value) },
		}, with: changes{"it is the last moment": lastMoment, "its time is over and the preimage public": func(in *Decision) {
			tooLate(in)
			in.R.Lightning.Revealed = 1
		}}},
		{why: "the escrow is about to time out", pass: func() Decision {
			in := autoPass(LnCommitted, chains.EscrowFact{State: chains.EscrowOpen})()
			tooLate(&in)
			return in
		}, without: changes{
			"it is the last moment":  lastMoment,
			"the preimage is public": func(in *Decision) { in.R.Lightning.Revealed = 1 },
		}, with: changes{"the chain does not answer": func(in *Decision) { in.Obs.Escrow = failed(in.Obs.Escrow.Value) }}},
		{why: "no payment can arrive any more, and the escrow was never opened", pass: ended, without: changes{
			"a payment can arrive":                   func(in *Decision) { in.R.Lightning.EndsAt = At(in.Now) },
			"it is open":                             func(in *Decision) { in.Obs.Escrow.Value.State = chains.EscrowOpen },
			"the chain does not answer":              func(in *Decision) { in.Obs.Escrow = failed(in.Obs.Escrow.Value) },
			"the escrow was seen, and may come back": func(in *Decision) { in.R.Escrow.InitTx = "0x1" },
		}, with: changes{"there is time to claim it": func(in *Decision) { in.Now = noon }}},
		{why: "the escrow is open, and about to time out", pass: forgotten, without: changes{
			"it is not open":         func(in *Decision) { in.Obs.Escrow.Value.State = chains.EscrowNone },
			"it is the last moment":  lastMoment,
			"the preimage is public": func(in *Decision) { in.R.Lightning.Revealed = 1 },
		}},
		{why: "the LNURL service is asked to pay", pass: withdraws, without: changes{
			"there is no link":               func(in *Decision) { in.R.Lightning.Withdraw = nil },
			"another link is in use":         func(in *Decision) { in.Input = UseWithdraw{With: &Withdraw{}} },
			"another swap pays for the same": rivalPays,
			"the invoice has expired":        func(in *Decision) { in.R.State = LnSoftExpired },
		}, with: changes{"the link comes with it": func(in *Decision) { in.R.Lightning.Withdraw, in.Input = nil, UseWithdraw{With: &Withdraw{}} }}},
		{why: "the user signed the claim", pass: submits(autoPass(LnCommitted, chains.EscrowFact{State: chains.EscrowOpen}), signed(actionClaim)), without: changes{
			"it is for another action":          otherAction,
			"what the user signed is under way": busyWith(actionClaim),
		}},
	})
}

// TestPreimageGoesOutOnlyWhileItHelps names every condition without which a preimage
// must stay secret, for each of the ways in which it can leave.
func TestPreimageGoesOutOnlyWhileItHelps(t *testing.T) {
	f := newFromBTCLNAuto()
	open := autoPass(LnCommitted, chains.EscrowFact{State: chains.EscrowOpen, Final: true})
	withClaim := func() Decision {
		in := open()
		in.R.Submission = &Submission{Action: actionClaim, Since: At(in.Now), Txs: []SignedTx{{Signed: chains.Signed{ID: "0x1", From: "me", Reveals: true}}}}
		return in
	}
	does := func(kind EffectKind) func(Decision) bool {
		return func(in Decision) bool {
			for _, e := range f.Effects(in) {
				if e.Kind == kind {
					if !e.Reveals || in.R.Public() != e.Until.IsZero() {
						t.Errorf("%s: it does not say that it reveals, or until when", kind)
					}
					return true
				}
			}
			return false
		}
	}
	shown := func(in Decision) bool { _, ok := f.View(in).Action.(*Sign); return ok }
	unsafe := changes{
		"the escrow is not open":                func(in *Decision) { in.Obs.Escrow.Value.State = chains.EscrowNone },
		"the escrow is not final":               func(in *Decision) { in.Obs.Escrow.Value.Final = false },
		"its time is over":                      tooLate,
		"its time is over by the chain's clock": func(in *Decision) { in.Obs.Escrow.Value.Head.Time += 3600 },
		"the chain does not answer":             func(in *Decision) { in.Obs.Escrow = failed(in.Obs.Escrow.Value) },
		"it was not asked":                      func(in *Decision) { in.Obs.Escrow.Asked = false },
		"the swap has not got so far":           func(in *Decision) { in.R.State = LnPaid },
		"there is none":                         func(in *Decision) { in.R.Lightning.Preimage = chains.Preimage{} },
		"the escrow is not known":               func(in *Decision) { in.R.Escrow.Real = nil },
	}
	public := changes{"it is public, and the escrow not final": func(in *Decision) {
		in.R.Lightning.Revealed, in.Obs.Escrow.Value.Final = 1, false
		tooLate(in)
	}}
	for name, way := range map[string]struct {
		pass func() Decision
		goes func(Decision) bool
	}{"to watchtowers": {open, does(Publish)}, "in a claim": {withClaim, does(SendTx)}, "to be signed": {open, shown}} {
		t.Run(name, func(t *testing.T) {
			without := maps.Clone(unsafe)
			if name == "to be signed" { // the state alone chooses what is shown
				delete(without, "the escrow is not known")
			}
			needs(t, way.pass, way.goes, without)
			allows(t, way.pass, way.goes, public)
		})
	}
	t.Run("a claim under way", func(t *testing.T) {
		for name, c := range map[string]struct {
			change  func(*Decision)
			blocked bool
		}{
			"is awaited": {busyWith(actionClaim), false},
			"is not known of": {func(in *Decision) {
				busyWith(actionClaim)(in)
				in.R.Submission.Since, in.Obs.Escrow = ago(time.Hour), failed(chains.EscrowFact{})
			}, true},
			"was never there, and the chain is silent": {func(in *Decision) { in.Obs.Escrow = failed(chains.EscrowFact{}) }, true},
		} {
			in := open()
			c.change(&in)
			v := f.View(in)
			if _, sign := v.Action.(*Sign); sign || (v.Blocked != nil) != c.blocked {
				t.Errorf("%s: %T, blocked by %v", name, v.Action, v.Blocked)
			}
		}
	})
	t.Run("watchtowers first", func(t *testing.T) {
		for since, manual := range map[time.Duration]bool{automaticWindow: false, automaticWindow + time.Millisecond: true} {
			in := open()
			in.R.Escrow.OpenedAt = ago(since)
			if shown(in) != manual {
				t.Errorf("%s after the opening the user is asked: %v", since, !manual)
			}
		}
	})
}

func TestAutoUnpaidAndAsked(t *testing.T) {
	f := newFromBTCLNAuto()
	asked := func(in *Decision) { in.R.Lightning.Withdraw = &Withdraw{Asked: true} }
	t.Run("unpaid", func(t *testing.T) {
		needs(t, autoPass(LnSoftExpired, chains.EscrowFact{}), func(in Decision) bool { return f.IsUnpaid(in.R) }, changes{
			"a service was asked to pay":    asked,
			"an escrow was announced":       func(in *Decision) { in.R.Problem = "another escrow" },
			"the escrow that was agreed is": func(in *Decision) { in.R.State = LnPaid },
		})
		allows(t, autoPass(LnCreated, chains.EscrowFact{}), func(in Decision) bool { return f.IsUnpaid(in.R) }, changes{
			"the service refused":          func(in *Decision) { asked(in); in.R.Tried = map[string]Try{string(CallWithdraw): {Outcome: Refused}} },
			"the service is not asked yet": func(in *Decision) { in.R.Lightning.Withdraw = &Withdraw{} },
		})
	})
	t.Run("asks a service to pay", func(t *testing.T) {
		needs(t, func() Decision { in := autoPass(LnCreated, chains.EscrowFact{})(); asked(&in); return in }, func(in Decision) bool { return len(f.Effects(in)) == 1 }, changes{
			"nobody wants it":                func(in *Decision) { in.R.Lightning.Withdraw.Asked = false },
			"there is no link":               func(in *Decision) { in.R.Lightning.Withdraw = nil },
			"another swap pays for the same": rivalPays,
			"it was asked":                   func(in *Decision) { in.R.Tried = map[string]Try{string(CallWithdraw): {Started: 1}} },
			"the invoice has expired":        func(in *Decision) { in.R.State = LnSoftExpired },
		})
	})
	t.Run("an invoice to pay", func(t *testing.T) {
		needs(t, autoPass(LnCreated, chains.EscrowFact{}), func(in Decision) bool { return f.View(in).Action != nil }, changes{
			"it has expired":                 func(in *Decision) { in.Now = in.R.Expiry.Time() },
			"it is not known":                func(in *Decision) { in.R.Lightning.Invoice = "" },
			"another swap pays for the same": rivalPays,
			"the provider lied":              func(in *Decision) { in.R.Problem = "another escrow" },
		})
	})
	t.Run("what the provider delivered is checked", func(t *testing.T) {
		needs(t, func() Decision {
			in := autoPass(LnCreated, chains.EscrowFact{})()
			in.Obs.LP = known(lp.Status{Code: lp.CodeDone, Escrow: json.RawMessage("{}")})
			return in
		}, func(in Decision) bool { return f.Ask(in).Delivered != nil }, changes{
			"it says otherwise":   func(in *Decision) { in.Obs.LP.Value.Code = lp.CodeUnpaid },
			"it did not answer":   func(in *Decision) { in.Obs.LP = failed(in.Obs.LP.Value) },
			"there is nothing":    func(in *Decision) { in.Obs.LP.Value.Escrow = nil },
			"that was done":       func(in *Decision) { in.Obs.Delivered = known(&chains.Escrow{}) },
			"the swap rests":      func(in *Decision) { in.R.Settled = true },
			"there is no escrow":  func(in *Decision) { in.R.Escrow = nil },
			"it is known already": func(in *Decision) { in.R.Escrow.Real = &chains.Escrow{} },
		})
	})
}
