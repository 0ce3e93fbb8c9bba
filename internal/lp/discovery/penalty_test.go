package discovery

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/swapper-go/swapper/internal/flowtest"
	"github.com/swapper-go/swapper/internal/lp"
)

// Who would steal, or is not who it says, is believed about nothing; any other lie
// is about one pair.
func TestPenaltyOfEachCheck(t *testing.T) {
	thefts := []lp.Check{lp.CheckEscrow, lp.CheckAuth, lp.CheckLPKey, lp.CheckPaymentHash, lp.CheckVaultOwner, lp.CheckSecret, lp.CheckPayout, lp.CheckCommitted, lp.CheckTooLate}
	pair := lp.Pair{Service: lp.ToBTC, Chain: "CITREA", Token: "T"}
	for _, c := range flowtest.Checks(t) {
		want := pair
		if slices.Contains(thefts, lp.Check(c)) {
			want = lp.Pair{}
		}
		if got := scope(&lp.LPError{Check: lp.Check(c)}, pair); got != want {
			t.Errorf("%s: left alone for %+v, want %+v", c, got, want)
		}
	}
}

// A lie is remembered for a day after it was told, to the second.
func TestLiesAreRememberedForADay(t *testing.T) {
	var p penalties
	b, other := box{"lp", lp.Pair{Service: lp.ToBTC, Chain: "CITREA", Token: "T"}}, box{url: "other"}
	at := noon
	length := func() time.Duration { return p.punish(b, "lie", at).Sub(at) }
	for i, pause := range []time.Duration{time.Hour, forgiveness} {
		if got := length(); got != firstPenalty<<i {
			t.Errorf("the lie no. %d costs %v", i, got)
		}
		at = at.Add(pause)
	}
	if got := length(); got != 4*firstPenalty {
		t.Errorf("a day later exactly it costs %v", got)
	}
	at = at.Add(forgiveness + 1)
	p.punish(other, "lie", at)
	if len(p.boxes) != 1 {
		t.Errorf("a forgiven lie is kept: %v", p.boxes)
	}
	if got := length(); got != firstPenalty {
		t.Errorf("after more than a day it costs %v", got)
	}
	if !p.free("lp", lp.Pair{}, at) || p.free("lp", b.pair, at) || p.free("other", b.pair, at) || !p.free("third", b.pair, at) {
		t.Errorf("others are punished, or the liar is not: %v", p.boxes)
	}
	if got := p.list(at); len(got) != 2 {
		t.Errorf("listed are %v", got)
	}
	if end := at.Add(firstPenalty); !p.free("lp", b.pair, end) || len(p.list(end)) != 0 {
		t.Error("it does not end when it was said to")
	}
}

// Names that callers make up take no memory without bound.
func TestStrikesAreBounded(t *testing.T) {
	var p penalties
	for i := range 3 * mostStruck {
		p.punish(box{url: fmt.Sprint("host", i)}, "lie", noon)
	}
	if len(p.strikes) > mostStruck {
		t.Errorf("the lies of %d LPs are counted", len(p.strikes))
	}
	p.punish(box{url: "host1"}, "lie", noon)
	p.punish(box{url: "host1", pair: lp.Pair{Service: lp.ToBTC, Chain: "CITREA", Token: "T"}}, "lie", noon)
	if got := p.struck("host1"); got < 2 {
		t.Errorf("%d lies", got)
	}
}
