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

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/swapper-go/swapper/internal/pgtest"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/storage"
)

// execute runs a statement beside the store.
func execute(t *testing.T, dsn, text string) {
	t.Helper()
	c := trial.Must(pgx.Connect(t.Context(), dsn))(t)
	defer c.Close(t.Context())
	if _, err := c.Exec(t.Context(), text); err != nil {
		t.Fatal(err)
	}
}

// Many processes start at once on a new database.
func TestOpenTogether(t *testing.T) {
	t.Parallel()
	dsn := pgtest.DSN(t)
	rounds := 3
	if trial.Full() {
		rounds = 10
	}
	for range rounds {
		schema := pgtest.Schema(t, dsn)
		var group sync.WaitGroup
		for range 12 {
			group.Go(func() {
				s, err := Open(t.Context(), dsn, Options{Schema: schema})
				if err != nil {
					t.Error(err)
					return
				}
				if err := s.SetNote(t.Context(), "n", nil, 0); err != nil && !errors.Is(err, storage.ErrConflict) {
					t.Error(err)
				}
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			})
		}
		group.Wait()
		if _, version, err := openTest(t, dsn, Options{Schema: schema}).Note(t.Context(), "n"); version != 1 || err != nil {
			t.Errorf("the note is at version %d, %v: one of all should have set it", version, err)
		}
	}
}

// A process that died while it made the tables leaves something from which the next goes on.
func TestOpenHalfMade(t *testing.T) {
	dsn := pgtest.DSN(t)
	for name, half := range map[string]string{
		"schema":  `create schema SCHEMA`,
		"head":    `create schema SCHEMA; create table SCHEMA.head (one integer primary key, format text not null, number bigint not null)`,
		"a table": `create schema SCHEMA; create table SCHEMA.head (one integer primary key, format text not null, number bigint not null); insert into SCHEMA.head values (1, 'swapper', 0); create table SCHEMA.notes (name bytea primary key, version bigint not null, data bytea not null)`,
	} {
		t.Run(name, func(t *testing.T) {
			schema := pgtest.Schema(t, dsn)
			execute(t, dsn, strings.ReplaceAll(half, "SCHEMA", schema))
			s := openTest(t, dsn, Options{Schema: schema})
			if err := s.Create(t.Context(), entryAt("a", 0)); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	dsn := pgtest.DSN(t)
	refused := func(o Options, want error) {
		t.Helper()
		s, err := Open(t.Context(), dsn, o)
		if !errors.Is(err, want) {
			t.Errorf("got %v, want %v", err, want)
		}
		if err == nil {
			s.Close()
		}
	}
	schema := pgtest.Schema(t, dsn)
	refused(Options{Schema: schema, ReadOnly: true}, ErrMissing)
	execute(t, dsn, `create schema `+schema+`; create table `+schema+`.head (name text)`)
	refused(Options{Schema: schema}, errForeign)

	schema = pgtest.Schema(t, dsn)
	openTest(t, dsn, Options{Schema: schema})
	execute(t, dsn, fmt.Sprintf(`update %s.head set number = %d`, schema, schemaNumber+1)) // of a later version
	refused(Options{Schema: schema}, errSchema)
	refused(Options{Schema: schema, ReadOnly: true}, errSchema)
	execute(t, dsn, fmt.Sprintf(`update %s.head set number = %d, format = 'ledger'`, schema, schemaNumber))
	refused(Options{Schema: schema}, errForeign)

	for _, name := range []string{"Upper", "1st", "a-b", `a"b`, "a.b", strings.Repeat("a", 64)} {
		if _, err := Open(t.Context(), dsn, Options{Schema: name}); err == nil {
			t.Errorf("schema %q was taken", name)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Open(ended, dsn, Options{Schema: schema}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	_, err := Open(t.Context(), "postgres://user:secret@127.0.0.1:1/db?sslmode=disable&connect_timeout=1", Options{})
	if err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("got %v, want an error without the password", err)
	}
}

// Tables of a newer version are refused with what to do, by those that write and those
// that read, and stay as they are.
func TestOpenRefusesNewerTables(t *testing.T) {
	dsn := pgtest.DSN(t)
	schema := pgtest.Schema(t, dsn)
	trial.Do(t, openTest(t, dsn, Options{Schema: schema}).Create(t.Context(), storage.Entry{ID: "a", Body: []byte("body")}))
	execute(t, dsn, `update `+schema+`.head set number = 7; alter table `+schema+`.entries add column more text; alter table `+schema+`.notes rename to letters`)
	columns := func() (text string) {
		c := trial.Must(pgx.Connect(t.Context(), dsn))(t)
		defer c.Close(t.Context())
		trial.Do(t, c.QueryRow(t.Context(), `select string_agg(table_name || '.' || column_name, ' ' order by table_name, column_name) || (select ' ' || number from `+schema+`.head) || (select ' ' || count(*) from `+schema+`.entries)
			from information_schema.columns where table_schema = $1`, schema).Scan(&text))
		return text
	}
	before := columns()
	for _, readOnly := range []bool{false, true} {
		s, err := Open(t.Context(), dsn, Options{Schema: schema, ReadOnly: readOnly})
		if err == nil {
			s.Close()
		}
		if !errors.Is(err, errSchema) || !strings.Contains(err.Error(), "their layout is 7 and this version reads up to 2; open them with the version that made them or a newer one") {
			t.Errorf("read only %v: %v", readOnly, err)
		}
	}
	if after := columns(); after != before {
		t.Errorf("%s, before %s", after, before)
	}
}

// A role without the right to create anything uses tables that another has made.
func TestOpenWithoutRights(t *testing.T) {
	dsn := pgtest.DSN(t)
	schema := pgtest.Schema(t, dsn)
	openTest(t, dsn, Options{Schema: schema})
	role := schema + "_role"
	execute(t, dsn, `create role `+role+`; grant usage on schema `+schema+` to `+role+`; grant select, insert, update, delete on all tables in schema `+schema+` to `+role)
	t.Cleanup(func() { dropRole(t, dsn, role) })
	s := openTest(t, pgtest.With(t, dsn, "role", role), Options{Schema: schema})
	if err := s.Create(t.Context(), entryAt("a", 0)); err != nil {
		t.Error(err)
	}
}

func TestSchemasAreApart(t *testing.T) {
	dsn := pgtest.DSN(t)
	one := openTest(t, dsn, Options{Schema: pgtest.Schema(t, dsn)})
	two := openTest(t, dsn, Options{Schema: pgtest.Schema(t, dsn)})
	e := storage.Entry{ID: "a", Keys: []storage.Key{{Index: "u", Value: "v", Unique: true}}}
	for _, s := range []*Store{one, two} {
		if err := s.Create(t.Context(), e); err != nil {
			t.Error(err)
		}
	}
	if err := one.Delete(t.Context(), "a", 1); err != nil {
		t.Error(err)
	}
	if _, err := two.Get(t.Context(), "a"); err != nil {
		t.Error(err)
	}
}

func TestReadOnly(t *testing.T) {
	dsn := pgtest.DSN(t)
	schema := pgtest.Schema(t, dsn)
	trial.Do(t, openTest(t, dsn, Options{Schema: schema}).Create(t.Context(), storage.Entry{ID: "a"}))
	s := openTest(t, dsn, Options{Schema: schema, ReadOnly: true})
	if _, err := s.Get(t.Context(), "a"); err != nil {
		t.Error(err)
	}
	for name, err := range map[string]error{
		"create": s.Create(t.Context(), storage.Entry{ID: "b"}), "update": s.Update(t.Context(), storage.Entry{ID: "a", Version: 1}),
		"delete": s.Delete(t.Context(), "a", 1), "set note": s.SetNote(t.Context(), "n", nil, 0),
		"lease": leased(s.Lease(t.Context(), "owner", time.Minute, "x")), "release": s.Release(t.Context(), "owner", "x"),
	} {
		if !errors.Is(err, storage.ErrReadOnly) {
			t.Errorf("%s: got %v, want ErrReadOnly", name, err)
		}
	}
}

func leased(_ []string, err error) error { return err }

func TestClosed(t *testing.T) {
	dsn := pgtest.DSN(t)
	s := openTest(t, dsn, Options{Schema: pgtest.Schema(t, dsn)})
	trial.Do(t, s.Close())
	_, getErr := s.Get(t.Context(), "a")
	_, _, noteErr := s.Note(t.Context(), "n")
	_, listErr := s.Leases(t.Context(), "")
	for name, err := range map[string]error{
		"get": getErr, "note": noteErr, "create": s.Create(t.Context(), storage.Entry{ID: "a"}), "update": s.Update(t.Context(), storage.Entry{ID: "a"}),
		"delete": s.Delete(t.Context(), "a", 1), "set note": s.SetNote(t.Context(), "n", nil, 0), "verify": s.Verify(t.Context()), "close": s.Close(),
		"lease": leased(s.Lease(t.Context(), "owner", time.Minute, "x")), "release": s.Release(t.Context(), "owner", "x"), "leases": listErr,
	} {
		if !errors.Is(err, storage.ErrClosed) {
			t.Errorf("%s: got %v, want ErrClosed", name, err)
		}
	}
}

// What the database asks to be tried again is tried again, but not for ever.
func TestRetriesAreBounded(t *testing.T) {
	t.Parallel()
	dsn := pgtest.DSN(t)
	s := openTest(t, dsn, Options{Schema: pgtest.Schema(t, dsn)})
	var group sync.WaitGroup
	for _, code := range []string{"40001", "40P01"} {
		group.Go(func() {
			n := 0
			err := s.do(t.Context(), func(context.Context, *pgx.Conn) error { n++; return &pgconn.PgError{Code: code} })
			if err == nil || n != attempts {
				t.Errorf("%s: %d attempts, %v, want %d", code, n, err, attempts)
			}
			n = 0
			if err := s.do(t.Context(), func(context.Context, *pgx.Conn) error {
				if n++; n < 3 {
					return &pgconn.PgError{Code: code}
				}
				return nil
			}); err != nil || n != 3 {
				t.Errorf("%s: %d attempts, %v", code, n, err)
			}
		})
	}
	group.Wait()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := s.do(ctx, func(context.Context, *pgx.Conn) error { return &pgconn.PgError{Code: "40001"} }); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want the end of the context", err)
	}
}

// A connection to a server that has become a standby is given up for one that can be written.
func TestDemotedServer(t *testing.T) {
	dsn := pgtest.DSN(t)
	s := openTest(t, pgtest.With(t, dsn, "pool_max_conns", "1"), Options{Schema: pgtest.Schema(t, dsn)})
	if _, err := s.pool.Exec(t.Context(), `set default_transaction_read_only = on`); err != nil {
		t.Fatal(err)
	}
	if err := s.Create(t.Context(), storage.Entry{ID: "a"}); err != nil {
		t.Error(err)
	}
}

// A row that somebody has locked is waited for as long as a statement may take.
func TestLockedRow(t *testing.T) {
	t.Parallel()
	dsn := pgtest.DSN(t)
	schema := pgtest.Schema(t, dsn)
	trial.Do(t, openTest(t, dsn, Options{Schema: schema}).Create(t.Context(), storage.Entry{ID: "a"}))
	s := openTest(t, pgtest.With(t, dsn, "connect_timeout", "60"), Options{Schema: schema, Timeout: time.Second})
	c := trial.Must(pgx.Connect(t.Context(), dsn))(t)
	defer c.Close(t.Context())
	tx := trial.Must(c.Begin(t.Context()))(t)
	if _, err := tx.Exec(t.Context(), `select 1 from `+s.schema+`.entries for update`); err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	if err := s.Update(t.Context(), storage.Entry{ID: "a", Version: 1}); code(err) != "57014" {
		t.Errorf("got %v, want the server's time-out", err)
	}
	if took := time.Since(start); took > defaultTimeout {
		t.Errorf("took %s", took)
	}
	trial.Do(t, tx.Rollback(t.Context()))
	if err := s.Update(t.Context(), storage.Entry{ID: "a", Version: 1}); err != nil {
		t.Error(err)
	}
}

// Damage is found by whoever reads it, and by Verify.
func TestDamage(t *testing.T) {
	dsn := pgtest.DSN(t)
	for name, damage := range map[string]string{
		"keys that cannot be read": `update SCHEMA.entries set keys = '\x01ff'`,
		"an entry is missing":      `delete from SCHEMA.entries`,
		"a key is another":         `update SCHEMA.keys set ord = 2`,
	} {
		t.Run(name, func(t *testing.T) {
			s := openTest(t, dsn, Options{Schema: pgtest.Schema(t, dsn)})
			trial.Do(t, s.Create(t.Context(), storage.Entry{ID: "a", Keys: []storage.Key{{Index: "i", Value: "v", Order: 1}}}))
			trial.Do(t, s.Verify(t.Context()))
			execute(t, dsn, strings.ReplaceAll(damage, "SCHEMA", s.schema))
			n := 0
			for e, err := range s.Find(t.Context(), storage.Query{Index: "i", Value: "v"}) {
				if n++; e.ID != "a" || !errors.Is(err, storage.ErrCorrupt) {
					t.Errorf("found %v, %v", e, err)
				}
			}
			if n != 1 {
				t.Errorf("found %d", n)
			}
			if err := s.Verify(t.Context()); !errors.Is(err, storage.ErrCorrupt) {
				t.Errorf("verify: %v", err)
			}
		})
	}
}

func TestConnectionString(t *testing.T) {
	config := func(dsn string, readOnly bool) (params map[string]string, conns int32, checked bool) {
		t.Helper()
		c := trial.Must(configOf(dsn, 3*time.Second, readOnly))(t)
		return c.ConnConfig.RuntimeParams, c.MaxConns, c.ConnConfig.ValidateConnect != nil
	}
	params, conns, checked := config("postgres://u@a/d?sslmode=disable", false)
	if params["statement_timeout"] != "3000" || params["idle_in_transaction_session_timeout"] != "3000" || conns != defaultConnections || checked {
		t.Errorf("%v, %d, %v", params, conns, checked)
	}
	params, conns, checked = config("postgres://u@a,b/d?sslmode=disable&statement_timeout=700&pool_max_conns=3", false)
	if params["statement_timeout"] != "700" || conns != 3 || !checked {
		t.Errorf("%v, %d, %v", params, conns, checked)
	}
	if params, _, checked = config("postgres://u@a,b/d?sslmode=disable", true); params["default_transaction_read_only"] != "on" || checked {
		t.Errorf("%v, %v", params, checked)
	}
}
