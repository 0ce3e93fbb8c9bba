package read

import (
	"context"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/solana/rpc"
	"github.com/swapper-go/swapper/internal/solana/wire"
)

// Heads returns the confirmed and the finalized slot, with the ledger's own time at
// them. It takes one round trip.
func (l *Ledger) Heads(ctx context.Context) (chains.Heads, error) {
	latest, final := newState(nil, rpc.Confirmed), newState(nil, rpc.Finalized)
	if err := rpc.AskAll(ctx, l.Node, append(latest.requests, final.requests...)); err != nil {
		return chains.Heads{}, err
	}
	return headsOf(latest, final)
}

func headsOf(latest, final *state) (h chains.Heads, err error) {
	if h.Latest, err = latest.head(); err == nil {
		h.Final, err = final.head()
	}
	if h.Final.Height > h.Latest.Height { // asked for one after the other
		h.Final = h.Latest
	}
	return h, err
}

// state asks for accounts together with the ledger's clock and its newest block.
type state struct {
	requests []rpc.Request
	gather   func() rpc.Accounts
	at       rpc.At
	block    *rpc.LatestBlockhash
	read     *rpc.Accounts
}

func newState(keys []wire.Key, at rpc.At) *state {
	s := &state{at: at, block: new(rpc.LatestBlockhash)}
	accounts, gather := rpc.AccountsRequests(append([]wire.Key{wire.ClockData}, keys...), at)
	// In front: what is not there at a block that was read before was not there at that block.
	s.requests, s.gather = append([]rpc.Request{rpc.LatestBlockhashRequest(at, s.block)}, accounts...), gather
	return s
}

func (s *state) accounts() rpc.Accounts {
	if s.read == nil {
		all := s.gather()
		s.read = &all
	}
	return *s.read
}

// account returns the i-th of the accounts that were asked for, nil if there is none.
func (s *state) account(i int) *wire.AccountReply { return s.accounts().All[i+1] }

// head is the block that all accounts were read at or after, and the time of the ledger
// then. Where they were read by another machine that does not have that block yet, it is
// their slot, without a hash.
func (s *state) head() (chains.Block, error) {
	all := s.accounts()
	if all.All[0] == nil {
		return chains.Block{}, fault.New(fault.Upstream, "the node does not have the ledger's clock")
	}
	c, err := wire.DecodeClock(all.All[0].Owner, all.All[0].Data)
	if err != nil {
		return chains.Block{}, fault.New(fault.Upstream, "%s state of the node: %w", s.at, err)
	}
	if s.block.Slot > all.Slot {
		return chains.Block{Height: all.Slot, Time: c.Unix}, nil
	}
	return chains.Block{Height: s.block.Slot, Hash: s.block.Hash.String(), Time: c.Unix}, nil
}
