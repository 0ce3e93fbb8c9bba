//go:build unix

package fleet

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/swapper-go/swapper/internal/bounds"
	"github.com/swapper-go/swapper/internal/pgtest"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/storage/postgres"
)

// The same as TestJobsOnly, with the leases of a database.
func TestJobsOnlyOnADatabase(t *testing.T) {
	t.Parallel()
	dsn := pgtest.DSN(t)
	schema := pgtest.Schema(t, dsn)
	var stores [2]*postgres.Store
	for i := range stores {
		s := trial.Must(postgres.Open(t.Context(), dsn, postgres.Options{Schema: schema}))(t)
		t.Cleanup(func() { s.Close() })
		stores[i] = s
	}
	jobsOnly(t, stores[0], stores[1], 9*time.Second, 3500*time.Millisecond) // in which the leases are renewed
}

// Three processes share the shards of a database; when it crashes they let go, and when it
// is back they share them again, all by themselves.
func TestDatabaseRestarts(t *testing.T) {
	t.Parallel()
	server := pgtest.Start(t)
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	fleets := make([]*Fleet, 3)
	for i := range fleets {
		store := trial.Must(postgres.Open(t.Context(), pgtest.With(t, server.DSN(), "connect_timeout", "60"), postgres.Options{Timeout: time.Second}))(t)
		defer store.Close()
		fleets[i] = New(Options{Leaser: store, TTL: 1500 * time.Millisecond})
		running.Go(func() {
			if err := fleets[i].Run(ctx); !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		})
	}
	defer running.Wait()
	defer cancel()
	held := func() (all, idle int) {
		for _, f := range fleets {
			n := len(f.Shards())
			if all += n; n == 0 {
				idle++
			}
		}
		return all, idle
	}
	until := func(what string, is func() bool) {
		t.Helper()
		for late := time.Now().Add(2 * time.Minute); !is(); time.Sleep(20 * time.Millisecond) {
			if time.Now().After(late) {
				all, idle := held()
				t.Fatalf("never: %s; %d shards are held, %d have none", what, all, idle)
			}
		}
	}
	shared := func() bool {
		all, idle := held()
		return all == bounds.Shards && idle == 0
	}
	until("all have their part", shared)
	trial.Do(t, server.Kill())
	until("all let go", func() bool { _, idle := held(); return idle == len(fleets) })
	trial.Do(t, server.Restart())
	until("all have their part again", shared)
}
