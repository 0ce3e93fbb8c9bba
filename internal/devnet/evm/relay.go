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
	"github.com/swapper-go/swapper/internal/devnet/bitcoin"
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

// followBitcoin begins the relay's headers with the Bitcoin network's tip.
func (n *Net) followBitcoin() error {
	tip, err := n.Bitcoin().Relayed(rawtx.Work)
	if err != nil {
		return err
	}
	var s wire.StoredHeader
	header := tip.Header.Bytes()
	copy(s[:80], header[:])
	tip.Work.FillBytes(s[80:112])
	binary.BigEndian.PutUint32(s[112:], tip.Header.Height)
	binary.BigEndian.PutUint32(s[116:], tip.Adjusted)
	for i, t := range tip.Times {
		binary.BigEndian.PutUint32(s[120+4*i:], t)
	}
	n.headers = bitcoin.Stored[wire.StoredHeader]{First: s, Height: tip.Header.Height,
		Next: func(last wire.StoredHeader, h btc.Header) (wire.StoredHeader, error) {
			return last.Next(wire.Compact(h))
		}}
	return nil
}

// StoredHeader returns the header of the Bitcoin network's present chain as the relay stores it,
// whether it knows it yet or not.
func (n *Net) StoredHeader(height uint32) (wire.StoredHeader, error) {
	return n.headers.At(n.Bitcoin(), height)
}

// SyncRelay brings the relay to the Bitcoin network's tip, with a short fork
// where that has been reorganised. A reorganisation to below the height at which
// the relay began is an error. Concurrent calls go one after the other.
func (n *Net) SyncRelay(ctx context.Context) error {
	n.relaying.Lock() // two would send the same headers, and the second be refused
	defer n.relaying.Unlock()
	all, err := n.headers.All(n.Bitcoin())
	if err != nil {
		return err
	}
	tip, err := n.RelayHeight(ctx)
	if err != nil {
		return err
	}
	known := int(min(tip-n.headers.Height, uint32(len(all)-1)))
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
