package wire

import "time"

// How Solana counts time (§1, §3).
const (
	SlotTime      = 400 * time.Millisecond
	TxSlots       = 151 // a block hash is good for so many slots
	HashBlocks    = 150 // nodes name the end of one so many blocks after its own
	slotBuffer    = 20  // of which a signature is given up so many before the end
	maxSlotAge    = 4800 * time.Millisecond
	authGraceSecs = 30
)

// SlotAt is a slot that was heard of.
type SlotAt struct {
	Slot uint64
	Time time.Time
	Runs bool // it can be reckoned on from: processed and confirmed, not finalized
}

// Now returns the slot at a later time, and false when it was heard of too long ago.
// A finalized slot is not reckoned on.
func (s SlotAt) Now(now time.Time) (uint64, bool) {
	age := now.Sub(s.Time)
	if age < 0 || age >= maxSlotAge {
		return 0, false
	}
	if !s.Runs {
		return s.Slot, true
	}
	return s.Slot + uint64(age/SlotTime), true
}
