package lp

import (
	"bytes"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/internal/vectors"
)

func FuzzFrames(f *testing.F) {
	for _, c := range vectors.Load(f, "lp-protocol", "frames-decode").Cases {
		var in struct{ Chunks []string }
		c.Input(f, &in)
		data, _ := hex.DecodeString(strings.Join(in.Chunks, ""))
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r := frames{r: bytes.NewReader(data), left: 4096}
		var again []byte
		for {
			fields, err := r.next()
			if err != nil {
				break
			}
			if fields == nil {
				t.Fatal("no error and no object")
			}
			var params []Param
			for name, value := range fields {
				params = append(params, Param{name, value})
			}
			again = trial.Must(appendFrame(again[:0], encode(params)))(t)
			back, err := (&frames{r: bytes.NewReader(again), left: len(again)}).next()
			if err != nil || len(back) != len(fields) {
				t.Errorf("%q does not survive: %v", again, err)
			}
		}
		if r.left < 0 || 4096-r.left > max(len(data), 4096) {
			t.Errorf("read %d of %d bytes", 4096-r.left, len(data))
		}
	})
}
