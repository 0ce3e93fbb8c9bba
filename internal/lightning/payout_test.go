package lightning

import (
	"math"
	"testing"

	"github.com/swapper-go/swapper/fault"
)

func TestHTLCTimeout(t *testing.T) {
	const base, most = DefaultHTLCTimeoutSeconds, DefaultMaxHTLCTimeoutSeconds
	for _, tt := range []struct {
		name            string
		base, max, cltv int64
		want            int64
		extended        bool
	}{
		{"no tag", base, most, defaultMinFinalCLTV, base, false},
		{"144 blocks", base, most, 144, base, false},
		{"145 blocks", base, most, 145, base + 1200, true},
		{"432 blocks", base, most, 432, 777_600, true},
		{"2016 blocks are capped", base, most, 2016, most, true},
		{"as many as there can be", base, most, math.MaxInt64, most, true},
		{"negative blocks", base, most, math.MinInt64, base, false},
		{"maximum below the base", base, 1000, 432, base, false},
		{"maximum equal to the base", base, base, 432, base, false},
		{"short base", 3600, 7200, 146, 6000, true},
		{"short base, capped", 3600, 7200, 147, 7200, true},
	} {
		got, extended, err := HTLCTimeout(tt.base, tt.max, tt.cltv)
		if err != nil || got != tt.want || extended != tt.extended {
			t.Errorf("%s: %d, %v, %v; want %d, %v", tt.name, got, extended, err, tt.want, tt.extended)
		}
	}
	for _, bad := range [][2]int64{{0, most}, {-1, most}, {math.MaxInt64, most}, {base, 0}, {base, -1}, {base, math.MaxInt64}} {
		if _, _, err := HTLCTimeout(bad[0], bad[1], 18); fault.CodeOf(err) != fault.InvalidInput {
			t.Errorf("%v: %v", bad, err)
		}
	}
}

func TestMaxRoutingFee(t *testing.T) {
	for _, tt := range []struct{ sats, base, ppm, want int64 }{
		{0, 10, 2000, 10}, {1, 10, 2000, 10}, {499, 10, 2000, 10}, {500, 10, 2000, 11}, {1_000_000, 10, 2000, 2010},
		{21e14, 10, 2000, 4_200_000_000_010}, // the product alone would not fit
		{21e14, 0, 1_000_000, 21e14},
		{999_999, 0, 999_999, 999_998},
	} {
		if got := MaxRoutingFee(tt.sats, tt.base, tt.ppm); got != tt.want {
			t.Errorf("%+v: %d", tt, got)
		}
	}
}

func TestReceiveExpiry(t *testing.T) {
	inv := &Invoice{Timestamp: 1000, ExpirySeconds: defaultExpirySeconds, MinFinalCLTV: defaultMinFinalCLTV}
	if _, err := inv.QuoteExpiry(); err == nil {
		t.Error("an invoice that does not state its expiry makes a quote")
	}
	inv.HasExpiry, inv.ExpirySeconds = true, 600
	if got, err := inv.DefinitiveExpiry(true); err != nil || got != 1600+144*1200 {
		t.Errorf("legacy without a delta: %d, %v", got, err)
	}
	if _, err := inv.DefinitiveExpiry(false); err == nil {
		t.Error("no delta, yet a definitive expiry")
	}
	inv.HasMinFinalCLTV, inv.MinFinalCLTV = true, 40
	for _, legacy := range []bool{true, false} {
		if got, err := inv.DefinitiveExpiry(legacy); err != nil || got != 1600+40*1200 {
			t.Errorf("legacy %v: %d, %v", legacy, got, err)
		}
	}
}
