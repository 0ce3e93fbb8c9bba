//go:build unix

package watchtower_test

import (
	"testing"

	"github.com/swapper-go/swapper/internal/pgtest"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/storage/postgres"
)

// The same as TestSeveralTowersShareTheWork, with a connection each to a database.
func TestSeveralTowersShareADatabase(t *testing.T) {
	dsn := pgtest.DSN(t)
	schema := pgtest.Schema(t, dsn)
	k := newKit(t, families[0])
	var stores [2]*postgres.Store
	for i := range stores {
		stores[i] = trial.Must(postgres.Open(t.Context(), dsn, postgres.Options{Schema: schema}))(t)
		t.Cleanup(func() { stores[i].Close() })
	}
	k.store = stores[0]
	k.share(stores[1])
}
