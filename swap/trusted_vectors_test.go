package swap

import (
	"encoding/json"
	"fmt"
	"math/big"
	"testing"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/flowtest"
	"github.com/swapper-go/swapper/internal/vectors"
	"github.com/swapper-go/swapper/swap/lp"
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
	invoice, expiry := gasInvoice(t)
	vectors.Each(t, "swap-flows-spv-and-core", "trusted_ln_transitions", func(t *testing.T, c *vectors.Case) {
		var in struct {
			State, AnswerCode  int
			SmartChainTxStatus *string
		}
		c.Input(t, &in)
		var want struct {
			Poll struct {
				State     int
				StateName string
				SCTxID    *string
			}
			Sync struct{ State int }
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
		// One pass is the reference's waiting loop and its synchronisation in one.
		if want.Sync.State != want.Poll.State {
			c.Differ(t, "gas-one-pass")
		}
		row, _ := stateRow(gasStates, got.State)
		if got.State != want.Poll.State || row.Name != want.Poll.StateName {
			t.Errorf("state %d %s, want %d %s", got.State, row.Name, want.Poll.State, want.Poll.StateName)
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
	invoice, expiry := gasInvoice(t)
	s := gasWorld(time.UnixMilli(expiry).Add(-time.Minute), map[string]any{"id": "x", "type": 5, "state": 0, "initiator": "0x33D8fF23B3F0A3598DE2ddaD2475Aeef285A6AbD",
		"url": "https://lp.example/lnforgas", "createdAt": 1, "expiry": expiry, "pr": invoice, "token": flowtest.Native["CITREA"].Address, "outputAmount": "1", "version": 1})
	s.World.LP = json.RawMessage(`{"code":10001,"msg":""}`)
	if got := perform(t, s).advance(t, nil); got.State != gasCreated {
		t.Errorf("state %d on the LP's word", got.State)
	}
}

func ppm(fee, base, rest *big.Int) string {
	n := new(big.Int).Sub(fee, base)
	return mulDiv(n, big.NewInt(1_000_000), rest).String()
}

func TestVectorsTrustedStatus(t *testing.T) {
	vectors.Each(t, "swap-flows-spv-and-core", "trusted_ln_status", func(t *testing.T, c *vectors.Case) {
		var in struct {
			State   int
			Now     json.Number
			Invoice string
			Expiry  int64
		}
		c.Input(t, &in)
		type amount struct{ Amount, RawAmount string }
		var want struct {
			StateInfo struct {
				Number int
				Name   string
			}
			Flags struct{ IsFinished, IsSuccess, IsFailed, IsExpired bool }
			Steps []struct{ Type, Chain, Title, Status string }

			CurrentAction *struct {
				Type, Name                           string
				PollTimeSeconds, ExpectedTimeSeconds int
				Txs                                  []struct {
					Type, Address, Hyperlink string
					Amount                   amount
				}
			}
			SwapID                                  string
			Input, InputWithoutFee, Output, SwapFee amount
			SwapFeePPM                              string
		}
		c.Expected(t, &want)
		now, err := in.Now.Int64()
		if err != nil {
			t.Fatal(err)
		}
		// The amounts are not among a case's input: they are taken from its answer,
		// and what follows from them is compared.
		s := gasWorld(time.UnixMilli(now), map[string]any{"id": want.SwapID, "type": 5, "state": in.State, "initiator": "0x33D8fF23B3F0A3598DE2ddaD2475Aeef285A6AbD",
			"url": "https://lp.example/lnforgas", "createdAt": now, "expiry": in.Expiry, "pr": in.Invoice, "token": flowtest.Native["CITREA"].Address,
			"outputAmount": want.Output.RawAmount, "swapFeeBtc": want.SwapFee.RawAmount, "_satsBaseFee": "10", "version": 1})
		s.World.LP = json.RawMessage(`{"code":10010,"msg":""}`)
		if in.State == gasPaid {
			s.World.LP = json.RawMessage(`{"code":10011,"msg":""}`)
		}
		st := perform(t, s)
		res, err := st.Engine.Advance(t.Context(), st.Record.ID, nil)
		if err != nil {
			t.Fatal(err)
		}
		v, r := st.Engine.View(res), res.Record
		if r.ID != want.SwapID || r.State != want.StateInfo.Number || v.Row.Name != want.StateInfo.Name || v.Row.Finished != want.Flags.IsFinished ||
			v.Row.Success != want.Flags.IsSuccess || v.Row.Failed != want.Flags.IsFailed || v.Row.Expired != want.Flags.IsExpired {
			t.Errorf("%s in state %+v, want %+v", r.ID, v.Row, want)
		}
		for i, step := range want.Steps {
			if g := v.Steps[i]; string(g.Type) != step.Type || g.Chain != step.Chain || g.Title != step.Title || string(g.Status) != step.Status || g.InitTx+g.SettleTx != "" {
				t.Errorf("step %+v, want %+v", g, step)
			}
		}
		switch a := v.Action.(type) {
		case nil:
			if want.CurrentAction != nil {
				t.Errorf("no action, want %+v", want.CurrentAction)
			}
		case *Wait:
			if w := want.CurrentAction; w == nil || w.Type != "Wait" || w.Name != a.Name || w.PollTimeSeconds != a.PollSeconds || w.ExpectedTimeSeconds != a.ExpectedSeconds {
				t.Errorf("action %+v, want %+v", a, w)
			}
		case *Pay:
			if w := want.CurrentAction; w == nil || w.Type != "SendToAddress" || w.Name != a.Name || w.Txs[0].Address != a.To || w.Txs[0].Hyperlink != a.Link || w.Txs[0].Amount.RawAmount != a.Amount.Raw.String() {
				t.Errorf("action %+v, want %+v", a, w)
			}
		}
		rest := new(big.Int).Sub(r.Terms.Input.Raw, r.Terms.SwapFee.Raw)
		if r.Terms.Input.Raw.String() != want.Input.RawAmount || r.Terms.Output.Decimal() != want.Output.Amount || rest.String() != want.InputWithoutFee.RawAmount {
			t.Errorf("input %s, output %s, without fee %s", r.Terms.Input.Raw, r.Terms.Output.Decimal(), rest)
		}
		if got := ppm(r.Terms.SwapFee.Raw, r.Terms.Price.BaseFeeSats, rest); got != want.SwapFeePPM {
			t.Errorf("fee of %s ppm, want %s", got, want.SwapFeePPM)
		}
	})
}
