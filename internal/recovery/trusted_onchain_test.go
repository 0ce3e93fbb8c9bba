package recovery

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/btcsuite/btcd/wire"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/btc/rawtx"
	"github.com/swapper-go/swapper/internal/flowtest"
	"github.com/swapper-go/swapper/internal/lp"
	"github.com/swapper-go/swapper/internal/swap"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/internal/vectors"
)

const (
	trustedBTCUser    = "0x33D8fF23B3F0A3598DE2ddaD2475Aeef285A6AbD"
	trustedBTCAddress = "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4"
	trustedBTCBack    = "bc1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3qccfmv3"
	trustedBTCPayoutA = "0x00000000000000000000000000000000000000000000000000000000000000aa"
)

var trustedBTCNow = time.Unix(1_700_000_000, 0)

// trustedBTCRecord is a swap for gas as the network's client stores it.
func trustedBTCRecord(state int) map[string]any {
	return map[string]any{"id": strings.Repeat("ab", 32), "type": 4, "state": state, "initiator": trustedBTCUser, "url": "https://lp.example/frombtc_trusted",
		"createdAt": trustedBTCNow.Add(-time.Hour).UnixMilli(), "expiry": trustedBTCNow.Add(time.Hour).UnixMilli(), "version": 1, "paymentHash": strings.Repeat("ab", 32), "sequence": "7",
		"address": trustedBTCAddress, "inputAmount": "250000", "outputAmount": "2492400000000000", "recipient": trustedBTCUser, "token": flowtest.Native["CITREA"].Address,
		"refundAddress": trustedBTCBack, "swapFee": "7600000000000", "swapFeeBtc": "760"}
}

func trustedBTCScript(t *testing.T, address string) []byte {
	a := trial.Must(bitcoin.ParseAddress(address, bitcoin.Mainnet))(t)
	return a.Script()
}

// pays adds a transaction to the world and returns its id.
func pays(t *testing.T, w *flowtest.World, to string, sats int64, confirmations uint32) bitcoin.Hash {
	msg := wire.NewMsgTx(2)
	msg.AddTxIn(wire.NewTxIn(&wire.OutPoint{Index: uint32(sats)}, nil, nil))
	msg.AddTxOut(wire.NewTxOut(sats, trustedBTCScript(t, to)))
	tx := &bitcoin.Tx{ID: msg.TxHash(), Msg: msg, Confirmations: confirmations}
	w.Set(func(w *flowtest.World) {
		if w.Txs == nil {
			w.Txs = map[bitcoin.Hash]*bitcoin.Tx{}
		}
		w.Txs[tx.ID] = tx
	})
	return tx.ID
}

// trustedTerms are the amounts of a swap on trust, agreed or as adjusted by the LP.
type trustedTerms struct{ InputAmount, OutputAmount, SwapFeeBtc string }

// usual returns the value that most of the cases have that pick gives one of.
func usual[T comparable](file *vectors.File, pick func(c *vectors.Case) (T, bool)) (most T) {
	count := map[T]int{}
	for _, c := range file.Cases {
		if v, ok := pick(c); ok {
			if count[v]++; count[v] > count[most] {
				most = v
			}
		}
	}
	return most
}

// The cases name the LP's answer by its code. What the answer holds beside it is the
// same in all of them, and told by their outcomes: what most of them show. Where it
// speaks of a payment or of a refund, Bitcoin shows it.
func TestVectorsTrustedOnchain(t *testing.T) {
	t.Parallel()
	file := vectors.Load(t, "swap-flows-spv-and-core", "trusted_onchain_transitions")
	adjusts := func(code int) bool {
		return code == lp.CodeGasReceived || code == lp.CodeGasPending || code == lp.CodeGasSent
	}
	open := func(state int) bool {
		return state == swap.TrustedBTCCreated || state == swap.TrustedBTCRefundable
	}
	terms := func(adjusted bool) trustedTerms {
		return usual(file, func(c *vectors.Case) (v trustedTerms, ok bool) {
			var in struct{ State, AnswerCode int }
			c.Input(t, &in)
			c.Expected(t, &v)
			return v, (adjusts(in.AnswerCode) && open(in.State)) == adjusted
		})
	}
	agreed, adjusted := terms(false), terms(true)
	ids := func(refund bool) string {
		return usual(file, func(c *vectors.Case) (string, bool) {
			var v struct{ TxID, RefundTxID *string }
			c.Expected(t, &v)
			id := v.TxID
			if refund {
				id = v.RefundTxID
			}
			if id == nil {
				return "", false
			}
			return *id, true
		})
	}
	theirPayment, theirRefund := ids(false), ids(true)
	file.Each(t, func(t *testing.T, c *vectors.Case) {
		var in struct {
			State, AnswerCode  int
			SmartChainTxStatus *string
		}
		c.Input(t, &in)
		var want struct {
			trustedTerms
			State                                      int
			StateName                                  string
			TxID, SCTxID, RefundTxID                   *string
			IsFinished, IsSuccess, IsFailed, IsExpired bool
		}
		c.Expected(t, &want)
		record := trustedBTCRecord(in.State)
		record["inputAmount"], record["outputAmount"], record["swapFeeBtc"] = agreed.InputAmount, agreed.OutputAmount, agreed.SwapFeeBtc
		s := gasWorld(trustedBTCNow, record)
		payment, refund, chosen := "", "", ""
		switch in.AnswerCode {
		case lp.CodeExpired: // it has
			s.World.Time = trustedBTCNow.Add(2 * time.Hour)
		case lp.CodeGasReceived, lp.CodeGasPending, lp.CodeGasSent:
			payment = pays(t, s.World, trustedBTCAddress, 250_001, 1).String()
			chosen = payment
		case lp.CodeGasRefunded:
			refund = pays(t, s.World, trustedBTCBack, 249_000, 1).String()
			chosen = refund
		}
		more := ""
		if adjusts(in.AnswerCode) {
			more = fmt.Sprintf(`,"adjustedAmount":%q,"adjustedTotal":%q,"adjustedFeeSats":%q`, adjusted.InputAmount, adjusted.OutputAmount, adjusted.SwapFeeBtc)
		}
		s.World.LP = trustedBTCAnswer(in.AnswerCode, fmt.Sprintf(`"txId":%q,"scTxId":%q`, chosen, trustedBTCPayoutA)+more)
		if in.SmartChainTxStatus != nil {
			s.World.TxState(map[string]chains.TxState{"success": chains.TxConfirmed, "pending": chains.TxPending, "reverted": chains.TxReverted, "not_found": chains.TxUnknown}[*in.SmartChainTxStatus])
		}
		st := perform(t, s)
		got := st.advance(t, nil)
		row, _ := flowtest.Flow(swap.TrustedFromBTC).State(got.State)
		if got.State != want.State || row.Name != want.StateName || row.Finished != want.IsFinished || row.Success != want.IsSuccess || row.Failed != want.IsFailed || row.Expired != want.IsExpired {
			t.Errorf("%+v, want %+v", row, want)
		}
		if got.Terms.Input.Raw.String() != want.InputAmount || got.Terms.Output.Raw.String() != want.OutputAmount || got.Terms.SwapFee.Raw.String() != want.SwapFeeBtc {
			t.Errorf("amounts %v, %v, fee %v, want %+v", got.Terms.Input, got.Terms.Output, got.Terms.SwapFee, want)
		}
		shown := func(what, got string, want *string, theirs, is string) {
			if want == nil {
				is = ""
			} else if is == "" || theirs != "" && *want != theirs {
				t.Errorf("%s %q, in other cases %q, here %q", what, *want, theirs, is)
			}
			if got != is {
				t.Errorf("%s %q, want %q", what, got, is)
			}
		}
		id := ""
		if got.Bitcoin.TxID != [32]byte{} {
			id = got.Bitcoin.TxID.String()
		}
		shown("payment", id, want.TxID, theirPayment, payment)
		shown("refund", got.Gas.RefundTx, want.RefundTxID, theirRefund, refund)
		if want.SCTxID != nil {
			c.Differ(t, "gas-payout-id") // the reference takes the payment's id for the payout's
		}
		shown("payout", got.PayoutTx, want.SCTxID, theirPayment, trustedBTCPayoutA)
	})
}

func trustedBTCAnswer(code int, members string) json.RawMessage {
	return json.RawMessage(fmt.Sprintf(`{"code":%d,"msg":"","data":{%s}}`, code, members))
}

// What Bitcoin shows is stronger than what the LP says.
func TestTrustedBTCWordAgainstChain(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		state   int
		now     time.Duration
		lp      json.RawMessage
		prepare func(t *testing.T, w *flowtest.World)
		want    int
	}{
		"cannot end a quote that can be paid":   {swap.TrustedBTCCreated, 0, trustedBTCAnswer(lp.CodeExpired, ""), nil, swap.TrustedBTCCreated},
		"cannot forget a payment":               {swap.TrustedBTCCreated, 2 * time.Hour, trustedBTCAnswer(lp.CodeExpired, ""), func(t *testing.T, w *flowtest.World) { pays(t, w, trustedBTCAddress, 250_000, 0) }, swap.TrustedBTCFailed},
		"nor one that it called refundable":     {swap.TrustedBTCRefundable, 0, trustedBTCAnswer(lp.CodeExpired, ""), func(t *testing.T, w *flowtest.World) { pays(t, w, trustedBTCAddress, 250_000, 3) }, swap.TrustedBTCFailed},
		"ends nothing while Bitcoin is silent":  {swap.TrustedBTCCreated, 2 * time.Hour, trustedBTCAnswer(lp.CodeExpired, ""), func(t *testing.T, w *flowtest.World) { w.BitcoinErr = errors.New("down") }, swap.TrustedBTCCreated},
		"a refund that is not there":            {swap.TrustedBTCRefundable, 0, trustedBTCAnswer(lp.CodeGasRefunded, `"txId":"`+strings.Repeat("00", 31)+`01"`), nil, swap.TrustedBTCRefundable},
		"a refund that is no transaction":       {swap.TrustedBTCRefundable, 0, trustedBTCAnswer(lp.CodeGasRefunded, `"txId":"x"`), nil, swap.TrustedBTCRefundable},
		"a payout that is not there":            {swap.TrustedBTCCreated, 0, trustedBTCAnswer(lp.CodeDone, `"scTxId":"0x01"`), nil, swap.TrustedBTCCreated},
		"a payout that is the payment":          {swap.TrustedBTCCreated, 0, trustedBTCAnswer(lp.CodeDone, `"txId":"0x01"`), func(t *testing.T, w *flowtest.World) { w.TxState(chains.TxConfirmed) }, swap.TrustedBTCCreated},
		"a late payment that the LP cannot use": {swap.TrustedBTCCreated, 2 * time.Hour, trustedBTCAnswer(lp.CodeGasRefundable, `"adjustedAmount":"250000"`), func(t *testing.T, w *flowtest.World) { pays(t, w, trustedBTCAddress, 250_000, 1) }, swap.TrustedBTCRefundable},
		"an LP that is gone after the payment":  {swap.TrustedBTCCreated, 2 * time.Hour, nil, func(t *testing.T, w *flowtest.World) { pays(t, w, trustedBTCAddress, 250_000, 1) }, swap.TrustedBTCCreated},
		"an LP that is gone before any payment": {swap.TrustedBTCCreated, 2 * time.Hour, nil, nil, swap.TrustedBTCCreated},
		"an LP that is gone for good, unpaid":   {swap.TrustedBTCCreated, 26 * time.Hour, nil, nil, swap.TrustedBTCExpired},
		"an LP that is gone for good, paid":     {swap.TrustedBTCCreated, 26 * time.Hour, nil, func(t *testing.T, w *flowtest.World) { pays(t, w, trustedBTCAddress, 250_000, 1) }, swap.TrustedBTCCreated},
		"a refund to somebody else than the user": {swap.TrustedBTCRefundable, 0, nil, func(t *testing.T, w *flowtest.World) {
			id := pays(t, w, trustedBTCAddress, 249_000, 1)
			w.LP = trustedBTCAnswer(lp.CodeGasRefunded, `"txId":"`+id.String()+`"`)
		}, swap.TrustedBTCRefundable},
	} {
		t.Run(name, func(t *testing.T) {
			s := gasWorld(trustedBTCNow.Add(c.now), trustedBTCRecord(c.state))
			s.World.LP = c.lp
			if c.prepare != nil {
				c.prepare(t, s.World)
			}
			if got := perform(t, s).advance(t, nil); got.State != c.want {
				t.Errorf("state %d, want %d", got.State, c.want)
			}
		})
	}
}

// A payment that appears after the swap was given up brings it back, and is
// never forgotten.
func TestTrustedBTCLatePayment(t *testing.T) {
	t.Parallel()
	s := gasWorld(trustedBTCNow.Add(2*time.Hour), trustedBTCRecord(swap.TrustedBTCCreated))
	s.World.LP = trustedBTCAnswer(lp.CodeExpired, "")
	st := perform(t, s)
	if got := st.advance(t, nil); got.State != swap.TrustedBTCExpired || !got.MayPurge() || got.Settled {
		t.Fatalf("%+v", got.Head)
	}
	later := func(d time.Duration) *swap.Record {
		s.World.Set(func(w *flowtest.World) { w.Time = w.Time.Add(d) })
		return st.advance(t, nil)
	}
	pays(t, s.World, trustedBTCAddress, 250_000, 1)
	if got := later(time.Hour); got.State != swap.TrustedBTCFailed || got.MayPurge() {
		t.Fatalf("%+v", got.Head)
	}
	s.World.Set(func(w *flowtest.World) { w.LP = trustedBTCAnswer(lp.CodeGasRefundable, `"adjustedAmount":"250000"`) })
	if got := later(time.Hour); got.State != swap.TrustedBTCRefundable || got.Ended != 0 {
		t.Fatalf("%+v", got.Head)
	}
	if n := st.Acts.count(swap.SetRefund); n != 1 {
		t.Errorf("the LP was told %d times where to refund to", n)
	}
	if got := later(time.Minute); got.Tried[string(swap.SetRefund)].Outcome != swap.Done || st.Acts.count(swap.SetRefund) != 1 {
		t.Errorf("told again: %+v", got.Tried)
	}
	back := pays(t, s.World, trustedBTCBack, 249_000, 1)
	s.World.Set(func(w *flowtest.World) { w.LP = trustedBTCAnswer(lp.CodeGasRefunded, `"txId":"`+back.String()+`"`) })
	if got := later(time.Minute); got.State != swap.TrustedBTCRefunded || got.Gas.RefundTx != back.String() {
		t.Fatalf("%+v", got.Head)
	}
}

// An expired quote is deleted when Bitcoin shows that nobody paid, and then only.
func TestTrustedBTCPurge(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		prepare func(t *testing.T, w *flowtest.World)
		kept    bool
	}{
		"unpaid": {nil, false},
		"Bitcoin is silent": {func(t *testing.T, w *flowtest.World) {
			w.Set(func(w *flowtest.World) { w.BitcoinErr = errors.New("down") })
		}, true},
		"paid by now": {func(t *testing.T, w *flowtest.World) { pays(t, w, trustedBTCAddress, 1000, 0) }, true},
	} {
		t.Run(name, func(t *testing.T) {
			s := gasWorld(trustedBTCNow.Add(2*time.Hour), trustedBTCRecord(swap.TrustedBTCCreated))
			s.World.LP = trustedBTCAnswer(lp.CodeExpired, "")
			st := perform(t, s)
			st.advance(t, nil)
			s.World.Set(func(w *flowtest.World) { w.Time = w.Time.Add(25 * time.Hour) })
			if c.prepare != nil {
				c.prepare(t, s.World)
			}
			st.Engine.Purge(t.Context())
			_, err := st.Engine.Load(t.Context(), st.Record.ID)
			if kept := fault.CodeOf(err) != fault.NotFound; kept != c.kept {
				t.Errorf("kept: %v (%v)", kept, err)
			}
		})
	}
}

// Where to refund to can be said once.
func TestTrustedBTCRefundAddress(t *testing.T) {
	t.Parallel()
	record := trustedBTCRecord(swap.TrustedBTCRefundable)
	delete(record, "refundAddress")
	s := gasWorld(trustedBTCNow, record)
	s.World.LP = trustedBTCAnswer(lp.CodeGasRefundable, `"adjustedAmount":"250000"`)
	st := perform(t, s)
	st.advance(t, nil)
	if v := st.Engine.StoredView(st.Record); fault.CodeOf(v.Blocked) != fault.InvalidState || v.Action != nil {
		t.Errorf("shown %+v", v)
	}
	if n := st.Acts.count(swap.SetRefund); n != 0 {
		t.Fatalf("an address was made up")
	}
	if got := st.advance(t, swap.RefundTo{Address: trustedBTCBack}); got.Gas.RefundTo != trustedBTCBack || st.Acts.count(swap.SetRefund) != 1 {
		t.Fatalf("%+v", got.Gas)
	}
	if _, err := st.Engine.Advance(t.Context(), st.Record.ID, swap.RefundTo{Address: trustedBTCAddress}); fault.CodeOf(err) != fault.InvalidState {
		t.Errorf("another address: %v", err)
	}
	if _, err := st.Engine.Advance(t.Context(), st.Record.ID, swap.RefundTo{Address: trustedBTCBack}); err != nil {
		t.Errorf("the same address: %v", err)
	}
}

// The action pays the agreed sats, never the native token's base units (protocol:
// bitcoin.md §20 no. 17), and is offered once.
func TestTrustedBTCAction(t *testing.T) {
	t.Parallel()
	s := gasWorld(trustedBTCNow, trustedBTCRecord(swap.TrustedBTCCreated))
	s.World.LP = trustedBTCAnswer(lp.CodeGasUnpaid, "")
	s.World.Rates = bitcoin.FeeRates{Fastest: 5, Minimum: 1}
	st := perform(t, s)
	view := func() swap.View {
		s.World.Set(func(w *flowtest.World) { w.Time = w.Time.Add(2 * time.Second) })
		res := trial.Must(st.Engine.Advance(t.Context(), st.Record.ID, nil))(t)
		return st.Engine.View(res)
	}
	v := view()
	pay, ok := v.Action.(*swap.Pay)
	if !ok || pay.Link != "bitcoin:"+trustedBTCAddress+"?amount=0.0025" || pay.Amount.Raw.Int64() != 250_000 || pay.To != trustedBTCAddress || pay.Invoice {
		t.Fatalf("%+v", v.Action)
	}
	template, err := st.Reader.Template(st.Record, pay.Fund)
	if err != nil || len(template.Outputs) != 1 || template.Outputs[0].Value != 250_000 || string(template.Outputs[0].PkScript) != string(trustedBTCScript(t, trustedBTCAddress)) {
		t.Fatalf("%+v, %v", template, err)
	}
	id := pays(t, s.World, trustedBTCAddress, 250_000, 0)
	s.World.Set(func(w *flowtest.World) { w.LP = trustedBTCAnswer(lp.CodeGasReceived, `"txId":"`+id.String()+`"`) })
	if v = view(); v.Steps[0].Status != "received" || v.Steps[0].InitTx != id.String() {
		t.Errorf("%+v", v.Steps)
	}
	if w, ok := v.Action.(*swap.Wait); !ok || w.Name != "Bitcoin confirmations" {
		t.Errorf("%+v", v.Action)
	}
	pays(t, s.World, trustedBTCAddress, 250_000, 1)
	if v = view(); v.Steps[0].Status != "confirmed" || v.Steps[1].Status != "waiting_lp" || v.Blocked != nil {
		t.Errorf("%+v", v.Steps)
	}
	// Less for each sat than was agreed is taken over, and said.
	s.World.Set(func(w *flowtest.World) {
		w.LP = trustedBTCAnswer(lp.CodeGasPending, `"txId":"`+id.String()+`","adjustedAmount":"250000","adjustedTotal":"1"`)
	})
	if v = view(); fault.CodeOf(v.Blocked) != fault.Upstream {
		t.Errorf("nothing is said: %v", v.Blocked)
	}
}

// A payment that was handed in is open until it is confirmed or can be no more;
// until then nobody is asked to pay again.
func TestTrustedBTCSubmission(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		then   func(t *testing.T, w *flowtest.World, spent bitcoin.OutPoint)
		reason bool // closed, and to be paid anew
		closed bool
	}{
		"not seen":  {func(*testing.T, *flowtest.World, bitcoin.OutPoint) {}, false, false},
		"waiting":   {func(t *testing.T, w *flowtest.World, _ bitcoin.OutPoint) { pays(t, w, trustedBTCAddress, 250_000, 0) }, false, false},
		"confirmed": {func(t *testing.T, w *flowtest.World, _ bitcoin.OutPoint) { pays(t, w, trustedBTCAddress, 250_000, 1) }, false, true},
		"spent otherwise": {func(t *testing.T, w *flowtest.World, spent bitcoin.OutPoint) {
			w.Set(func(w *flowtest.World) {
				w.Spends = map[bitcoin.OutPoint]bitcoin.Spend{spent: {State: bitcoin.SpentConfirmed, TxID: bitcoin.Hash{9}, Height: 899_999}}
			})
		}, true, true},
		"Bitcoin is silent": {func(t *testing.T, w *flowtest.World, _ bitcoin.OutPoint) {
			w.Set(func(w *flowtest.World) { w.BitcoinErr = errors.New("down") })
		}, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := gasWorld(trustedBTCNow, trustedBTCRecord(swap.TrustedBTCCreated))
			s.World.LP = trustedBTCAnswer(lp.CodeGasUnpaid, "")
			id := pays(t, s.World, trustedBTCAddress, 250_000, 0)
			msg := s.World.Txs[id].Msg
			delete(s.World.Txs, id)
			raw := trial.Must(rawtx.Encode(msg))(t)
			st := perform(t, s)
			signed := swap.Submit{Action: swap.ActionFund, PSBT: &swap.SignedPSBT{TxID: id, Tx: raw}}
			if got := st.advance(t, signed); !got.Submission.Open() || st.Acts.count(swap.Broadcast) != 1 {
				t.Fatalf("%+v, sent %d times", got.Submission, st.Acts.count(swap.Broadcast))
			}
			if _, err := st.Engine.Advance(t.Context(), st.Record.ID, signed); fault.CodeOf(err) != fault.InvalidState {
				t.Errorf("a second payment was taken: %v", err)
			}
			c.then(t, s.World, msg.TxIn[0].PreviousOutPoint)
			s.World.Set(func(w *flowtest.World) { w.Time = w.Time.Add(time.Minute) })
			got := st.advance(t, nil)
			if sub := got.Submission; sub.Closed != c.closed || (sub.Reason != "") != c.reason || got.MayPurge() {
				t.Errorf("%+v", sub)
			}
			if _, offered := st.Engine.StoredView(got).Action.(*swap.Pay); offered != c.reason {
				t.Errorf("asks for a payment: %v", offered)
			}
			if sent := st.Acts.count(swap.Broadcast); !c.closed && sent != 2 {
				t.Errorf("sent %d times", sent)
			}
		})
	}
}

// A payment that the network takes and forgets does not hold the swap for ever.
func TestTrustedBTCSubmissionEndsByTime(t *testing.T) {
	t.Parallel()
	s := gasWorld(trustedBTCNow, trustedBTCRecord(swap.TrustedBTCCreated))
	s.World.LP = trustedBTCAnswer(lp.CodeGasUnpaid, "")
	id := pays(t, s.World, trustedBTCAddress, 250_000, 0)
	raw := trial.Must(rawtx.Encode(s.World.Txs[id].Msg))(t)
	delete(s.World.Txs, id)
	st := perform(t, s)
	st.advance(t, swap.Submit{Action: swap.ActionFund, PSBT: &swap.SignedPSBT{TxID: id, Tx: raw}})
	later := func(d time.Duration) *swap.Record {
		s.World.Set(func(w *flowtest.World) { w.Time = st.Record.Expiry.Time().Add(d) })
		return st.advance(t, nil)
	}
	if r := later(24*time.Hour - time.Minute); !r.Submission.Open() {
		t.Errorf("closed early: %+v", r.Submission)
	}
	if r := later(24*time.Hour + time.Minute); r.Submission.Open() || r.Submission.Reason == "" {
		t.Errorf("open: %+v", r.Submission)
	}
	s.World.LP = trustedBTCAnswer(lp.CodeExpired, "")
	if r := later(24*time.Hour + 2*time.Minute); r.State != swap.TrustedBTCExpired {
		t.Errorf("state %d", r.State)
	}
	pays(t, s.World, trustedBTCAddress, 250_000, 1)
	if r := later(24*time.Hour + 3*time.Minute); r.State == swap.TrustedBTCExpired {
		t.Error("a payment that comes after all was not seen")
	}
}

// One refusal does not make a payment void: a node may refuse what others take, or
// pass it on all the same, and who is asked to pay anew pays twice.
func TestTrustedBTCRefused(t *testing.T) {
	t.Parallel()
	s := gasWorld(trustedBTCNow, trustedBTCRecord(swap.TrustedBTCCreated))
	s.World.LP = trustedBTCAnswer(lp.CodeGasUnpaid, "")
	id := pays(t, s.World, trustedBTCAddress, 250_000, 0)
	tx := s.World.Txs[id]
	delete(s.World.Txs, id)
	raw := trial.Must(rawtx.Encode(tx.Msg))(t)
	st := perform(t, s)
	st.Acts.broadcast = func() swap.Outcome { return swap.Outcome{Refused: true, Reason: "bad-txns-inputs-missingorspent"} }
	later := func(d time.Duration) *swap.Record {
		s.World.Set(func(w *flowtest.World) { w.Time = w.Time.Add(d) })
		return st.advance(t, nil)
	}
	st.advance(t, swap.Submit{Action: swap.ActionFund, PSBT: &swap.SignedPSBT{TxID: id, Tx: raw}})
	for _, pause := range []time.Duration{time.Second, 10 * time.Second, 30 * time.Second, time.Minute} {
		got := later(pause)
		if v := st.Engine.StoredView(got); !got.Submission.Open() || v.Blocked == nil {
			t.Fatalf("%v later: %+v, shown %v", pause, got.Submission, v.Blocked)
		}
	}
	if n := st.Acts.count(swap.Broadcast); n < 3 {
		t.Errorf("sent %d times", n)
	}
	s.World.Set(func(w *flowtest.World) { w.BitcoinErr = errors.New("down") })
	if got := later(2 * time.Minute); !got.Submission.Open() {
		t.Errorf("closed without a look at Bitcoin: %+v", got.Submission)
	}
	s.World.Set(func(w *flowtest.World) { w.BitcoinErr = nil })
	if got := later(10 * time.Minute); got.Submission.Open() || got.Submission.Reason == "" {
		t.Errorf("never closed: %+v", got.Submission)

	}
}
