package chainio

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/swapper-go/swapper/internal/async"
	"github.com/swapper-go/swapper/internal/lp"
)

// lpAt answers after a while, with codes that count up.
func lpAt(delay func(q lp.StatusQuery) time.Duration) (statusReader, *atomic.Int64) {
	calls := new(atomic.Int64) // inquiries run side by side
	return func(ctx context.Context, q lp.StatusQuery) (lp.Status, error) {
		code := int(calls.Add(1))
		select {
		case <-time.After(delay(q)):
			return lp.Status{Code: code}, nil
		case <-ctx.Done():
			return lp.Status{}, context.Cause(ctx)
		}
	}, calls
}

// An LP that always needs longer than a pass waits is heard all the same, and
// does not hold the passes up again and again.
func TestSlowProviderIsHeardInTheNextPass(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reader, calls := lpAt(func(lp.StatusQuery) time.Duration { return 4200 * time.Millisecond })
		w := New(nil, nil, reader)
		q := lp.StatusQuery{URL: "https://lp/tobtc", Endpoint: lp.GetRefundAuthorization, ID: "ab"}
		heard := 0
		var waited time.Duration
		for range 20 { // passes, five seconds apart
			start := time.Now()
			s, err := w.LPStatus(t.Context(), q)
			waited += time.Since(start)
			if err == nil {
				heard++
				if s.Code != heard || s.Age < 5*time.Second {
					t.Errorf("answer %d, asked for %s before; want that of call %d, which the pass before made", s.Code, s.Age, heard)
				}
			} else if !errors.Is(err, errLPSilent) {
				t.Error(err)
			}
			time.Sleep(5 * time.Second)
		}
		if heard != 10 || calls.Load() != 10 || waited != lpPatience {
			t.Errorf("heard %d times in 20 passes with %d calls, waited %v; want 10, 10 and once %v", heard, calls.Load(), waited, lpPatience)
		}
		w.Close()
	})
}

// Many swaps of an LP that hangs: their passes wait once, those of other LPs not
// at all, and an LP that is back is waited for again.
func TestHangingProviderHoldsNobodyUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var back atomic.Bool
		reader, _ := lpAt(func(q lp.StatusQuery) time.Duration {
			if !back.Load() && lp.Host(q.URL) == "hung" {
				return time.Hour
			}
			return 10 * time.Millisecond
		})
		w := New(nil, nil, reader)
		ask := func(host string, i int) (time.Duration, error) {
			start := time.Now()
			_, err := w.LPStatus(t.Context(), lp.StatusQuery{URL: "https://" + host + "/tobtc", Endpoint: lp.GetRefundAuthorization, ID: fmt.Sprint(i)})
			return time.Since(start), err
		}
		var waited time.Duration
		for i := range 200 {
			d, err := ask("hung", i)
			waited += d
			if err == nil {
				t.Fatal("an answer from nowhere")
			}
			if d, err := ask("well", i); err != nil || d > time.Second {
				t.Fatalf("another provider: %v after %v", err, d)
			}
		}
		if waited > lpPatience+time.Second {
			t.Errorf("200 passes waited %v", waited)
		}
		back.Store(true)
		time.Sleep(lpTime)
		if _, err := ask("hung", 0); err == nil { // answers meanwhile, which the next pass hears
			t.Error("waited for a provider that was silent")
		}
		time.Sleep(time.Second)
		for _, i := range []int{0, 1} {
			if d, err := ask("hung", i); err != nil || d > time.Second {
				t.Errorf("a provider that is back: %v after %v", err, d)
			}
		}
		w.Close()
	})
}

// An old swap is looked at rarely: the answer of before serves it if no newer
// one comes in time.
func TestLateAnswerIsKeptForOldSwaps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		delay := 5 * time.Second
		reader, _ := lpAt(func(lp.StatusQuery) time.Duration { return delay })
		w := New(nil, nil, reader)
		q := lp.StatusQuery{URL: "https://lp/tobtc", Endpoint: lp.GetRefundAuthorization, ID: "ab"}
		if _, err := w.LPStatus(t.Context(), q); err == nil {
			t.Fatal("an answer before its time")
		}
		time.Sleep(10 * time.Minute)
		if s, err := w.LPStatus(t.Context(), q); err != nil || s.Code != 1 || s.Age != 10*time.Minute+lpPatience {
			t.Errorf("%+v, %v; want the answer of before, and its age", s, err)
		}
		time.Sleep(lpKept + time.Minute)
		if _, err := w.LPStatus(t.Context(), q); err == nil {
			t.Error("an answer that is too old was given out")
		}
		w.Close()
	})
}

// Who is patient takes the answer that came too late for the pass before, without another call, once, and
// unless it is too old.
func TestLateAnswerIsEnoughForThePatient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reader, calls := lpAt(func(lp.StatusQuery) time.Duration { return 5 * time.Second })
		w := New(nil, nil, reader)
		defer w.Close()
		patient := async.Patient(async.Routine(t.Context()), time.Second)
		q := lp.StatusQuery{URL: "https://lp/tobtc", Endpoint: lp.GetRefundAuthorization, ID: "ab"}
		for _, c := range []struct {
			after time.Duration
			code  int
			calls int64
		}{{0, 0, 1}, {10 * time.Minute, 1, 1}, {10 * time.Minute, 0, 2}, {lpKept + time.Minute, 0, 3}} {
			time.Sleep(c.after)
			s, err := w.LPStatus(patient, q)
			synctest.Wait()
			if s.Code != c.code || (err == nil) != (c.code != 0) || calls.Load() != c.calls {
				t.Errorf("%s later: %+v, %v after %d calls; want code %d after %d", c.after, s, err, calls.Load(), c.code, c.calls)
			}
		}
	})
}

// A failure is told to who waited, and kept for nobody.
func TestFailedInquiryIsAskedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fails := true
		w := New(nil, nil, statusReader(func(context.Context, lp.StatusQuery) (lp.Status, error) {
			if fails {
				panic("unreadable")
			}
			return lp.Status{Code: 7}, nil
		}))
		q := lp.StatusQuery{URL: "https://lp/tobtc", Endpoint: lp.GetRefundAuthorization, ID: "ab"}
		if _, err := w.LPStatus(t.Context(), q); err == nil {
			t.Error("no error")
		}
		fails = false
		if s, err := w.LPStatus(t.Context(), q); err != nil || s.Code != 7 {
			t.Errorf("%+v, %v", s, err)
		}
		w.Close()
	})
}

type statusReader func(context.Context, lp.StatusQuery) (lp.Status, error)

func (f statusReader) Status(ctx context.Context, q lp.StatusQuery) (lp.Status, error) {
	return f(ctx, q)
}

// What nobody waits for takes few places with an LP: one that is asked about very many
// swaps and is slow holds up neither another LP's swaps nor a caller who asks about his.
// An answer that is kept is given out also while there is no place.
func TestRoutineInquiriesLeaveRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		delay := 5 * time.Second
		reader, calls := lpAt(func(q lp.StatusQuery) time.Duration {
			if lp.Host(q.URL) == "slow" {
				return delay
			}
			return 10 * time.Millisecond
		})
		w := New(nil, nil, reader)
		ask := func(ctx context.Context, host string, i int) (lp.Status, error) {
			return w.LPStatus(ctx, lp.StatusQuery{URL: "https://" + host + "/tobtc", Endpoint: lp.GetRefundAuthorization, ID: fmt.Sprint(i)})
		}
		unhurried := async.Routine(t.Context())
		if _, err := ask(unhurried, "slow", 0); !errors.Is(err, errLPSilent) {
			t.Fatal(err)
		}
		time.Sleep(time.Minute) // the answer to that is kept, and old
		for i := range 1000 {
			if _, err := ask(unhurried, "slow", i+1); !errors.Is(err, errLPSilent) {
				t.Fatalf("swap %d: %v", i+1, err)
			}
		}
		synctest.Wait()
		if n := calls.Load(); n != mostRoutine+1 {
			t.Errorf("%d calls are under way, want %d", n-1, mostRoutine)
		}
		if s, err := ask(unhurried, "slow", 0); err != nil || s.Code != 1 {
			t.Errorf("%+v, %v; want the answer that is kept", s, err)
		}
		if _, err := ask(unhurried, "well", 1); err != nil {
			t.Errorf("another provider: %v", err)
		}
		delay = time.Second
		before := calls.Load()
		_, err := ask(t.Context(), "slow", 2000)
		synctest.Wait()
		if !errors.Is(err, errLPSilent) || calls.Load() != before+1 {
			t.Errorf("%v, %d calls; a caller's question should be asked", err, calls.Load()-before)
		}
		time.Sleep(10 * time.Second)
		for i := range mostRoutine { // places are given back
			if _, err := ask(unhurried, "slow", 3000+i); err != nil {
				t.Fatalf("swap %d: %v", 3000+i, err)
			}
		}
		w.Close()
	})
}

// An LP that says that it is asked too much is left alone with what nobody waits for, twice
// as long each time that it says so again; who waits for an answer asks it all the same.
func TestRestOfProviderThatIsAskedTooMuch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var enough atomic.Bool
		var calls atomic.Int64
		enough.Store(true)
		w := New(nil, nil, statusReader(func(context.Context, lp.StatusQuery) (lp.Status, error) {
			calls.Add(1)
			if enough.Load() {
				return lp.Status{}, &lp.RequestError{Status: 429, Message: "Too many requests"}
			}
			return lp.Status{Code: 1}, nil
		}))
		ask := func(ctx context.Context, i int) error {
			_, err := w.LPStatus(ctx, lp.StatusQuery{URL: "https://lp/tobtc", Endpoint: lp.GetRefundAuthorization, ID: fmt.Sprint(i)})
			return err
		}
		unhurried := async.Routine(t.Context())
		began := time.Now()
		var asked []time.Duration
		for i := range 1000 { // one each second
			before := calls.Load()
			if err := ask(unhurried, i); err == nil {
				t.Fatal("it was refused, and counts as an answer")
			}
			if calls.Load() > before {
				asked = append(asked, time.Since(began))
			}
			time.Sleep(time.Second)
		}
		want := []time.Duration{0, 1, 3, 7, 15, 31, 63, 127, 255, 511, 811}
		if len(asked) != len(want) {
			t.Fatalf("it was asked after %v", asked)
		}
		for i := range want {
			if asked[i].Round(time.Second) < want[i]*time.Second || asked[i] > (want[i]+2)*time.Second {
				t.Errorf("it was asked after %v, want about %v", asked[i], want[i]*time.Second)
			}
		}
		enough.Store(false)
		if err := ask(t.Context(), 2000); err != nil {
			t.Errorf("a caller's question: %v", err)
		}
		if err := ask(unhurried, 2001); err == nil {
			t.Error("it answers one question, and rests no more")
		}
		time.Sleep(longestRest)
		for i := range 10 {
			if err := ask(unhurried, 3000+i); err != nil {
				t.Errorf("after its rest: %v", err)
			}
		}
		w.Close()
	})
}
