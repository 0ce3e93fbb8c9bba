package bolt

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"go.etcd.io/bbolt"
)

// headBucket says what the file is; the others hold the data.
var (
	headBucket    = []byte("head")
	entriesBucket = []byte("entries") // ID: record
	indexBucket   = []byte("index")   // scope, place: present; the keys that are not unique
	uniqueBucket  = []byte("unique")  // scope: place
	notesBucket   = []byte("notes")   // name: record
	dataBuckets   = [][]byte{entriesBucket, indexBucket, uniqueBucket, notesBucket}

	formatKey = []byte("format")
	schemaKey = []byte("schema")
)

const (
	formatName   = "swapper storage"
	schemaNumber = 1 // higher when an older version of this package could not read the file
)

// create makes an empty store at path unless something is there. The file
// appears there complete or not at all, so one that is empty or lacks its
// buckets is never a store whose creation was cut short, and is refused.
func create(path string) (err error) {
	draft, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".new-*") // mode 0600
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.Remove(draft.Name())) }()
	if err := draft.Close(); err != nil {
		return err
	}
	db, err := bbolt.Open(draft.Name(), 0o600, nil)
	if err != nil {
		return err
	}
	err = db.Update(func(tx *bbolt.Tx) error {
		for _, name := range dataBuckets {
			if _, err := tx.CreateBucket(name); err != nil {
				return err
			}
		}
		head, err := tx.CreateBucket(headBucket)
		if err != nil {
			return err
		}
		if err := head.Put(schemaKey, binary.BigEndian.AppendUint64(nil, schemaNumber)); err != nil {
			return err
		}
		return head.Put(formatKey, []byte(formatName))
	})
	if err := errors.Join(err, db.Close()); err != nil {
		return err
	}
	// A link, unlike a rename, never replaces a store that another process has made meanwhile.
	if err := os.Link(draft.Name(), path); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("the file system must support hard links: %w", err)
	}
	return syncDir(filepath.Dir(path))
}

// syncDir makes the directory's entries durable.
func syncDir(path string) error {
	if runtime.GOOS == "windows" { // keeps a log of them, and cannot sync a directory
		return nil
	}
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}
