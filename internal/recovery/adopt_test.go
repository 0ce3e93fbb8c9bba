package recovery

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"testing"

	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/flowtest"
	"github.com/swapper-go/swapper/internal/lp/lphttp"
	"github.com/swapper-go/swapper/internal/quote"
	"github.com/swapper-go/swapper/internal/vectors"
)

// adopter is an Adopter on the world of a record of the vectors.
func adopter(t *testing.T, s *flowtest.Setup) *Adopter {
	t.Helper()
	st := perform(t, s)
	lps := lphttp.NewClient(lphttp.Options{Transport: s.World, Now: s.World.Now})
	m := &quote.Quoter{Engine: st.Engine, Reader: st.Reader, LPs: lps, Rand: rand.Reader}
	return &Adopter{Quoter: m, Chain: s.Chain, DryRun: true, Log: slog.New(slog.DiscardHandler)}
}

// Whatever is in the place of a member of a record, it is read or refused with a
// code; nothing panics.
func TestDamagedRecords(t *testing.T) {
	t.Parallel()
	f := vectors.Load(t, "swap-flows-escrow", "record_reading")
	file := flowtest.Read(t, f)
	values := []string{"null", "0", "-1", "1e400", `""`, `"-1"`, `"x"`, `"0x"`, `"ln"`, `"99999999999999999999999999999999999999999999999999999999999999999999999999999999"`, "{}", "[]", "true", "[null,null,null]"}
	for _, name := range slices.Sorted(maps.Keys(file.Records)) {
		s := file.Setup(t, flowtest.Input{Record: json.RawMessage(`"` + name + `"`)})
		t.Run(name, func(t *testing.T) {
			a := adopter(t, s)
			try := func(what string, m map[string]json.RawMessage) {
				body, err := json.Marshal(m)
				if err != nil {
					return // a value that is no JSON
				}
				_, _, err = a.Adopt(t.Context(), body)
				if e, ok := errors.AsType[*fault.Error](err); err != nil && (!ok || e.Code == fault.Internal) {
					t.Errorf("%s: %v", what, err)
				}
			}
			for member := range s.Record {
				without := maps.Clone(s.Record)
				delete(without, member)
				try("without "+member, without)
				for _, v := range values {
					changed := maps.Clone(s.Record)
					changed[member] = json.RawMessage(v)
					try(member+" "+v, changed)
				}
			}
		})
	}
}
