package async

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func TestGet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var v Recent[int]
		calls, fail := 0, errors.New("no")
		load := func(context.Context) (int, error) {
			calls++
			time.Sleep(time.Second)
			if calls == 3 {
				return 0, fail
			}
			return calls, nil
		}
		get := func(age time.Duration, want int, wantErr error) {
			t.Helper()
			if got, err := v.Get(t.Context(), age, load); got != want || !errors.Is(err, wantErr) {
				t.Errorf("%d, %v; want %d, %v", got, err, want, wantErr)
			}
		}
		get(5*time.Second, 1, nil)
		get(5*time.Second, 1, nil)
		time.Sleep(4 * time.Second) // the answer took one of the five
		get(5*time.Second, 2, nil)
		time.Sleep(5 * time.Second)
		get(5*time.Second, 0, fail)
		if v.Last() != 2 {
			t.Errorf("last %d", v.Last())
		}
		get(5*time.Second, 4, nil)
		get(0, 5, nil)
		get(-1, 6, nil)
	})
}

// TestGetAnew: what was asked before the question does not answer it.
func TestGetAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var v Recent[int]
		tip := 1
		load := func(context.Context) (int, error) {
			seen := tip
			time.Sleep(time.Second)
			return seen, nil
		}
		for age, want := range map[time.Duration]int{0: 1, -1: 2} {
			tip = 1
			go v.Get(t.Context(), age, load)
			synctest.Wait()
			tip = 2
			if got, err := v.Get(t.Context(), age, load); got != want || err != nil {
				t.Errorf("age %d: %d, %v; want %d", age, got, err, want)
			}
			time.Sleep(time.Minute)
		}
	})
}
