package storage

import (
	"context"
	"fmt"
	"time"

	"github.com/swapper-go/swapper/internal/bounds"
)

// Leaser is implemented by stores that several processes may use at once: it is how
// they share work. A store without it is used by one process, which does all
// the work itself; a type that wraps a Store hides its Leaser unless it passes it on.
//
// A lease is the right of one owner to a name until a moment. Owners and names are
// strings of arbitrary bytes, compared bytewise; an owner is a process, which makes up
// a name for itself that no other process has. No name has two owners at one moment of the
// store's clock, which alone judges when a lease ends: the clocks of the
// processes may differ. A lease that has ended is as one that never was.
//
// A lease says who should do something, not who may: a process that is paused after it
// was told that it holds a name acts when another has it. What must not happen twice
// is kept from it by compare-and-set alone. So leases need not survive the loss of a machine, and a
// store may forget them all at any time.
//
// The rules of [Store] on contexts and concurrency hold here too. Arguments beyond the limits
// are refused with an error that wraps [ErrInvalid]. After any other error it is not
// known whether the call was carried out; it can be made again.
type Leaser interface {
	// Lease takes the leases of all names for owner, or renews those that it holds,
	// until ttl from now by the store's clock, and returns the names that owner now
	// holds until then, in any order. A name that another owner holds is left out; it stays
	// that owner's, and the others are taken all the same. A name that is given twice
	// counts once.
	Lease(ctx context.Context, owner string, ttl time.Duration, names ...string) (held []string, err error)

	// Release ends those of the leases that owner holds. The names of others, and
	// those that no process holds, are left as they are.
	Release(ctx context.Context, owner string, names ...string) error

	// Leases returns the owner of each name that begins with prefix and whose lease
	// has not ended.
	Leases(ctx context.Context, prefix string) (map[string]string, error)
}

// ValidateLease returns an error that wraps [ErrInvalid] unless leases of these names
// can be taken or released: at most 1024 in a call, names and owner of 1 to 256 bytes. Implementations of [Leaser] call it first in Lease, and in Release
// with a ttl of a millisecond, the shortest that there is.
func ValidateLease(owner string, ttl time.Duration, names []string) error {
	switch {
	case owner == "" || len(owner) > bounds.MaxName:
		return fmt.Errorf("owner of leases has %d bytes, must have 1 to %d: %w", len(owner), bounds.MaxName, ErrInvalid)
	case ttl < time.Millisecond:
		return fmt.Errorf("leases for %s, must be for %s at least: %w", ttl, time.Millisecond, ErrInvalid)
	case len(names) > bounds.MaxLeases:
		return fmt.Errorf("%d leases in one call, must be at most %d: %w", len(names), bounds.MaxLeases, ErrInvalid)
	}
	for _, name := range names {
		if name == "" || len(name) > bounds.MaxName {
			return fmt.Errorf("name of a lease has %d bytes, must have 1 to %d: %w", len(name), bounds.MaxName, ErrInvalid)
		}
	}
	return nil
}
