package recovery

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/flowtest"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/internal/vectors"
)

// TestForeignTransactionsAreRefused makes sure that what the chain's contracts
// call another transaction than the one asked for is neither stored nor sent.
func TestForeignTransactionsAreRefused(t *testing.T) {
	t.Parallel()
	f := vectors.Load(t, "swap-flows-escrow", "sync_to_btc")
	s := flowtest.Read(t, f).Setup(t, flowtest.Input{Record: json.RawMessage(`"TO_BTC/CITREA"`)})
	st := perform(t, s)
	_, err := st.Engine.Submit(t.Context(), st.Reader, st.Record.ID, []string{"signed:" + flowtest.Foreign})
	if fault.CodeOf(err) != fault.InvalidInput {
		t.Errorf("foreign: %v", err)
	}
	r := trial.Must(st.Engine.Load(t.Context(), st.Record.ID))(t)
	if r.Submission != nil || len(s.World.Sent()) != 0 {
		t.Errorf("stored %+v, sent %v", r.Submission, s.World.Sent())
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	s.World.Set(func(w *flowtest.World) { w.OnSend = func(*flowtest.World) { cancel() } })
	if _, err := st.Engine.Submit(ctx, st.Reader, st.Record.ID, []string{"signed:own"}); err != nil && fault.CodeOf(err) != fault.Timeout {
		t.Errorf("own: %v", err)
	}
	if sent := s.World.Sent(); len(sent) != 1 || sent[0] != "own" {
		t.Errorf("sent %v", sent)
	}
}
