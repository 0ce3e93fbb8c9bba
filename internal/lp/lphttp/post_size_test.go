package lphttp

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/btc/psbt"
	"github.com/swapper-go/swapper/internal/flowtest"
)

// Providers cut what they read at 8192 bytes, and would lose the end of a longer
// PSBT: the largest that is built and taken from a user fits, and a longer one is
// refused before it is sent.
func TestPostsFitWhatProvidersRead(t *testing.T) {
	var sizes []int
	base := flowtest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		sizes = append(sizes, len(body))
		w.WriteHeader(http.StatusTeapot)
	})
	c := client(t, Options{})
	post := func(psbt int) error {
		_, err := c.PostSPV(t.Context(), base, "CITREA", strings.Repeat("0", 64), make([]byte, psbt))
		return err
	}
	if err := post(psbt.MaxPosted); fault.CodeOf(err) == fault.InvalidInput || len(sizes) != 1 || sizes[0] > 8192 {
		t.Errorf("the largest PSBT: %v, bodies of %v bytes", err, sizes)
	}
	largest := psbt.MaxPosted
	for ; fault.CodeOf(post(largest)) != fault.InvalidInput && largest < 8192; largest++ {
	}
	for _, size := range sizes {
		if size > 8192 {
			t.Errorf("a body of %d bytes was sent", size)
		}
	}
	if last := sizes[len(sizes)-1]; last < 8191 {
		t.Errorf("refused although a body of %d bytes was taken", last)
	}
}
