package evm

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/big"

	"github.com/ethereum/go-ethereum/common"

	btc "github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/btc/rawtx"
	"github.com/swapper-go/swapper/internal/evm/wire"
)

// storedHeader can be passed to contracts.
type storedHeader wire.StoredHeader

// headerTuple is the form that accounts/abi packs.
type headerTuple struct{ Data [5][32]byte }

func (s storedHeader) tuple() (t headerTuple) {
	for i := range t.Data {
		copy(t.Data[i][:], s[32*i:])
	}
	return t
}

// firstStoredHeader is the Bitcoin network's tip as a relay would have stored it
// that had followed the chain from its first block.
func (n *Net) firstStoredHeader() (s wire.StoredHeader, err error) {
	tip, _ := n.Bitcoin().Tip()
	n.relayStart = tip
	if tip < 10 {
		return s, errors.New("the relay needs a Bitcoin network of ten blocks")
	}
	work := new(big.Int)
	var adjusted uint32
	for height := range tip + 1 {
		h, err := n.Bitcoin().Header(height)
		if err != nil {
			return s, err
		}
		work.Add(work, h.Work())
		if height%2016 == 0 {
			adjusted = h.Time
		}
		if back := tip - height; back >= 1 && back <= 10 {
			binary.BigEndian.PutUint32(s[160-4*back:], h.Time)
		}
		if height == tip {
			full := h.Bytes()
			copy(s[:80], full[:])
		}
	}
	work.FillBytes(s[80:112])
	binary.BigEndian.PutUint32(s[112:], tip)
	binary.BigEndian.PutUint32(s[116:], adjusted)
	n.relayFirst = s
	return s, nil
}

// storedHeaders are those of the Bitcoin network's present chain, from the
// relay's first one on.
func (n *Net) storedHeaders() ([]wire.StoredHeader, error) {
	tip, _ := n.Bitcoin().Tip()
	all := []wire.StoredHeader{n.relayFirst}
	for height := n.relayStart + 1; height <= tip; height++ {
		h, err := n.Bitcoin().Header(height)
		if err != nil {
			return nil, err
		}
		next, err := all[len(all)-1].Next(wire.Compact(h))
		if err != nil {
			return nil, err
		}
		all = append(all, next)
	}
	return all, nil
}

// StoredHeader returns the header of the Bitcoin network's present chain as the
// relay stores it, whether it knows it yet or not.
func (n *Net) StoredHeader(height uint32) (wire.StoredHeader, error) {
	all, err := n.storedHeaders()
	if err != nil {
		return wire.StoredHeader{}, err
	}
	if height < n.relayStart || height-n.relayStart >= uint32(len(all)) {
		return wire.StoredHeader{}, fmt.Errorf("the relay's headers are from %d to %d", n.relayStart, n.relayStart+uint32(len(all))-1)
	}
	return all[height-n.relayStart], nil
}

// SyncRelay brings the relay to the Bitcoin network's tip, with a short fork
// where that has been reorganised. A reorganisation to below the height at which
// the relay began is an error. Concurrent calls go one after the other.
func (n *Net) SyncRelay(ctx context.Context) error {
	n.relaying.Lock() // two would send the same headers, and the second be refused
	defer n.relaying.Unlock()
	all, err := n.storedHeaders()
	if err != nil {
		return err
	}
	tip, err := n.RelayHeight(ctx)
	if err != nil {
		return err
	}
	known := int(min(tip-n.relayStart, uint32(len(all)-1)))
	for ; known >= 0; known-- {
		commit, err := n.relayCommit(ctx, all[known].Height())
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
	for rest := all[known+1:]; len(rest) > 0; {
		branch := wire.Branch{Short: all[known].Height() < tip}
		count := min(len(rest), wire.MainHeaders)
		var compact []wire.CompactHeader
		for _, s := range rest[:count] {
			compact = append(compact, wire.Compact(s.Header()))
		}
		call, _, err := n.Deployment().SubmitHeaders(branch, all[known], compact)
		if err != nil {
			return err
		}
		if _, err := n.faucet.Send(ctx, call); err != nil {
			return fmt.Errorf("relay headers from %d on: %w", rest[0].Height(), err)
		}
		known += count
		tip = all[known].Height()
		rest = rest[count:]
	}
	return nil
}

// RelayHeight returns the height of the relay's tip.
func (n *Net) RelayHeight(ctx context.Context) (uint32, error) {
	answer, err := n.readRelay(ctx, "getBlockheight")
	return uint32(new(big.Int).SetBytes(answer).Uint64()), err
}

func (n *Net) relayCommit(ctx context.Context, height uint32) (common.Hash, error) {
	answer, err := n.readRelay(ctx, "getCommitHash", new(big.Int).SetUint64(uint64(height)))
	return common.BytesToHash(answer), err
}

func (n *Net) readRelay(ctx context.Context, method string, args ...any) ([]byte, error) {
	call, err := CallOf("BtcRelay", n.contracts.BtcRelay.Address, method, args...)
	if err != nil {
		return nil, err
	}
	return n.Read(ctx, n.faucet.Address, call)
}

// Proof returns what a claim needs to prove a mined Bitcoin transaction: the
// relay must know its block, see [Net.SyncRelay].
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
