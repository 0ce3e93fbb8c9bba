package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/storage"
	"github.com/swapper-go/swapper/storage/bolt"
	"github.com/swapper-go/swapper/storage/postgres"
)

// rehearse does for -check what the start would do, and undoes it: it listens, opens the store for
// reading, and opens a client whose questions go nowhere. It changes nothing, sends requests to the
// database alone, and may be run beside the service that it is a configuration of.
func (c *config) rehearse(ctx context.Context, swaps *settings, log *slog.Logger) error {
	if err := errors.Join(c.tryPlaces(ctx, log), c.tryStore(ctx)); err != nil {
		return err
	}
	try := swaps.Config
	try.Store, try.HTTP, try.Logger = noStore{}, nowhere{}, nil // which would say that no node responds
	client, err := swapper.Open(ctx, try)
	if err != nil {
		return err
	}
	return client.Close()
}

// tryPlaces looks whether the service can listen and write where it is to.
func (c *config) tryPlaces(ctx context.Context, log *slog.Logger) error {
	all := []error{tryListen(ctx, "listen", c.Listen, log)}
	if c.Admin != nil {
		all = append(all, tryListen(ctx, "admin.listen", c.Admin.Listen, log))
	}
	if w := c.Watchtower; w != nil && c.Database == nil {
		if err := writable(filepath.Dir(c.state(w.file()))); err != nil {
			all = append(all, fmt.Errorf("watchtower.store: %w", err))
		}
	}
	if c.Backup != nil {
		if err := writable(c.state(c.Backup.Folder)); err != nil {
			all = append(all, fmt.Errorf("backup.folder: %w", err))
		}
	}
	return errors.Join(all...)
}

// tryListen listens for a moment. An address that is in use is an error, but with a log: there it may
// be that of the service that is to be started anew.
func tryListen(ctx context.Context, field, address string, log *slog.Logger) error {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	switch {
	case errors.Is(err, syscall.EADDRINUSE) && log != nil:
		log.Warn("the address is in use: by the service that is to be started anew, or it will not start", "key", field, "address", address)
		return nil
	case err != nil:
		return fmt.Errorf("%s: %w", field, err)
	}
	return l.Close()
}

// tryStore opens what keeps the swaps for reading, if it is there, else looks whether it can be made.
func (c *config) tryStore(ctx context.Context) error {
	if c.Database != nil {
		s, err := postgres.Open(ctx, c.Database.DSN, postgres.Options{Schema: c.Database.Schema, ReadOnly: true})
		switch {
		case errors.Is(err, postgres.ErrMissing), errors.Is(err, postgres.ErrOlder): // the start makes the tables, or brings them up to date
			return nil
		case err != nil:
			return fmt.Errorf("database: %w", err)
		}
		return s.Close()
	}
	path := c.storePath()
	s, err := bolt.Open(ctx, path, bolt.Options{ReadOnly: true, LockTimeout: 100 * time.Millisecond})
	switch {
	case errors.Is(err, bolt.ErrInUse): // by the running service
		return nil
	case errors.Is(err, fs.ErrNotExist):
		if err := here(filepath.Dir(path)); err != nil {
			return fmt.Errorf("store: %w", err)
		}
		return nil
	case err != nil:
		return fmt.Errorf("store: %w", err)
	}
	if err := s.Close(); err != nil {
		return fmt.Errorf("store: %w", err)
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return fmt.Errorf("store: %w", err)
	}
	return f.Close()
}

// here reports whether files can be made in a folder.
func here(folder string) error {
	f, err := os.CreateTemp(folder, ".swapper-check-*")
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// writable reports whether a folder is there, or can be made, for files.
func writable(folder string) error {
	info, err := os.Stat(folder)
	switch {
	case errors.Is(err, fs.ErrNotExist) && filepath.Dir(folder) != folder:
		return writable(filepath.Dir(folder))
	case err != nil:
		return err
	case !info.IsDir():
		return fmt.Errorf("%s is not a folder", folder)
	}
	return here(folder)
}

var errRehearsal = errors.New("-check sends no requests")

// nowhere sends no requests.
type nowhere struct{}

// RoundTrip implements [http.RoundTripper].
func (nowhere) RoundTrip(*http.Request) (*http.Response, error) { return nil, errRehearsal }

// noStore has nothing and takes nothing.
type noStore struct{ storage.Store }

// Note implements [storage.Store].
func (noStore) Note(context.Context, string) ([]byte, uint64, error) { return nil, 0, errRehearsal }
