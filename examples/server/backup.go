package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/swapper-go/swapper/storage/bolt"
)

// backupConfig says where copies of the store are kept.
type backupConfig struct {
	Folder string   // beside the configuration unless absolute
	Every  duration // 0: only when it is asked for
	Keep   int      // so many of the newest; 0: all
}

// backups makes copies of the store while it is used.
type backups struct {
	store  *bolt.Store
	folder string
	every  time.Duration
	keep   int
	log    *slog.Logger
	one    sync.Mutex // at a time
}

func (c *config) backups(store *bolt.Store, log *slog.Logger) (*backups, error) {
	if c.Backup == nil {
		return nil, nil
	}
	b := &backups{store: store, folder: c.path(c.Backup.Folder), every: time.Duration(c.Backup.Every), keep: c.Backup.Keep, log: log}
	if c.Backup.Folder == "" {
		return nil, errors.New("backup.folder: is required")
	}
	if b.keep < 0 {
		return nil, errors.New("backup.keep: must not be negative")
	}
	if err := os.MkdirAll(b.folder, 0o700); err != nil {
		return nil, fmt.Errorf("backup.folder: %w", err)
	}
	return b, nil
}

// make writes a copy, named by the time, and removes the ones that are too old.
func (b *backups) make(ctx context.Context) (name string, err error) {
	b.one.Lock()
	defer b.one.Unlock()
	began := time.Now()
	name = "swaps-" + began.UTC().Format("20060102T150405.000Z") + ".db"
	if err := b.store.Backup(ctx, filepath.Join(b.folder, name)); err != nil {
		return "", err
	}
	b.log.Info("the store was backed up", "file", name, "took", time.Since(began))
	return name, b.tidy()
}

func (b *backups) tidy() error {
	all, err := filepath.Glob(filepath.Join(b.folder, "swaps-*.db"))
	if err != nil || b.keep == 0 || len(all) <= b.keep {
		return err
	}
	slices.Sort(all) // by time
	for _, old := range all[:len(all)-b.keep] {
		err = errors.Join(err, os.Remove(old))
	}
	return err
}

// run makes a copy whenever it is time, until ctx ends.
func (b *backups) run(ctx context.Context) {
	if b == nil || b.every <= 0 {
		return
	}
	tick := time.NewTicker(b.every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if _, err := b.make(ctx); err != nil && ctx.Err() == nil {
			b.log.Error("the store could not be backed up", "err", err)
		}
	}
}

// ServeHTTP makes a copy when it is asked to, and answers with its name alone: the
// copy holds preimages and does not leave the machine by this way.
func (b *backups) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name, err := b.make(r.Context())
	if err != nil {
		b.log.Error("the store could not be backed up", "err", err)
		answer(w, http.StatusInternalServerError, body{"error": "the store could not be backed up; the log says why"})
		return
	}
	answer(w, http.StatusOK, body{"file": name})
}
