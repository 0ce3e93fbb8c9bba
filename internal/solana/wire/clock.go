package wire

import (
	"errors"
	"fmt"
	"math"
)

// ClockData is the account through which the ledger tells its own time: the one that
// programs go by.
var ClockData = MustKey("SysvarC1ock11111111111111111111111111111111")

// SysvarProgram owns the accounts through which the ledger tells of itself.
var SysvarProgram = MustKey("Sysvar1111111111111111111111111111111111111")

// clockSpace is the size of the clock's account.
const clockSpace = 40

// Clock is the ledger's own time at a slot.
type Clock struct {
	Slot uint64
	Unix int64 // seconds
}

// DecodeClock reads the account of [ClockData].
func DecodeClock(owner Key, data []byte) (c Clock, err error) {
	if owner != SysvarProgram || len(data) < clockSpace {
		return c, errors.New("the account is not the ledger's clock")
	}
	r := reader{data: data}
	c.Slot = r.u64()
	r.u64() // start of the epoch
	r.u64() // epoch
	r.u64() // epoch of the leaders that are known
	unix := r.u64()
	if unix > math.MaxInt64/1_000_000_000 {
		return Clock{}, fmt.Errorf("the ledger's clock is at %d, not at a time", unix)
	}
	c.Unix = int64(unix)
	return c, r.err
}

// Bytes writes the account, as far as it is read here.
func (c Clock) Bytes() []byte {
	w := make(writer, 0, clockSpace)
	return *w.u64(c.Slot).u64(0).u64(0).u64(0).u64(uint64(c.Unix))
}
