package swap

import (
	"testing"
	"time"

	"github.com/swapper-go/swapper/chains"
)

// TestNextMoment names what changes by the clock alone, each alone and the nearest of
// several, and that a moment that has come is none any more.
func TestNextMoment(t *testing.T) {
	in := func(d time.Duration) Millis { return At(noon.Add(d)) }
	expires := func(d time.Duration) *EscrowPart {
		return &EscrowPart{Real: &chains.Escrow{Expiry: noon.Add(d).Unix()}}
	}
	// Whole seconds are compared, strictly: what ends at a second has ended at the next.
	grace := func(d, grace time.Duration) Millis { return in(d+grace+time.Second) + 1 }
	for name, c := range map[string]struct {
		r    Record
		want Millis
	}{
		"nothing":                        {Record{}, 0},
		"quote":                          {Record{Head: Head{Expiry: in(time.Minute)}}, in(time.Minute) + 1},
		"quote ends just now":            {Record{Head: Head{Expiry: in(0)}}, in(0) + 1},
		"quote ended a millisecond ago":  {Record{Head: Head{Expiry: in(0) - 1}}, 0},
		"quote ended":                    {Record{Head: Head{Expiry: in(-time.Minute)}}, 0},
		"invoice":                        {Record{Lightning: &LightningPart{EndsAt: in(time.Minute)}}, in(time.Minute) + 1},
		"quote, the escrow being open":   {Record{Head: Head{Type: ToBTC, State: OutCommitted, Expiry: in(time.Minute)}}, 0},
		"as before it is paid for":       {Record{Head: Head{Type: FromBTC, State: InCommitted, Expiry: in(time.Minute)}}, 0},
		"as after that":                  {Record{Head: Head{Type: FromBTC, State: InConfirmed, Expiry: in(time.Minute)}}, 0},
		"as after a Lightning payment":   {Record{Head: Head{Type: FromBTCLN, State: LnCommitted, Expiry: in(time.Minute)}}, 0},
		"the same, paid and not open":    {Record{Head: Head{Type: FromBTCLN, State: LnPaid, Expiry: in(time.Minute)}}, in(time.Minute) + 1},
		"vault, the payment being known": {Record{Head: Head{Type: SPVFromBTC, State: SPVBroadcasted, Expiry: in(time.Minute)}, Vault: &VaultPart{Deadline: in(time.Hour)}}, 0},
		"the same, posted":               {Record{Head: Head{Type: SPVFromBTC, State: SPVPosted, Expiry: in(-time.Minute)}, Vault: &VaultPart{Deadline: in(time.Hour)}}, in(time.Hour) + 1},
		"vault":                          {Record{Vault: &VaultPart{Deadline: in(time.Minute)}}, in(time.Minute) + 1},
		"escrow, its data not known":     {Record{Escrow: &EscrowPart{}}, 0},
		"escrow of an LN payment":        {Record{Head: Head{Type: ToBTCLN}, Escrow: expires(time.Hour)}, grace(time.Hour, chains.RefundGrace)},
		"escrow of a Bitcoin payment":    {Record{Head: Head{Type: ToBTC}, Escrow: expires(time.Hour)}, grace(time.Hour, chains.RefundGrace)},
		"escrow to be claimed":           {Record{Head: Head{Type: FromBTCLNAuto}, Escrow: expires(time.Hour)}, grace(time.Hour, -chains.ClaimGrace)},
		"escrow in its grace":            {Record{Head: Head{Type: ToBTC}, Escrow: expires(-time.Second)}, grace(-time.Second, chains.RefundGrace)},
		"escrow too old to be claimed":   {Record{Head: Head{Type: FromBTCLNAuto}, Escrow: expires(chains.ClaimGrace - time.Minute)}, 0},
		"the nearest, the quote":         {Record{Head: Head{Expiry: in(time.Minute)}, Lightning: &LightningPart{EndsAt: in(time.Hour)}}, in(time.Minute) + 1},
		"the nearest, the invoice":       {Record{Head: Head{Expiry: in(time.Hour)}, Lightning: &LightningPart{EndsAt: in(time.Minute)}}, in(time.Minute) + 1},
		"the next, after one has passed": {Record{Head: Head{Expiry: in(-time.Minute)}, Lightning: &LightningPart{EndsAt: in(time.Hour)}}, in(time.Hour) + 1},
	} {
		if got := c.r.NextMoment(noon); got != c.want {
			t.Errorf("%s: %d ms from now, want %d", name, got-At(noon), c.want-At(noon))
		}
	}
	if got := (&Record{}).NextMoment(time.Unix(0, 0)); got != 0 {
		t.Errorf("of nothing, at the beginning of time: %d", got)
	}
}
