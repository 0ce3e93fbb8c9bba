//go:build unix

package bolt

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/swapper-go/swapper/storage"
)

// TestFullDisk lets the kernel refuse to let the file grow.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "swaps")
	command := exec.Command(os.Args[0])
	command.Env = append(os.Environ(), fullStore+"="+path)
	if out, err := command.CombinedOutput(); err != nil || string(out) != "ok\n" {
		t.Fatalf("%v:\n%s", err, out)
	}
}

// fillDisk runs in a process of its own, since the limit holds for all of it.
func fillDisk(path string) {
	if err := tryFillDisk(context.Background(), path); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println("ok")
}

func tryFillDisk(ctx context.Context, path string) error {
	signal.Ignore(syscall.SIGXFSZ)
	s, err := Open(ctx, path, Options{})
	if err != nil {
		return err
	}
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		return err
	}
	before := limit
	limit.Cur = 300_000
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		return err
	}
	stored := 0
	for ; stored < 1000; stored++ {
		if err = s.Create(ctx, swap(stored)); err != nil {
			break
		}
	}
	full := func(err error) bool { // bbolt passes the error on as text only
		return err != nil && strings.Contains(err.Error(), syscall.EFBIG.Error()) && !errors.Is(err, storage.ErrUnknown)
	}
	if !full(err) || stored == 0 {
		return fmt.Errorf("after %d writes: got %v, want EFBIG", stored, err)
	}
	for range 3 {
		switch err := s.Create(ctx, swap(stored)); {
		case err == nil:
			stored++ // it found room in pages that were freed meanwhile
		case !full(err):
			return fmt.Errorf("again: got %v, want EFBIG", err)
		}
	}
	check := func() error {
		if err := s.Verify(ctx); err != nil {
			return err
		}
		for i := range stored {
			if _, err := s.Get(ctx, swap(i).ID); err != nil {
				return err
			}
		}
		if _, err := s.Get(ctx, swap(stored).ID); !errors.Is(err, storage.ErrNotFound) {
			return fmt.Errorf("refused entry: got %v, want ErrNotFound", err)
		}
		return nil
	}
	if err := check(); err != nil {
		return fmt.Errorf("while the disk is full: %w", err)
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &before); err != nil {
		return err
	}
	for range 50 {
		if err := s.Create(ctx, swap(stored)); err != nil {
			return fmt.Errorf("with space again: %w", err)
		}
		stored++
	}
	if err := check(); err != nil {
		return fmt.Errorf("with space again: %w", err)
	}
	if err := s.Close(); err != nil {
		return err
	}
	if s, err = Open(ctx, path, Options{}); err != nil {
		return err
	}
	if err := check(); err != nil {
		return fmt.Errorf("opened again: %w", err)
	}
	return s.Close()
}
