package lightning

import (
	"encoding/hex"
	"testing"

	"github.com/swapper-go/swapper/internal/vectors"
)

func TestVectorsHashHex(t *testing.T) {
	vectors.Each(t, "utilities", "hash_hex", func(t *testing.T, c *vectors.Case) {
		var in struct{ Text string }
		c.Input(t, &in)
		var want struct {
			Bytes string
			Error bool
		}
		c.Expected(t, &want)
		got, err := ParseHash(in.Text)
		if want.Error {
			if err == nil || got != [32]byte{} {
				t.Errorf("got %x, %v; want an error", got, err)
			}
			return
		}
		if err != nil || hex.EncodeToString(got[:]) != want.Bytes {
			t.Errorf("got %x, %v; want %s", got, err, want.Bytes)
		}
	})
}
