package solana

import (
	"context"
	"errors"
	"fmt"
	"math/big"

	btc "github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/btc/rawtx"
	"github.com/swapper-go/swapper/internal/btc/relay"
	"github.com/swapper-go/swapper/internal/devnet/solana/bank"
	"github.com/swapper-go/swapper/internal/solana/wire"
)

// startRelays starts the relay of each version at the Bitcoin network's tip.
func (n *Net) startRelays(ctx context.Context) error {
	first, err := n.firstStoredHeader()
	if err != nil {
		return err
	}
	n.relayFirst = first
	for _, p := range n.options.Programs {
		if _, err := n.faucet.Send(ctx, p.RelayInitInstruction(n.faucet.Address, first)); err != nil {
			return err
		}
	}
	return nil
}

// firstStoredHeader is the Bitcoin network's tip as a relay would have stored it
// that had followed the chain from its first block.
func (n *Net) firstStoredHeader() (s wire.StoredHeader, err error) {
	tip, _ := n.Bitcoin().Tip()
	if int(tip) < len(s.PrevTimes) {
		return s, errors.New("the relay needs a Bitcoin network of ten blocks")
	}
	s.Work = new(big.Int)
	for height := range tip + 1 {
		h, err := n.Bitcoin().Header(height)
		if err != nil {
			return s, err
		}
		s.Work.Add(s.Work, rawtx.Difficulty(h.Bits))
		if height%2016 == 0 {
			s.LastDiffAdjustment = h.Time
		}
		if back := int(tip - height); back >= 1 && back <= len(s.PrevTimes) {
			s.PrevTimes[len(s.PrevTimes)-back] = h.Time
		}
		s.Header = h
	}
	return s, nil
}

// storedHeaders are those of the Bitcoin network's present chain, from the relays'
// first one on.
func (n *Net) storedHeaders() ([]wire.StoredHeader, error) {
	tip, _ := n.Bitcoin().Tip()
	all := []wire.StoredHeader{n.relayFirst}
	for height := n.relayFirst.Header.Height + 1; height <= tip; height++ {
		h, err := n.Bitcoin().Header(height)
		if err != nil {
			return nil, err
		}
		all = append(all, all[len(all)-1].Next(h))
	}
	return all, nil
}

// StoredHeader returns the header of the Bitcoin network's present chain as the
// relays store it, whether they know it yet or not.
func (n *Net) StoredHeader(height uint32) (wire.StoredHeader, error) {
	all, err := n.storedHeaders()
	if err != nil {
		return wire.StoredHeader{}, err
	}
	first := n.relayFirst.Header.Height
	if height < first || height-first >= uint32(len(all)) {
		return wire.StoredHeader{}, fmt.Errorf("the relay's headers are from %d to %d", first, first+uint32(len(all))-1)
	}
	return all[height-first], nil
}

// SyncRelay brings the relays to the Bitcoin network's tip, with a fork where that
// has been reorganised. A reorganisation to below the height at which the relays
// began is an error. Concurrent calls go one after the other.
func (n *Net) SyncRelay(ctx context.Context) error {
	n.relaying.Lock() // two would send the same headers, and the second be refused
	defer n.relaying.Unlock()
	all, err := n.storedHeaders()
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
