package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
)

const (
	formatName   = "swapper"
	schemaNumber = 2
)

// migrations bring the tables from the number of their place to the next one.
// Each statement can be run again, since not every database of this protocol
// undoes such statements with their transaction.
//
// An entry's row carries its keys once more in the order in which they were
// written (see encodeKeys), so that Get and each update read one row. Versions
// are unsigned and stored as the signed number of the same bits: they are only
// ever compared for equality. An index row of the largest key has 840 bytes,
// which is within what a page of an index takes.
var migrations = [schemaNumber][]string{{
	`create table if not exists SCHEMA.entries (
		id bytea primary key,
		version bigint not null,
		keys bytea not null,
		body bytea not null
	)`,
	`create table if not exists SCHEMA.keys (
		idx bytea not null,
		value bytea not null,
		ord bigint not null,
		id bytea not null,
		uniq boolean not null,
		primary key (idx, value, ord, id)
	)`,
	`create unique index if not exists keys_unique on SCHEMA.keys (idx, value) where uniq`,
	`create table if not exists SCHEMA.notes (
		name bytea primary key,
		version bigint not null,
		data bytea not null
	)`,
}, {
	`create table if not exists SCHEMA.leases (
		name bytea primary key,
		owner bytea not null,
		until timestamptz not null
	)`,
}}

// statements are the texts of a schema, made once.
type statements struct {
	head                           string
	get, lock, note                string
	begin                          string
	create, update, delete         string
	insertKeys, deleteKey, holder  string
	firstNote, nextNote            string
	ascending, descending          string // of a page; the limit is filled in
	lease, unlease, forget, leases string
	entries, notes                 string
	missing, keys                  string // of Verify
}

func statementsOf(schema string) statements {
	in := func(text string) string { return strings.ReplaceAll(text, "SCHEMA", pgx.Identifier{schema}.Sanitize()) }
	// A page ends after the entry with which it reaches its bytes: before are the
	// bytes of those ahead. Bodies beyond are not read.
	page := `select ord, id, version, keys, body from (
		select k.ord, k.id, e.version, e.keys, e.body,
			coalesce(sum(octet_length(e.body)) over (order by k.ord DIRECTION, k.id DIRECTION rows between unbounded preceding and 1 preceding), 0) as before
		from (
			select ord, id from SCHEMA.keys
			where idx = $1 and value = $2 and (ord, id) COMPARE ($3, $4) and ord BOUND $5
			order by ord DIRECTION, id DIRECTION limit LIMIT
		) k left join SCHEMA.entries e on e.id = k.id
	) p where before < $6 order by ord DIRECTION, id DIRECTION`
	return statements{
		// The isolation that is enough: each write locks the entry's row first, and unique
		// keys are the index's business. Databases that know only a stricter one take that.
		begin:      `begin isolation level read committed`,
		head:       in(`select format, number from SCHEMA.head where one = 1`),
		get:        in(`select version, keys, body from SCHEMA.entries where id = $1`),
		lock:       in(`select version, keys from SCHEMA.entries where id = $1 for update`),
		note:       in(`select version, data from SCHEMA.notes where name = $1`),
		create:     in(`insert into SCHEMA.entries (id, version, keys, body) values ($1, $2, $3, $4)`),
		update:     in(`update SCHEMA.entries set version = $2, keys = $3, body = $4 where id = $1`),
		delete:     in(`delete from SCHEMA.entries where id = $1`),
		insertKeys: in(`insert into SCHEMA.keys (idx, value, ord, id, uniq) select i, v, o, $4::bytea, u from unnest($1::bytea[], $2::bytea[], $3::bigint[], $5::boolean[]) as k (i, v, o, u)`),
		deleteKey:  in(`delete from SCHEMA.keys where idx = $1 and value = $2 and ord = $3 and id = $4`),
		holder:     in(`select id from SCHEMA.keys where idx = $1 and value = $2 and uniq and id <> $3`),
		firstNote:  in(`insert into SCHEMA.notes (name, version, data) values ($1, $2, $3) on conflict (name) do nothing`),
		nextNote:   in(`update SCHEMA.notes set version = $2, data = $3 where name = $1 and version = $4`),
		ascending:  strings.NewReplacer("DIRECTION", "asc", "COMPARE", ">", "BOUND", "<=").Replace(in(page)),
		descending: strings.NewReplacer("DIRECTION", "desc", "COMPARE", "<", "BOUND", ">=").Replace(in(page)),
		// In the order of the names, so that two seldom wait for each other.
		lease: in(`insert into SCHEMA.leases (name, owner, until) select n, $2::bytea, now() + $3::bigint * interval '1 millisecond' from unnest($1::bytea[]) as l (n) order by n
			on conflict (name) do update set owner = excluded.owner, until = excluded.until
			where leases.owner = excluded.owner or leases.until <= now()
			returning name`),
		unlease: in(`delete from SCHEMA.leases where owner = $1 and name = any($2::bytea[])`),
		forget:  in(`delete from SCHEMA.leases where until < now() - interval '1 hour'`),
		leases:  in(`select name, owner from SCHEMA.leases where until > now() and substring(name from 1 for $2) = $1`),
		entries: in(`select id, version, keys, body from (
			select id, version, keys, body,
				coalesce(sum(octet_length(body)) over (order by id rows between unbounded preceding and 1 preceding), 0) as before
			from (select id, version, keys, body from SCHEMA.entries where id > $1 order by id limit LIMIT) e
		) p where before < $2 order by id`),
		notes: in(`select name, version, data from SCHEMA.notes where name > $1 order by name limit 4`),
		// One probe of the index for each key, whatever the server believes of the table's size.
		missing: in(`select i, id from unnest($1::bytea[], $2::bytea[], $3::bigint[], $4::bytea[], $5::boolean[]) as c (i, v, o, id, u)
			where (select count(*) from SCHEMA.keys k where k.idx = c.i and k.value = c.v and k.ord = c.o and k.id = c.id and k.uniq = c.u) = 0`),
		keys: in(`select k.idx, k.value, k.ord, k.id, k.uniq, e.keys from (
			select idx, value, ord, id, uniq from SCHEMA.keys where (idx, value, ord, id) > ($1, $2, $3, $4) order by idx, value, ord, id limit LIMIT
		) k left join SCHEMA.entries e on e.id = k.id order by k.idx, k.value, k.ord, k.id`),
	}
}

// prepare makes the tables, or brings them up to date, if they are not as this version has
// them. It fails if a role that may write the older tables has no right to a newer one.
func (s *Store) prepare(ctx context.Context) error {
	current, err := s.current(ctx)
	switch {
	case err != nil:
		return err
	case s.readOnly && !current:
		return ErrMissing
	case s.readOnly:
		return nil
	case !current:
		if err := s.make(ctx); err != nil {
			return err
		}
	}
	return s.forgetLeases(ctx)
}

func (s *Store) make(ctx context.Context) error {
	return s.do(ctx, func(ctx context.Context, c *pgx.Conn) error {
		err := s.migrate(ctx, c)
		switch code(err) {
		case "23505", "42P06", "42P07", "42710", // another process makes the same just now,
			"3F000", "42P01", "XX000": // or has made it, and the server's caches or catalogue lag behind
			return again{err}
		}
		return err
	})
}

// current reports whether the tables are as this version has them; false, without an error, if they are to be made.
func (s *Store) current(ctx context.Context) (bool, error) {
	var format string
	var number int64
	err := s.do(ctx, func(ctx context.Context, c *pgx.Conn) error {
		return c.QueryRow(ctx, s.sql.head).Scan(&format, &number)
	})
	switch {
	case code(err) == "42P01", code(err) == "3F000", errors.Is(err, pgx.ErrNoRows): // no such table or schema, or just being made
		return false, nil
	case code(err) == "42703": // a table of this name, with other columns
		return false, errForeign
	case err != nil:
		return false, err
	case format != formatName:
		return false, errForeign
	case number > schemaNumber:
		return false, errLayout(number)
	case number < schemaNumber && number > 0 && s.readOnly:
		return false, fmt.Errorf("%w: %w: %d, to be brought to %d by a process that writes", errSchema, ErrOlder, number, schemaNumber)
	}
	return number == schemaNumber, nil
}

func errLayout(number int64) error {
	return fmt.Errorf("%w: their layout is %d and this version reads up to %d; open them with the version that made them or a newer one, or go back to a copy from before the upgrade", errSchema, number, schemaNumber)
}

// migrate has the row of the head locked while it changes tables, so that one process does it.
func (s *Store) migrate(ctx context.Context, c *pgx.Conn) error {
	name := pgx.Identifier{s.schema}.Sanitize()
	var there int
	err := c.QueryRow(ctx, `select count(*) from pg_catalog.pg_namespace where nspname = $1`, s.schema).Scan(&there)
	if err != nil {
		return err
	}
	if there == 0 { // asked first: to create it if it does not exist takes the right to create even if it does
		if _, err := c.Exec(ctx, `create schema if not exists `+name); err != nil {
			return err
		}
	}
	for _, text := range []string{
		`create table if not exists ` + name + `.head (one integer primary key, format text not null, number bigint not null)`,
		`insert into ` + name + `.head (one, format, number) values (1, '` + formatName + `', 0) on conflict (one) do nothing`,
	} {
		if _, err := c.Exec(ctx, text); err != nil {
			return err
		}
	}
	tx, err := c.Begin(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }() // says that it was committed
	var number int64
	if err := tx.QueryRow(ctx, `select number from `+name+`.head where one = 1 for update`).Scan(&number); err != nil {
		return err
	}
	if number < 0 || number > schemaNumber {
		return errLayout(number)
	}
	for _, step := range migrations[number:] {
		for _, text := range step {
			if _, err := tx.Exec(ctx, strings.ReplaceAll(text, "SCHEMA", name)); err != nil {
				return err
			}
		}
	}
	if _, err := tx.Exec(ctx, `update `+name+`.head set number = $1 where one = 1`, schemaNumber); err != nil {
		return err
	}
	return tx.Commit(ctx)
}
