package postgres

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/swapper-go/swapper/storage"
)

const (
	maxProblems = 100
	keysPage    = 512 // keys that are read at once, each with those of its entry
)

// Verify reads the whole store and checks that the keys by which queries find
// entries, and those held as unique ones, are exactly those that the entries carry.
// It returns nil, or an error that wraps storage.ErrCorrupt and names the first
// problems. Others read and write meanwhile: it reads page by page, each of one moment,
// so that nothing is held for long, a lost connection costs a page, and a store of any
// size can be verified. Options.Timeout bounds a page, ctx the whole: 60,704 swaps
// took 17 s on a busy machine (BenchmarkMove).
func (s *Store) Verify(ctx context.Context) error {
	v := &verifier{s: s}
	err := v.run(ctx)
	if err := errors.Join(append(v.problems, err)...); err != nil {
		return fmt.Errorf("verify store in schema %s: %w", s.schema, err)
	}
	return nil
}

type verifier struct {
	s        *Store
	problems []error
}

// run looks from the entries at the keys, and from the keys at the entries.
func (v *verifier) run(ctx context.Context) error {
	for after, more := "", true; more; {
		err := v.page(ctx, func(ctx context.Context, c *pgx.Conn) (problems []error, err error) {
			after, more, problems, err = v.entries(ctx, c, after)
			return problems, err
		})
		if err != nil {
			return err
		}
	}
	for after, more := (place{order: math.MinInt64}), true; more; {
		err := v.page(ctx, func(ctx context.Context, c *pgx.Conn) (problems []error, err error) {
			after, more, problems, err = v.keys(ctx, c, after)
			return problems, err
		})
		if err != nil {
			return err
		}
	}
	for _, err := range v.s.Notes(ctx, "") {
		if err != nil {
			return err
		}
	}
	return nil
}

// page checks a page, and once more if the server asks for it or was lost.
func (v *verifier) page(ctx context.Context, check func(context.Context, *pgx.Conn) ([]error, error)) error {
	var problems []error
	err := v.s.do(ctx, func(ctx context.Context, c *pgx.Conn) (err error) {
		problems, err = check(ctx, c)
		return err
	})
	if v.problems = append(v.problems, problems...); err == nil && len(v.problems) >= maxProblems {
		err = fmt.Errorf("too many problems to list: %w", storage.ErrCorrupt)
	}
	return err
}

// entries checks that the keys of the next entries are in their indexes. Both are read
// as of one moment.
func (v *verifier) entries(ctx context.Context, c *pgx.Conn, after string) (last string, more bool, problems []error, err error) {
	fail := func(err error) (string, bool, []error, error) { return after, true, nil, err }
	tx, err := c.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
	if err != nil {
		return fail(err)
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }() // nothing was written
	page, size, err := v.s.entriesAfter(ctx, tx, after)
	if err != nil {
		return fail(err)
	}
	var indexes, values, ids [][]byte
	var orders []int64
	var unique []bool
	last = after
	for _, f := range page {
		if last = f.at.ID; f.err != nil {
			problems = append(problems, f.err)
		}
		for _, k := range f.entry.Keys {
			indexes, values, ids = append(indexes, raw(k.Index)), append(values, raw(k.Value)), append(ids, raw(last))
			orders, unique = append(orders, k.Order), append(unique, k.Unique)
		}
	}
	more = len(page) >= fullPage || size >= pageBytes
	if len(ids) == 0 {
		return last, more, problems, nil
	}
	rows, err := tx.Query(ctx, v.s.sql.missing, indexes, values, orders, ids, unique)
	if err != nil {
		return fail(err)
	}
	var index, id []byte
	_, err = pgx.ForEachRow(rows, []any{&index, &id}, func() error {
		problems = append(problems, fmt.Errorf("entry %q: a key is missing from index %q: %w", storage.Label(string(id)), index, storage.ErrCorrupt))
		return nil
	})
	if err != nil {
		return fail(err)
	}
	return last, more, problems, nil
}

// place is the position of a key in the indexes.
type place struct {
	index, value, id []byte
	order            int64
}

// keys checks that the next keys are carried by their entries. One statement reads both.
func (v *verifier) keys(ctx context.Context, c *pgx.Conn, after place) (last place, more bool, problems []error, err error) {
	rows, err := c.Query(ctx, strings.Replace(v.s.sql.keys, "LIMIT", strconv.Itoa(keysPage), 1), some(after.index), some(after.value), after.order, some(after.id))
	if err != nil {
		return after, true, nil, err
	}
	last = after
	var carried []byte
	var unique bool
	n := 0
	_, err = pgx.ForEachRow(rows, []any{&last.index, &last.value, &last.order, &last.id, &unique, &carried}, func() error {
		n++
		index, id := string(last.index), string(last.id)
		if carried == nil {
			problems = append(problems, fmt.Errorf("entry %q, which index %q names, is missing: %w", storage.Label(id), index, storage.ErrCorrupt))
			return nil
		}
		keys, err := decodeKeys(id, carried)
		if err == nil && !slices.Contains(keys, storage.Key{Index: index, Value: string(last.value), Order: last.order, Unique: unique}) {
			problems = append(problems, fmt.Errorf("entry %q does not carry its key of index %q: %w", storage.Label(id), index, storage.ErrCorrupt))
		}
		return nil // keys that cannot be read are named with their entry
	})
	if err != nil {
		return after, true, nil, err
	}
	return last, n == keysPage, problems, nil
}
