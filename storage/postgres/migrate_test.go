//go:build unix

package postgres

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/swapper-go/swapper/internal/pgtest"
	"github.com/swapper-go/swapper/storage"
)

// layout1 is what version 0.1 of the library made, with an entry and a note.
const layout1 = `
	create schema SCHEMA;
	create table SCHEMA.head (one integer primary key, format text not null, number bigint not null);
	insert into SCHEMA.head values (1, 'swapper', 1);
	create table SCHEMA.entries (id bytea primary key, version bigint not null, keys bytea not null, body bytea not null);
	create table SCHEMA.keys (idx bytea not null, value bytea not null, ord bigint not null, id bytea not null, uniq boolean not null, primary key (idx, value, ord, id));
	create unique index keys_unique on SCHEMA.keys (idx, value) where uniq;
	create table SCHEMA.notes (name bytea primary key, version bigint not null, data bytea not null);
	insert into SCHEMA.entries values ('swap', 7, '\x01057761746368000400'::bytea, 'body');
	insert into SCHEMA.keys values ('watch', '', 2, 'swap', false);
	insert into SCHEMA.notes values ('note', 3, 'data');
`

// first makes a store as version 0.1 did.
func first(t *testing.T, dsn string) (schema string) {
	schema = pgtest.Schema(t, dsn)
	execute(t, dsn, strings.ReplaceAll(layout1, "SCHEMA", schema))
	return schema
}

// Data of version 0.1 is there after an update, whichever of many processes makes it.
func TestMigrateFrom1(t *testing.T) {
	dsn := pgtest.DSN(t)
	schema := first(t, dsn)
	if _, err := Open(t.Context(), dsn, Options{Schema: schema, ReadOnly: true}); !errors.Is(err, errSchema) {
		t.Errorf("for reading only: got %v, want errSchema", err)
	}
	stores := make([]*Store, 8)
	var all sync.WaitGroup
	for i := range stores {
		all.Go(func() {
			s, err := Open(t.Context(), dsn, Options{Schema: schema})
			if err != nil {
				t.Error(err)
				return
			}
			stores[i] = s
		})
	}
	all.Wait()
	for i, s := range stores {
		if s == nil {
			t.FailNow()
		}
		defer s.Close()
		want := storage.Entry{ID: "swap", Version: 7, Body: []byte("body"), Keys: []storage.Key{{Index: "watch", Order: 2}}}
		if got, err := s.Get(t.Context(), "swap"); err != nil || !cmp.Equal(want, got) {
			t.Errorf("%v: %s", err, cmp.Diff(want, got))
		}
		if data, version, err := s.Note(t.Context(), "note"); string(data) != "data" || version != 3 || err != nil {
			t.Errorf("note %q at %d, %v", data, version, err)
		}
		if err := s.Verify(t.Context()); err != nil {
			t.Error(err)
		}
		held, err := s.Lease(t.Context(), "owner", time.Hour, "x")
		if len(held) != 1 || err != nil {
			t.Errorf("store %d: %v, %v", i, held, err)
		}
	}
	if err := stores[0].Update(t.Context(), storage.Entry{ID: "swap", Version: 7}); err != nil {
		t.Error(err)
	}
}

// A role that may use the tables, but not the one that is new, is told so at once, and so
// is one that may not make it.
func TestMigrateWithoutRights(t *testing.T) {
	dsn := pgtest.DSN(t)
	schema := first(t, dsn)
	role := schema + "_role"
	execute(t, dsn, `create role `+role+`; grant usage on schema `+schema+` to `+role+`; grant select, insert, update, delete on all tables in schema `+schema+` to `+role)
	t.Cleanup(func() { dropRole(t, dsn, role) })
	denied := func(when string) {
		t.Helper()
		s, err := Open(t.Context(), pgtest.With(t, dsn, "role", role), Options{Schema: schema})
		if err == nil {
			s.Close()
		}
		if code(err) != "42501" {
			t.Errorf("%s: got %v, want that the permission is denied", when, err)
		}
	}
	denied("before the update")
	openTest(t, dsn, Options{Schema: schema})
	denied("after the update")
	execute(t, dsn, `grant select, insert, update, delete on all tables in schema `+schema+` to `+role)
	s := openTest(t, pgtest.With(t, dsn, "role", role), Options{Schema: schema})
	if held, err := s.Lease(t.Context(), "owner", time.Hour, "x"); len(held) != 1 || err != nil {
		t.Error(held, err)
	}
}

func dropRole(t *testing.T, dsn, role string) {
	c, err := pgx.Connect(context.Background(), dsn)
	if err != nil {
		t.Error(err)
		return
	}
	defer c.Close(context.Background())
	if _, err := c.Exec(context.Background(), `drop owned by `+role+`; drop role `+role); err != nil {
		t.Error(err)
	}
}

// What has long ended is forgotten by whoever opens the store; what is live is not.
func TestLeasesAreForgotten(t *testing.T) {
	dsn := pgtest.DSN(t)
	s := openTest(t, dsn, Options{Schema: pgtest.Schema(t, dsn)})
	for _, name := range []string{"live", "ended", "long ended"} {
		if _, err := s.Lease(t.Context(), "owner", time.Hour, name); err != nil {
			t.Fatal(err)
		}
	}
	execute(t, dsn, `update `+s.schema+`.leases set until = now() - interval '50 minutes' where name = 'ended'; update `+s.schema+`.leases set until = now() - interval '70 minutes' where name = 'long ended'`)
	openTest(t, dsn, Options{Schema: s.schema})
	var left []string
	rows, err := s.pool.Query(t.Context(), `select convert_from(name, 'UTF8') from `+s.schema+`.leases order by name`)
	if err == nil {
		left, err = pgx.CollectRows(rows, pgx.RowTo[string])
	}
	if want := []string{"ended", "live"}; err != nil || !cmp.Equal(want, left) {
		t.Errorf("left are %v, %v; want %v", left, err, want)
	}
}
