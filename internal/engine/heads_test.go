package engine

import (
	"errors"
	"testing"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/swap"
)

// TestAnswersThatDoNotCount refuses what a node says from the future, from behind what
// was seen, or beside a failure of its own.
func TestAnswersThatDoNotCount(t *testing.T) {
	noon := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	head := func(d time.Duration) chains.EscrowFact {
		return chains.EscrowFact{Head: chains.Block{Time: noon.Add(d).Unix()}}
	}
	inTime := inOurTime(noon, escrowHead)
	if _, err := inTime(head(maxFutureHead), nil); err != nil {
		t.Errorf("the last moment: %v", err)
	}
	if _, err := inTime(head(maxFutureHead+time.Second), nil); !errors.Is(err, errFutureHead) {
		t.Errorf("a head in the future: %v", err)
	}
	own := errors.New("refused")
	if _, err := inTime(head(maxFutureHead+time.Second), own); err != own {
		t.Errorf("a failed answer: %v", err)
	}
	lagging := notLagging(&swap.Record{Head: swap.Head{Seen: swap.Seen{Chain: 100}}})
	at := func(h uint64, s chains.EscrowState, err error) chains.EscrowFact {
		return chains.EscrowFact{Err: err, State: s, Head: chains.Block{Height: h}}
	}
	for name, c := range map[string]struct {
		fact      chains.EscrowFact
		err, want error
	}{
		"reached":           {at(100, chains.EscrowNone, nil), nil, nil},
		"behind":            {at(99, chains.EscrowNone, nil), nil, errLagging},
		"behind, but it is": {at(99, chains.EscrowOpen, nil), nil, nil},
		"its own failure":   {at(100, chains.EscrowOpen, own), nil, own},
		"no answer":         {at(99, chains.EscrowNone, nil), own, own},
	} {
		if _, err := lagging(c.fact, c.err); err != c.want {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}
