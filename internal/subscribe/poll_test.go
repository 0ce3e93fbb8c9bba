package subscribe

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/swapper-go/swapper/chains/bitcoin"
)

// seconds are when questions were asked, since the start.
func seconds(at ...int) []time.Duration {
	all := make([]time.Duration, len(at))
	for i, s := range at {
		all[i] = time.Duration(s) * time.Second
	}
	return all
}

func TestPollWithoutSubscriptions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		passing, final := errors.New("passing"), errors.New("final")
		answers := []error{nil, passing, passing, passing, passing, passing, passing, nil, nil}
		start := time.Now()
		var at []time.Duration
		told := 0
		err := poll(t.Context(), nil, 5*time.Second, func() (bool, error, error) {
			at = append(at, time.Since(start))
			if len(answers) == 0 {
				return false, passing, final
			}
			answer := answers[0]
			answers = answers[1:]
			return false, answer, nil
		}, func(err error) {
			if err != passing {
				t.Errorf("told %v", err)
			}
			told++
		})
		if want := seconds(0, 5, 15, 35, 75, 155, 275, 395, 400, 405); err != final || !slices.Equal(at, want) || told != 6 {
			t.Errorf("%v at %v, %d failures; want %v", err, at, told, want)
		}

		ctx, cancel := context.WithCancel(t.Context())
		err = poll(ctx, nil, time.Hour, func() (bool, error, error) { cancel(); return false, passing, nil }, func(error) { t.Error("told after the end") })
		if err != context.Canceled {
			t.Error(err)
		}
	})
}

// heard polls for some time with a node whose connection and messages the test makes up, and
// returns when it asked. found says which questions find something new.
func heard(t *testing.T, lasts time.Duration, told func(n *Nodes), found func(question int) bool) (at []time.Duration) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		n := &Nodes{heard: make(chan struct{}, 1), states: make([]bitcoin.Subscription, 1)}
		ctx, cancel := context.WithTimeout(t.Context(), lasts)
		defer cancel()
		start := time.Now()
		var telling sync.WaitGroup
		telling.Go(func() { told(n) })
		defer telling.Wait()
		err := poll(ctx, n, 5*time.Second, func() (bool, error, error) {
			at = append(at, time.Since(start))
			return found(len(at) - 1), nil, nil
		}, nil)
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("ended with %v", err)
		}
	})
	return at
}

func never(int) bool  { return false }
func always(int) bool { return true }

func TestPollAsksSeldomWhileAConnectionLives(t *testing.T) {
	at := heard(t, 200*time.Second, func(n *Nodes) {
		time.Sleep(7 * time.Second)
		n.alive(0)
	}, never)
	if want := seconds(0, 5, 7, 67, 127, 187); !slices.Equal(at, want) {
		t.Errorf("asked at %v, want %v", at, want)
	}
}

func TestPollAsksAtOnceWhenAConnectionIsLost(t *testing.T) {
	at := heard(t, 50*time.Second, func(n *Nodes) {
		n.alive(0)
		time.Sleep(33 * time.Second)
		n.lost(0)
		time.Sleep(2 * time.Second)
		n.lost(0) // once more, before it was alive: nothing changes
	}, never)
	if want := append(seconds(0), 200*time.Millisecond, 33*time.Second, 38*time.Second, 43*time.Second, 48*time.Second); !slices.Equal(at, want) {
		t.Errorf("asked at %v, want %v", at, want)
	}
}

func TestPollFollowsAHintUntilItIsExplained(t *testing.T) {
	at := heard(t, 120*time.Second, func(n *Nodes) {
		n.alive(0)
		time.Sleep(30 * time.Second)
		n.count(0, true)
	}, func(question int) bool { return question == 4 })
	// At once, and every five seconds until the answer holds what the hint told of.
	if want := append(seconds(0), 200*time.Millisecond, 30*time.Second+gather, 35*time.Second+gather, 40*time.Second+gather, 100*time.Second+gather); !slices.Equal(at, want) {
		t.Errorf("asked at %v, want %v", at, want)
	}
}

func TestPollGivesUpAHintThatNothingExplains(t *testing.T) {
	at := heard(t, 30*time.Minute, func(n *Nodes) {
		n.alive(0)
		time.Sleep(30 * time.Second)
		n.count(0, true)
	}, never)
	if n := len(at); n < 60+25 || n > 60+30 { // five minutes every five seconds, the rest once a minute
		t.Errorf("asked %d times in half an hour after one hint", n)
	}
}

// What matters to no caller for half an hour is asked for every five minutes, and at once when it
// matters again; a hint is followed nevertheless.
func TestPollRestsWhileNothingIsUsed(t *testing.T) {
	for name, c := range map[string]struct {
		then func(n *Nodes)
		want []time.Duration // after half an hour
	}{
		"at rest":               {func(*Nodes) {}, seconds(2100, 2400, 2700, 3000)},
		"used again":            {func(n *Nodes) { n.use() }, append(seconds(2100), seconds(2220, 2280, 2340, 2400, 2460, 2520, 2580, 2640, 2700, 2760, 2820, 2880, 2940, 3000)...)},
		"used by who asks":      {func(n *Nodes) { n.Quiet() }, append(seconds(2100), seconds(2220, 2280, 2340, 2400, 2460, 2520, 2580, 2640, 2700, 2760, 2820, 2880, 2940, 3000)...)},
		"something is told":     {func(n *Nodes) { n.count(0, true) }, seconds(2100, 2220, 2520, 2820)},
		"the connection is cut": {func(n *Nodes) { n.lost(0); time.Sleep(2 * time.Second); n.alive(0) }, seconds(2100, 2220, 2222, 2522, 2822)},
	} {
		t.Run(name, func(t *testing.T) {
			at := heard(t, 50*time.Minute+30*time.Second, func(n *Nodes) {
				n.alive(0)
				time.Sleep(37 * time.Minute)
				c.then(n)
			}, always)
			late := at[slices.IndexFunc(at, func(d time.Duration) bool { return d > 31*time.Minute }):]
			for i := range late { // the first question after the connection came is not on the second
				late[i] = late[i].Truncate(time.Second)
			}
			if early := len(at) - len(late); early < 30 || early > 33 || !slices.Equal(late, c.want) {
				t.Errorf("asked %d times in the first half hour, then at %v, want %v", early, late, c.want)
			}
		})
	}
}

// It is quiet while a connection lives and each hint is explained by an answer that was asked for
// after it; a break begins anew, and a hint that nothing explains counts for five minutes.
func TestQuiet(t *testing.T) {
	var marks []uint64
	heard(t, 20*time.Minute, func(n *Nodes) {
		mark := func() { marks = append(marks, n.Quiet()) }
		mark() // nothing is alive
		n.alive(0)
		time.Sleep(10 * time.Second)
		mark()
		n.count(0, true) // explained by the next answer
		mark()
		time.Sleep(time.Second)
		mark()
		n.lost(0)
		mark()
		n.alive(0)
		mark()
		time.Sleep(time.Minute)
		n.count(0, true) // by none
		time.Sleep(4 * time.Minute)
		mark()
		time.Sleep(time.Minute)
		mark()
	}, func(question int) bool { return question == 2 })
	if want := []uint64{0, 1, 0, 1, 0, 3, 0, 3}; !slices.Equal(marks, want) {
		t.Errorf("marks %v, want %v", marks, want)
	}
	n := &Nodes{heard: make(chan struct{}, 1), states: make([]bitcoin.Subscription, 1)}
	n.alive(0)
	n.count(0, true)
	if n.explain(0); n.Quiet() != 0 {
		t.Error("a hint is explained by an answer that was asked for before it")
	}
	if n.explain(1); n.Quiet() == 0 {
		t.Error("a hint that was explained makes no rest")
	}
}

// The logs of a block are told of one after the other. Those that come while the first is asked for
// cause a question in vain, in each block, and delay nothing.
func TestPollFollowsManyLogsOfManyBlocks(t *testing.T) {
	var told []time.Duration
	var began time.Time
	asked := map[int]bool{}
	at := heard(t, 299*time.Second+500*time.Millisecond, func(n *Nodes) {
		start := time.Now()
		n.alive(0)
		for range 299 {
			time.Sleep(time.Second)
			told = append(told, time.Since(start))
			n.count(0, true)
			time.Sleep(time.Nanosecond)
			n.count(0, true)
		}
	}, func(int) bool {
		if began.IsZero() {
			began = time.Now()
		}
		block := int(time.Since(began) / time.Second)
		first := block > 0 && !asked[block]
		asked[block] = true
		return first
	})
	for _, when := range told {
		i, _ := slices.BinarySearch(at, when)
		if i == len(at) || at[i]-when > gap {
			t.Fatalf("a log of %v is asked for too late; asked at %v", when, at)
		}
	}
	if most := 2*len(told) + 5; len(told) < 290 || len(at) > most {
		t.Errorf("asked %d times for %d blocks, want %d at most", len(at), len(told), most)
	}
}

// A node that sends hints without end, and of nothing, causes no more questions than there are
// without subscriptions, but for the first few.
func TestPollIsNotFlooded(t *testing.T) {
	flood := func(n *Nodes) {
		n.alive(0)
		for range 3000 {
			time.Sleep(100 * time.Millisecond)
			n.count(0, true)
		}
	}
	at := heard(t, 295*time.Second, flood, never)
	if usual := 295 / 5; len(at) > usual+burst+2 || len(at) < usual {
		t.Errorf("asked %d times in 295 s, without subscriptions it would be %d", len(at), usual)
	}
	// As long as there is something new behind each hint, each is followed.
	at = heard(t, 295*time.Second, flood, always)
	if len(at) < 1000 {
		t.Errorf("asked %d times in 295 s although there was something new each time", len(at))
	}
}
