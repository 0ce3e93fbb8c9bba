package bolt

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/swapper-go/swapper/storage"
)

// Backup writes a copy of the store to path, as it is at one moment, while the
// store is being used. The copy is a store of its own, which [Open] opens. It is
// written beside path with mode 0600, forced to disk and then renamed, so that path
// is a complete copy or does not change. Calls of the store go on meanwhile, but for
// writes that need the file to grow: these wait until the copy is made.
//
// The copy has everything that the store has, preimages too: protect it likewise.
func (s *Store) Backup(ctx context.Context, path string) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("back up store %s: %w", s.path, err)
		}
	}()
	if mine, err := os.Stat(s.path); err == nil {
		if there, err := os.Stat(path); err == nil && os.SameFile(mine, there) {
			return errors.New("the copy must be another file than the store")
		}
	}
	file, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*.part") // with mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(file.Name()) // nothing is there once it was renamed
	if err := s.copyTo(ctx, file); err != nil {
		return errors.Join(err, file.Close())
	}
	if err := errors.Join(file.Sync(), file.Close()); err != nil {
		return err
	}
	if err := os.Rename(file.Name(), path); err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}

func (s *Store) copyTo(ctx context.Context, file *os.File) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.open.RLock()
	defer s.open.RUnlock()
	select {
	case <-s.closing:
		return storage.ErrClosed
	default:
	}
	return guarded(func() error {
		tx, err := s.begin(false)
		if err != nil {
			return err
		}
		defer s.end(tx)
		_, err = tx.WriteTo(stopping{ctx, file})
		return err
	})
}

// stopping is a file to which nothing is written once the context has ended.
type stopping struct {
	ctx  context.Context
	file *os.File
}

func (w stopping) Write(p []byte) (int, error) {
	if err := w.ctx.Err(); err != nil {
		return 0, err
	}
	return w.file.Write(p)
}
