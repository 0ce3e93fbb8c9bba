package read

import (
	"encoding/json"
	"testing"

	"github.com/swapper-go/swapper/internal/trial"
)

// A cursor comes out of a store: what is read of it is written back as the same.
func FuzzCursor(f *testing.F) {
	for _, seed := range []string{`{"v1":[{"lastBlockNumber":5,"lastTxHash":"0x1"},{"lastBlockNumber":5}]}`, `[{"lastBlockNumber":5},{}]`, ``, ` `, `{}`, `null`, `{"v1":null}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := ParseCursor(text)
		if err != nil {
			return
		}
		out := trial.Must(json.Marshal(c))(t)
		back, err := ParseCursor(out)
		if err != nil || len(back) != len(c) {
			t.Fatalf("%s is written as %s: %v", text, out, err)
		}
		for version, both := range c {
			for i := range both {
				if !back[version][i].equal(both[i]) {
					t.Errorf("%s is written as %s", text, out)
				}
			}
		}
	})
}
