package bitcoin

import (
	"compress/gzip"
	"encoding/json"
	"os"
	"testing"
)

// vectorInputs returns a text member of every case's input, as seeds for
// fuzzing.
func vectorInputs(f *testing.F, area, name, member string) []string {
	f.Helper()
	file, err := os.Open("../../internal/vectors/testdata/" + area + "/" + name + ".json.gz")
	if err != nil {
		f.Fatal(err)
	}
	defer file.Close()
	r, err := gzip.NewReader(file)
	if err != nil {
		f.Fatal(err)
	}
	var content struct {
		Cases []struct{ Input map[string]any }
	}
	if err := json.NewDecoder(r).Decode(&content); err != nil {
		f.Fatal(err)
	}
	var seeds []string
	for _, c := range content.Cases {
		if s, ok := c.Input[member].(string); ok {
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
