package discovery

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/swapper-go/swapper/internal/bounds"
	"github.com/swapper-go/swapper/internal/lp"
	"github.com/swapper-go/swapper/internal/lp/lphttp"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/storage"
)

// noteStore fails as it is told to.
type noteStore struct {
	storage.Memory
	mu   sync.Mutex
	read error
	set  func(store func() error) error // is SetNote, if it is not nil
}

func (s *noteStore) Note(ctx context.Context, name string) ([]byte, uint64, error) {
	s.mu.Lock()
	err := s.read
	s.mu.Unlock()
	if err != nil {
		return nil, 0, err
	}
	return s.Memory.Note(ctx, name)
}

func (s *noteStore) SetNote(ctx context.Context, name string, data []byte, version uint64) error {
	store := func() error { return s.Memory.SetNote(ctx, name, data, version) }
	s.mu.Lock()
	set := s.set
	s.mu.Unlock()
	if set != nil {
		return set(store)
	}
	return store()
}

func remembering(s *noteStore, now func() time.Time) *Directory {
	return NewDirectory(Setup{Client: lphttp.NewClient(lphttp.Options{}), Notes: s, Now: now})
}

func recall(t *testing.T, d *Directory) {
	t.Helper()
	trial.Do(t, d.Recall(t.Context()))
}

var aPair = lp.Pair{Service: lp.ToBTC, Chain: "CITREA", Token: "T"}

// boxed demands who is in the box, for how long from noon, and of how many lies one knows.
func boxed(t *testing.T, d *Directory, url string, until time.Duration, strikes int) {
	t.Helper()
	list := d.Penalties()
	if len(list) != 1 || list[0].URL != url || list[0].Pair != aPair || list[0].Until.Sub(noon) != until || d.penalties.struck(url) != strikes {
		t.Errorf("%+v, %d strikes; want %s until %s after noon, %d strikes", list, d.penalties.struck(url), url, until, strikes)
	}
}

// A restart forgives nothing, and the next lie costs as much as it would have.
func TestPenaltiesOutlastTheProcess(t *testing.T) {
	now := noon
	store := &noteStore{}
	d := remembering(store, func() time.Time { return now })
	recall(t, d)
	d.Punish("https://lp", aPair, lp.Lie("", "a lie"))
	d.Punish("https://lp", aPair, lp.Lie("", "another lie"))
	recall(t, d)
	boxed(t, d, "https://lp", 2*time.Minute, 2)

	d = remembering(store, func() time.Time { return now })
	recall(t, d)
	boxed(t, d, "https://lp", 2*time.Minute, 2)
	if reason := d.Penalties()[0].Reason; !strings.Contains(reason, "another lie") {
		t.Errorf("the reason is %q", reason)
	}
	now = now.Add(time.Hour)
	if d.Penalties() != nil {
		t.Error("a penalty does not end")
	}
	d.Punish("https://lp", aPair, lp.Lie("", "a third lie"))
	boxed(t, d, "https://lp", time.Hour+4*time.Minute, 3)
}

// What one process learns the others know, and lies that are told to several are counted together.
func TestPenaltiesHoldForAll(t *testing.T) {
	now := noon
	store := &noteStore{}
	clock := func() time.Time { return now }
	a, b := remembering(store, clock), remembering(store, clock)
	recall(t, a)
	recall(t, b)
	a.Punish("https://lp", aPair, lp.Lie("", "to a"))
	b.Punish("https://lp", aPair, lp.Lie("", "to b"))
	b.Punish("https://lp", aPair, lp.Lie("", "to b again"))
	recall(t, a)
	recall(t, b)
	boxed(t, b, "https://lp", 4*time.Minute, 3)
	recall(t, a)
	boxed(t, a, "https://lp", 4*time.Minute, 3)
}

func TestPenaltiesOfManyAtOnce(t *testing.T) {
	const processes, lies = 8, 5
	store := &noteStore{}
	var all sync.WaitGroup
	for range processes {
		all.Go(func() {
			d := remembering(store, func() time.Time { return noon })
			for range lies {
				d.Punish("https://lp", aPair, lp.Lie("", "a lie"))
				for d.penalties.owes() { // others may be first, over and over
					_ = d.Recall(t.Context())
				}
			}
		})
	}
	all.Wait()
	d := remembering(store, func() time.Time { return noon })
	recall(t, d)
	boxed(t, d, "https://lp", mostPenalty, processes*lies)
}

// Whatever the store answers, a lie counts here at once, and in the note once.
func TestPenaltiesWhenTheStoreFails(t *testing.T) {
	store := &noteStore{}
	clock := func() time.Time { return noon }
	d := remembering(store, clock)
	down := errors.New("no disk")
	store.read = down
	if err := d.Recall(t.Context()); !errors.Is(err, down) {
		t.Fatal(err)
	}
	d.Punish("https://lp", aPair, lp.Lie("", "a lie"))
	boxed(t, d, "https://lp", time.Minute, 1)
	store.read = nil
	store.set = func(func() error) error { return down }
	store.Memory.SetNote(t.Context(), noteName, []byte("{"), 0)
	if err := d.Recall(t.Context()); !errors.Is(err, down) {
		t.Fatal(err)
	}
	boxed(t, d, "https://lp", time.Minute, 1)

	for i, made := range []bool{true, false} { // the store cannot tell whether it was
		n := 0
		store.set = func(set func() error) error {
			if n++; n > 1 {
				return set()
			} else if made {
				_ = set()
			}
			return storage.ErrUnknown
		}
		d.Punish("https://lp", aPair, lp.Lie("", "another lie"))
		recall(t, d)
		fresh := remembering(store, clock)
		recall(t, fresh)
		boxed(t, fresh, "https://lp", 2*time.Minute<<i, 2+i)
		boxed(t, d, "https://lp", 2*time.Minute<<i, 2+i)
	}
	store.set = nil

	for range 3 * mostUntold {
		d.Punish("https://lp", aPair, lp.Lie("", "a lie"))
	}
	if n := len(d.penalties.stored.untold); n != mostUntold {
		t.Errorf("%d lies wait for the store", n)
	}
}

// The note is small, however many have lied about however much.
func TestPenaltiesAreBounded(t *testing.T) {
	store := &noteStore{}
	d := remembering(store, func() time.Time { return noon })
	for i := range 3 * mostBoxes {
		if i%mostUntold == 0 {
			recall(t, d)
		}
		d.Punish(fmt.Sprintf("https://%s%d", strings.Repeat("x", 100), i), aPair, lp.Lie("", "%s", strings.Repeat("ä", 10_000)))
	}
	recall(t, d)
	data, _, err := store.Note(t.Context(), noteName)
	var n noted
	if err = errors.Join(err, json.Unmarshal(data, &n)); err != nil || len(data) > bounds.MaxBody/4 || len(n.Boxes) != mostBoxes || len(n.Strikes) > mostStruck {
		t.Errorf("%d bytes, %d boxes, %d strikes, %v", len(data), len(n.Boxes), len(n.Strikes), err)
	}
}

// Keep stores at once what is told, reads what others store, and leaves nothing behind.
func TestKeepPenalties(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &noteStore{}
		clock := func() time.Time { return noon }
		a, b := remembering(store, clock), remembering(store, clock)
		ctx, cancel := context.WithCancel(t.Context())
		var all sync.WaitGroup
		all.Go(func() { a.Keep(ctx, true) })
		all.Go(func() { b.Keep(ctx, true) })
		a.Punish("https://lp", aPair, lp.Lie("", "a lie"))
		synctest.Wait()
		if _, version, err := store.Note(t.Context(), noteName); version != 1 || err != nil {
			t.Errorf("version %d, %v", version, err)
		}
		time.Sleep(lookEvery + time.Millisecond)
		synctest.Wait()
		boxed(t, b, "https://lp", time.Minute, 1)

		store.mu.Lock()
		store.set = func(func() error) error { return errors.New("no disk") }
		store.mu.Unlock()
		b.Punish("https://other", lp.Pair{}, lp.Lie("", "a lie"))
		synctest.Wait()
		store.mu.Lock()
		store.set = nil
		store.mu.Unlock()
		cancel()
		all.Wait()
		fresh := remembering(store, clock)
		recall(t, fresh)
		if fresh.penalties.struck("https://other") != 1 {
			t.Error("the last lie is not stored")
		}
	})
}
