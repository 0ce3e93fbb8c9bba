package opreturn

import (
	"bytes"
	"testing"
)

func TestDataScript(t *testing.T) {
	for n := 1; n <= 255; n++ {
		data := bytes.Repeat([]byte{byte(n)}, n)
		script, err := Script(data)
		if err != nil {
			t.Fatal(err)
		}
		back, err := Data(script)
		if err != nil || !bytes.Equal(back, data) {
			t.Errorf("%d bytes come back as %x, %v", n, back, err)
		}
	}
	for _, n := range []int{0, 256} {
		if _, err := Script(make([]byte, n)); err == nil {
			t.Errorf("made a script for %d bytes", n)
		}
	}
}
