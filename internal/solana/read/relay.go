package read

import (
	"context"
	"errors"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/solana/rpc"
	"github.com/swapper-go/swapper/internal/solana/wire"
)

// Relay returns the relay's main chain, in one round trip. [wire.ErrAbsent] says that
// it was never initialised.
func (r *Reader) Relay(ctx context.Context) (*wire.RelayState, error) {
	got, err := rpc.ReadAccounts(ctx, r.ledger.Node, []wire.Key{r.Programs.RelayState()}, rpc.Confirmed)
	if err != nil {
		return nil, err
	}
	return r.relayState(got.All[0])
}

func (r *Reader) relayState(a *wire.AccountReply) (*wire.RelayState, error) {
	if a == nil || len(a.Data) == 0 {
		return nil, wire.ErrAbsent
	}
	if a.Owner != r.Programs.Relay {
		return nil, errors.New("the account belongs to " + a.Owner.String() + ", not to the relay")
	}
	return wire.DecodeRelayState(a.Data)
}

// Header finds the stored header of a Bitcoin block that the relay's main chain holds,
// and the state of the relay. header is nil if the relay does not have it, any more or
// yet. It takes two round trips, one for a header that was read before or that the
// relay never had, more where the history of the block's address is long. The relay's
// tip may be too low for the confirmations that a claim needs: bring it up to date then
// (protocol: chain-solana.md §19, §21.6).
func (r *Reader) Header(ctx context.Context, block bitcoin.Hash) (state *wire.RelayState, header *wire.StoredHeader, err error) {
	topic := r.Programs.RelayHeader(block)
	known, ok := r.memory.headers.Get(block)
	var accounts rpc.Accounts
	s := scan{of: topic}
	requests := []rpc.Request{rpc.AccountsRequest([]wire.Key{r.Programs.RelayState()}, rpc.Confirmed, &accounts)}
	if !ok {
		requests = append(requests, s.request())
	}
	if err := rpc.AskAll(ctx, r.ledger.Node, requests); err != nil {
		return nil, nil, err
	}
	if state, err = r.relayState(accounts.All[0]); err != nil {
		return nil, nil, err
	}
	if ok && r.holds(state, known) {
		return state, &known, nil
	}
	// A header that was stored once may have come back on another branch.
	is := func(h wire.StoredHeader) bool { return h.Header.Hash() == block }
	header, err = r.findHeader(ctx, &s, state, is)
	return state, header, err
}

// holds reports whether the relay's main chain has a header.
func (r *Reader) holds(state *wire.RelayState, h wire.StoredHeader) bool {
	c, ok := state.Commitment(h.Header.Height)
	return ok && c == h.Commitment()
}

// TipHeader returns the stored header of the relay's tip. It takes three round trips,
// one where the tip was read before.
func (r *Reader) TipHeader(ctx context.Context) (*wire.RelayState, *wire.StoredHeader, error) {
	state, err := r.Relay(ctx)
	if err != nil {
		return nil, nil, err
	}
	if h, ok := r.memory.headers.Get(state.TipHash); ok && h.Commitment() == state.TipCommitment {
		return state, &h, nil
	}
	s := scan{of: r.Programs.RelayHeader(state.TipHash)}
	h, err := r.findHeader(ctx, &s, state, func(h wire.StoredHeader) bool { return h.Commitment() == state.TipCommitment })
	if err == nil && h == nil {
		err = fault.New(fault.Upstream, "the node does not have the transaction that stored the relay's tip, block %d", state.Height)
	}
	return state, h, err
}

// findHeader goes back through a history for a header that the relay holds.
func (r *Reader) findHeader(ctx context.Context, s *scan, state *wire.RelayState, is func(wire.StoredHeader) bool) (header *wire.StoredHeader, err error) {
	err = s.run(ctx, r.ledger, func(tx *wire.SeenTx) (bool, error) {
		if h, ok := r.Programs.FindStored(state, tx.Logs, is); ok {
			r.memory.headers.Add(h.Header.Hash(), h)
			header = &h
		}
		return header != nil, nil
	})
	return header, err
}

// latestPage is how many transactions of the relay are read first to find its newest
// headers.
const latestPage = 10

// LatestHeader returns the newest header that the relay's main chain holds and for
// which inMain says so of Bitcoin's; nil if what was stored lately has none. It takes
// three round trips, two more for each page of the relay's history without such a
// header (protocol: chain-solana.md §19).
func (r *Reader) LatestHeader(ctx context.Context, inMain func(context.Context, bitcoin.Hash) (bool, error)) (*wire.RelayState, *wire.StoredHeader, error) {
	state, err := r.Relay(ctx)
	if err != nil {
		return nil, nil, err
	}
	var header *wire.StoredHeader
	s := scan{of: r.Programs.Relay, pageSize: latestPage}
	err = s.run(ctx, r.ledger, func(tx *wire.SeenTx) (bool, error) {
		events, _ := r.Programs.RelayEvents(tx.Logs)
		for i := len(events) - 1; i >= 0; i-- {
			h := events[i].Stored
			if h == nil || !r.holds(state, *h) {
				continue
			}
			r.memory.headers.Add(h.Header.Hash(), *h)
			in, err := inMain(ctx, h.Header.Hash())
			if err != nil {
				return false, err
			}
			if in {
				header = h
				return true, nil
			}
		}
		return false, nil
	})
	return state, header, err
}
