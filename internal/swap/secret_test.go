package swap

import (
	"bytes"
	"log/slog"
	"testing"

	"github.com/swapper-go/swapper/chains"
)

func TestSecretsDoNotPrint(t *testing.T) {
	var b []byte
	w := writerFunc(func(p []byte) (int, error) { b = append(b, p...); return len(p), nil })
	r := &Record{Head: Head{ID: "a", Seed: chains.Seed{0xaa}}, Lightning: &LightningPart{Preimage: chains.Preimage{0xbb}}}
	timeless := &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey { // its digits are nobody's secret
			return slog.Attr{}
		}
		return a
	}}
	for _, h := range []slog.Handler{slog.NewTextHandler(w, timeless), slog.NewJSONHandler(w, timeless)} {
		slog.New(h).Info("x", "record", r, "secret", r.Seed, "preimage", chains.Preimage{0xcc})
	}
	for _, leak := range []string{"aa00", "bb00", "cc00", "170", "187", "204"} {
		if bytes.Contains(b, []byte(leak)) {
			t.Errorf("%q in the log: %s", leak, b)
		}
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }
