package recovery

import (
	"encoding/json"
	"fmt"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/bigs"
	"github.com/swapper-go/swapper/internal/flowtest"
	"github.com/swapper-go/swapper/internal/lightning"
	"github.com/swapper-go/swapper/internal/lp"
	"github.com/swapper-go/swapper/internal/swap"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/internal/vectors"
	"github.com/swapper-go/swapper/tokens"
)

// gasWorld is the world of a gas swap on CITREA with the given record.
func gasWorld(now time.Time, record map[string]any) *flowtest.Setup {
	s := &flowtest.Setup{World: &flowtest.World{Time: now}, Record: map[string]json.RawMessage{}}
	s.Chain = flowtest.NewChain(s.World, "CITREA", []tokens.Token{flowtest.Native["CITREA"]}, flowtest.Contracts{})
	for name, v := range record {
		s.Record[name], _ = json.Marshal(v)
	}
	return s
}

// gasInvoice is one that the vectors use.
func gasInvoice(t *testing.T) (invoice string, expiry int64) {
	var in struct {
		Invoice string
		Expiry  int64
	}
	vectors.Load(t, "swap-flows-spv-and-core", "trusted_ln_status").Cases[0].Input(t, &in)
	return in.Invoice, in.Expiry
}

func TestVectorsTrustedTransitions(t *testing.T) {
	t.Parallel()
	invoice, expiry := gasInvoice(t)
	vectors.Each(t, "swap-flows-spv-and-core", "trusted_ln_transitions", func(t *testing.T, c *vectors.Case) {
		var in struct {
			State, AnswerCode  int
			SmartChainTxStatus *string
		}
		c.Input(t, &in)
		var want struct {
			Poll struct {
				Result    *bool
				State     int
				StateName string
				SCTxID    *string
			}
			Sync struct {
				Changed bool
				State   int
			}
		}
		c.Expected(t, &want)
		now := time.UnixMilli(expiry).Add(-time.Minute)
		if in.AnswerCode == lp.CodeExpired { // the invoice has
			now = time.UnixMilli(expiry + 1)
		}
		s := gasWorld(now, map[string]any{"id": "x", "type": 5, "state": in.State, "initiator": "0x33D8fF23B3F0A3598DE2ddaD2475Aeef285A6AbD", "url": "https://lp.example/lnforgas",
			"createdAt": expiry - 100_000, "expiry": expiry, "pr": invoice, "token": flowtest.Native["CITREA"].Address, "outputAmount": "1", "version": 1})
		s.World.LP = json.RawMessage(fmt.Sprintf(`{"code":%d,"msg":"","data":{"txId":"0xtx"}}`, in.AnswerCode))
		if in.SmartChainTxStatus != nil {
			s.World.TxState(map[string]chains.TxState{"success": chains.TxConfirmed, "pending": chains.TxPending, "reverted": chains.TxReverted, "not_found": chains.TxUnknown}[*in.SmartChainTxStatus])
		}
		st := perform(t, s)
		got := st.advance(t, nil)
		// One pass is the reference's waiting loop and its synchronisation in one. The
		// latter acts in the first state only, and does not tell that the LP was paid.
		synced := want.Poll.State
		if in.State != swap.TrustedLNCreated && synced != in.State {
			c.Differ(t, "gas-one-pass")
			synced = in.State
		}
		told := synced != in.State && synced != swap.TrustedLNPaid
		if want.Sync.State != synced || want.Sync.Changed != told {
			t.Errorf("the reference synchronises to %+v, want %d, told %v", want.Sync, synced, told)
		}
		row, _ := flowtest.Flow(swap.TrustedFromBTCLN).State(got.State)
		if got.State != want.Poll.State || row.Name != want.Poll.StateName {
			t.Errorf("state %d %s, want %d %s", got.State, row.Name, want.Poll.State, want.Poll.StateName)
		}
		// The loop ends where the swap does, and says whether it was paid out.
		if ended := want.Poll.Result != nil; ended != row.Finished || ended && *want.Poll.Result != row.Success {
			t.Errorf("finished %v, successful %v, want %+v", row.Finished, row.Success, want.Poll)
		}
		tx := ""
		if want.Poll.SCTxID != nil {
			tx = *want.Poll.SCTxID
		}
		if got.PayoutTx != tx {
			t.Errorf("payout %q, want %q", got.PayoutTx, tx)
		}
	})
}

// TestTrustedKeepsPayable makes sure that the LP cannot end a swap whose invoice
// can still be paid.
func TestTrustedKeepsPayable(t *testing.T) {
	t.Parallel()
	invoice, expiry := gasInvoice(t)
	s := gasWorld(time.UnixMilli(expiry).Add(-time.Minute), map[string]any{"id": "x", "type": 5, "state": 0, "initiator": "0x33D8fF23B3F0A3598DE2ddaD2475Aeef285A6AbD",
		"url": "https://lp.example/lnforgas", "createdAt": 1, "expiry": expiry, "pr": invoice, "token": flowtest.Native["CITREA"].Address, "outputAmount": "1", "version": 1})
	s.World.LP = json.RawMessage(`{"code":10001,"msg":""}`)
	if got := perform(t, s).advance(t, nil); got.State != swap.TrustedLNCreated {
		t.Errorf("state %d on the LP's word", got.State)
	}
}

// shownAmount is an amount as vectors write it.
func shownAmount(raw *big.Int, token tokens.Token) map[string]any {
	a := tokens.NewAmount(raw, token)
	return map[string]any{"amount": a.Decimal(), "rawAmount": raw.String(), "decimals": token.Decimals, "symbol": token.Ticker, "chain": token.Chain}
}

// shownStep is a step as vectors write it, but for its description.
func shownStep(s swap.Step) map[string]any {
	side := "destination"
	if s.Type == "Payment" || s.Type == "Refund" {
		side = "source"
	}
	out := map[string]any{"type": s.Type, "side": side, "chain": s.Chain, "title": s.Title, "status": s.Status}
	for name, tx := range map[string]string{"setupTxId": s.SetupTx, "initTxId": s.InitTx, "settleTxId": s.SettleTx, "refundTxId": s.RefundTx} {
		if tx != "" {
			out[name] = tx
		}
	}
	return out
}

func TestVectorsTrustedStatus(t *testing.T) {
	t.Parallel()
	vectors.Each(t, "swap-flows-spv-and-core", "trusted_ln_status", func(t *testing.T, c *vectors.Case) {
		var in struct {
			State   int
			Now     json.Number
			Invoice string
			Expiry  int64
		}
		c.Input(t, &in)
		var want map[string]any
		c.Expected(t, &want)
		now := trial.Must(in.Now.Int64())(t)
		inv := trial.Must(lightning.Decode(in.Invoice))(t)
		// The LP's fee is not part of a case's input. It is what the answer leaves of
		// the invoice; the rest was paid out at par, sats for the native token.
		paid := big.NewInt(*inv.AmountMsat / 1000)
		raw, _ := want["inputWithoutFee"].(map[string]any)["rawAmount"].(string)
		fee := new(big.Int).Sub(paid, amountText(t, raw))
		native := flowtest.Native["CITREA"]
		out := new(big.Int).Mul(amountText(t, raw), big.NewInt(1e10))
		s := gasWorld(time.UnixMilli(now), map[string]any{"id": "x", "type": 5, "state": in.State, "initiator": "0x33D8fF23B3F0A3598DE2ddaD2475Aeef285A6AbD",
			"url": "https://lp.example/lnforgas", "createdAt": now, "expiry": in.Expiry, "pr": in.Invoice, "token": native.Address,
			"outputAmount": out.String(), "swapFeeBtc": fee.String(), "_satsBaseFee": "10", "version": 1})
		s.World.LP = json.RawMessage(`{"code":10010,"msg":""}`)
		if in.State == swap.TrustedLNPaid {
			s.World.LP = json.RawMessage(`{"code":10011,"msg":""}`)
		}
		st := perform(t, s)
		res := trial.Must(st.Engine.Advance(t.Context(), st.Record.ID, nil))(t)
		v, r := st.Engine.View(res), res.Record
		rest := new(big.Int).Sub(r.Terms.Input.Raw, r.Terms.SwapFee.Raw)
		ppm := new(big.Int).Sub(r.Terms.SwapFee.Raw, r.Terms.Price.BaseFeeSats)
		got := map[string]any{
			"stateInfo":       map[string]any{"number": r.State, "name": v.Row.Name},
			"flags":           map[string]any{"isFinished": v.Row.Finished, "isSuccess": v.Row.Success, "isFailed": v.Row.Failed, "isExpired": v.Row.Expired},
			"swapId":          r.ID,
			"input":           shownAmount(r.Terms.Input.Raw, r.Terms.Input.Token),
			"inputWithoutFee": shownAmount(rest, r.Terms.Input.Token),
			"output":          shownAmount(r.Terms.Output.Raw, r.Terms.Output.Token),
			"swapFee":         shownAmount(r.Terms.SwapFee.Raw, r.Terms.SwapFee.Token),
			"swapFeePPM":      bigs.MulDiv(ppm, big.NewInt(1_000_000), rest).String(),
			"currentAction":   nil,
		}
		steps := []any{}
		for _, step := range v.Steps {
			steps = append(steps, shownStep(step))
		}
		got["steps"] = steps
		switch a := v.Action.(type) {
		case *swap.Wait:
			got["currentAction"] = map[string]any{"type": "Wait", "name": a.Name, "pollTimeSeconds": a.PollSeconds, "expectedTimeSeconds": a.ExpectedSeconds}
		case *swap.Pay:
			got["currentAction"] = map[string]any{"type": "SendToAddress", "name": a.Name, "chain": a.Chain, "txs": []any{map[string]any{
				"type": map[bool]string{true: "BOLT11_PAYMENT_REQUEST", false: "ADDRESS"}[a.Invoice], "address": a.To, "hyperlink": a.Link,
				"amount": shownAmount(a.Amount.Raw, a.Amount.Token)}}}
		}
		if in.State == swap.TrustedLNCreated && now >= in.Expiry {
			c.Differ(t, "expired-at-expiry")
			flags := want["flags"].(map[string]any)
			flags["isFinished"], flags["isExpired"] = true, true
		}
		vectors.DropTexts(want)
		vectors.SameJSON(t, vectors.JSON(t, want), got)
	})
}

func amountText(t *testing.T, s string) *big.Int {
	t.Helper()
	n, ok := new(big.Int).SetString(strings.Trim(s, `"`), 10)
	if !ok {
		t.Fatalf("%q is not an amount", s)
	}
	return n
}
