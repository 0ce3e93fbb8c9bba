package recovery

import (
	"encoding/json"
	"errors"
	"maps"
	"strings"
	"testing"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	btcpsbt "github.com/swapper-go/swapper/internal/btc/psbt"
	"github.com/swapper-go/swapper/internal/flowtest"
	"github.com/swapper-go/swapper/internal/swap"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/internal/vectors"
)

// TestVaultIsLookedAtAgain makes sure that a signed PSBT leaves only if the vault
// can still pay: the withdrawal would close it otherwise, and nothing be paid.
func TestVaultIsLookedAtAgain(t *testing.T) {
	t.Parallel()
	var in struct {
		Now     json.Number
		QuoteID string
		PSBT    string
	}
	var fields map[string]json.RawMessage
	for _, c := range vectors.Load(t, "swap-flows-spv-and-core", "psbt_submit").Cases {
		var want struct{ PostQuote *struct{} }
		if c.Expected(t, &want); want.PostQuote != nil {
			c.Input(t, &in)
			c.Input(t, &fields)
			break
		}
	}
	now := trial.Must(in.Now.Int64())(t)
	// The LP would decline a fee below the agreed one, with the signed PSBT in its hands.
	t.Run("lower fee than agreed", func(t *testing.T) {
		dear := maps.Clone(fields)
		dear["minimumBtcFeeRate"] = json.RawMessage("5000")
		s := vaultCase(t, dear, now)
		st := perform(t, s)
		funded(t, s, st.Record, in.PSBT)
		_, err := st.Engine.Submit(t.Context(), st.Reader, st.Record.ID, []string{in.PSBT})
		if st.Engine.Effects.Drain(); err == nil || !strings.Contains(err.Error(), "sat/vB") || st.Acts.count(swap.PostPSBT) != 0 {
			t.Errorf("%v, handed over %d times", err, st.Acts.count(swap.PostPSBT))
		}
	})
	// What is spent elsewhere would be declined, or never be mined: it is refused by name, and
	// the quote stays as it is.
	for name, by := range map[string]bitcoin.Spend{
		"a coin that waits to be spent elsewhere":   {State: bitcoin.SpentInMempool, TxID: bitcoin.Hash{7}},
		"a coin that is spent":                      {State: bitcoin.SpentConfirmed, TxID: bitcoin.Hash{7}},
		"a coin that is spent, nobody says by whom": {State: bitcoin.SpentConfirmed},
	} {
		t.Run(name, func(t *testing.T) {
			s := vaultCase(t, fields, now)
			st := perform(t, s)
			funded(t, s, st.Record, in.PSBT)
			u, err := btcpsbt.Parse(in.PSBT)
			if err != nil {
				t.Fatal(err)
			}
			s.World.Spends[u.Inputs()[1]] = by
			_, err = st.Engine.Submit(t.Context(), st.Reader, st.Record.ID, []string{in.PSBT})
			st.Engine.Effects.Drain()
			got, loadErr := st.Engine.Load(t.Context(), st.Record.ID)
			if e, _ := errors.AsType[*fault.Error](err); e == nil || e.Code != fault.InvalidInput || e.Field != "signedTxs[0]" || !strings.Contains(err.Error(), "input 1") || st.Acts.count(swap.PostPSBT) != 0 {
				t.Errorf("%v, handed over %d times", err, st.Acts.count(swap.PostPSBT))
			}
			if loadErr != nil || got.State != st.Record.State || got.Posted() {
				t.Errorf("state %d, %v", got.State, loadErr)
			}
		})
	}
	for name, change := range map[string]func(w *flowtest.World){
		"as agreed":     func(*flowtest.World) {},
		"closed":        func(w *flowtest.World) { w.Vault.Open = false },
		"another relay": func(w *flowtest.World) { w.Vault.OurRelay = false },
		"too little":    func(w *flowtest.World) { w.Vault.Raw[0] = 0 },
	} {
		t.Run(name, func(t *testing.T) {
			s := vaultCase(t, fields, now)
			s.World.LP = json.RawMessage(`{"code":20000,"msg":"","data":{"txId":""}}`)
			st := perform(t, s)
			funded(t, s, st.Record, in.PSBT)
			change(s.World)
			_, err := st.Engine.Submit(t.Context(), st.Reader, st.Record.ID, []string{in.PSBT})
			st.Engine.Effects.Drain()
			if name == "as agreed" && err != nil {
				t.Fatal(err)
			}
			if accepted := err == nil; accepted != (name == "as agreed") || !accepted && st.Acts.count(swap.PostPSBT) != 0 {
				t.Errorf("accepted %v (%v), handed over %d times", accepted, err, st.Acts.count(swap.PostPSBT))
			}
		})
	}
}
