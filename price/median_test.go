package price

import (
	"context"
	"errors"
	"math/big"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/tokens"
)

// one is a source with one answer, after a while.
type one struct {
	name  string
	price int64
	after time.Duration
	err   error
	calls *atomic.Int32
}

func (o one) Name() string { return o.name }
func (o one) Price(ctx context.Context, _ tokens.Token) (*big.Int, error) {
	if o.calls != nil {
		o.calls.Add(1)
	}
	select {
	case <-time.After(o.after):
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	return big.NewInt(o.price), o.err
}
func (o one) USDPerSat(ctx context.Context) (float64, error) {
	p, err := o.Price(ctx, tokens.Token{})
	return float64(p.Int64()) / 1e9, err
}

var anyToken = tokens.Token{Chain: "X", Ticker: "Y", Decimals: 8}

func TestMedian(t *testing.T) {
	lost := errors.New("no connection")
	const never = time.Hour
	for name, c := range map[string]struct {
		sources []Source
		want    int64 // 0: refused
		unknown bool
		within  time.Duration
	}{
		"all agree":                          {[]Source{one{price: 1000}, one{price: 1001}, one{price: 1002}}, 1001, false, 0},
		"an even number":                     {[]Source{one{price: 1000}, one{price: 1004}}, 1002, false, 0},
		"one market is wrong":                {[]Source{one{price: 10000}, one{price: 1001}, one{price: 1002}}, 1001, false, 0},
		"the first market is wrong and fast": {[]Source{one{price: 10000}, one{price: 1001, after: time.Second}, one{price: 1002, after: time.Second}}, 1001, false, 2 * time.Second},
		"one market has a zero price":        {[]Source{one{price: 0}, one{price: 1001}, one{price: 1001}}, 1001, false, 0},
		"one market has a negative price":    {[]Source{one{price: -5}, one{price: 1001}, one{price: 1001}}, 1001, false, 0},
		"two disagree":                       {[]Source{one{price: 1000}, one{price: 1030}}, 0, false, 0},
		"three disagree":                     {[]Source{one{price: 1000}, one{price: 1100}, one{price: 1200}}, 0, false, 0},
		"two against two":                    {[]Source{one{price: 1000}, one{price: 1000}, one{price: 1100}, one{price: 1100}}, 0, false, 0},
		"only one answers":                   {[]Source{one{price: 1000}, one{err: lost}, one{err: lost}}, 0, false, 0},
		"two answer":                         {[]Source{one{price: 1000}, one{price: 1000}, one{err: lost}, one{err: lost}, one{err: lost}}, 1000, false, 0},
		"only one source exists":             {[]Source{one{price: 1000}}, 1000, false, 0},
		"only one source knows the token":    {[]Source{one{price: 1000}, one{err: ErrUnknownToken}, one{err: ErrUnknownToken}}, 1000, false, 0},
		"two know the token, one is gone":    {[]Source{one{price: 1000}, one{err: lost}, one{err: ErrUnknownToken}}, 0, false, 0},
		"nobody knows the token":             {[]Source{one{err: ErrUnknownToken}, one{err: ErrUnknownToken}}, 0, true, 0},
		"no sources":                         {nil, 0, true, 0},
		"most hang":                          {[]Source{one{after: never}, one{price: 1000}, one{after: never}, one{price: 1000}, one{after: never}}, 1000, false, 400 * time.Millisecond},
		"all hang":                           {[]Source{one{after: never}, one{after: never}}, 0, false, 9 * time.Second},
		"absurd: more than all bitcoin":      {[]Source{one{price: 1}, one{price: 1}, huge{}}, 1, false, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				p, err := Median{Sources: c.sources}.Price(t.Context(), anyToken)
				if c.within != 0 && time.Since(start) > c.within {
					t.Errorf("took %v", time.Since(start))
				}
				if c.want == 0 {
					if err == nil {
						t.Fatalf("price %s", p)
					}
					if errors.Is(err, ErrUnknownToken) != c.unknown {
						t.Errorf("error %v, unknown token: %v", err, c.unknown)
					}
					return
				}
				if err != nil || p.Int64() != c.want {
					t.Errorf("got %v, %v; want %d", p, err, c.want)
				}
			})
		})
	}
}

type huge struct{ Fixed }

func (huge) Price(context.Context, tokens.Token) (*big.Int, error) {
	return new(big.Int).Lsh(big.NewInt(1), 500), nil
}

func TestMedianNamesWhoSaidWhat(t *testing.T) {
	m := Median{Sources: []Source{one{name: "A", price: 1000}, one{name: "B", price: 2000}}}
	_, err := m.Price(t.Context(), anyToken)
	if err == nil || !strings.Contains(err.Error(), "A says 1000") || !strings.Contains(err.Error(), "B says 2000") || fault.CodeOf(err) != fault.Upstream {
		t.Errorf("error %v", err)
	}
	if v, err := (Median{Sources: []Source{one{price: 1000000}, one{price: 1000001}, one{price: 5}}}).USDPerSat(t.Context()); err != nil || v < 0.001 || v > 0.001001 {
		t.Errorf("US dollars per sat %v, %v", v, err)
	}
}

func TestMedianEndsWithTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start := time.Now()
		_, err := Median{Sources: []Source{one{after: time.Hour}, one{after: time.Hour}}}.Price(ctx, anyToken)
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != time.Second {
			t.Errorf("%v after %v", err, time.Since(start))
		}
	})
}

func TestCache(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var calls atomic.Int32
		c := NewCache(one{price: 7, after: time.Second, calls: &calls}, 0, nil)
		done := make(chan error, 50)
		for range 50 {
			go func() {
				p, err := c.Price(t.Context(), anyToken)
				if err == nil {
					p.SetInt64(1) // a caller's copy
				}
				done <- err
			}()
		}
		for range 50 {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
		time.Sleep(8 * time.Second) // 9 s after the request was made
		if p, err := c.Price(t.Context(), anyToken); err != nil || p.Int64() != 7 || calls.Load() != 1 {
			t.Errorf("%v, %v after %d calls", p, err, calls.Load())
		}
		time.Sleep(time.Second)
		if _, err := c.Price(t.Context(), anyToken); err != nil || calls.Load() != 2 {
			t.Errorf("%v after %d calls", err, calls.Load())
		}
	})
}

func TestCacheForgetsFailures(t *testing.T) {
	var calls atomic.Int32
	for name, s := range map[string]one{"an error": {err: errors.New("gone"), calls: &calls}, "a zero price": {price: 0, calls: &calls}} {
		calls.Store(0)
		c := NewCache(s, 0, nil)
		for i := range int32(3) {
			if p, err := c.Price(t.Context(), anyToken); err == nil || calls.Load() != i+1 {
				t.Errorf("%s: %v, %v after %d calls", name, p, err, calls.Load())
			}
		}
	}
}
