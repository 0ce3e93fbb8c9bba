// Package postgres implements [storage.Store] in a PostgreSQL database, for
// services that outgrow one file or run several processes on one database.
//
// It uses plain SQL: tables, rows locked by the transaction that changes them,
// a partial unique index. It keeps no state in a session, takes no advisory
// locks and uses no LISTEN, so that the connection string may also name a pooler or
// a distributed database with the same protocol (CockroachDB, YugabyteDB).
package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/swapper-go/swapper/storage"
)

var (
	// ErrMissing: the schema has no store, and it was to be opened for reading only.
	ErrMissing = errors.New("the schema has no swapper store")
	// errForeign: the schema has a table named head that is not a store's.
	errForeign = errors.New("the schema belongs to another program")
	// errSchema: the tables were made by a version of this package with another layout.
	errSchema = errors.New("the tables were made by an incompatible version")
	// ErrOlder: the tables have an older layout, and were to be opened for reading only; opening
	// them to write brings them up to date.
	ErrOlder = errors.New("the tables have an older layout")
)

const (
	// defaultSchema is the schema of the tables if Options.Schema is "".
	defaultSchema = "swapper"
	// defaultTimeout is how long a statement may take if Options.Timeout is 0.
	defaultTimeout = 10 * time.Second
	// defaultConnections is how many connections the pool has at most if the
	// connection string does not say pool_max_conns.
	defaultConnections = 16
)

// Options configures [Open]. The zero value is ready to use.
type Options struct {
	// Schema holds the tables; "" means swapper. Stores of different
	// schemas in one database know nothing of each other. 1 to 63 of a-z, 0-9
	// and _, not beginning with a digit.
	Schema string
	// ReadOnly opens an existing store, whose writes return storage.ErrReadOnly.
	ReadOnly bool
	// Timeout is how long the server may take for a statement, and how long an
	// answer of the server is waited for; 0 means 10 s. A
	// statement_timeout in the connection string has precedence at the server.
	Timeout time.Duration
}

// Store is a [storage.Store] in one schema of a database. Any number of Stores,
// in any number of processes, may have the same schema open; it is a [storage.Leaser],
// by which they share the work.
//
// What the server acknowledges is as durable as it promises: fsync and
// synchronous_commit must be on, as they are unless somebody turned them off.
// A standby that takes over must have what was acknowledged, which takes
// synchronous replication.
type Store struct {
	pool     *pgxpool.Pool
	schema   string
	sql      statements
	readOnly bool
	timeout  time.Duration
	closed   atomic.Bool
}

var _ storage.Store = (*Store)(nil)

// isSchema reports whether a name can stand in every database without quotes.
func isSchema(name string) bool {
	digit := func(c byte) bool { return '0' <= c && c <= '9' }
	for _, c := range []byte(name) {
		if !digit(c) && c != '_' && (c < 'a' || c > 'z') {
			return false
		}
	}
	return name != "" && len(name) <= 63 && !digit(name[0])
}

// Open opens the store in the database that a connection string names (a
// postgres:// URL, or words as libpq reads them), and makes the schema and its
// tables if they are not there, for which the role needs the right to create
// them; any number of processes may do so at once. It fails if the
// tables are another program's or have another layout.
//
// The connection string says how to connect: TLS by sslmode, sslrootcert and so
// on (use sslmode=verify-full wherever the connection leaves the machine: without
// it anybody between can read and write the store), the pool by pool_max_conns,
// pool_max_conn_lifetime and so on, as pgxpool.ParseConfig documents. With
// several hosts the pool connects to the first one that accepts writes, unless
// target_session_attrs says otherwise; it follows when another takes over.
// Behind a pooler that gives each transaction another connection, as PgBouncer
// may, use default_query_exec_mode=exec.
//
// The caller must call Close.
func Open(ctx context.Context, dsn string, options Options) (*Store, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	schema := cmp.Or(options.Schema, defaultSchema)
	if !isSchema(schema) {
		return nil, fmt.Errorf("open store: schema %q must have 1 to 63 of a-z, 0-9 and _, and not begin with a digit", schema)
	}
	s := &Store{schema: schema, sql: statementsOf(schema), readOnly: options.ReadOnly, timeout: options.Timeout}
	if s.timeout <= 0 {
		s.timeout = defaultTimeout
	}
	config, err := configOf(dsn, s.timeout, s.readOnly)
	if err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	if s.pool, err = pgxpool.NewWithConfig(context.WithoutCancel(ctx), config); err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	if err := s.prepare(ctx); err != nil {
		s.pool.Close()
		return nil, fmt.Errorf("open store in schema %s: %w", schema, err)
	}
	return s, nil
}

// configOf completes what the connection string leaves open.
func configOf(dsn string, timeout time.Duration, readOnly bool) (*pgxpool.Config, error) {
	words, err := pgconn.ParseConfig(dsn) // leaves the pool's words in place
	if err != nil {
		return nil, err
	}
	config, err := pgxpool.ParseConfig(dsn)
	if err != nil {
		return nil, err
	}
	if words.RuntimeParams["pool_max_conns"] == "" {
		config.MaxConns = defaultConnections
	}
	params := config.ConnConfig.RuntimeParams
	setDefault := func(name, value string) {
		if params[name] == "" {
			params[name] = value
		}
	}
	setDefault("application_name", "swapper")
	setDefault("statement_timeout", strconv.FormatInt(timeout.Milliseconds(), 10))
	// The rows that a transaction has locked are free again soon after its client vanished.
	setDefault("idle_in_transaction_session_timeout", strconv.FormatInt(timeout.Milliseconds(), 10))
	if readOnly {
		params["default_transaction_read_only"] = "on"
	} else if len(config.ConnConfig.Fallbacks) > 0 && config.ConnConfig.ValidateConnect == nil {
		config.ConnConfig.ValidateConnect = pgconn.ValidateConnectTargetSessionAttrsReadWrite
	}
	config.ConnConfig.ConnectTimeout = cmp.Or(config.ConnConfig.ConnectTimeout, timeout)
	return config, nil
}

// Schema returns the schema that the store is in.
func (s *Store) Schema() string { return s.schema }

// Close waits for the calls in progress and closes the connections. Later
// calls, iterations that need another page, and further calls of Close return
// storage.ErrClosed.
func (s *Store) Close() error {
	if s.closed.Swap(true) {
		return storage.ErrClosed
	}
	s.pool.Close()
	return nil
}
