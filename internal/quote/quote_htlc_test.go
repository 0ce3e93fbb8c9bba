package quote

import (
	"testing"
	"time"

	"github.com/swapper-go/swapper/internal/lightning"
)

// Whichever of the two timeouts is given, the escrow never lasts longer than the
// longer of them.
func TestHTLCTimeouts(t *testing.T) {
	const day = 24 * time.Hour
	now := time.Unix(1_760_000_000, 0)
	for name, c := range map[string]struct {
		usual, most time.Duration
		cltv        int64
		want        time.Duration
		long        bool
	}{
		"none given":                       {0, 0, 80, 5 * day, false},
		"none given, long invoice":         {0, 0, 144 + 72, 6 * day, true},
		"none given, very long invoice":    {0, 0, 2016, 10 * day, true},
		"maximum alone":                    {0, 2 * day, 80, 2 * day, false},
		"maximum alone, long invoice":      {0, 2 * day, 2016, 2 * day, false},
		"maximum alone, above the usual":   {0, 6 * day, 80, 5 * day, false},
		"maximum alone, above, long":       {0, 6 * day, 2016, 6 * day, true},
		"usual alone":                      {day, 0, 80, day, false},
		"usual alone, long invoice":        {day, 0, 144 + 72, 2 * day, true},
		"usual alone, above all":           {20 * day, 0, 2016, 20 * day, false},
		"both":                             {day, 2 * day, 2016, 2 * day, true},
		"both the same":                    {day, day, 2016, day, false},
		"maximum alone, of a few seconds":  {0, 10 * time.Second, 80, 10 * time.Second, false},
		"maximum alone, usual to a second": {0, 5 * day, 2016, 5 * day, false},
	} {
		t.Run(name, func(t *testing.T) {
			o := &order{now: now, Request: Request{HTLCTimeout: c.usual, MaxHTLCTimeout: c.most}}
			expiry, long, err := o.htlc(&lightning.Invoice{MinFinalCLTV: c.cltv})
			if got := time.Duration(expiry-now.Unix()) * time.Second; err != nil || got != c.want || long != c.long {
				t.Errorf("%v, long %v, %v; want %v, %v", got, long, err, c.want, c.long)
			}
		})
	}
}
