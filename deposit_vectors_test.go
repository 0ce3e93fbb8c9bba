package swapper

import (
	"bytes"
	"encoding/hex"
	"slices"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/btcutil/psbt"
	"github.com/btcsuite/btcd/wire"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/flowtest"
	"github.com/swapper-go/swapper/internal/vectors"
)

// fundedBy puts what a PSBT spends into the world.
func fundedBy(t *testing.T, w *flowtest.World, text string) {
	t.Helper()
	p, err := psbt.NewFromRawBytes(strings.NewReader(text), true)
	if err != nil {
		raw, e := hex.DecodeString(text)
		if e != nil {
			return // a case about something else
		}
		if p, err = psbt.NewFromRawBytes(bytes.NewReader(raw), false); err != nil {
			return
		}
	}
	for i, in := range p.UnsignedTx.TxIn {
		parent := wire.NewMsgTx(2)
		for range in.PreviousOutPoint.Index {
			parent.AddTxOut(&wire.TxOut{})
		}
		parent.AddTxOut(p.Inputs[i].WitnessUtxo)
		w.Txs[in.PreviousOutPoint.Hash] = &bitcoin.Tx{ID: in.PreviousOutPoint.Hash, Msg: parent, Confirmations: 10}
	}
}

// What the user signed to pay bitcoin into an open escrow is broadcast if it pays
// exactly, once, and in time.
func TestVectorsSubmitPSBT(t *testing.T) {
	f := vectors.Load(t, "swap-flows-escrow", "submit_psbt_from_btc")
	file := flowtest.Read(t, f)
	f.Each(t, func(t *testing.T, c *vectors.Case) {
		var in struct {
			flowtest.Input
			SignedTxs []string
		}
		c.Input(t, &in)
		var want struct {
			Error     bool
			Broadcast *bool
			Result    struct{ TxHashes []string }
			State     int
			Raw       string `json:"broadcastRawTx"`
			Fields    struct {
				SenderAddress, TxID string
				Vout                uint32
			}
		}
		c.Expected(t, &want)
		s := file.Setup(t, in.Input)
		s.World.Rates = bitcoin.FeeRates{Fastest: 100, Minimum: 1}
		for _, text := range in.SignedTxs {
			fundedBy(t, s.World, text)
		}
		client, r := onStage(t, s)
		out, err := client.SubmitTransaction(t.Context(), SubmitTransactionInput{SwapID: r.ID, SignedTxs: in.SignedTxs})
		now, loadErr := client.engine.Load(t.Context(), r.ID)
		if loadErr != nil {
			t.Fatal(loadErr)
		}
		if want.Error { // and nothing has changed
			want.State = r.State
		}
		if want.State == 1 && payOver(r, s.World.Now()) {
			c.Differ(t, "status-is-current")
			want.State = -3
		}
		if (err != nil) != want.Error || now.State != want.State {
			t.Fatalf("state %d (%v), want %d, error %v", now.State, err, want.State, want.Error)
		}
		sent := s.World.Broadcast()
		if want.Broadcast != nil && *want.Broadcast != (len(sent) > 0) {
			t.Errorf("broadcast %x, want %v", sent, *want.Broadcast)
		}
		if err != nil {
			if len(sent) > 0 {
				t.Errorf("broadcast %x", sent)
			}
			return
		}
		if !slices.Equal(out.TxHashes, want.Result.TxHashes) || len(sent) == 0 || hex.EncodeToString(sent[0]) != want.Raw {
			t.Errorf("ids %v, broadcast %x; want %v, %s", out.TxHashes, sent, want.Result.TxHashes, want.Raw)
		}
		if b := now.Bitcoin; b.TxID.String() != want.Fields.TxID || b.Vout != want.Fields.Vout {
			t.Errorf("payment %s:%d, want %+v", b.TxID, b.Vout, want.Fields)
		}
	})
}
