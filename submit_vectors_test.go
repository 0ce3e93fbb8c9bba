package swapper

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/btcsuite/btcd/wire"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/flowtest"
	"github.com/swapper-go/swapper/internal/swap"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/internal/vectors"
)

func TestVectorsSubmitTransaction(t *testing.T) {
	f := vectors.Load(t, "swap-flows-escrow", "submit_transaction")
	file := flowtest.Read(t, f)
	f.Each(t, func(t *testing.T, c *vectors.Case) {
		var in struct {
			flowtest.Input
			SignedTxs []string
		}
		c.Input(t, &in)
		var want struct {
			Error  bool
			Result struct{ TxHashes []string }
			State  int
			Calls  [][]any
		}
		c.Expected(t, &want)
		s := file.Setup(t, in.Input)
		client, r := onStage(t, s)
		outgoing := r.Type == swap.ToBTC || r.Type == swap.ToBTCLN
		if outgoing && r.State == 4 { // refundable without the LP
			s.World.Time = time.Unix(r.Escrow.Real.Expiry, 0).Add(chains.RefundGrace + time.Second)
		}
		if r.Type == swap.FromBTC && r.State == 2 { // the payment that was confirmed is there
			tx := wire.NewMsgTx(2)
			tx.AddTxOut(wire.NewTxOut(int64(r.Bitcoin.Sats), r.Bitcoin.Script))
			s.World.Txs[tx.TxHash()] = &bitcoin.Tx{ID: tx.TxHash(), Msg: tx, Confirmations: r.Bitcoin.Confirmations}
		}
		// What is sent has its effect at once.
		answer := s.World.Escrow
		s.World.OnSend = func(w *flowtest.World) {
			w.Escrow = func(q chains.EscrowQuery) (chains.EscrowFact, error) {
				fact, err := answer(q)
				switch {
				case r.Type == swap.FromBTC && r.State <= 0:
					fact.State = chains.EscrowOpen
				case !outgoing:
					fact.State = chains.EscrowClaimed
				case r.State == 4:
					fact.State = chains.EscrowRefunded
				default:
					fact.State = chains.EscrowOpen
				}
				return fact, err
			}
		}
		out, err := client.SubmitTransaction(t.Context(), SubmitTransactionInput{SwapID: r.ID, SignedTxs: in.SignedTxs})
		now := trial.Must(client.engine.Load(t.Context(), r.ID))(t)
		if len(in.SignedTxs) == 0 && !want.Error {
			c.Differ(t, "submit-empty")
			want.Error, want.State, want.Calls = true, r.State, nil
		}
		decoded := len(in.SignedTxs) > 0 && strings.HasPrefix(in.SignedTxs[0], "signed:")
		if r.Type == swap.FromBTCLN && r.State == -2 && r.Escrow.Init == nil && decoded && len(want.Calls) > 0 {
			c.Differ(t, "submit-needs-authorization")
			want.Error, want.State, want.Calls = true, r.State, nil
		}
		if r.Type == swap.FromBTC && r.State == -3 && want.State == r.State && len(in.SignedTxs) > 0 && !payOver(r, s.World.Now()) {
			c.Differ(t, "escrow-way-back")
			want.State = 1
		}
		if want.State == r.State && len(in.SignedTxs) > 0 && wayBack(r, s.World.Now()) {
			c.Differ(t, "escrow-way-back")
			want.State = 2
			if want.Error && decoded && len(want.Calls) == 0 && r.Type == swap.FromBTCLN { // it can be claimed at once
				want.Error, want.State, want.Calls = false, 3, [][]any{{"sendSignedAndConfirm"}}
				want.Result.TxHashes = []string{strings.TrimPrefix(in.SignedTxs[0], "signed:")}
			}
		}
		if (err != nil) != want.Error || now.State != want.State {
			t.Fatalf("state %d (%v), want %d, error %v", now.State, err, want.State, want.Error)
		}
		if err == nil && !slices.Equal(out.TxHashes, want.Result.TxHashes) {
			t.Errorf("ids %v, want %v", out.TxHashes, want.Result.TxHashes)
		}
		if sent := s.World.Sent(); (len(sent) > 0) != (len(want.Calls) > 0) {
			t.Errorf("sent %v, the reference %v", sent, want.Calls)
		}
	})
}

func TestVectorsSettleWithLnurl(t *testing.T) {
	f := vectors.Load(t, "swap-flows-escrow", "settle_with_lnurl")
	file := flowtest.Read(t, f)
	f.Each(t, func(t *testing.T, c *vectors.Case) {
		var in struct {
			flowtest.Input
			Body struct{ LnurlWithdraw string }
			LP   string
		}
		c.Input(t, &in)
		var want struct {
			Error  bool
			Result struct{ PaymentHash string }
			State  int
		}
		c.Expected(t, &want)
		s := file.Setup(t, in.Input)
		client, r := onStage(t, s)
		switch in.LP {
		case "paid":
			s.World.LP = delivered(t, s)
		case "expired":
			s.World.LP = json.RawMessage(`{"code":10001,"msg":""}`)
		default:
			t.Fatalf("unknown answer %q of the LP", in.LP)
		}
		ctx := t.Context()
		if r.State == 0 && in.LP == "expired" { // what the LP calls expired is waited for until the invoice has expired
			s.World.Time = r.Expiry.Time().Add(time.Millisecond)
		}
		out, err := client.SettleWithLnurl(ctx, SettleWithLnurlInput{SwapID: r.ID, LnurlWithdraw: in.Body.LnurlWithdraw})
		now := trial.Must(client.engine.Load(ctx, r.ID))(t)
		if (err != nil) != want.Error {
			t.Fatalf("error %v, want %v", err, want.Error)
		}
		if err == nil && out.PaymentHash != want.Result.PaymentHash {
			t.Errorf("payment hash %s, want %s", out.PaymentHash, want.Result.PaymentHash)
		}
		if want.State == -3 && r.State == 0 {
			c.Differ(t, "auto-lp-cannot-expire")
			want.State = -2
		}
		if now.State != want.State {
			t.Errorf("state %d, want %d", now.State, want.State)
		}
	})
}

// delivered is the answer of an LP that holds the payment and announces the
// agreed escrow, good for a day.
func delivered(t *testing.T, s *flowtest.Setup) json.RawMessage {
	t.Helper()
	data := s.Agreed(t)
	if data == nil {
		return json.RawMessage(`{"code":10003,"msg":""}`) // another type: nobody asks
	}
	text := trial.Must(json.Marshal(map[string]any{"code": 10000, "msg": "", "data": map[string]any{"data": data,
		"prefix": "initialize", "timeout": fmt.Sprint(s.World.Time.Unix() + 600), "signature": "aabb"}}))(t)
	return text
}
