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
	"strings"
	"sync"
	"time"

	"github.com/swapper-go/swapper/storage/bolt"
)

// backupConfig says where copies of the store are kept.
type backupConfig struct {
	Folder string   // beside the configuration unless absolute
	Every  duration // 0: only when it is asked for
	Keep   int      // so many; 0: all
}

// backups makes copies of the store while it is used, and of the watchtower's if that is another file.
//
// The watchtower's is copied first, and deleted last, so that a backup is complete if the swaps'
// file is there. A copy of the watchtower's alone is of a backup that was not completed.
type backups struct {
	store  *bolt.Store
	tower  *bolt.Store // nil: none
	folder string
	every  time.Duration
	keep   int
	log    *slog.Logger

	one   sync.Mutex // at a time
	last  string     // name of the newest that this process has made
	began time.Time  // and when
}

// kind is what a copy is of: the beginning of its name.
type kind string

const swapsCopy, towerCopy kind = "swaps-", "watchtower-"

// Names of copies tell when they were begun; both files of a backup have the same time.
const nameTime, nameSuffix = "20060102T150405.000Z", ".db"

func (k kind) nameAt(t time.Time) string { return string(k) + t.UTC().Format(nameTime) + nameSuffix }

// timeOf is the inverse of nameAt.
func (k kind) timeOf(name string) (time.Time, bool) {
	text, prefixed := strings.CutPrefix(name, string(k))
	text, suffixed := strings.CutSuffix(text, nameSuffix)
	t, err := time.Parse(nameTime, text)
	return t, prefixed && suffixed && err == nil
}

// begun reports whether a name is of a copy that is not complete.
func (k kind) begun(name string) bool {
	return strings.HasPrefix(name, string(k)) && strings.HasSuffix(name, ".part")
}

// backups is what copies the files of the swaps and of the watchtower, nil for none.
func (c *config) backups(store, tower *bolt.Store, log *slog.Logger) (*backups, error) {
	if c.Backup == nil {
		return nil, nil
	}
	b := &backups{store: store, tower: tower, folder: c.state(c.Backup.Folder), every: time.Duration(c.Backup.Every), keep: c.Backup.Keep, log: log}
	if err := os.MkdirAll(b.folder, 0o700); err != nil {
		return nil, fmt.Errorf("backup.folder: %w", err)
	}
	return b, nil
}

// make writes a backup, named by the time, and removes the ones that are too many. It returns the
// name of the swaps' copy. Who asks while another backup is being made shares the next one with all others who do.
func (b *backups) make(ctx context.Context) (name string, err error) {
	asked := time.Now()
	b.one.Lock()
	defer b.one.Unlock()
	if b.began.After(asked) {
		return b.last, nil
	}
	began := time.Now()
	name = swapsCopy.nameAt(began)
	if b.tower != nil {
		err = b.tower.Backup(ctx, filepath.Join(b.folder, towerCopy.nameAt(began)))
	}
	if err == nil {
		err = b.store.Backup(ctx, filepath.Join(b.folder, name))
	}
	if err != nil {
		return "", errors.Join(err, b.tidy())
	}
	b.last, b.began = name, began
	b.log.Info("the store was backed up", "file", name, "ms", time.Since(began).Milliseconds())
	return name, b.tidy()
}

// burst is how close to the one before a copy is that goes before older ones do, where no
// rhythm says more, and unfinished how long nothing was added to a copy that was
// broken off.
const burst, unfinished = 10 * time.Minute, time.Hour

// tidy removes what an earlier process did not finish, and of too many backups those that are
// close to the one before, the oldest first, then the oldest. The newest stays. So backups
// that are asked for again and again do not take the places of those of the days before.
func (b *backups) tidy() error {
	files, err := os.ReadDir(b.folder)
	if err != nil {
		return err
	}
	var all []time.Time // of the backups, in order, as their names
	var towers []time.Time
	for _, f := range files {
		if at, ok := swapsCopy.timeOf(f.Name()); ok {
			all = append(all, at)
		}
		if at, ok := towerCopy.timeOf(f.Name()); ok {
			towers = append(towers, at)
		}
		if info, gone := f.Info(); gone == nil && (swapsCopy.begun(f.Name()) || towerCopy.begun(f.Name())) && time.Since(info.ModTime()) > unfinished {
			err = errors.Join(err, os.Remove(filepath.Join(b.folder, f.Name())))
		}
	}
	for b.keep > 0 && len(all) > b.keep {
		drop := b.surplus(all)
		err = errors.Join(err, os.Remove(filepath.Join(b.folder, swapsCopy.nameAt(all[drop]))))
		all = slices.Delete(all, drop, drop+1)
	}
	for _, at := range towers {
		if !slices.Contains(all, at) {
			err = errors.Join(err, os.Remove(filepath.Join(b.folder, towerCopy.nameAt(at))))
		}
	}
	return err
}

// surplus is which of too many backups goes first.
func (b *backups) surplus(all []time.Time) int {
	near := burst
	if b.every > 0 {
		near = b.every / 2
	}
	for i := 1; i < len(all)-1; i++ {
		if all[i].Sub(all[i-1]) < near {
			return i
		}
	}
	return 0
}

// run makes a copy whenever it is time, until ctx ends.
func (b *backups) run(ctx context.Context) {
	if b == nil {
		return
	}
	b.one.Lock()
	if err := b.tidy(); err != nil {
		b.log.Warn("the folder of backups could not be tidied", "err", err)
	}
	b.one.Unlock()
	if b.every <= 0 {
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

// ServeHTTP makes a backup when it is asked to, and answers with its names alone: the
// copies hold preimages and do not leave the machine by this way.
func (b *backups) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_ = http.NewResponseController(w).SetWriteDeadline(time.Time{}) // a large store takes longer than other answers; not every writer has deadlines
	name, err := b.make(r.Context())
	if err != nil {
		b.log.Error("the store could not be backed up", "err", err)
		answer(w, http.StatusInternalServerError, body{"error": "the store could not be backed up; the log says why"})
		return
	}
	made := body{"file": name}
	if at, ok := swapsCopy.timeOf(name); ok && b.tower != nil {
		made["watchtower"] = towerCopy.nameAt(at)
	}
	answer(w, http.StatusOK, made)
}
