package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/swapper-go/swapper/storage"
	"github.com/swapper-go/swapper/storage/bolt"
	"github.com/swapper-go/swapper/storage/postgres"
)

// databaseConfig is a PostgreSQL database that keeps the swaps in place of a file. Servers
// with the same database and schema share the work.
type databaseConfig struct {
	DSN    string `secret:"dsn"` // as libpq reads it
	DSNEnv string // variable that has it
	Schema string // of the tables; "swapper"
}

// usualStore is the file of the swaps if nothing else is configured.
const usualStore = "swaps.db"

// checkStore completes where the swaps are kept.
func (c *config) checkStore() error {
	d := c.Database
	switch {
	case c.Backup != nil && c.Backup.Folder == "":
		return errors.New("backup.folder: is required")
	case c.Backup != nil && c.Backup.Keep < 0:
		return errors.New("backup.keep: must not be negative")
	case d == nil && c.Store == "":
		c.Store = usualStore
		return nil
	case d == nil:
		return nil
	case c.Store != "":
		return errors.New("database: cannot be combined with store: the swaps are in a file or in a database")
	case c.Backup != nil:
		return errors.New("backup: copies a file; copy a database by its own means")
	case (d.DSN == "") == (d.DSNEnv == ""):
		return errors.New("database: needs dsn or dsnEnv, and not both")
	}
	if d.DSNEnv != "" {
		if d.DSN = os.Getenv(d.DSNEnv); d.DSN == "" {
			return fmt.Errorf("database.dsnEnv: names %s, which is not set", d.DSNEnv)
		}
	}
	if _, err := pgxpool.ParseConfig(d.DSN); err != nil {
		return fmt.Errorf("database.dsn: %w", err)
	}
	return nil
}

// storePath is the path of the file of the swaps, "" for a database.
func (c *config) storePath() string { return c.path(c.Store) }

// store is what keeps the swaps.
type store interface {
	storage.Store
	Close() error
}

// openStore opens the file or the database, and what copies the file.
func (c *config) openStore(ctx context.Context) (store, *bolt.Store, error) {
	if c.Database != nil {
		s, err := postgres.Open(ctx, c.Database.DSN, postgres.Options{Schema: c.Database.Schema})
		if err != nil {
			return nil, nil, fmt.Errorf("database: %w", err)
		}
		return s, nil, nil
	}
	s, err := bolt.Open(ctx, c.storePath(), bolt.Options{})
	if err != nil {
		return nil, nil, err
	}
	return s, s, nil
}
