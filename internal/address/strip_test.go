package address

import (
	"testing"

	"github.com/swapper-go/swapper/internal/vectors"
)

func TestVectorsStripAddress(t *testing.T) {
	vectors.Each(t, "utilities", "strip_address", func(t *testing.T, c *vectors.Case) {
		var in struct{ Address string }
		c.Input(t, &in)
		vectors.SameJSON(t, c.Want(t), map[string]string{"address": Strip(in.Address)})
	})
}
