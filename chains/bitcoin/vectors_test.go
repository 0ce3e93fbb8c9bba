package bitcoin

import (
	"encoding/json"
	"testing"

	"github.com/swapper-go/swapper/internal/vectors"
)

// vectorInputs returns a text member of every case's input, as seeds for
// fuzzing.
func vectorInputs(f *testing.F, area, name, member string) []string {
	f.Helper()
	var seeds []string
	for _, c := range vectors.Load(f, area, name).Cases {
		var input map[string]any
		c.Input(f, &input)
		if s, ok := input[member].(string); ok {
			seeds = append(seeds, s)
		}
	}
	if len(seeds) == 0 {
		f.Fatalf("no %s in %s/%s", member, area, name)
	}
	return seeds
}

func mustJSON(t *testing.T, v any) json.RawMessage {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
