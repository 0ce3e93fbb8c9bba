//go:build !unix || solaris || aix

package bolt

import (
	"context"
	"os"
)

// lock leaves it to bbolt to take the lock: these systems do not let one
// descriptor take it twice.
func lock(context.Context, *os.File, bool) error { return nil }
