package httpx_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/swapper-go/swapper/internal/httpx"
	"github.com/swapper-go/swapper/internal/vectors"
)

func TestVectorsRetry(t *testing.T) {
	vectors.Each(t, "utilities", "retry", func(t *testing.T, c *vectors.Case) {
		var in struct {
			Outcomes []string
			Policy   *struct {
				MaxRetries  int
				Delay       int64
				Exponential bool
			}
			AbortDuringCall int
		}
		c.Input(t, &in)
		var want struct {
			Value    string
			Error    bool
			Message  string
			Calls    int
			DelaysMs []int64
		}
		c.Expected(t, &want)

		ctx, cancel := context.WithCancelCause(t.Context())
		defer cancel(nil)
		final, aborted := errors.New("final"), errors.New("aborted by caller")
		delays := []int64{}
		p := httpx.RetryPolicy{
			Final:  func(err error) bool { return errors.Is(err, final) },
			Jitter: func(d time.Duration) time.Duration { return d },
			Sleep: func(_ context.Context, d time.Duration) error {
				delays = append(delays, d.Milliseconds())
				return nil
			},
		}
		if in.Policy != nil {
			p.Calls, p.Delay, p.Constant = in.Policy.MaxRetries, time.Duration(in.Policy.Delay)*time.Millisecond, !in.Policy.Exponential
		}
		calls := 0
		value, err := httpx.Retry(ctx, p, func(context.Context) (string, error) {
			n := calls
			calls++
			if calls == in.AbortDuringCall {
				cancel(aborted)
			}
			switch in.Outcomes[min(n, len(in.Outcomes)-1)] {
			case "ok":
				return fmt.Sprintf("value %d", n), nil
			case "final":
				return "", final
			}
			return "", fmt.Errorf("transient %d", n)
		})
		if (err != nil) != want.Error || value != want.Value || calls != want.Calls {
			t.Errorf("got %q, %v after %d calls; want %+v", value, err, calls, want)
		}
		if diff := cmp.Diff(want.DelaysMs, delays); diff != "" {
			t.Errorf("waits in ms (-want +got):\n%s", diff)
		}
		if stopped := in.AbortDuringCall > 0 && calls >= in.AbortDuringCall && want.Error; errors.Is(err, aborted) != stopped {
			t.Errorf("error %v, cancelled: %v", err, stopped)
		}
	})
}

func TestJitterLengthensByAQuarterAtMost(t *testing.T) {
	var waits []time.Duration
	p := httpx.RetryPolicy{Calls: 200, Constant: true, Delay: time.Second, Sleep: func(_ context.Context, d time.Duration) error {
		waits = append(waits, d)
		return nil
	}}
	_, _ = httpx.Retry(t.Context(), p, func(context.Context) (int, error) { return 0, errors.New("no") })
	seen := map[time.Duration]bool{}
	for _, d := range waits {
		if d < time.Second || d > 1250*time.Millisecond {
			t.Fatalf("wait %v outside of 1 s to 1.25 s", d)
		}
		seen[d] = true
	}
	if len(waits) != 199 || len(seen) < 50 {
		t.Errorf("%d waits with %d values; want 199, spread", len(waits), len(seen))
	}
}

func TestCancelEndsTheWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer cancel()
		start := time.Now()
		_, err := httpx.Retry(ctx, httpx.RetryPolicy{Delay: time.Hour}, func(context.Context) (int, error) { return 0, errors.New("busy") })
		if !errors.Is(err, context.DeadlineExceeded) || err.Error() != "context deadline exceeded (last error: busy)" {
			t.Errorf("error %v", err)
		}
		if took := time.Since(start); took > 30*time.Second {
			t.Errorf("took %v", took)
		}
	})
}

func TestDoublingDoesNotOverflow(t *testing.T) {
	p := httpx.RetryPolicy{Calls: 200, Sleep: func(_ context.Context, d time.Duration) error {
		if d <= 0 {
			t.Fatalf("wait %v", d)
		}
		return nil
	}}
	_, _ = httpx.Retry(t.Context(), p, func(context.Context) (int, error) { return 0, errors.New("no") })
}
