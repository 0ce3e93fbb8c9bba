package recovery

import (
	"context"
	"encoding/json"
	"log/slog"
	"maps"
	"strconv"
	"sync"
	"testing"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/chainio"
	"github.com/swapper-go/swapper/internal/engine"
	"github.com/swapper-go/swapper/internal/flowtest"
	"github.com/swapper-go/swapper/internal/lp/lphttp"
	"github.com/swapper-go/swapper/internal/swap"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/storage"
)

// acts remembers what was done to the outside world, and says that it worked.
type acts struct {
	mu   sync.Mutex
	done map[swap.EffectKind]int
	send func(context.Context, chains.Signed) error
	post func(r *swap.Record) swap.Outcome // nil: the LP takes it

	broadcast func() swap.Outcome // nil: the network takes it
}

func (a *acts) Execute(ctx context.Context, r *swap.Record, e swap.Effect) swap.Outcome {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.done[e.Kind]++
	if e.Kind == swap.SendTx {
		if err := a.send(ctx, r.Submission.Txs[e.Step].Signed); err != nil {
			return swap.Outcome{Reason: err.Error()}
		}
		return swap.Outcome{Done: true}
	}
	if e.Kind == swap.PostPSBT && a.post != nil {
		return a.post(r)
	}
	if e.Kind == swap.Broadcast && a.broadcast != nil {
		return a.broadcast()
	}
	return swap.Outcome{Done: true}
}

func (a *acts) count(k swap.EffectKind) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.done[k]
}

// stage is an engine on the world of a case, with the case's record stored.
type stage struct {
	*flowtest.Setup
	Engine *engine.Engine
	Reader *chainio.Reader
	LPs    *lphttp.Client
	Record *swap.Record
	Acts   *acts
}

// perform stores the record of a case in an engine on the case's world.
func perform(t *testing.T, s *flowtest.Setup) *stage {
	t.Helper()
	text := trial.Must(json.Marshal(s.Record))(t)
	r := trial.Must(ImportRecord(s.Chain, text))(t)
	lps := lphttp.NewClient(lphttp.Options{Transport: s.World, Now: s.World.Now})
	reader := chainio.New(map[string]chains.Chain{s.Chain.ID(): s.Chain}, s.World.Bitcoin(bitcoin.Mainnet), lps)
	st := &stage{Setup: s, Reader: reader, LPs: lps, Record: r, Acts: &acts{done: map[swap.EffectKind]int{}, send: s.Chain.Send}}
	st.Engine = engine.New(engine.Config{Store: new(storage.Memory), Reader: reader, Executor: st.Acts, Flows: swap.Flows(), Now: s.World.Now, Log: slog.New(slog.DiscardHandler)})
	t.Cleanup(func() { st.Engine.Close(); reader.Close() })
	trial.Do(t, st.Engine.Create(t.Context(), r))
	return st
}

// advance runs a pass, and waits for what it set off.
func (st *stage) advance(t *testing.T, input swap.Input) *swap.Record {
	t.Helper()
	res := trial.Must(st.Engine.Advance(t.Context(), st.Record.ID, input))(t)
	st.Engine.Effects.Drain()
	return res.Record
}

// facts are the members of the reference's record that a swap's course writes,
// by the reference's names.
func facts(r *swap.Record) map[string]string {
	f := map[string]string{}
	if e := r.Escrow; e != nil {
		f["commitTxId"], f["claimTxId"], f["refundTxId"] = e.InitTx, e.ClaimTx, e.RefundTx
		if e.Real != nil {
			f["data"] = "known"
		}
	}
	if b := r.Bitcoin; b != nil {
		if b.TxID != [32]byte{} {
			f["txId"] = b.TxID.String()
			if b.ConfirmedAt != 0 {
				f["btcTxConfirmedAt"] = strconv.FormatInt(int64(b.ConfirmedAt), 10)
			}
		}
		f["address"] = b.Address
	}
	if l := r.Lightning; l != nil && !l.Preimage.IsZero() {
		text, _ := l.Preimage.MarshalJSON()
		f["secret"] = string(text[1 : len(text)-1])
	}
	maps.DeleteFunc(f, func(_, v string) bool { return v == "" })
	return f
}

// wanted are the facts after a case: those before, and what the reference changed.
func wanted(before map[string]string, fields map[string]json.RawMessage) map[string]string {
	want := maps.Clone(before)
	for _, name := range []string{"commitTxId", "claimTxId", "refundTxId", "txId", "btcTxConfirmedAt", "address", "secret", "data"} {
		raw, ok := fields[name]
		if !ok {
			continue
		}
		var s string
		switch name {
		case "data":
			s = "known"
		case "btcTxConfirmedAt":
			s = string(raw)
		default:
			_ = json.Unmarshal(raw, &s)
		}
		if want[name] = s; s == "" {
			delete(want, name)
		}
	}
	return want
}
