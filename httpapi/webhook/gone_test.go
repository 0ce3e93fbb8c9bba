package webhook_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"net/http"
	"testing"
	"time"

	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/httpapi/webhook"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/storage"
)

// state waits until an endpoint stands as a test says.
func state(t *testing.T, s *webhook.Sender, what string, is func(webhook.State) bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		states := trial.Must(s.States(t.Context()))(t)
		if is(states[0]) {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%s: %+v", what, states)
		}
	}
}

// told waits until each of some swaps was told in a state, whatever else came before.
func (r *receiver) told(want map[string]string) {
	r.t.Helper()
	seen := map[string]string{}
	for late := time.After(time.Minute); ; {
		left := false
		for swap, state := range want {
			left = left || seen[swap] != state
		}
		if !left {
			return
		}
		select {
		case g := <-r.all:
			seen[g.swap] = g.state
		case <-late:
			r.t.Fatalf("told %v, want %v", seen, want)
		}
	}
}

// One answer of 410, as a proxy gives it while a service behind it is replaced, costs
// nothing: what waits is told when the endpoint is back.
func TestOne410(t *testing.T) {
	t.Parallel()
	s, r, sender := sendToShop(t)
	r.answers(status(http.StatusInternalServerError))
	want := map[string]string{}
	for i := range 5 {
		s.put(fmt.Sprint("swap ", i), "CREATED")
		want[fmt.Sprint("swap ", i)] = "CREATED"
	}
	state(t, sender, "five wait", func(s webhook.State) bool { return s.Waiting == 5 && s.Failures >= 3 })
	s.settled(t, "shop")
	r.answers(status(http.StatusGone))
	s.advance(10 * time.Minute)
	last := time.Now()
	state(t, sender, "410", func(now webhook.State) bool {
		if time.Since(last) > 2*time.Second { // an attempt that had begun failed only after the clock had moved, and is paused for
			s.advance(10 * time.Minute)
			last = time.Now()
		}
		return now.Problem == "HTTP status 410"
	})
	s.settled(t, "shop")
	state(t, sender, "all are kept", func(s webhook.State) bool { return s.Waiting == 5 && !s.Gone })
	r.answers(nil)
	s.advance(10 * time.Minute)
	r.told(want)
}

// makeGone answers 410 for longer than it takes to be believed.
func makeGone(t *testing.T, s *source, sender *webhook.Sender, r *receiver) {
	t.Helper()
	r.answers(status(http.StatusGone))
	for end := time.Now().Add(time.Minute); time.Now().Before(end); {
		s.advance(20 * time.Minute)
		time.Sleep(60 * time.Millisecond)
		states := trial.Must(sender.States(t.Context()))(t)
		if states[0].Gone {
			s.settled(t, "shop")
			return
		}
	}
	t.Fatal("an endpoint that answers 410 for hours is still asked")
}

// An endpoint that answers nothing but 410 for an hour is left alone, after a restart too.
// Once it is enabled, or has another URL, it is told how each swap stands of which it has
// not heard: what waited, and what has changed meanwhile.
func TestGone(t *testing.T) {
	t.Parallel()
	s, secret, store := newSource(), webhook.NewSecret(), new(storage.Memory)
	r, other := receive(t, secret), receive(t, secret)
	var log bytes.Buffer
	sender, stop := send(t, s, store, func(o *webhook.Options) { o.Logger = slog.New(slog.NewTextHandler(&log, nil)) }, r.endpoint("shop", secret), other.endpoint("other", secret))
	r.answers(status(http.StatusGone))
	s.put("a", "CREATED")
	s.put("b", "CREATED")
	makeGone(t, s, sender, r)
	s.put("a", "COMMITED")
	s.put("c", "CREATED")
	other.told(map[string]string{"a": "COMMITED", "b": "CREATED", "c": "CREATED"})
	for len(r.all) > 0 {
		<-r.all
	}
	r.answers(nil)
	s.advance(100 * time.Hour)
	r.silent(200 * time.Millisecond)
	state(t, sender, "what waited is kept", func(s webhook.State) bool { return s.Gone && s.Waiting == 2 })
	stop()
	if !bytes.Contains(log.Bytes(), []byte("410")) || bytes.Contains(log.Bytes(), []byte("hidden")) {
		t.Errorf("the log: %s", &log)
	}
	sender, stop = send(t, s, store, nil, r.endpoint("shop", secret)) // it is remembered
	s.put("a", "CLAIMED")
	r.silent(100 * time.Millisecond)
	trial.Do(t, sender.Enable(t.Context(), "shop"))
	r.told(map[string]string{"a": "CLAIMED", "b": "CREATED", "c": "CREATED"})
	state(t, sender, "nothing waits", func(s webhook.State) bool { return !s.Gone && s.Waiting == 0 && s.Failures == 0 })
	if err := sender.Enable(t.Context(), "nobody"); fault.CodeOf(err) != fault.NotFound {
		t.Error(err)
	}

	r.answers(status(http.StatusGone))
	s.put("a", "GONE AGAIN")
	makeGone(t, s, sender, r)
	stop()
	for len(r.all) > 0 {
		<-r.all
	}
	moved := r.endpoint("shop", secret)
	moved.URL += "&moved"
	r.answers(nil)
	send(t, s, store, nil, moved) // another URL is another try
	r.told(map[string]string{"a": "GONE AGAIN"})
}

// What an endpoint missed longer ago than records are kept stays untold.
func TestGoneForLong(t *testing.T) {
	t.Parallel()
	s, r, sender := sendToShop(t)
	s.put("a", "CREATED")
	makeGone(t, s, sender, r)
	s.put("old", "CREATED")
	s.advance(40 * 24 * time.Hour)
	s.put("new", "CREATED")
	state(t, sender, "what waits is deleted with time", func(s webhook.State) bool { return s.Waiting == 0 })
	for len(r.all) > 0 {
		<-r.all
	}
	r.answers(nil)
	trial.Do(t, sender.Enable(t.Context(), "shop"))
	r.want("new", "CREATED")
	r.silent(200 * time.Millisecond)
}

// An endpoint that fails, and is mended, need not wait for the next attempt.
func TestEnableAtOnce(t *testing.T) {
	t.Parallel()
	s, r, sender := sendToShop(t)
	r.answers(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "3000")
		w.WriteHeader(http.StatusServiceUnavailable)
	})
	s.put("a", "CREATED")
	first := r.want("a", "CREATED")
	state(t, sender, "it has failed", func(s webhook.State) bool { return s.Failures == 1 && s.Waiting == 1 })
	s.settled(t, "shop")
	r.answers(nil)
	r.silent(100 * time.Millisecond)
	trial.Do(t, sender.Enable(t.Context(), "shop"))
	if again := r.want("a", "CREATED"); again.id != first.id {
		t.Errorf("%s, not %s again", again.id, first.id)
	}
}

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		header string
		wait   time.Duration
	}{
		"as it says":      {"1800", 30 * time.Minute},
		"an hour at most": {"86400", time.Hour},
		"a day far ahead": {"Sun, 22 Nov 2099 19:00:00 GMT", time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			s, r, sender := sendToShop(t)
			r.answers(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Retry-After", c.header)
				w.WriteHeader(http.StatusTooManyRequests)
			})
			s.put("a", "CREATED")
			r.want("a", "CREATED")
			state(t, sender, "it has failed", func(s webhook.State) bool { return s.Failures == 1 })
			s.settled(t, "shop")
			s.advance(c.wait - time.Minute)
			s.put("b", "CREATED")
			r.silent(100 * time.Millisecond)
			r.answers(nil)
			s.advance(2 * time.Minute)
			r.told(map[string]string{"a": "CREATED", "b": "CREATED"})
		})
	}
}

// A message that is given up is counted.
func TestGivenUpIsCounted(t *testing.T) {
	t.Parallel()
	s, r, sender := sendToShop(t)
	r.answers(status(http.StatusInternalServerError))
	s.put("a", "CREATED")
	r.want("a", "CREATED")
	state(t, sender, "given up", func(now webhook.State) bool {
		s.advance(31 * time.Hour) // as long as a try is still waited for
		return now.GivenUp == 1 && now.Waiting == 0
	})
}
