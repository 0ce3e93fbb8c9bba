package webhook_test

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/httpapi/webhook"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/storage"
)

func TestDelivered(t *testing.T) {
	t.Parallel()
	s, one, two := newSource(), webhook.NewSecret(), webhook.NewSecret()
	s.put("before", "CREATED")
	s.advance(2 * time.Millisecond)
	r := receive(t, one, two) // both verify: the receiver may know the one or the other
	send(t, s, new(storage.Memory), nil, r.endpoint("shop", one, two))
	s.put("a", "CREATED")
	first := r.want("a", "CREATED")
	s.put("a", "CREATED") // nobody sees a difference
	s.put("a", "COMMITED")
	second := r.want("a", "COMMITED")
	if first.id == second.id || !strings.HasPrefix(first.id, "msg_") || strings.Contains(first.id, ".") {
		t.Errorf("ids %s and %s", first.id, second.id)
	}
	s.quiet = true // another process on the same store
	s.put("b", "CREATED")
	r.want("b", "CREATED")
	r.silent(100 * time.Millisecond) // what changed before was not told
	s.put("before", "COMMITED")
	r.want("before", "COMMITED")
}

func TestRetried(t *testing.T) {
	t.Parallel()
	s, r, sender := sendToShop(t)
	r.answers(status(http.StatusInternalServerError))
	s.put("a", "CREATED")
	first := r.want("a", "CREATED")
	for i, wait := range []time.Duration{5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour, 10 * time.Hour, 14 * time.Hour, 20 * time.Hour, 24 * time.Hour} {
		s.settled(t, "shop")
		if i > 0 {
			s.advance(wait - 2*time.Second)
			r.silent(50 * time.Millisecond)
		}
		s.advance(wait/4 + 3*time.Second)
		if i == 0 {
			s.advance(wait)
		}
		if again := r.want("a", "CREATED"); again.id != first.id || again.body != first.body || again.at != first.at {
			t.Fatalf("attempt %d: %+v, not %+v", i+2, again, first)
		}
	}
	state(t, sender, "given up", func(s webhook.State) bool { return s.Waiting == 0 })
	s.advance(100 * time.Hour)
	r.silent(100 * time.Millisecond)
	states, err := sender.States(t.Context())
	if err != nil || len(states) != 1 || states[0].Waiting != 0 || states[0].Failures != 10 || states[0].Problem != "HTTP status 500" {
		t.Errorf("%+v %v", states, err)
	}
	r.answers(nil)
	s.put("a", "CLAIMED")
	if g := r.want("a", "CLAIMED"); g.id == first.id {
		t.Error("the id of another message")
	}
}

// An endpoint that is away for days gets the present of each swap when it is back, once,
// and harms no other endpoint.
func TestDownForDays(t *testing.T) {
	t.Parallel()
	s, secret := newSource(), webhook.NewSecret()
	well, down := receive(t, secret), receive(t, secret)
	down.answers(status(http.StatusServiceUnavailable))
	store := new(storage.Memory)
	sender, _ := send(t, s, store, nil, well.endpoint("well", secret), down.endpoint("down", secret))
	const swaps, rounds = 30, 5
	for round := range rounds {
		for i := range swaps {
			s.put(fmt.Sprint("swap ", i), fmt.Sprint("STATE ", round))
		}
		seen := map[string]bool{}
		for len(seen) < swaps {
			select {
			case g := <-well.all:
				if g.state == fmt.Sprint("STATE ", round) {
					seen[g.swap] = true
				}
			case <-time.After(time.Minute):
				t.Fatalf("round %d: the other endpoint has %d swaps", round, len(seen))
			}
		}
		s.advance(20 * time.Minute)
	}
	// What is sent from now on says how a swap stands at the end.
	s.waiting(t, "down", "some are not up to date", func(all []keptRecord) bool {
		return len(all) == swaps && !slices.ContainsFunc(all, func(r keptRecord) bool { return r.Version != rounds || r.Busy != 0 })
	})
	state(t, sender, "the other endpoint has all", func(s webhook.State) bool { return s.Waiting == 0 })
	if n := len(down.all); n > 60 {
		t.Errorf("%d requests to an endpoint that is down", n)
	}
	states, err := sender.States(t.Context())
	if err != nil || states[0].Waiting != 0 || states[1].Waiting != swaps {
		t.Errorf("%+v %v", states, err)
	}
	down.answers(nil)
	last := map[string]string{}
	for end := time.Now().Add(time.Minute); len(last) < swaps; {
		s.advance(30 * time.Minute)
		select {
		case g := <-down.all:
			if g.refused {
				continue
			}
			if last[g.swap] != "" || g.state != fmt.Sprint("STATE ", rounds-1) {
				t.Errorf("%s in %s, before in %q", g.swap, g.state, last[g.swap])
			}
			last[g.swap] = g.state
		case <-time.After(100 * time.Millisecond):
		}
		if time.Now().After(end) {
			t.Fatalf("%d swaps arrived", len(last))
		}
	}
	s.advance(100 * time.Hour)
	down.silent(200 * time.Millisecond)
}

// The messages of a swap come in its order, one at a time, whatever the endpoint does.
func TestOrder(t *testing.T) {
	t.Parallel()
	s, secret := newSource(), webhook.NewSecret()
	r := receive(t, secret)
	n := 0
	var mu sync.Mutex
	r.answers(func(w http.ResponseWriter, _ *http.Request) {
		mu.Lock()
		n++
		bad := n%3 == 0
		mu.Unlock()
		time.Sleep(2 * time.Millisecond)
		if bad {
			w.WriteHeader(http.StatusBadGateway)
		}
	})
	send(t, s, new(storage.Memory), nil, r.endpoint("shop", secret))
	const last = 300
	var all sync.WaitGroup
	for swap := range 3 {
		all.Go(func() {
			for i := range last + 1 {
				s.put(fmt.Sprint("swap ", swap), fmt.Sprint(i))
				time.Sleep(time.Millisecond)
			}
		})
	}
	seen := map[string]int{}
	for done, end := 0, time.Now().Add(time.Minute); done < 3; {
		s.advance(time.Second)
		select {
		case g := <-r.all:
			var i int
			trial.Must(fmt.Sscan(g.state, &i))(t)
			if i < seen[g.swap] {
				t.Errorf("%s: %d after %d", g.swap, i, seen[g.swap])
			}
			if i == last && seen[g.swap] < last {
				done++
			}
			seen[g.swap] = i
		case <-time.After(50 * time.Millisecond):
		}
		if time.Now().After(end) {
			t.Fatalf("%v", seen)
		}
	}
	all.Wait()
}

// Redirects are not followed, a reply without end is not read, and one that never comes
// ends.
func TestBadEndpoints(t *testing.T) {
	t.Parallel()
	secret := webhook.NewSecret()
	target := receive(t, secret)
	for name, answer := range map[string]func(http.ResponseWriter, *http.Request){
		"redirect": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, target.server.URL, http.StatusTemporaryRedirect)
		},
		"not changed": status(http.StatusNotModified),
		"panic":       func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
	} {
		t.Run(name, func(t *testing.T) {
			s, r := newSource(), receive(t, secret)
			r.answers(answer)
			sender, _ := send(t, s, new(storage.Memory), nil, r.endpoint("shop", secret))
			s.put("a", "CREATED")
			r.want("a", "CREATED")
			state(t, sender, "an attempt", func(s webhook.State) bool { return s.Failures > 0 })
			if states, err := sender.States(t.Context()); err != nil || states[0].Waiting != 1 || states[0].Failures != 1 || states[0].Problem == "" {
				t.Errorf("%+v %v", states, err)
			}
		})
	}
	target.silent(50 * time.Millisecond)

	s, r := newSource(), receive(t, secret)
	r.answers(func(w http.ResponseWriter, req *http.Request) {
		w.WriteHeader(http.StatusOK)
		for req.Context().Err() == nil {
			if _, err := io.WriteString(w, strings.Repeat("x", 1<<16)); err != nil {
				return
			}
		}
	})
	sender, _ := send(t, s, new(storage.Memory), nil, r.endpoint("shop", secret))
	s.put("a", "CREATED")
	r.want("a", "CREATED")
	state(t, sender, "an attempt", func(s webhook.State) bool { return s.Waiting == 0 || s.Failures > 0 })
	if states, err := sender.States(t.Context()); err != nil || states[0].Waiting != 0 || states[0].Problem != "" {
		t.Errorf("%+v %v", states, err)
	}
}

// Whoever may name an endpoint cannot make this server call what only it can reach.
func TestPrivateHosts(t *testing.T) {
	t.Parallel()
	var hits sync.Map
	server := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { hits.Store("hit", true) }))
	defer server.Close()
	_, port, _ := strings.Cut(strings.TrimPrefix(server.URL, "https://"), ":")
	var log bytes.Buffer
	for _, host := range []string{"127.0.0.1", "localhost", "[::1]", "0.0.0.0", "169.254.169.254", "[::ffff:127.0.0.1]", "[64:ff9b::7f00:1]", "2130706433"} {
		s := newSource()
		sender, stop := send(t, s, new(storage.Memory), func(o *webhook.Options) {
			o.AllowLocal, o.Logger = false, slog.New(slog.NewTextHandler(&log, nil))
		}, webhook.Endpoint{Name: "shop", URL: "https://" + host + ":" + port + "/hidden", Secrets: []string{webhook.NewSecret()}})
		s.put("a", "CREATED")
		for end := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
			states := trial.Must(sender.States(t.Context()))(t)
			if states[0].Problem != "" {
				if host != "2130706433" && host != "localhost" && states[0].Problem != "the host is not public" {
					t.Errorf("%s: %s", host, states[0].Problem)
				}
				break
			}
			if time.Now().After(end) {
				t.Fatalf("%s: no attempt", host)
			}
		}
		stop()
	}
	if _, hit := hits.Load("hit"); hit {
		t.Error("a private address was called")
	}
	if strings.Contains(log.String(), "hidden") || strings.Contains(log.String(), "whsec_") {
		t.Errorf("the log: %s", log.String())
	}
}

// A swap that cannot be looked at is told later, one that was deleted not at all.
func TestSwapThatCannotBeRead(t *testing.T) {
	t.Parallel()
	s, r, sender := sendToShop(t)
	unreadable := func(swap string) { // for once
		s.mu.Lock()
		s.failing = 1
		s.mu.Unlock()
		s.put(swap, "CREATED")
		s.waiting(t, "shop", swap+" is not put off", func(all []keptRecord) bool {
			return slices.ContainsFunc(all, func(r keptRecord) bool { return r.Swap == swap && r.Busy == 0 && r.Next > s.now().UnixMilli() })
		})
		r.silent(50 * time.Millisecond)
	}
	unreadable("a")
	s.advance(time.Minute)
	r.want("a", "CREATED")
	unreadable("b")
	s.remove("b")
	s.advance(time.Minute)
	state(t, sender, "nothing waits", func(s webhook.State) bool { return s.Waiting == 0 })
	r.silent(100 * time.Millisecond)
}

func TestWants(t *testing.T) {
	t.Parallel()
	s, secret := newSource(), webhook.NewSecret()
	r := receive(t, secret)
	e := r.endpoint("shop", secret)
	e.Wants = func(c swapper.Change) bool { return strings.HasPrefix(c.Swap.SwapID, "shop") }
	send(t, s, new(storage.Memory), nil, e)
	s.put("other", "CREATED")
	s.put("shop 1", "CREATED")
	r.want("shop 1", "CREATED")
	r.silent(100 * time.Millisecond)
}

// Two processes on one store tell each change once, unless one of them dies.
func TestTwoProcesses(t *testing.T) {
	t.Parallel()
	s, secret, store := newSource(), webhook.NewSecret(), new(storage.Memory)
	r := receive(t, secret)
	r.answers(func(w http.ResponseWriter, _ *http.Request) { time.Sleep(5 * time.Millisecond) })
	send(t, s, store, nil, r.endpoint("shop", secret))
	send(t, s, store, nil, r.endpoint("shop", secret))
	const swaps = 40
	for i := range swaps {
		s.put(fmt.Sprint(i), "CREATED")
	}
	seen := map[string]string{}
	for len(seen) < swaps {
		select {
		case g := <-r.all:
			if seen[g.swap] != "" {
				t.Errorf("%s came twice", g.swap)
			}
			seen[g.swap] = g.id
		case <-time.After(time.Minute):
			t.Fatalf("%d swaps", len(seen))
		}
	}
	r.silent(200 * time.Millisecond)
}

func TestRunTwice(t *testing.T) {
	t.Parallel()
	_, _, sender := sendToShop(t)
	if err := sender.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "already") {
		t.Error(err)
	}
}
