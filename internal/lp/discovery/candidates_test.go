package discovery

import (
	"errors"
	"math/big"
	"strings"
	"testing"

	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/lp"
)

// An escrow that is too short for an LP is not asked for there; too short for all
// is the caller's to mend.
func TestShortEscrowsLeaveLPsOut(t *testing.T) {
	d := NewDirectory(Setup{Chains: clientChains()})
	p := func(url string, min int64) *LP {
		s := lp.ServiceInfo{Min: 10, Max: 1000, MinTime: min, Chains: []lp.ChainTokens{{Chain: "CITREA", Tokens: []string{"T"}}}}
		return &LP{URL: url, Addresses: map[string]string{"CITREA": "0xA"}, Services: map[lp.Service]lp.ServiceInfo{lp.ToBTCLN: s, lp.ToBTC: s}}
	}
	d.lps = []*LP{p("older", 15_600), p("newer", 91_800), p("silent", 0)}
	count := func(q Query) int { return len(d.candidates(q)) }
	q := Query{Service: lp.ToBTCLN, Chain: "CITREA", Token: "T", Amount: big.NewInt(100)}
	for lasts, want := range map[int64]int{0: 3, 432_000: 3, 91_860: 3, 91_859: 2, 86_400: 2, 15_660: 2, 15_659: 1} {
		q.Lasts = lasts
		if n := count(q); n != want {
			t.Errorf("%d s: %d candidates, want %d", lasts, n, want)
		}
	}
	q.Service, q.Lasts = lp.ToBTC, 1
	if n := count(q); n != 3 {
		t.Errorf("%d candidates for a payout on Bitcoin", n)
	}
	q.Service, q.Lasts = lp.ToBTCLN, 3600
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
