package serve

import (
	"crypto/sha256"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"sync"
	"time"
)

// lookEvery is how often the files are looked at, at most.
const lookEvery = time.Second

// Value is what some files say. It is safe for concurrent use; make one with [Watch].
type Value[T any] struct {
	Now func() time.Time // the clock; it may be replaced before the first Get

	paths []string
	read  func() (T, error)
	log   *slog.Logger

	mu      sync.Mutex
	current T
	stamps  [][sha256.Size]byte // of what the files held: size and time tell nothing sure, and keys that are taken away must go
	looked  time.Time
}

// Watch reads the files, so that wrong ones are found at the start. read returns what
// they say; log may be nil.
func Watch[T any](log *slog.Logger, read func() (T, error), paths ...string) (*Value[T], error) {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	v := &Value[T]{Now: time.Now, paths: paths, read: read, log: log}
	v.looked = v.Now()
	return v, v.reload()
}

// Get returns what the files say, as of a second ago at most. Files that cannot be
// read, as between the writing of two that belong together, change nothing.
func (v *Value[T]) Get() T {
	v.mu.Lock()
	defer v.mu.Unlock()
	if now := v.Now(); now.Sub(v.looked) >= lookEvery {
		v.looked = now
		if err := v.reload(); err != nil {
			v.log.Warn("a changed file cannot be used; what it said before stays in force", "files", v.paths, "err", err)
		}
	}
	return v.current
}

func (v *Value[T]) reload() error {
	stamps := make([][sha256.Size]byte, len(v.paths))
	for i, path := range v.paths {
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		stamps[i] = sha256.Sum256(text)
	}
	if slices.Equal(stamps, v.stamps) {
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
