package postgres

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/swapper-go/swapper/storage"
)

var _ storage.Leaser = (*Store)(nil)

// Lease implements [storage.Leaser] in one statement. The server's clock judges: a step
// of it ends leases early or late.
func (s *Store) Lease(ctx context.Context, owner string, ttl time.Duration, names ...string) (held []string, err error) {
	if err := storage.ValidateLease(owner, ttl, names); err != nil {
		return nil, err
	}
	err = s.write(ctx, func(ctx context.Context, c *pgx.Conn) error {
		rows, err := c.Query(ctx, s.sql.lease, rawNames(names), raw(owner), ttl.Milliseconds())
		if err != nil {
			return err
		}
		held, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (string, error) {
			var name []byte
			err := row.Scan(&name)
			return string(name), err
		})
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("take %d leases: %w", len(names), err)
	}
	return held, nil
}

// Release implements [storage.Leaser].
func (s *Store) Release(ctx context.Context, owner string, names ...string) error {
	if err := storage.ValidateLease(owner, time.Millisecond, names); err != nil {
		return err
	}
	err := s.write(ctx, func(ctx context.Context, c *pgx.Conn) error {
		_, err := c.Exec(ctx, s.sql.unlease, raw(owner), rawNames(names))
		return err
	})
	if err != nil {
		return fmt.Errorf("release %d leases: %w", len(names), err)
	}
	return nil
}

// Leases implements [storage.Leaser].
func (s *Store) Leases(ctx context.Context, prefix string) (owners map[string]string, err error) {
	err = s.do(ctx, func(ctx context.Context, c *pgx.Conn) error {
		rows, err := c.Query(ctx, s.sql.leases, raw(prefix), len(prefix))
		if err != nil {
			return err
		}
		owners = map[string]string{}
		var name, owner []byte
		_, err = pgx.ForEachRow(rows, []any{&name, &owner}, func() error {
			owners[string(name)] = string(owner)
			return nil
		})
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list leases: %w", err)
	}
	return owners, nil
}

// forgetLeases deletes what ended an hour ago: each process takes a lease under a name
// that no other ever takes.
func (s *Store) forgetLeases(ctx context.Context) error {
	return s.do(ctx, func(ctx context.Context, c *pgx.Conn) error {
		_, err := c.Exec(ctx, s.sql.forget)
		return err
	})
}

// rawNames returns the bytes of each name once, in their order.
func rawNames(names []string) [][]byte {
	list := make([][]byte, 0, len(names))
	for _, name := range slices.Compact(slices.Sorted(slices.Values(names))) {
		list = append(list, raw(name))
	}
	return list
}
