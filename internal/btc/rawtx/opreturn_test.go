package rawtx

import (
	"bytes"
	"testing"

	"github.com/swapper-go/swapper/internal/trial"
)

func TestOpReturn(t *testing.T) {
	for n := 1; n <= 255; n++ {
		data := bytes.Repeat([]byte{byte(n)}, n)
		script := trial.Must(OpReturn(data))(t)
		back, err := OpReturnData(script)
		if err != nil || !bytes.Equal(back, data) {
			t.Errorf("%d bytes come back as %x, %v", n, back, err)
		}
	}
	for _, n := range []int{0, 256} {
		if _, err := OpReturn(make([]byte, n)); err == nil {
			t.Errorf("made a script for %d bytes", n)
		}
	}
}
