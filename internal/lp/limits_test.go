package lp

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The side that no LP has named follows from the one that it has, inwards, until
// an answer says better.
func TestLimitsFollowFromThePrice(t *testing.T) {
	// A base unit of T is worth 3 sats.
	w := Worth{Price: n(3_000_000_000_000), Decimals: 6, NetworkSats: 7}
	info := ServiceInfo{Min: 1000, Max: 100_000, BaseFee: 10, FeePPM: 3000, Chains: []ChainTokens{{"CITREA", []string{"T"}}}}
	d := NewDirectory(Setup{Chains: clientChains()})
	d.lps = []*LP{{URL: "lp", Services: map[Service]ServiceInfo{ToBTCLN: info, SPVFromBTC: info}}}
	show := func(s Service) map[string]string {
		b, err := d.LimitsAt(s, "CITREA", "T", w)
		if err != nil {
			t.Fatal(err)
		}
		return map[string]string{"in": b.Input.Min.String() + " " + b.Input.Max.String(), "out": b.Output.Min.String() + " " + b.Output.Max.String()}
	}
	// 1000 and fees of 13 and 7 are 1020 sats; 100 000 and 310 are 100 310, of which a third is 33 436.7.
	if diff := cmp.Diff(map[string]string{"in": "340 33436", "out": "1000 100000"}, show(ToBTCLN)); diff != "" {
		t.Errorf("to bitcoin (-want +got):\n%s", diff)
	}
	// 1000 less 13 are 987, exactly 329; 100 000 less 310 are 99 690, exactly 33 230.
	if diff := cmp.Diff(map[string]string{"in": "1000 100000", "out": "329 33230"}, show(SPVFromBTC)); diff != "" {
		t.Errorf("from bitcoin (-want +got):\n%s", diff)
	}
	d.learn(Candidate{LP: d.lps[0], Token: "T"}, Query{Service: ToBTCLN, Chain: "CITREA", Token: "T", ExactIn: true}, n(400), n(30_000))
	if diff := cmp.Diff(map[string]string{"in": "400 30000", "out": "1000 100000"}, show(ToBTCLN)); diff != "" {
		t.Errorf("taught (-want +got):\n%s", diff)
	}
	w.Price = n(0)
	if _, err := d.LimitsAt(SPVFromBTC, "CITREA", "T", w); err == nil {
		t.Error("converted at a price of nothing")
	}
}
