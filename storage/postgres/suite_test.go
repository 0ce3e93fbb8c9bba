//go:build unix

package postgres

import (
	"context"
	"testing"

	"github.com/swapper-go/swapper/internal/pgtest"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/storage"
	"github.com/swapper-go/swapper/storage/storagetest"
)

// openTest opens a store that ends with the test.
func openTest(t testing.TB, dsn string, o Options) *Store {
	t.Helper()
	s := trial.Must(Open(t.Context(), dsn, o))(t)
	t.Cleanup(func() {
		if !s.closed.Load() {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}
	})
	return s
}

func TestSuite(t *testing.T) { suite(t, "") }

// TestSuiteSerializable has the server refuse what it cannot put into an order, as
// databases do that know no weaker isolation.
func TestSuiteSerializable(t *testing.T) {
	trial.OnlyFull(t)
	suite(t, "begin isolation level serializable")
}

func suite(t *testing.T, begin string) {
	t.Parallel()
	dsn := pgtest.DSN(t)
	storagetest.Run(t, func(t *testing.T) storage.Store {
		s := openTest(t, dsn, Options{Schema: pgtest.Schema(t, dsn)})
		if begin != "" {
			s.sql.begin = begin
		}
		t.Cleanup(func() {
			if err := s.Verify(context.Background()); err != nil {
				t.Error(err)
			}
		})
		return s
	})
}

func TestLeases(t *testing.T) {
	t.Parallel()
	dsn := pgtest.DSN(t)
	storagetest.RunLeases(t, func(t *testing.T) storage.Leaser {
		return openTest(t, dsn, Options{Schema: pgtest.Schema(t, dsn)})
	})
}
