package swap

import (
	"testing"
	"time"

	"github.com/swapper-go/swapper/chains"
)

func TestDueMoment(t *testing.T) {
	out := &Record{Head: Head{Type: ToBTC, Expiry: 10_000}, Escrow: &EscrowPart{Real: &chains.Escrow{Expiry: 1000}}}
	auto := &Record{Head: Head{Type: FromBTCLNAuto, Expiry: 10_000}, Lightning: &LightningPart{EndsAt: 90_000}, Escrow: &EscrowPart{Real: &chains.Escrow{Expiry: 1000}}}
	for _, c := range []struct {
		name string
		r    *Record
		now  int64
		want Millis
	}{
		{"quote", out, 5_000, 10_001},
		{"refund", out, 10_001, 1_601_001},
		{"over", out, 1_700_000, 0},
		{"payment", auto, 20_000, 90_001},
		{"claim", auto, 100_000, 401_001},
		{"nothing known", &Record{}, 5, 0},
	} {
		if got := dueMoment(c.r, time.UnixMilli(c.now)); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}
