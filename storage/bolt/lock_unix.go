//go:build unix && !solaris && !aix

package bolt

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"
)

const lockRetry = 20 * time.Millisecond

// lock takes the advisory lock that bbolt uses, before anything is read: what
// another process is writing just now would look damaged. bbolt takes it once
// more on the same descriptor, which changes nothing.
func lock(ctx context.Context, file *os.File, shared bool) error {
	how := syscall.LOCK_EX | syscall.LOCK_NB
	if shared {
		how = syscall.LOCK_SH | syscall.LOCK_NB
	}
	for {
		err := syscall.Flock(int(file.Fd()), how)
		switch {
		case err == nil:
			return nil
		case !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR):
			return fmt.Errorf("lock: %w", err)
		}
		select {
		case <-ctx.Done():
			return ErrInUse
		case <-time.After(lockRetry):
		}
	}
}
