package read

import (
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/solana/rpc"
	"github.com/swapper-go/swapper/internal/solana/wire"
)

// authQuestions ask what the states of authorisations depend on: how far the ledger
// is, and how high the blocks are whose hashes were signed. They go along with other
// questions.
type authQuestions struct {
	ledger    *Ledger
	requests  []rpc.Request
	processed uint64                // slot
	asked     map[uint64]*rpc.Block // by slot
	heights   map[uint64]uint64     // by slot; those that are known
}

func newAuthQuestions(l *Ledger, queries []chains.EscrowQuery) *authQuestions {
	a := &authQuestions{ledger: l, asked: map[uint64]*rpc.Block{}, heights: map[uint64]uint64{}}
	any := false
	for _, q := range queries {
		if q.Auth == nil {
			continue
		}
		any = true
		init, err := wire.ParseInitAuth(*q.Auth)
		if err != nil {
			continue
		}
		if b, ok := l.blocks.Get(init.Slot); ok {
			a.heights[init.Slot] = *b.Height
		} else if a.asked[init.Slot] == nil {
			b := new(rpc.Block)
			a.asked[init.Slot] = b
			a.requests = append(a.requests, rpc.BlockRequest(init.Slot, rpc.Confirmed, b))
		}
	}
	if any {
		a.requests = append(a.requests, rpc.SlotRequest(rpc.Processed, &a.processed))
	}
	return a
}

// read takes the answers.
func (a *authQuestions) read() {
	for slot, b := range a.asked {
		if b.Height != nil {
			a.heights[slot] = *b.Height
			a.ledger.blocks.Add(slot, *b)
		}
	}
}

// state judges an authorisation whose signature was verified when it came. It has ended
// when the ledger's own time has passed its timeout, or when so many blocks are final
// that the hash that was signed counts no more; a slot without a block does not count
// towards that.
func (a *authQuestions) state(auth chains.Auth, heads readAt) chains.AuthState {
	var init *wire.InitAuth
	if parsed, err := wire.ParseInitAuth(auth); err == nil {
		init = &parsed
	}
	timeout := uint64(max(auth.Timeout, 0))
	final := time.Unix(heads.Final.Time, 0)
	if wire.Over(nil, timeout, 0, final) {
		return chains.AuthOver
	}
	if init != nil && wire.Over(init, timeout, heads.Final.Height, final) {
		// A block's hash counts for as many blocks as the signed one's did.
		if signed, ok := a.heights[init.Slot]; ok && heads.lastValid > signed+2*wire.TxSlots {
			return chains.AuthOver
		}
		return chains.AuthLate
	}
	now := a.ledger.Now()
	latest := max(a.processed, heads.Latest.Height)
	if heads.Latest.Time < auth.Timeout && !wire.UsableUntil(init, timeout, latest, now).IsZero() {
		return chains.AuthGood
	}
	return chains.AuthLate
}
