// Package watched holds what was read from files that may be replaced while the
// process runs.
package watched

import (
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"
)

// lookEvery is how often the files are looked at, at most.
const lookEvery = time.Second

// Value is what some files say. It is safe for concurrent use; make one with [New].
type Value[T any] struct {
	paths []string
	read  func() (T, error)
	log   *slog.Logger

	mu      sync.Mutex
	current T
	stamps  []stamp
	looked  time.Time
}

// stamp tells whether a file has changed.
type stamp struct {
	at   time.Time
	size int64
}

// New reads the files, so that wrong ones are found at the start. read returns what
// they say; log may be nil.
func New[T any](log *slog.Logger, read func() (T, error), paths ...string) (*Value[T], error) {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	v := &Value[T]{paths: paths, read: read, log: log}
	v.looked = time.Now()
	return v, v.reload()
}

// Get returns what the files say, as of a second ago at most. Files that cannot be
// read, as between the writing of two that belong together, change nothing.
func (v *Value[T]) Get() T {
	v.mu.Lock()
	defer v.mu.Unlock()
	if now := time.Now(); now.Sub(v.looked) >= lookEvery {
		v.looked = now
		if err := v.reload(); err != nil {
			v.log.Warn("a changed file cannot be used; what it said before stays in force", "files", v.paths, "err", err)
		}
	}
	return v.current
}

// Look makes the next Get look at the files.
func (v *Value[T]) Look() {
	v.mu.Lock()
	v.looked = time.Time{}
	v.mu.Unlock()
}

func (v *Value[T]) reload() error {
	stamps := make([]stamp, len(v.paths))
	for i, path := range v.paths {
		info, err := os.Stat(path)
		if err != nil {
			return err
		}
		stamps[i] = stamp{info.ModTime(), info.Size()}
	}
	if v.stamps != nil && equal(stamps, v.stamps) {
		return nil
	}
	value, err := v.read()
	if err != nil {
		return fmt.Errorf("read %v: %w", v.paths, err)
	}
	if v.stamps != nil {
		v.log.Info("read again", "files", v.paths)
	}
	v.current, v.stamps = value, stamps
	return nil
}

func equal(a, b []stamp) bool {
	for i := range a {
		if !a[i].at.Equal(b[i].at) || a[i].size != b[i].size {
			return false
		}
	}
	return true
}
