package evm

import (
	"context"
	"fmt"
	"slices"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/btc/relay"
	"github.com/swapper-go/swapper/internal/evm/rpc"
	"github.com/swapper-go/swapper/internal/evm/wire"
)

// relayView is the relay as the synchroniser asks for it. It keeps the stored
// forms of the headers that it gave.
type relayView struct {
	k     *contracts
	heads chains.Heads
	relay.Kept[wire.StoredHeader]
}

func (v *relayView) keep(h wire.StoredHeader) relay.Header {
	return v.Keep(h, relay.Header{Header: h.Header(), Work: h.ChainWork()})
}

// Tip takes three round trips, one more if the header came through another
// contract.
func (v *relayView) Tip(ctx context.Context) (relay.Header, error) {
	ask, err := wire.RelayABI().Pack("getTipCommitHash")
	if err != nil {
		return relay.Header{}, err
	}
	var answer hexutil.Bytes
	if err := rpc.AskAll(ctx, v.k.chain.node, []rpc.Request{rpc.CallRequest(v.k.BtcRelay.Address, ask, "latest", &answer)}); err != nil {
		return relay.Header{}, err
	}
	if len(answer) != 32 || common.Hash(answer) == (common.Hash{}) {
		return relay.Header{}, bitcoin.ErrNotFound
	}
	commit := common.Hash(answer)
	for log, err := range v.headerLogs(ctx, &commit) {
		if err != nil {
			return relay.Header{}, err
		}
		h, found, err := v.k.RebuildHeader(ctx, v.k.chain.node, log.TxHash, commit)
		if err != nil {
			return relay.Header{}, err
		}
		if found {
			return v.keep(h), nil
		}
	}
	return relay.Header{}, fault.New(fault.Upstream, "the transaction that stored the relay's tip was not found")
}

// LatestKnown walks back over the stored headers, newest first, until one is in
// Bitcoin's best chain and in the relay's. It takes three round trips where the
// newest is, two if that is known from before, and two more for each that is not.
func (v *relayView) LatestKnown(ctx context.Context) (relay.Header, error) {
	for log, err := range v.headerLogs(ctx, nil) {
		if err != nil {
			return relay.Header{}, err
		}
		block := bitcoin.Hash(log.Topics[2])
		in, err := v.k.chain.env.Bitcoin.InMainChain(ctx, block)
		if err != nil {
			return relay.Header{}, fmt.Errorf("block %s: %w", block, err)
		}
		if !in {
			continue
		}
		h, found, err := v.storedBy(ctx, log, block)
		if err != nil {
			return relay.Header{}, err
		}
		if found {
			return v.keep(h), nil
		}
	}
	return relay.Header{}, bitcoin.ErrNotFound
}

// storedBy rebuilds the header that a log says was stored, and asks whether it is
// in the relay's main chain.
func (v *relayView) storedBy(ctx context.Context, log types.Log, block bitcoin.Hash) (wire.StoredHeader, bool, error) {
	h, known := v.k.memory.headers.Get(block)
	if !known {
		found, err := false, error(nil)
		if h, found, err = v.k.RebuildHeader(ctx, v.k.chain.node, log.TxHash, log.Topics[1]); err != nil || !found || h.Header().Hash() != block {
			return wire.StoredHeader{}, false, err
		}
	}
	_, main, err := v.k.ReadMain(ctx, v.k.chain.node, h)
	if err == nil && main {
		v.k.memory.headers.Add(block, h)
	}
	return h, main, err
}

// headerLogs yields the logs of stored headers, newest first, optionally only
// those of one commitment.
func (v *relayView) headerLogs(ctx context.Context, commit *common.Hash) func(func(types.Log, error) bool) {
	events := wire.RelayABI().Events
	topics := [][]common.Hash{{events["StoreHeader"].ID, events["StoreForkHeader"].ID}}
	if commit != nil {
		topics = append(topics, []common.Hash{*commit})
	}
	return func(yield func(types.Log, error) bool) {
		ranges := rpc.NewLogRanges(v.k.BtcRelay.Height, v.heads.Latest.Height, rpc.LogRange)
		for some := range ranges.Down(rpc.ParallelLogReads) {
			answers := make([][]types.Log, len(some))
			requests := make([]rpc.Request, len(some))
			for i, r := range some {
				requests[i] = rpc.LogRequest(v.k.BtcRelay.Address, r, topics, &answers[i])
			}
			if err := rpc.AskAll(ctx, v.k.chain.node, requests); err != nil {
				yield(types.Log{}, err)
				return
			}
			for _, logs := range slices.Backward(answers) {
				for _, l := range slices.Backward(logs) {
					if l.Address != v.k.BtcRelay.Address || l.Removed || len(l.Topics) < 3 || !slices.Contains(topics[0], l.Topics[0]) {
						continue
					}
					if !yield(l, nil) {
						return
					}
				}
			}
		}
	}
}
