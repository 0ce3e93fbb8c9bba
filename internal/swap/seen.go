package swap

import (
	"time"

	"github.com/swapper-go/swapper/chains"
)

// Seen says which part of the chain the state of a swap is based on.
type Seen struct {
	// Chain is the block height that a node must have reached for its negative
	// answer to count: the block in which the escrow was opened or ended, or the
	// vault paid; until one of these is seen, the head that a decision was based on.
	// A node below this height lags behind. A node at or above it that does not know
	// of the event is on another branch, even one that is not longer than the
	// previous branch. 0 means unknown.
	Chain uint64 `json:"chain,omitempty"`
	// At is when Chain was last changed. A head more than lagMost newer than that
	// counts as up to date at any height: the height recorded may have been wrong.
	At Millis `json:"at,omitempty"`
}

// lagMost is how far behind the clock the head of an up-to-date node may be.
const lagMost = 10 * time.Minute

// Reached reports whether a node with this head must know of what was seen.
func (s Seen) Reached(head chains.Block) bool {
	return head.Height >= s.Chain || s.At != 0 && head.Time > s.At.Time().Add(lagMost).Unix()
}

// takesBack reports whether an answer read at a head that contradicts what was
// seen before counts: the node has reached the block that it stood in. Where that
// is not known (an imported record) nothing is taken back.
func (r *Record) takesBack(head chains.Block) bool {
	return r.Seen.Chain != 0 && r.Seen.Reached(head)
}

// noteSeen keeps what the next record rests on. moved says that the facts at hand
// have just decided.
func (in Decision) noteSeen(next *Record, moved bool) {
	seen := &next.Seen.Chain
	defer func(before uint64) {
		if *seen != before {
			next.Seen.At = At(in.Now)
		}
	}(*seen)
	note := func(head chains.Block, at uint64, shown bool) {
		switch {
		case shown && at != 0 && (moved || max(head.Height, at) >= *seen):
			*seen = at
		case moved && (at == 0 || !shown): // not known in which block
			*seen = max(*seen, head.Height)
		}
	}
	for _, f := range []Fact[chains.EscrowFact]{in.Obs.Found, in.Obs.Escrow} {
		if v := f.Value; f.Known() {
			note(v.Head, max(v.Opened.Height, v.Finished.Height), v.State != chains.EscrowNone)
		}
	}
	if v := in.Obs.Withdrawal.Value; in.Obs.Withdrawal.Known() {
		note(v.Head, v.Height, v.State != chains.WithdrawalNone)
	}
}
