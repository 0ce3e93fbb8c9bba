package swapper

import (
	"context"
	"errors"
	"math/big"
	"sync/atomic"
	"testing"
	"time"

	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/price"
	"github.com/swapper-go/swapper/tokens"
)

// moody is a source of prices that a test moves, holds back and ends.
type moody struct {
	price.Source
	asked   atomic.Int32
	times   atomic.Int64 // the price
	refuses atomic.Bool
	holds   atomic.Pointer[chan struct{}] // answers wait until it is closed
}

func (m *moody) Price(ctx context.Context, t tokens.Token) (*big.Int, error) {
	m.asked.Add(1)
	if hold := m.holds.Load(); hold != nil {
		select {
		case <-*hold:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	if m.refuses.Load() {
		return nil, errors.New("no price")
	}
	p, err := m.Source.Price(ctx, t)
	if err != nil {
		return nil, err
	}
	return p.Mul(p, big.NewInt(m.times.Load())), nil
}

// A call that finds price and fees of the last thirty seconds does not wait for others; one behind it
// asks anew, at most one at a time. What is older is not shown.
func TestLimitsAreOfTheLastThirtySeconds(t *testing.T) {
	t.Parallel()
	h := newHonest(t, one())
	begin := time.Now()
	var passed atomic.Int64
	h.config.Now = func() time.Time { return begin.Add(time.Duration(passed.Load())) }
	market := &moody{Source: h.config.Prices}
	market.times.Store(1)
	h.config.Prices = market
	least := func() (*big.Int, error) {
		l, err := h.GetSwapLimits(t.Context(), GetSwapLimitsInput{SrcToken: "CITREA-WBTC", DstToken: "LIGHTNING-BTC"})
		if err != nil {
			return nil, err
		}
		return l.Input.Min.RawAmount, nil
	}
	wants := func(want *big.Int, asked int32) {
		t.Helper()
		if got, err := least(); err != nil || got.Cmp(want) != 0 || market.asked.Load() > asked {
			t.Errorf("after %s: %v, %v, want %s; the price was asked for %d times, want %d", time.Duration(passed.Load()), got, err, want, market.asked.Load(), asked)
		}
	}
	// leap moves the clock once nothing is asked for behind a call: a later call shares that
	// answer, which the time limit of the question keeps young where clocks do not leap.
	leap := func(to time.Duration) {
		t.Helper()
		asking := func() bool {
			h.worths.mu.Lock()
			defer h.worths.mu.Unlock()
			for _, p := range h.worths.pairs {
				if p.asking {
					return true
				}
			}
			return false
		}
		for end := time.Now().Add(time.Minute); asking(); time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				t.Fatal("what is asked for behind a call does not end")
			}
		}
		passed.Store(int64(to))
	}
	first := trial.Must(least())(t)
	market.times.Store(2)
	leap(1 * time.Second)
	wants(first, 1)

	hold := make(chan struct{})
	market.holds.Store(&hold)
	leap(3 * time.Second)
	for range 5 {
		wants(first, 2)
	}
	close(hold)
	halved := func() bool { now, err := least(); return err == nil && now.Cmp(first) < 0 }
	for end := time.Now().Add(time.Minute); !halved(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("a price that was asked for behind a call does not count")
		}
	}
	second := trial.Must(least())(t)
	if asked := market.asked.Load(); asked != 2 {
		t.Errorf("the price was asked for %d times, want 2", asked)
	}

	market.refuses.Store(true)
	leap(3*time.Second + worthAge - 1)
	if got, err := least(); err != nil || got.Cmp(second) != 0 {
		t.Errorf("at the end of their time: %v, %v, want %s", got, err, second)
	}
	leap(3*time.Second + worthAge)
	if got, err := least(); err == nil {
		t.Errorf("limits of a price that is too old: %s", got)
	}
	market.refuses.Store(false)
	market.times.Store(1)
	wants(first, market.asked.Load()+1)
	leap(0) // the clock is set back
	market.times.Store(2)
	wants(second, market.asked.Load()+1)
}
