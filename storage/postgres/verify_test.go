//go:build unix

package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/swapper-go/swapper/internal/pgtest"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/storage"
)

// stored fills a store with entries that carry keys of both kinds.
func stored(t *testing.T, s *Store, entries int) {
	t.Helper()
	var group errgroup.Group
	group.SetLimit(16)
	for i := range entries {
		group.Go(func() error { return s.Create(t.Context(), entryAt(fmt.Sprint(i), 0)) })
	}
	trial.Do(t, group.Wait())
}

// A store of any size can be verified: the time that an answer may take bounds each page, not the
// whole, and a connection that is lost on the way costs the page that it was to bring.
func TestVerifyTakesItsTime(t *testing.T) {
	trial.OnlyFull(t)
	dsn := pgtest.DSN(t)
	p := startProxy(t, dsn)
	schema := pgtest.Schema(t, dsn)
	stored(t, openTest(t, dsn, Options{Schema: schema}), 9*fullPage)
	s := openTest(t, through(dsn, p)+" pool_max_conns=2", Options{Schema: schema, Timeout: 2 * time.Second})
	s.sql.entries = strings.Replace(s.sql.entries, "where before < $2", "where before < $2 and (select pg_sleep(0.5)) is not null", 1)
	cuts, ended := 0, make(chan struct{})
	var cutting sync.WaitGroup
	cutting.Go(func() {
		for {
			select {
			case <-ended:
				return
			case <-time.After(700 * time.Millisecond):
				p.cut()
				cuts++
			}
		}
	})
	began := time.Now()
	err := s.Verify(t.Context())
	took := time.Since(began)
	close(ended)
	cutting.Wait()
	if err != nil {
		t.Errorf("after %v and %d cuts: %v", took, cuts, err)
	}
	if took < s.timeout+outcomeGrace || cuts == 0 {
		t.Errorf("it took %v, with %d cuts: the test has shown nothing", took, cuts)
	}
}

// Verify ends soon when its caller does.
func TestVerifyStops(t *testing.T) {
	t.Parallel()
	dsn := pgtest.DSN(t)
	s := openTest(t, dsn, Options{Schema: pgtest.Schema(t, dsn)})
	stored(t, s, 3*fullPage)
	s.sql.entries = strings.Replace(s.sql.entries, "where before < $2", "where before < $2 and (select pg_sleep(0.5)) is not null", 1)
	ctx, cancel := context.WithTimeout(t.Context(), 750*time.Millisecond)
	defer cancel()
	began := time.Now()
	if err := s.Verify(ctx); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) > 30*time.Second {
		t.Errorf("%v after %v", err, time.Since(began))
	}
}

// Entries that come, change and go while their store is verified are no damage.
func TestVerifyWhileOthersWrite(t *testing.T) {
	t.Parallel()
	dsn := pgtest.DSN(t)
	s := openTest(t, dsn, Options{Schema: pgtest.Schema(t, dsn)})
	stored(t, s, 3*fullPage)
	lasts := 500 * time.Millisecond
	if trial.Full() {
		lasts = 2 * time.Second
	}
	ctx, stop := context.WithCancel(t.Context())
	var group errgroup.Group
	for w := range 8 {
		group.Go(func() error {
			for n := 0; ctx.Err() == nil; n++ {
				id := fmt.Sprint(n*8 + w%3*fullPage)
				e, err := s.Get(t.Context(), id)
				switch {
				case errors.Is(err, storage.ErrNotFound):
					err = s.Create(t.Context(), entryAt(id, 0))
				case err == nil && n%3 == w%3:
					err = s.Delete(t.Context(), id, e.Version)
				case err == nil:
					err = s.Update(t.Context(), entryAt(id, e.Version))
				}
				if err != nil && !errors.Is(err, storage.ErrConflict) && !errors.Is(err, storage.ErrExists) && !errors.Is(err, storage.ErrNotFound) {
					return err
				}
				if n == 100 {
					n = 0
				}
			}
			return nil
		})
	}
	for began := time.Now(); time.Since(began) < lasts; {
		if err := s.Verify(t.Context()); err != nil {
			t.Error(err)
			break
		}
	}
	stop()
	if err := group.Wait(); err != nil {
		t.Error(err)
	}
}

// Whatever is wrong in an index is named, on whichever page it is.
func TestVerifyNames(t *testing.T) {
	t.Parallel()
	dsn := pgtest.DSN(t)
	for name, c := range map[string]struct{ damage, want string }{
		"a key too many":            {`insert into SCHEMA.keys (idx, value, ord, id, uniq) select idx, value, ord + 1, id, false from SCHEMA.keys order by value desc limit 1`, "does not carry"},
		"a key of nobody":           {`insert into SCHEMA.keys (idx, value, ord, id, uniq) values ('\x78', '', 0, '\x78', false)`, "is missing"},
		"a key is missing":          {`delete from SCHEMA.keys where (idx, value, ord, id) in (select idx, value, ord, id from SCHEMA.keys order by id desc limit 1)`, "is missing from index"},
		"a claim is none":           {`update SCHEMA.keys set uniq = false where (idx, value, ord, id) in (select idx, value, ord, id from SCHEMA.keys where uniq order by value desc limit 1)`, "is missing from index"},
		"another swaps for its own": {`update SCHEMA.keys set ord = ord + 1 where (idx, value, ord, id) in (select idx, value, ord, id from SCHEMA.keys order by value limit 1)`, "does not carry"},
	} {
		t.Run(name, func(t *testing.T) {
			s := openTest(t, dsn, Options{Schema: pgtest.Schema(t, dsn)})
			stored(t, s, 2*fullPage)
			trial.Do(t, s.Verify(t.Context()))
			execute(t, dsn, strings.ReplaceAll(c.damage, "SCHEMA", s.schema))
			if err := s.Verify(t.Context()); !errors.Is(err, storage.ErrCorrupt) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}
