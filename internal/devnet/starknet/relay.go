package starknet

import (
	"context"
	"errors"
	"fmt"

	btc "github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/btc/rawtx"
	"github.com/swapper-go/swapper/internal/devnet/bitcoin"
	"github.com/swapper-go/swapper/internal/starknet/wire"
)

// followBitcoin begins the relay's headers with the Bitcoin network's tip.
func (n *Net) followBitcoin() error {
	tip, err := n.Bitcoin().Relayed(rawtx.Work)
	n.headers = bitcoin.Stored[wire.StoredHeader]{Height: tip.Header.Height, Next: wire.StoredHeader.Next,
		First: wire.StoredHeader{Work: tip.Work, Header: tip.Header, LastAdjustment: tip.Adjusted, PreviousTimes: tip.Times}}
	return err
}

// StoredHeader returns the header of the Bitcoin network's present chain as the relay stores it,
// whether it knows it yet or not.
func (n *Net) StoredHeader(height uint32) (wire.StoredHeader, error) {
	return n.headers.At(n.Bitcoin(), height)
}

// SyncRelay brings the relay to the Bitcoin network's tip, with a fork where that has
// been reorganised. A reorganisation to below the height at which the relay began is
// an error. Concurrent calls go one after the other.
func (n *Net) SyncRelay(ctx context.Context) error {
	n.relaying.Lock() // two would send the same headers, and the second be refused
	defer n.relaying.Unlock()
	all, err := n.headers.All(n.Bitcoin())
	if err != nil {
		return err
	}
	tip, err := n.RelayHeight()
	if err != nil {
		return err
	}
	known := int(min(tip-n.headers.Height, uint32(len(all)-1)))
	for ; known >= 0; known-- {
		commit, err := n.relayCommit(all[known].Header.Height)
		if err != nil {
			return err
		}
		if commit == all[known].CommitHash() {
			break
		}
	}
	if known < 0 {
		return errors.New("the relay's first header is not in Bitcoin's chain any more")
	}
	var branch wire.Branch
	most := wire.MainHeaders
	switch missing := len(all) - 1 - known; {
	case all[known].Header.Height == tip:
	case missing <= most:
		branch.Short = true
	default:
		branch.Fork, most = uint64(tip), wire.ForkHeaders // another one each time: the tip has become higher by then
	}
	for known < len(all)-1 {
		var headers []btc.Header
		for _, s := range all[known+1 : min(known+1+most, len(all))] {
			headers = append(headers, s.Header)
		}
		call, _, err := n.Deployment().SubmitHeaders(branch, all[known], headers)
		if err != nil {
			return err
		}
		if _, err := n.faucet.Send(ctx, call); err != nil {
			return fmt.Errorf("relay headers from %d on: %w", headers[0].Height, err)
		}
		known += len(headers)
		// A fork with more work than the main chain has become it: here, each block has as much.
		if branch.Fork != 0 && all[known].Header.Height > tip {
			branch, most = wire.Branch{}, wire.MainHeaders
		}
	}
	return nil
}

// RelayHeight returns the height of the relay's tip.
func (n *Net) RelayHeight() (uint32, error) {
	answer, err := n.Call(n.Deployment().BtcRelay.Address, wire.EntryBlockHeight)
	if err != nil {
		return 0, err
	}
	return wire.ReadRelayNumber(answer)
}

func (n *Net) relayCommit(height uint32) (wire.Felt, error) {
	answer, err := n.Call(n.Deployment().BtcRelay.Address, wire.EntryCommitHash, wire.FeltOf(uint64(height)))
	if err != nil {
		return wire.Felt{}, err
	}
	return wire.ReadCommitHash(answer)
}

// Proof returns what a claim needs to prove a mined Bitcoin transaction: the relay must
// know its block, see [Net.SyncRelay].
func (n *Net) Proof(id btc.Hash, vout, confirmations uint32) (wire.BitcoinProof, error) {
	tx, merkle, err := n.Bitcoin().Proof(id)
	if err != nil {
		return wire.BitcoinProof{}, err
	}
	header, err := n.StoredHeader(merkle.Height)
	if err != nil {
		return wire.BitcoinProof{}, err
	}
	raw, err := rawtx.Strip(tx)
	return wire.BitcoinProof{Tx: raw, Vout: vout, Confirmations: confirmations, Header: header, Merkle: merkle}, err
}
