package lp

import (
	"errors"
	"math/big"
	"strings"
	"testing"

	"github.com/swapper-go/swapper/fault"
)

// What an LP says of the time that it needs is read; what makes no sense is left
// out, and costs it nothing.
func TestTimeThatAnLPNeeds(t *testing.T) {
	for data, want := range map[string]int64{
		`,"data":{"minCltv":98,"minTimestampCltv":91800}`: 91800,
		`,"data":{"minTimestampCltv":null}`:               0,
		`,"data":{"minTimestampCltv":"91800"}`:            0,
		`,"data":{"minTimestampCltv":-1}`:                 0,
		`,"data":{"minTimestampCltv":1e300}`:              0,
		`,"data":[]`:                                      0,
		`,"data":null`:                                    0,
		``:                                                0,
	} {
		s, err := readService([]byte(`{"swapFeePPM":1,"swapBaseFee":1,"min":1,"max":2,"chainTokens":{}` + data + `}`))
		if err != nil || s.MinTime != want {
			t.Errorf("%s: %d, %v; want %d", data, s.MinTime, err, want)
		}
	}
}

// An escrow that is too short for an LP is not asked for there; too short for all
// is the caller's to mend.
func TestShortEscrowsLeaveLPsOut(t *testing.T) {
	d := NewDirectory(Setup{Chains: clientChains()})
	lp := func(url string, min int64) *LP {
		s := ServiceInfo{Min: 10, Max: 1000, MinTime: min, Chains: []ChainTokens{{"CITREA", []string{"T"}}}}
		return &LP{URL: url, Addresses: map[string]string{"CITREA": "0xA"}, Services: map[Service]ServiceInfo{ToBTCLN: s, ToBTC: s}}
	}
	d.lps = []*LP{lp("older", 15_600), lp("newer", 91_800), lp("silent", 0)}
	count := func(q Query) int { return len(d.Candidates(q)) }
	q := Query{Service: ToBTCLN, Chain: "CITREA", Token: "T", Amount: big.NewInt(100)}
	for lasts, want := range map[int64]int{0: 3, 432_000: 3, 91_860: 3, 91_859: 2, 86_400: 2, 15_660: 2, 15_659: 1} {
		q.Lasts = lasts
		if n := count(q); n != want {
			t.Errorf("%d s: %d candidates, want %d", lasts, n, want)
		}
	}
	q.Service, q.Lasts = ToBTC, 1
	if n := count(q); n != 3 {
		t.Errorf("%d candidates for a payout on Bitcoin", n)
	}
	q.Service, q.Lasts = ToBTCLN, 3600
	d.lps = d.lps[:2]
	err := d.noCandidate(q)
	e, ok := errors.AsType[*fault.Error](err)
	if !ok || e.Code != fault.InvalidInput || e.Field != "lightningPaymentHTLCTimeout" || !strings.Contains(err.Error(), "15660") {
		t.Errorf("got %v", err)
	}
	q.Amount = big.NewInt(5) // too little for anybody: that is said first
	if err := d.noCandidate(q); fault.CodeOf(err) != fault.AmountOutOfBounds {
		t.Errorf("got %v", err)
	}
}
