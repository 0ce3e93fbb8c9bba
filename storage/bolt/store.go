// Package bolt implements [storage.Store] in a single file, using bbolt.
//
// Writers share commits: writes that arrive while a commit is being synced to
// disk go into the next commit together. Reads run concurrently and never wait
// for the disk sync.
package bolt

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"

	"github.com/swapper-go/swapper/storage"
)

var (
	// ErrInUse: another process, or another Store of this one, has the file open.
	ErrInUse = errors.New("file is already open in another store")
	// errForeign: the file is not a store.
	errForeign = errors.New("file is not a swapper store")
	// errSchema: the file was written by a version of this package with another data layout.
	errSchema = errors.New("file was written by an incompatible version")
)

// defaultLockTimeout is how long Open waits for the file lock if Options.LockTimeout is 0.
const defaultLockTimeout = 2 * time.Second

// Options configures [Open]. The zero value is ready to use.
type Options struct {
	// ReadOnly opens an existing store that other readers may have open too.
	// Writes return storage.ErrReadOnly. Opening fails while a writer has the file
	// open.
	ReadOnly bool
	// LockTimeout is how long to wait while another process has the file; 0
	// means 2 s. The context's end cuts it short.
	LockTimeout time.Duration
}

// Store is a [storage.Store] in one file. Only one process can have it open for writing.
//
// When bbolt meets damage in the file's structure, or when the disk reports an
// error at the moment that decides whether a commit counts, the store stops
// writing: every later write returns the reason, and reads continue to work as
// far as possible. Any other write failure, such as a full disk, only affects
// the writes concerned.
//
// Deleted entries leave free pages that later writes reuse; the file does not
// shrink. Every commit writes the list of free pages, 8 bytes per 4 kB, which
// becomes noticeable once hundreds of thousands of entries have been deleted
// and not replaced.
type Store struct {
	path     string
	readOnly bool
	file     *os.File
	db       *bbolt.DB

	metaBytes int64                 // how much of the file the meta pages take
	open      sync.RWMutex          // held for reading while the database is read, for writing to close it
	closed    sync.Once             // the first Close does it
	closing   chan struct{}         // closed when Close begins
	ops       chan *op              // to the committer
	ended     chan struct{}         // closed when the committer has ended
	commits   sync.Mutex            // held during a commit, and to keep commits from starting
	stopped   atomic.Pointer[error] // why nothing is written any more
	beginning sync.Mutex            // held while a transaction begins
	breaking  sync.Once             // closes broken
	broken    chan struct{}         // closed when bbolt can no longer be called
}

var _ storage.Store = (*Store)(nil)

// Open opens the store at path, or creates it with mode 0600; the directory
// must exist. It fails with ErrInUse when another process keeps the file longer
// than LockTimeout and the context allow, with storage.ErrCorrupt
// when the file is damaged, and when it is not a store or has another data layout;
// the file is then unchanged.
//
// The structure of the file is checked first, up to 64 MiB completely, beyond
// that without the leaves of its trees, which takes about a second for a
// million swaps. [Store.Verify] checks everything.
//
// The caller must call Close.
func Open(ctx context.Context, path string, options Options) (*Store, error) {
	s, err := open(ctx, path, options)
	if err != nil {
		return nil, fmt.Errorf("open store %s: %w", path, err)
	}
	return s, nil
}

func open(ctx context.Context, path string, options Options) (*Store, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if options.LockTimeout <= 0 {
		options.LockTimeout = defaultLockTimeout
	}
	file, err := openFile(path, options.ReadOnly)
	if err != nil {
		return nil, err
	}
	db, err := openDB(ctx, file, options)
	if err != nil {
		file.Close() // bbolt has closed it, unless it never had it
		return nil, err
	}
	s := &Store{
		path:      path,
		readOnly:  options.ReadOnly,
		file:      file,
		db:        db,
		metaBytes: 2 * int64(db.Info().PageSize),
		broken:    make(chan struct{}),
		closing:   make(chan struct{}),
		ops:       make(chan *op),
		ended:     make(chan struct{}),
	}
	if s.readOnly {
		close(s.ended)
	} else {
		go s.commitLoop()
	}
	return s, nil
}

// openFile opens the file, which is created first if it may be.
func openFile(path string, readOnly bool) (*os.File, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) && !readOnly {
		if err := create(path); err != nil {
			return nil, err
		}
		info, err = os.Stat(path)
	}
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() { // to open a pipe would block
		return nil, fmt.Errorf("%w: not a regular file", errForeign)
	}
	if readOnly {
		return os.OpenFile(path, os.O_RDONLY, 0)
	}
	return os.OpenFile(path, os.O_RDWR, 0)
}

// openDB locks and checks the file before bbolt sees it.
func openDB(ctx context.Context, file *os.File, options Options) (*bbolt.DB, error) {
	waiting, cancel := context.WithTimeout(ctx, options.LockTimeout)
	defer cancel()
	if err := lock(waiting, file, options.ReadOnly); err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if _, err := checkFile(ctx, file, info.Size(), info.Size() <= walkedWhole); err != nil {
		return nil, err
	}
	var db *bbolt.DB
	err = guarded(func() (err error) {
		db, err = bbolt.Open(file.Name(), 0o600, &bbolt.Options{
			ReadOnly:     options.ReadOnly,
			Timeout:      options.LockTimeout,
			FreelistType: bbolt.FreelistMapType,
			OpenFile:     func(string, int, os.FileMode) (*os.File, error) { return file, nil },
		})
		return err
	})
	if errors.Is(err, bolterrors.ErrTimeout) {
		return nil, ErrInUse
	}
	return db, err
}

// Path returns the path that the store was opened with.
func (s *Store) Path() string { return s.path }

// Close waits for the calls in progress and closes the file. Later calls,
// iterations that need another page, and further calls of Close return
// storage.ErrClosed.
func (s *Store) Close() error {
	err := storage.ErrClosed
	s.closed.Do(func() {
		close(s.closing)
		select {
		case <-s.ended:
		case <-s.broken: // the committer may be waiting for a lock that will never be released
		}
		s.open.Lock()
		defer s.open.Unlock()
		if s.isBroken() {
			err = s.file.Close()
		} else {
			err = s.db.Close()
		}
	})
	return err
}

// stop makes every later write fail with the reason.
func (s *Store) stop(reason error) {
	reason = fmt.Errorf("the store has stopped writing: %w", reason)
	s.stopped.CompareAndSwap(nil, &reason)
}
