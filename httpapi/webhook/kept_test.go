package webhook_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/httpapi/webhook"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/storage"
)

var keep = flag.String("keep", "", "file into which TestKeepMessages writes what this version stores of messages, for the versions to come")

// kept is what a version has stored for the endpoints "shop" and "gone": the records of the
// first as each kind of write left them, and the notes of both.
type kept struct {
	Gone    string // URL of the second
	Notes   []storage.Note
	Entries []keptEntry
}

type keptEntry struct {
	ID      string
	Version uint64
	Keys    []storage.Key
	Body    json.RawMessage
}

// keptRecord is what the test must know of a record.
type keptRecord struct {
	Swap    string
	Version uint64
	Message *struct {
		ID       string
		Version  uint64
		Body     json.RawMessage
		Attempts int
		Problem  string
	}
	Delivered, GivenUp *struct{ ID string }

	Next, Busy, Done int64
}

func (e keptEntry) record(t testing.TB) (r keptRecord) {
	t.Helper()
	trial.Do(t, json.Unmarshal(e.Body, &r))
	return r
}

// old reports whether what is stored is to be replaced before it is sent.
func (r keptRecord) old() bool {
	return r.Message == nil || r.Message.Attempts > 0 && r.Version > r.Message.Version
}

// keeping is a store that remembers all that was ever written to it.
type keeping struct {
	storage.Store
	mu  sync.Mutex
	all kept
}

func (s *keeping) wrote(e storage.Entry, err error) error {
	if err == nil {
		s.mu.Lock()
		s.all.Entries = append(s.all.Entries, keptEntry{e.ID, e.Version + 1, e.Keys, slices.Clone(e.Body)})
		s.mu.Unlock()
	}
	return err
}

func (s *keeping) Create(ctx context.Context, e storage.Entry) error {
	return s.wrote(e, s.Store.Create(ctx, e))
}

func (s *keeping) Update(ctx context.Context, e storage.Entry) error {
	return s.wrote(e, s.Store.Update(ctx, e))
}

// TestKeepMessages writes the file by which later versions are held to reading what this
// one stores. See CONTRIBUTING.md.
func TestKeepMessages(t *testing.T) {
	t.Parallel()
	if *keep == "" {
		t.Skip("writes test data when -keep names a file; TestKeptMessages tests what was written")
	}
	s, secret := newSource(), webhook.NewSecret()
	shop, gone := receive(t, secret), receive(t, secret)
	store := &keeping{Store: new(storage.Memory)}
	only := func(prefix string, e webhook.Endpoint) webhook.Endpoint {
		e.Wants = func(c swapper.Change) bool { return strings.HasPrefix(c.Swap.SwapID, prefix) }
		return e
	}
	_, stop := send(t, s, store, nil, only("swap", shop.endpoint("shop", secret)), only("lost", gone.endpoint("gone", secret)))
	next := func(swap, state string) {
		t.Helper()
		shop.want(swap, state)
		s.settled(t, "shop")
	}
	s.put("swap 1", "CREATED")
	next("swap 1", "CREATED")
	s.put("swap 1", "CREATED") // nobody sees a difference
	time.Sleep(50 * time.Millisecond)
	gone.answers(status(http.StatusGone))
	s.put("lost", "CREATED")
	gone.want("lost", "CREATED")

	shop.answers(status(http.StatusServiceUnavailable))
	s.put("swap 1", "COMMITED")
	next("swap 1", "COMMITED")
	s.put("swap 1", "CLAIMED") // before the message arrives
	s.advance(time.Hour)
	next("swap 1", "CLAIMED")
	s.put("swap 2", "CREATED")
	for end := time.Now().Add(time.Minute); !store.givenUp(t, 2); s.advance(40 * time.Hour) {
		time.Sleep(20 * time.Millisecond) // an attempt, and what is stored after it
		if time.Now().After(end) {
			t.Fatal("the messages are not given up")
		}
	}
	s.put("swap 2", "COMMITED") // after it was given up
	time.Sleep(50 * time.Millisecond)
	stop()

	store.all.Gone = gone.endpoint("gone").URL
	for _, name := range []string{"webhook/gone", "webhook/shop"} {
		data, version, err := store.Note(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		store.all.Notes = append(store.all.Notes, storage.Note{Name: name, Data: data, Version: version})
	}
	type place struct {
		message, late, problem, delivered, givenUp, next, busy, done bool
		attempts                                                     int
	}
	there := map[place]bool{}
	store.all.Entries = slices.DeleteFunc(store.all.Entries, func(e keptEntry) bool {
		r := e.record(t)
		at := place{r.Message != nil, r.old(), false, r.Delivered != nil, r.GivenUp != nil, r.Next != 0, r.Busy != 0, r.Done != 0, 0}
		if r.Message != nil {
			at.problem, at.attempts = r.Message.Problem != "", r.Message.Attempts
		}
		drop := there[at] || !strings.HasPrefix(r.Swap, "swap")
		there[at] = true
		return drop
	})
	text, err := json.Marshal(store.all)
	if err == nil {
		err = os.WriteFile(*keep, append(text, '\n'), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d entries", len(store.all.Entries))
}

// givenUp reports whether messages of so many swaps were given up.
func (s *keeping) givenUp(t testing.TB, swaps int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	up := map[string]bool{}
	for _, e := range s.all.Entries {
		if r := e.record(t); r.GivenUp != nil {
			up[r.Swap] = true
		}
	}
	return len(up) == swaps
}

// What every version has stored goes on: a message that waits arrives once, the same to the
// byte, or the news in its place; what is done stays silent until the swap changes; and an
// endpoint that was gone stays so.
func TestKeptMessages(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/kept/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no version has kept anything: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".json"), func(t *testing.T) {
			text := trial.Must(os.ReadFile(file))(t)
			var all kept
			trial.Do(t, json.Unmarshal(text, &all))
			sent, silent, known := 0, 0, 0
			for _, e := range all.Entries {
				r := e.record(t)
				if r.Next != 0 {
					sent++
				} else {
					silent++
				}
				unseen := r.Message == nil && r.Next != 0 && r.Delivered != nil
				if unseen { // a change that nobody sees
					known++
				}
				t.Run(e.ID, func(t *testing.T) {
					t.Parallel()
					all.goesOn(t, e, "NOW", r.Next != 0)
					if unseen {
						all.goesOn(t, e, "CREATED", false)
					}
				})
			}
			if sent < 10 || silent < 3 || known < 1 {
				t.Errorf("%d records wait, %d do not, %d have told how the swap stands: too few", sent, silent, known)
			}
		})
	}
}

// goesOn holds that a record goes on as a version of now would have it, with its swap in a
// state that is to be told, or not.
func (all kept) goesOn(t *testing.T, e keptEntry, now string, tells bool) {
	t.Helper()
	store := new(storage.Memory)
	for _, n := range all.Notes {
		for v := range n.Version {
			trial.Do(t, store.SetNote(t.Context(), n.Name, n.Data, v))
		}
	}
	trial.Do(t, store.Create(t.Context(), storage.Entry{ID: e.ID, Version: e.Version - 1, Keys: e.Keys, Body: e.Body}))
	r, s, secret := e.record(t), newSource(), webhook.NewSecret()
	s.time = time.UnixMilli(max(r.Next, r.Busy, r.Done)).Add(time.Second)
	s.put(r.Swap, now)
	s.swaps[r.Swap].Version = r.Version
	shop := receive(t, secret)
	gone := webhook.Endpoint{Name: "gone", URL: all.Gone, Secrets: []string{secret}}
	sender, stop := send(t, s, store, nil, shop.endpoint("shop", secret), gone)
	defer stop()
	if tells {
		switch g := shop.wantOf(t, r.Swap); {
		case r.old() && (g.state != now || r.Message != nil && g.id == r.Message.ID):
			t.Errorf("%s: told %+v", e.Body, g)
		case !r.old() && (g.id != r.Message.ID || !sameJSON(t, g.body, r.Message.Body)):
			t.Errorf("%s: told %+v", e.Body, g)
		}
	}
	state(t, sender, "nothing waits", func(s webhook.State) bool { return s.Waiting == 0 })
	shop.silent(50 * time.Millisecond)
	states, err := sender.States(t.Context())
	if want := []webhook.State{{Name: "shop"}, {Name: "gone", Gone: true}}; err != nil || !cmp.Equal(states, want) {
		t.Errorf("%s: %+v %v", e.Body, states, err)
	}
	s.put(r.Swap, "LATER")
	shop.want(r.Swap, "LATER")
}

// Records of a version that is not there yet stay as they are, and hold no others up.
func TestNewerMessagesAreLeftAlone(t *testing.T) {
	t.Parallel()
	s, secret, store := newSource(), webhook.NewSecret(), new(storage.Memory)
	shop := receive(t, secret)
	_, stop := send(t, s, store, nil, shop.endpoint("shop", secret))
	s.put("newer", "CREATED")
	shop.want("newer", "CREATED")
	s.settled(t, "shop")
	stop()
	var newer storage.Entry
	for e, err := range store.Find(t.Context(), storage.Query{Index: "webhook/done", Value: "shop"}) {
		if err != nil {
			t.Fatal(err)
		}
		newer = e
	}
	newer.Body = []byte(`{"schema":1000,"swap":["in another form"]}`)
	newer.Keys = []storage.Key{{Index: "webhook/due", Value: "shop", Order: 1}}
	trial.Do(t, store.Update(t.Context(), newer))
	var log bytes.Buffer
	_, stop = send(t, s, store, func(o *webhook.Options) { o.Logger = slog.New(slog.NewTextHandler(&log, nil)) }, shop.endpoint("shop", secret))
	s.put("newer", "COMMITED")
	s.advance(2 * time.Millisecond)
	s.put("ours", "CREATED")
	shop.want("ours", "CREATED")
	s.advance(100 * time.Hour)
	shop.silent(50 * time.Millisecond)
	stop()
	if got, err := store.Get(t.Context(), newer.ID); err != nil || got.Version != newer.Version+1 || !bytes.Equal(got.Body, newer.Body) {
		t.Errorf("the record is changed: %s %v", got.Body, err)
	}
	if !strings.Contains(log.String(), "its schema is 1000") || !strings.Contains(log.String(), "run the version that wrote it or a newer one") {
		t.Errorf("the log says %q", log.String())
	}
}

// wantOf is the next message, which is one of a swap.
func (r *receiver) wantOf(t testing.TB, swap string) got {
	t.Helper()
	select {
	case g := <-r.all:
		if g.swap != swap {
			t.Fatalf("%+v, want one of %s", g, swap)
		}
		return g
	case <-time.After(time.Minute):
		t.Fatalf("no message of %s", swap)
	}
	panic("unreachable")
}

func sameJSON(t testing.TB, one string, other []byte) bool {
	t.Helper()
	var a, b any
	if json.Unmarshal([]byte(one), &a) != nil || json.Unmarshal(other, &b) != nil {
		t.Fatalf("no JSON: %s or %s", one, other)
	}
	return cmp.Equal(a, b)
}
