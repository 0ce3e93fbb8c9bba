package solana

import (
	"context"
	"errors"
	"fmt"

	btc "github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/btc/rawtx"
	"github.com/swapper-go/swapper/internal/btc/relay"
	"github.com/swapper-go/swapper/internal/devnet/bitcoin"
	"github.com/swapper-go/swapper/internal/devnet/solana/bank"
	"github.com/swapper-go/swapper/internal/solana/wire"
)

// startRelays starts the relay of each version at the Bitcoin network's tip.
func (n *Net) startRelays(ctx context.Context) error {
	if err := n.followBitcoin(); err != nil {
		return err
	}
	for _, p := range n.options.Programs {
		if _, err := n.faucet.Send(ctx, p.RelayInitInstruction(n.faucet.Address, n.headers.First)); err != nil {
			return err
		}
	}
	return nil
}

// followBitcoin begins the relays' headers with the Bitcoin network's tip.
func (n *Net) followBitcoin() error {
	tip, err := n.Bitcoin().Relayed(rawtx.Difficulty)
	n.headers = bitcoin.Stored[wire.StoredHeader]{Height: tip.Header.Height,
		First: wire.StoredHeader{Work: tip.Work, Header: tip.Header, LastDiffAdjustment: tip.Adjusted, PrevTimes: tip.Times},
		Next:  func(last wire.StoredHeader, h btc.Header) (wire.StoredHeader, error) { return last.Next(h), nil }}
	return err
}

// StoredHeader returns the header of the Bitcoin network's present chain as the relays store it,
// whether they know it yet or not.
func (n *Net) StoredHeader(height uint32) (wire.StoredHeader, error) {
	return n.headers.At(n.Bitcoin(), height)
}

// SyncRelay brings the relays to the Bitcoin network's tip, with a fork where that
// has been reorganised. A reorganisation to below the height at which the relays
// began is an error. Concurrent calls go one after the other.
func (n *Net) SyncRelay(ctx context.Context) error {
	n.relaying.Lock() // two would send the same headers, and the second be refused
	defer n.relaying.Unlock()
	all, err := n.headers.All(n.Bitcoin())
	if err != nil {
		return err
	}
	for _, p := range n.options.Programs {
		if err := n.syncRelay(ctx, p, all); err != nil {
			return err
		}
	}
	return nil
}

func (n *Net) syncRelay(ctx context.Context, p wire.Programs, all []wire.StoredHeader) error {
	state, err := n.relayState(p)
	if err != nil {
		return err
	}
	known := len(all) - 1
	for ; known >= 0; known-- {
		if c, ok := state.Commitment(all[known].Header.Height); ok && c == all[known].Commitment() {
			break
		}
	}
	if known < 0 {
		return errors.New("the relay's first header is not in Bitcoin's chain any more")
	}
	op, limit := relay.SaveMain, wire.MaxMainHeaders
	missing := len(all) - 1 - known
	switch {
	case all[known].Header.Height == state.Height:
	case missing <= wire.MaxShortForkHeaders:
		op, limit = relay.SaveShortFork, wire.MaxShortForkHeaders
	default:
		op, limit = relay.SaveNewFork, wire.MaxForkHeaders
	}
	for known < len(all)-1 {
		var headers []btc.Header
		for _, s := range all[known+1 : min(known+1+limit, len(all))] {
			headers = append(headers, s.Header)
		}
		ix, err := p.SubmitInstruction(op, n.faucet.Address, headers, all[known], state.ForkCounter)
		if err != nil {
			return err
		}
		if _, err := n.faucet.Send(ctx, ix); err != nil {
			return fmt.Errorf("relay headers from %d on: %w", headers[0].Height, err)
		}
		known += len(headers)
		if op == relay.SaveNewFork {
			op = relay.SaveFork
		}
		// A fork that is longer than the main chain has become it.
		if op == relay.SaveFork && all[known].Header.Height > state.Height {
			op, limit = relay.SaveMain, wire.MaxMainHeaders
		}
	}
	return nil
}

// RelayHeight returns the height of a version's relay.
func (n *Net) RelayHeight(version string) (uint32, error) {
	p, err := n.Network().Version(version)
	if err != nil {
		return 0, err
	}
	state, err := n.relayState(p)
	if err != nil {
		return 0, err
	}
	return state.Height, nil
}

func (n *Net) relayState(p wire.Programs) (s *wire.RelayState, err error) {
	n.bank.Read(bank.Processed, 0, func(v *bank.View) {
		a, _ := v.Account(p.RelayState())
		s, err = wire.DecodeRelayState(a.Data)
	})
	return s, err
}

// Payment returns what a claim needs to prove a mined Bitcoin transaction: where it
// is, the header of its block, and the transaction without witnesses. The relay must
// know the block, see [Net.SyncRelay].
func (n *Net) Payment(id btc.Hash) (p wire.Proof, in wire.StoredHeader, stripped []byte, err error) {
	tx, merkle, err := n.Bitcoin().Proof(id)
	if err != nil {
		return p, in, nil, err
	}
	if in, err = n.StoredHeader(merkle.Height); err != nil {
		return p, in, nil, err
	}
	stripped, err = rawtx.Strip(tx)
	return wire.Proof{TxID: merkle.TxID, Index: uint32(merkle.Pos), Path: merkle.Hashes}, in, stripped, err
}
