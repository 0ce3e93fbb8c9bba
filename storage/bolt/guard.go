package bolt

import (
	"fmt"
	"runtime/debug"

	"github.com/swapper-go/swapper/storage"
)

// damage is what bbolt met when it panicked.
type damage struct{ met any }

func (d *damage) Error() string { return fmt.Sprintf("%v: %v", storage.ErrCorrupt, d.met) }
func (d *damage) Unwrap() error { return storage.ErrCorrupt }

// guarded runs f and returns its error, or a *damage if it panicked.
//
// bbolt trusts its pages: on a damaged one it panics, or follows a wrong
// offset out of its memory map, and where the file has been cut under the map
// the machine faults. SetPanicOnFault, which holds for this goroutine, turns
// the faults, too, into panics. So every access to the file goes through here,
// and nothing but such accesses.
func guarded(f func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if met := recover(); met != nil {
			err = &damage{met}
		}
	}()
	return f()
}
