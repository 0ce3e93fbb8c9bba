package watchtower

import (
	"slices"
	"sync"
	"time"

	"github.com/swapper-go/swapper/chains"
)

// heard is what a message of others says: an escrow and a preimage that opens it. Whether
// the escrow exists is not known yet.
type heard struct {
	escrow   chains.Escrow
	preimage chains.Preimage
	at       time.Time // when it was heard last
	looks    int       // how often the chain was asked
	refused  bool      // its claim did not pay when it was looked at last
}

// What others say costs them nothing, so it is kept in memory alone until the chain shows
// it: those who mean it say it again while the escrow is open (protocol: utilities.md §14).
const (
	maxHeard  = 4096
	heardLife = 10 * time.Minute // without being heard again
	perLook   = 64               // escrows that a chain is asked about at once
	perRound  = 512              // of these, and of the stored records, that a round looks at
)

// hearing is what was heard and is not believed yet. Safe for concurrent use.
type hearing struct {
	mu  sync.Mutex
	all []*heard // the next one to be looked at first
}

// add keeps what was heard. When there is no room, the one that the chain has been asked about
// most often goes, unless none has: then the new one does.
func (h *hearing) add(n heard) {
	h.mu.Lock()
	defer h.mu.Unlock()
	var worst *heard
	for _, known := range h.all {
		if known.escrow.Version == n.escrow.Version && string(known.escrow.Hash) == string(n.escrow.Hash) {
			known.at = n.at
			return
		}
		if worst == nil || known.looks > worst.looks {
			worst = known
		}
	}
	if len(h.all) >= maxHeard {
		if worst.looks == 0 {
			return
		}
		h.all = slices.DeleteFunc(h.all, func(k *heard) bool { return k == worst })
	}
	h.all = append(h.all, &n)
}

// take returns those to be looked at next, which go behind the others, and forgets those that
// were not heard again in time.
func (h *hearing) take(now time.Time, max int) []*heard {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.all = slices.DeleteFunc(h.all, func(k *heard) bool { return now.Sub(k.at) > heardLife })
	n := min(len(h.all), max)
	some := slices.Clone(h.all[:n])
	for _, k := range some {
		k.looks++
	}
	h.all = append(slices.Clone(h.all[n:]), some...)
	return some
}

func (h *hearing) size() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.all)
}

// drop forgets one.
func (h *hearing) drop(one *heard) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.all = slices.DeleteFunc(h.all, func(k *heard) bool { return k == one })
}

// refuse notes whether the claim of one is refused because it does not pay.
func (h *hearing) refuse(one *heard, refused bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	one.refused = refused
}

// refusedNow counts those.
func (h *hearing) refusedNow() (n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, k := range h.all {
		if k.refused {
			n++
		}
	}
	return n
}
