package swap

import (
	"slices"
	"time"
)

// Marks reports whether that an effect begins has to be stored before it does: what must
// not happen twice, and what reveals the preimage for the first time, or while it is open
// whether an attempt before has revealed it.
func (r *Record) Marks(e Effect) bool {
	return e.Mark || e.Reveals && (r.Lightning.Revealed == 0 || r.Tried[e.Key()].open())
}

// Begin returns a copy of r that says that the process by begins an effect at a moment,
// and has until another one to end it.
func (r *Record) Begin(e Effect, by string, at, until time.Time) *Record {
	next := r.Clone()
	if next.Tried == nil {
		next.Tried = map[string]Try{}
	}
	try, now := next.Tried[e.Key()], At(at)
	if try.open() { // by a process that died, or is still at it: what this attempt is told says nothing about that one
		try.Attempts = max(try.Attempts, 1)
		if try.Outcome == Refused {
			try.Outcome = ""
		}
	}
	if try.Started == 0 {
		try.Started = now
	}
	if e.Reveals && next.Lightning.Revealed == 0 {
		next.Lightning.Revealed, try.Started = now, now
	}
	try.By, try.Busy = by, At(until)
	next.Tried[e.Key()] = try
	return next
}

// Elsewhere reports whether to leave an effect that must not happen twice to a process
// other than by: that process has begun it, and has time left to end it.
func (r *Record) Elsewhere(e Effect, by string, now time.Time) bool {
	try := r.Tried[e.Key()]
	return e.Mark && try.Busy != 0 && try.By != by && !try.Busy.Reached(now)
}

// open reports whether the answer to a marked attempt is not stored: the attempt is being
// made, or its answer was lost. Records from before attempts named a process show this
// only by Started.
func (t Try) open() bool { return t.Busy != 0 || t.Started != 0 && t.Attempts == 0 }

// reveals reports whether what was submitted carries the preimage.
func (s *Submission) reveals() bool {
	return s != nil && slices.ContainsFunc(s.Txs, func(tx SignedTx) bool { return tx.Reveals })
}
