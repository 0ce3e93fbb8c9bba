package discovery

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/swapper-go/swapper/internal/lp"
	"github.com/swapper-go/swapper/internal/trial"
)

// The side that no LP has named follows from the one that it has, inwards, until
// an answer says better.
func TestLimitsFollowFromThePrice(t *testing.T) {
	// A base unit of T is worth 3 sats.
	w := Worth{Price: n(3_000_000_000_000), Decimals: 6, NetworkSats: 7}
	info := lp.ServiceInfo{Min: 1000, Max: 100_000, BaseFee: 10, FeePPM: 3000, Chains: []lp.ChainTokens{{Chain: "CITREA", Tokens: []string{"T"}}}}
	d := NewDirectory(Setup{Chains: clientChains()})
	d.lps = []*LP{{URL: "lp", Services: map[lp.Service]lp.ServiceInfo{lp.ToBTCLN: info, lp.SPVFromBTC: info}}}
	show := func(s lp.Service) map[string]string {
		b := trial.Must(d.LimitsAt(s, "CITREA", "T", w))(t)
		return map[string]string{"in": b.Input.Min.String() + " " + b.Input.Max.String(), "out": b.Output.Min.String() + " " + b.Output.Max.String()}
	}
	// 1000 and fees of 13 and 7 are 1020 sats; 100 000 and 310 are 100 310, of which a third is 33 436.7.
	if diff := cmp.Diff(map[string]string{"in": "340 33436", "out": "1000 100000"}, show(lp.ToBTCLN)); diff != "" {
		t.Errorf("to bitcoin (-want +got):\n%s", diff)
	}
	// 1000 less 13 are 987, exactly 329; 100 000 less 310 are 99 690, exactly 33 230.
	if diff := cmp.Diff(map[string]string{"in": "1000 100000", "out": "329 33230"}, show(lp.SPVFromBTC)); diff != "" {
		t.Errorf("from bitcoin (-want +got):\n%s", diff)
	}
	d.learn(Candidate{LP: d.lps[0], Token: "T"}, Query{Service: lp.ToBTCLN, Chain: "CITREA", Token: "T", ExactIn: true}, n(400), n(30_000))
	if diff := cmp.Diff(map[string]string{"in": "400 30000", "out": "1000 100000"}, show(lp.ToBTCLN)); diff != "" {
		t.Errorf("taught (-want +got):\n%s", diff)
	}
	w.Price = n(0)
	if _, err := d.LimitsAt(lp.SPVFromBTC, "CITREA", "T", w); err == nil {
		t.Error("converted at a price of nothing")
	}
}

// A watchtower's pay raises both minima of the LPs whose contracts demand it.
func TestLimitsCoverTheWatchtower(t *testing.T) {
	w := Worth{Price: n(3_000_000_000_000), Decimals: 6, Watchtower: map[string]WatchtowerPay{"v1": {n(500), n(0)}, "v2": {n(1200), n(5000)}}} // a base unit of T is worth 3 sats
	info := lp.ServiceInfo{Min: 1000, Max: 100_000, BaseFee: 10, FeePPM: 3000, Chains: []lp.ChainTokens{{Chain: "CITREA", Tokens: []string{"T"}}}}
	services := map[lp.Service]lp.ServiceInfo{lp.ToBTC: info, lp.SPVFromBTC: info}
	old := &LP{URL: "old", Services: services}
	recent := &LP{URL: "recent", Services: services, Versions: map[string]string{"CITREA": "v2"}}
	small := info
	small.Min = 1
	tiny := &LP{URL: "tiny", Services: map[lp.Service]lp.ServiceInfo{lp.SPVFromBTC: small}}
	taught := Range{n(2000), n(30_000)}
	for name, x := range map[string]struct {
		lps     []*LP
		service lp.Service
		learned *Range // of the output
		in, out string
	}{
		"pay that always passes": {lps: []*LP{old}, service: lp.SPVFromBTC, in: "1000", out: "329"},
		"more than is left":      {lps: []*LP{tiny}, service: lp.SPVFromBTC, in: "515", out: "1"}, // 511 sats less fees of 0.3 %, and 3 for rounding
		"expensive":              {lps: []*LP{recent}, service: lp.SPVFromBTC, in: "5000", out: "1667"},
		"expensive, as answered": {lps: []*LP{recent}, service: lp.SPVFromBTC, learned: &taught, in: "5000", out: "2000"},
		"cheap, as answered":     {lps: []*LP{old}, service: lp.SPVFromBTC, learned: &Range{Max: n(30_000)}, in: "1000", out: "<nil>"},
		"of one of two":          {lps: []*LP{recent, old}, service: lp.SPVFromBTC, in: "1000", out: "329"},
		"to bitcoin":             {lps: []*LP{recent}, service: lp.ToBTC, in: "338", out: "1000"},
	} {
		d := NewDirectory(Setup{Chains: clientChains()})
		d.lps = x.lps
		if x.learned != nil {
			d.learn(Candidate{LP: x.lps[0], Token: "T"}, Query{Service: x.service, Chain: "CITREA", Token: "T"}, x.learned.Min, x.learned.Max)
		}
		b := trial.Must(d.LimitsAt(x.service, "CITREA", "T", w))(t)
		if b.Input.Min.String() != x.in || b.Output.Min.String() != x.out {
			t.Errorf("%s: at least %s in, %s out; want %s, %s", name, b.Input.Min, b.Output.Min, x.in, x.out)
		}
	}
}
