package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

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
	if strings.HasPrefix(c.Store, "postgres://") || strings.HasPrefix(c.Store, "postgresql://") {
		if c.Database != nil {
			return errors.New("database: cannot be combined with store, which is the URL of a database already")
		}
		c.Database, c.Store = &databaseConfig{DSN: c.Store}, ""
	}
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
func (c *config) storePath() string { return c.state(c.Store) }

// where the swaps are, for people.
func (c *config) where() string {
	if c.Database != nil {
		return "PostgreSQL"
	}
	return c.storePath()
}

// state is where a file that the service writes lies: in the folder of $SWAPPER_STATE, which the
// unit and the image set because the configuration's is not to be written to, or beside it.
func (c *config) state(name string) string {
	if folder := os.Getenv("SWAPPER_STATE"); folder != "" && name != "" && !filepath.IsAbs(name) {
		return filepath.Join(folder, name)
	}
	return c.path(name)
}

// store is what keeps the swaps.
type store interface {
	storage.Store
	Close() error
}

// openStore opens the file or the database, and what copies the file.
func (c *config) openStore(ctx context.Context) (store, *bolt.Store, error) {
	if c.Database != nil {
		return c.openSchema(ctx, c.Database.Schema)
	}
	return openFile(ctx, c.storePath())
}

func (c *config) openSchema(ctx context.Context, schema string) (store, *bolt.Store, error) {
	s, err := postgres.Open(ctx, c.Database.DSN, postgres.Options{Schema: schema})
	if err != nil {
		return nil, nil, fmt.Errorf("database: %w", err)
	}
	return s, nil, nil
}

func openFile(ctx context.Context, path string) (store, *bolt.Store, error) {
	s, err := bolt.Open(ctx, path, bolt.Options{})
	if err != nil {
		return nil, nil, err
	}
	return s, s, nil
}
