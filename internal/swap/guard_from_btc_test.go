package swap

import (
	"bytes"
	"math"
	"testing"
	"time"

	"github.com/btcsuite/btcd/wire"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/btc/rawtx"
	"github.com/swapper-go/swapper/internal/lp"
	"github.com/swapper-go/swapper/internal/trial"
)

var depositScript = []byte{0x51}

// depositTx pays these amounts to the address, after one output to somebody else.
func depositTx(confirmations uint32, sats ...int64) *bitcoin.Tx {
	tx := wire.NewMsgTx(2)
	tx.AddTxIn(wire.NewTxIn(&wire.OutPoint{Index: confirmations + uint32(len(sats))}, nil, nil))
	tx.AddTxOut(wire.NewTxOut(1000, []byte{0x52}))
	for _, n := range sats {
		tx.AddTxOut(wire.NewTxOut(n, depositScript))
	}
	return &bitcoin.Tx{ID: tx.TxHash(), Msg: tx, Confirmations: confirmations}
}

// depositPass is a pass over a FROM_BTC swap whose escrow lasts for a day, and is open from
// CLAIM_COMMITED on; Bitcoin shows no payment.
func depositPass(state int) func() Decision {
	return func() Decision {
		f := chains.EscrowFact{State: chains.EscrowOpen, Final: true, Head: chains.Block{Height: 100, Time: noon.Unix()}}
		if state == InCreated {
			f.State, f.Auth = chains.EscrowNone, chains.AuthGood
		}
		r := &Record{
			Head:    Head{Type: FromBTC, State: state, Signer: "me", Expiry: ago(-10 * time.Minute), CreatedAt: ago(time.Minute), Seen: Seen{Chain: 90, At: ago(time.Minute)}},
			Escrow:  &EscrowPart{Real: &chains.Escrow{Expiry: noon.Add(24 * time.Hour).Unix()}, Init: &chains.Auth{Signature: "aa"}},
			Bitcoin: &BitcoinPart{Address: "bc1q", Script: depositScript, Sats: 1000, Confirmations: 3},
		}
		return Decision{R: r, Obs: &Observation{Escrow: known(f), Received: known[[]*bitcoin.Tx](nil)}, Now: noon}
	}
}

// payBy is the last moment to pay.
func payBy(in Decision) time.Time { return time.Unix(in.R.payUntil(), 0) }

// The escrow is opened only if half an hour is left to pay, and the user is asked to pay
// only while it is open, nothing was paid, and the payment can confirm in time.
func TestWhenTheUserIsToPay(t *testing.T) {
	f := newFromBTC()
	opens := func(in Decision) bool { s, ok := f.View(in).Action.(*Sign); return ok && s.For == ActionInit }
	window := map[string]func(in *Decision){
		"a second is missing": func(in *Decision) { in.Now = payBy(*in).Add(-lp.DutySignToPay.Margin() + time.Second) },
		"the chain's clock leaves too little": func(in *Decision) {
			in.Obs.Escrow.Value.Head.Time = lp.DutySignToPay.Before(payBy(*in).Unix()).Unix() + 1
		},
		"the confirmations are not known":   func(in *Decision) { in.R.Bitcoin.Confirmations = 0 },
		"the authorization is late":         func(in *Decision) { in.Obs.Escrow.Value.Auth = chains.AuthLate },
		"another submission is in progress": busyWith(ActionInit),
	}
	needs(t, depositPass(InCreated), opens, window)
	allows(t, depositPass(InCreated), opens, changes{"exactly enough is left": func(in *Decision) { in.Now = payBy(*in).Add(-lp.DutySignToPay.Margin()) }})
	checkRows(t, f, []row{{why: "the user signed", pass: passOf(depositPass(InCreated), func(in *Decision) { in.Input = signed(ActionInit) }), without: window}})

	paid := func(tx *bitcoin.Tx) func(*Decision) {
		return func(in *Decision) { in.Obs.Received = known([]*bitcoin.Tx{tx}) }
	}
	again := changes{
		"the time is over":          func(in *Decision) { in.Now = payBy(*in).Add(time.Millisecond) },
		"the chain's clock is over": func(in *Decision) { in.Obs.Escrow.Value.Head.Time = payBy(*in).Unix() + 1 },
		"the escrow is not open":    func(in *Decision) { in.Obs.Escrow.Value.State = chains.EscrowNone },
		"the escrow can vanish":     func(in *Decision) { in.Obs.Escrow.Value.Final = false },
		"the chain does not answer": func(in *Decision) { in.Obs.Escrow = failed(in.Obs.Escrow.Value) },
		"Bitcoin does not answer":   func(in *Decision) { in.Obs.Received = failed[[]*bitcoin.Tx](nil) },
		"a payment was seen before": func(in *Decision) { in.R.Bitcoin.TxID = bitcoin.Hash{9} },
		"the user signed one":       func(in *Decision) { in.R.Submission = &Submission{PSBT: bitcoin.Hash{9}} },
		"the address is not known":  func(in *Decision) { in.R.Bitcoin.Address = "" },
	}
	asks := func(in Decision) bool {
		p, ok := f.View(in).Action.(*Pay)
		return ok && p.Fund != nil && p.To == "bc1q"
	}
	needs(t, depositPass(InCommitted), asks, again)
	allows(t, depositPass(InCommitted), asks, changes{"the node does not know what opened it": func(in *Decision) {
		busyWith(ActionInit)(in)
		in.Obs.Txs = known(map[string]chains.TxStatus{in.R.Submission.Txs[0].ID: {}})
	}})
	checkRows(t, f, []row{
		{why: "the user signed the payment", pass: passOf(depositPass(InCommitted), func(in *Decision) { in.Input = Submit{Action: ActionFund, PSBT: psbtOf()} }), without: again},
		{why: "the bitcoin payment is confirmed", pass: passOf(depositPass(InCommitted), paid(depositTx(3, 1000))), without: changes{
			"a confirmation is missing": paid(depositTx(2, 1000)),
			"it pays a sat less":        paid(depositTx(3, 999)),
			"it pays a sat more":        paid(depositTx(3, 1001)),
			"it pays in two parts":      paid(depositTx(3, 400, 600)),
			"Bitcoin does not answer":   func(in *Decision) { in.Obs.Received.Err = errSilentHere },
		}, with: changes{
			"it is late":                    func(in *Decision) { in.R.State = InExpired; in.Now = payBy(*in).Add(time.Hour) },
			"the output is the second":      paid(depositTx(3, 500, 1000)),
			"the chain does not answer":     func(in *Decision) { in.Obs.Escrow = failed(in.Obs.Escrow.Value) },
			"another amount was paid first": func(in *Decision) { in.Obs.Received = known([]*bitcoin.Tx{depositTx(9, 5), depositTx(3, 1000)}) },
		}},
		{why: "a reorganisation reduced the confirmations", pass: passOf(depositPass(InConfirmed), paid(depositTx(2, 1000))), without: changes{
			"it has them":               paid(depositTx(3, 1000)),
			"Bitcoin does not answer":   func(in *Decision) { in.Obs.Received.Err = errSilentHere },
			"the chain does not answer": func(in *Decision) { in.Obs.Escrow = failed(in.Obs.Escrow.Value) },
		}},
	})
}

// An escrow that never ends, as one may be stored from before such were refused, can be
// paid at any time: its end overflows no sum.
func TestPayingForAnEscrowThatNeverEnds(t *testing.T) {
	f := newFromBTC()
	for _, expiry := range []int64{math.MaxInt64 / 1000, 1 << 62, math.MaxInt64} {
		in := depositPass(InCommitted)()
		in.R.Escrow.Real = &chains.Escrow{Expiry: expiry}
		if p, ok := f.View(in).Action.(*Pay); !ok || p.Fund == nil {
			t.Errorf("until %d: the user is not asked to pay", expiry)
		}
		if next, row := f.Step(in); next.State != InCommitted {
			t.Errorf("until %d: %s", expiry, row.Why)
		}
	}
}

// A node that shows the escrow, and not yet the transaction that opened it, keeps nobody from
// paying; what became of that transaction does not end the payment.
func TestDepositWhileTheOpeningIsNotShown(t *testing.T) {
	f := newFromBTC()
	for name, status := range map[string]chains.TxState{"unknown": chains.TxUnknown, "waits": chains.TxPending, "confirmed": chains.TxConfirmed, "reverted": chains.TxReverted} {
		in := depositPass(InCommitted)()
		busyWith(ActionInit)(&in)
		in.Obs.Txs = known(map[string]chains.TxStatus{in.R.Submission.Txs[0].ID: {State: status}})
		if v := f.View(in); v.Blocked != nil {
			t.Errorf("%s: %v", name, v.Blocked)
		} else if _, asks := v.Action.(*Pay); !asks {
			t.Errorf("%s: the user is asked for %T", name, v.Action)
		}
		in.Input = Submit{Action: ActionFund, PSBT: psbtOf()}
		next, _ := f.Step(in)
		in.R, in.Input = next, nil
		if next, _ = f.Step(in); !next.Submission.pays() {
			t.Errorf("%s: the payment is taken as %+v", name, next.Submission)
		}
	}
}

var errSilentHere = failed(0).Err

// A payment that was seen is kept until it can never be mined, and one that was not taken
// by the network in time is not sent any more: the LP would keep it.
func TestDepositIsKept(t *testing.T) {
	f := newFromBTC()
	seen := depositTx(0, 1000)
	next, _ := f.Step(passOf(depositPass(InCommitted), func(in *Decision) { in.Obs.Received = known([]*bitcoin.Tx{seen}) })())
	if b := next.Bitcoin; b.TxID != seen.ID || b.Vout != 1 || len(b.Tx) == 0 || next.MayPurge() {
		t.Fatalf("kept is %+v", b)
	}
	after := func(change func(*Decision)) *Record {
		in := passOf(depositPass(InCommitted), change)()
		r := next.Clone()
		in.R = r
		got, _ := f.Step(in)
		return got
	}
	if got := after(func(*Decision) {}); got.Bitcoin.TxID != seen.ID {
		t.Error("forgotten as soon as a node does not show it")
	}
	if got := after(func(in *Decision) {
		in.Obs.Spends = known([]bitcoin.Spend{{State: bitcoin.SpentInMempool, TxID: bitcoin.Hash{8}}})
	}); got.Bitcoin.TxID != seen.ID {
		t.Error("forgotten while it is contested")
	}
	if got := after(func(in *Decision) {
		in.Obs.Spends = known([]bitcoin.Spend{{State: bitcoin.SpentConfirmed, TxID: bitcoin.Hash{8}}})
	}); !isZero(got.Bitcoin.TxID) || got.Bitcoin.Tx != nil {
		t.Error("kept though it can never be mined")
	}
	twice := after(func(in *Decision) { in.Obs.Received = known([]*bitcoin.Tx{depositTx(0, 1000), depositTx(1, 1000)}) })
	if twice.Problem == "" || twice.Bitcoin.TxID != depositTx(1, 1000).ID {
		t.Errorf("paid twice: %q, takes %s", twice.Problem, twice.Bitcoin.TxID)
	}
	if short := after(func(in *Decision) { in.Obs.Received = known([]*bitcoin.Tx{depositTx(1, 999)}) }); short.Problem == "" {
		t.Error("nothing is said of another amount")
	}
	old := depositTx(9, 999)
	old.BlockTime = noon.Add(-3 * time.Hour)
	if got := after(func(in *Decision) { in.Obs.Received = known([]*bitcoin.Tx{old}) }); got.Problem != "" {
		t.Errorf("of a payment before the quote: %q", got.Problem)
	}

	sends := func(in Decision) bool { es := f.Effects(in); return len(es) == 1 && es[0].Kind == Broadcast }
	needs(t, passOf(depositPass(InCommitted), func(in *Decision) {
		in.R.Submission, in.R.Bitcoin.Tx = &Submission{Action: ActionFund, PSBT: bitcoin.Hash{9}, Since: At(noon)}, []byte{1}
	}), sends, changes{
		"it is too late":              func(in *Decision) { in.Now = payBy(*in).Add(time.Millisecond) },
		"the swap is over":            inState(InFailed),
		"the submission is closed":    func(in *Decision) { in.R.Submission.Closed = true },
		"the transaction is not kept": func(in *Decision) { in.R.Bitcoin.Tx = nil },
	})
	failed := passOf(depositPass(InFailed), func(in *Decision) { in.Obs.Received = known([]*bitcoin.Tx{depositTx(3, 1000)}) })()
	if v := f.View(failed); v.Blocked == nil || v.Steps[1].Status != shownConfirmed || v.Steps[2].Status != shownExpired {
		t.Errorf("paid too late: %v, %+v", v.Blocked, v.Steps)
	}
}

// A reorganisation that removes the escrow after its authorisation has ended leaves a user
// who has paid with nothing. Until the escrow is final, the user waits.
func TestBitcoinIsPaidForAFinalEscrowAlone(t *testing.T) {
	in := depositPass(InCommitted)()
	in.Obs.Escrow.Value.Final = false
	v := newFromBTC().View(in)
	if _, waits := v.Action.(*Wait); !waits || v.Blocked != nil {
		t.Errorf("the user is shown %+v, %v", v.Action, v.Blocked)
	}
}

// A payment that a double spend keeps from being mined is forgotten, so that the user may
// pay again, and counts again once a reorganisation has taken back what spent its inputs:
// whoever pays beside it pays twice.
func TestVoidPaymentCountsAgain(t *testing.T) {
	f := newFromBTC()
	raw := trial.Must(rawtx.Encode(depositTx(0, 1000).Msg))(t)
	id := depositTx(0, 1000).ID
	spent := func(s bitcoin.Spend) func(*Decision) {
		return func(in *Decision) { in.Obs.Spends = known([]bitcoin.Spend{s}) }
	}
	byAnother := spent(bitcoin.Spend{State: bitcoin.SpentConfirmed, TxID: bitcoin.Hash{8}})

	in := passOf(depositPass(InCommitted), func(in *Decision) {
		in.R.Bitcoin.TxID, in.R.Bitcoin.Tx, in.R.Submission = id, raw, &Submission{PSBT: id}
		byAnother(in)
	})()
	void, _ := f.Step(in)
	if b := void.Bitcoin; !bytes.Equal(b.Void, raw) || len(b.Tx) != 0 || !isZero(b.TxID) || void.Submission.Open() {
		t.Fatalf("the payment that cannot be mined is kept as %+v, submission %+v", b, void.Submission)
	}
	pass := func() Decision {
		in := depositPass(InCommitted)()
		in.R = void.Clone()
		return in
	}
	if ask := f.Ask(pass()); len(ask.Spends) != 1 {
		t.Fatalf("nobody asks what spends the inputs of the void payment: %+v", ask)
	}
	counts := func(in Decision) bool {
		next, _ := f.Step(in)
		b := next.Bitcoin
		pays := f.View(Decision{R: next, Obs: in.Obs, Now: in.Now}).Action
		_, asked := pays.(*Pay)
		again := bytes.Equal(b.Tx, raw) && b.TxID == id && b.Void == nil && next.Submission.Open()
		if again == asked {
			t.Errorf("counts again: %v; the user is asked to pay: %v", again, asked)
		}
		return again
	}
	needs(t, passOf(pass, spent(bitcoin.Spend{State: bitcoin.Unspent})), counts, changes{
		"another one is still in a block":           byAnother,
		"nothing is known of what spends the input": spent(bitcoin.Spend{}),
		"Bitcoin does not answer":                   func(in *Decision) { in.Obs.Spends = failed(in.Obs.Spends.Value) },
	})
	allows(t, pass, counts, changes{"another one waits": spent(bitcoin.Spend{State: bitcoin.SpentInMempool, TxID: bitcoin.Hash{8}})})
}
