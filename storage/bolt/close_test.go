package bolt

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"testing"

	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/storage"
)

func TestClosed(t *testing.T) {
	t.Parallel()
	path := small(t, 100)
	s := openTest(t, path, Options{})
	ctx := t.Context()
	n := 0
	for e, err := range s.Find(ctx, storage.Query{Index: "watch"}) {
		if n++; n == 1 {
			trial.Do(t, s.Close())
		}
		if err != nil {
			if !errors.Is(err, storage.ErrClosed) || e.ID != "" || n != firstPage+1 {
				t.Errorf("yield %d: got %v, %v, want ErrClosed after the page that was read", n, e, err)
			}
			break
		}
	}
	if n != firstPage+1 {
		t.Errorf("yielded %d times, want %d", n, firstPage+1)
	}
	_, getErr := s.Get(ctx, "a")
	_, _, noteErr := s.Note(ctx, "n")
	for name, err := range map[string]error{
		"get":     getErr,
		"create":  s.Create(ctx, storage.Entry{ID: "a"}),
		"update":  s.Update(ctx, storage.Entry{ID: "a"}),
		"delete":  s.Delete(ctx, "a", 1),
		"note":    noteErr,
		"setnote": s.SetNote(ctx, "n", nil, 0),
		"verify":  s.Verify(ctx),
		"close":   s.Close(),
	} {
		if !errors.Is(err, storage.ErrClosed) {
			t.Errorf("%s: got %v, want ErrClosed", name, err)
		}
	}
}

// What was acknowledged before or during Close is there afterwards, and what
// was refused is not.
func TestCloseDuringWrites(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "swaps")
	for round := range 10 {
		s := openTest(t, path, Options{})
		var mu sync.Mutex
		outcomes := map[string]error{}
		var group sync.WaitGroup
		started := make(chan struct{}, 100)
		for w := range 8 {
			group.Go(func() {
				for n := 0; ; n++ {
					id := fmt.Sprintf("%d-%d-%d", round, w, n)
					err := s.Create(context.Background(), storage.Entry{ID: id})
					mu.Lock()
					outcomes[id] = err
					mu.Unlock()
					select {
					case started <- struct{}{}:
					default:
					}
					if err != nil {
						if !errors.Is(err, storage.ErrClosed) {
							t.Error(err)
						}
						return
					}
				}
			})
		}
		for range 5 * round {
			<-started
		}
		trial.Do(t, s.Close())
		group.Wait()
		s = openTest(t, path, Options{})
		for id, err := range outcomes {
			if _, missing := s.Get(t.Context(), id); (err == nil) != (missing == nil) {
				t.Errorf("%s: the write answered %v, now get answers %v", id, err, missing)
			}
		}
		trial.Do(t, s.Close())
	}
}
