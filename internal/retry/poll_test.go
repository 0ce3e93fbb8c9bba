package retry_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/swapper-go/swapper/internal/retry"
)

func TestPoll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		passing, final := errors.New("passing"), errors.New("final")
		answers := []error{nil, passing, passing, passing, passing, passing, passing, nil, nil}
		start := time.Now()
		var at []time.Duration
		told := 0
		err := retry.Poll(t.Context(), 5*time.Second, func() (error, error) {
			at = append(at, time.Since(start))
			if len(answers) == 0 {
				return passing, final
			}
			answer := answers[0]
			answers = answers[1:]
			return answer, nil
		}, func(err error) {
			if err != passing {
				t.Errorf("told %v", err)
			}
			told++
		})
		want := []time.Duration{0, 5, 15, 35, 75, 155, 275, 395, 400, 405}
		for i := range want {
			want[i] *= time.Second
		}
		if err != final || !slices.Equal(at, want) || told != 6 {
			t.Errorf("%v at %v, %d failures; want %v", err, at, told, want)
		}

		ctx, cancel := context.WithCancel(t.Context())
		err = retry.Poll(ctx, time.Hour, func() (error, error) { cancel(); return passing, nil }, func(error) { t.Error("told after the end") })
		if err != context.Canceled {
			t.Error(err)
		}
	})
}
