package evm

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"iter"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/fault"
)

// History takes for each 4750 blocks one round trip per contract and role, and
// some for the swaps that it finds there.
func (c *chain) History(ctx context.Context, signer string, from uint64) iter.Seq2[chains.Past, error] {
	return func(yield func(chains.Past, error) bool) {
		a, err := Address(signer, false)
		if err != nil {
			yield(chains.Past{}, fault.At("signer", err))
			return
		}
		heads, err := c.Heads(ctx)
		if err != nil {
			yield(chains.Past{}, err)
			return
		}
		who := common.BytesToHash(common.HexToAddress(a).Bytes())
		for _, k := range c.contracts {
			for _, window := range LogRanges(max(from, min(k.EscrowManager.Height, k.VaultManager.Height)), heads.Latest.Height, LogRange*ParallelLogReads) {
				past, err := k.past(ctx, who, window, heads)
				if err != nil {
					yield(chains.Past{}, err)
					return
				}
				for _, p := range past {
					if !yield(p, nil) {
						return
					}
				}
			}
		}
	}
}

// past returns the swaps of an account that were opened, or paid out by a vault,
// in a range of blocks.
func (k *contracts) past(ctx context.Context, who common.Hash, window BlockRange, heads chains.Heads) ([]chains.Past, error) {
	opened := []common.Hash{escrowABI().Events["Initialize"].ID}
	var logs []types.Log
	for _, topics := range [][][]common.Hash{{opened, {who}}, {opened, nil, {who}}} {
		some, err := k.chain.filter(ctx, k.EscrowManager.Address, window, topics)
		if err != nil {
			return nil, err
		}
		logs = append(logs, some...)
	}
	var past []chains.Past
	var queries []chains.EscrowQuery
	seen := map[common.Hash]bool{}
	found, err := k.openings(ctx, logs)
	if err != nil {
		return nil, err
	}
	for _, e := range found {
		if hash := common.BytesToHash(e.Hash); !seen[hash] {
			seen[hash] = true
			queries = append(queries, chains.EscrowQuery{Escrow: e})
		}
	}
	if len(queries) > 0 {
		facts, err := k.Escrows(ctx, queries)
		if err != nil {
			return nil, err
		}
		for i, f := range facts {
			past = append(past, chains.Past{Escrow: queries[i].Escrow, Fact: f})
		}
	}
	withdrawals, err := k.pastWithdrawals(ctx, who, window, heads)
	return append(past, withdrawals...), err
}

func (k *contracts) pastWithdrawals(ctx context.Context, who common.Hash, window BlockRange, heads chains.Heads) ([]chains.Past, error) {
	events := vaultABI().Events
	logs, err := k.chain.filter(ctx, k.VaultManager.Address, window, [][]common.Hash{{events["Claimed"].ID, events["Fronted"].ID}, nil, {who}})
	if err != nil {
		return nil, err
	}
	var past []chains.Past
	for _, l := range logs {
		e, err := k.DecodeLog(l)
		if err != nil {
			continue
		}
		w := chains.PastWithdrawal{Version: k.Version(), Recipient: common.BytesToAddress(who[12:]).Hex()}
		w.Fact = chains.WithdrawalFact{Height: l.BlockNumber, Head: heads.Latest, Final: l.BlockNumber <= heads.Final.Height}
		switch e := e.(type) {
		case VaultClaimEvent:
			w.Owner, w.VaultID, w.BitcoinTx, w.Raw = e.Owner.Hex(), e.ID, e.BitcoinTx, e.Amounts
			w.Fact.State, w.Fact.ClaimTx = chains.WithdrawalClaimed, l.TxHash.Hex()
		case VaultFrontEvent:
			w.Owner, w.VaultID, w.BitcoinTx, w.Raw = e.Owner.Hex(), e.ID, e.BitcoinTx, e.Amounts
			w.Fact.State, w.Fact.FrontTx = chains.WithdrawalFronted, l.TxHash.Hex()
		default:
			continue
		}
		past = append(past, chains.Past{Withdrawal: &w})
	}
	return past, nil
}

// findEscrow searches the openings between two parties for a claim hash. It
// returns nil without an error if there is none.
func (k *contracts) findEscrow(ctx context.Context, q chains.EscrowQuery) (*chains.Escrow, error) {
	offerer, err := Address(q.Offerer, false)
	if err != nil {
		return nil, fault.At("offerer", err)
	}
	claimer, err := Address(q.Claimer, false)
	if err != nil {
		return nil, fault.At("claimer", err)
	}
	heads, err := k.chain.Heads(ctx)
	if err != nil {
		return nil, err
	}
	window := BlockRange{max(q.From, k.EscrowManager.Height), heads.Latest.Height}
	logs, err := k.chain.filter(ctx, k.EscrowManager.Address, window, [][]common.Hash{
		{escrowABI().Events["Initialize"].ID},
		{common.BytesToHash(common.HexToAddress(offerer).Bytes())},
		{common.BytesToHash(common.HexToAddress(claimer).Bytes())},
	})
	if err != nil {
		return nil, err
	}
	found, err := k.openings(ctx, logs)
	if err != nil {
		return nil, err
	}
	for _, e := range found {
		if bytes.Equal(e.ClaimHash, q.ClaimHash) {
			return e, nil
		}
	}
	return nil, nil
}

// openings reads the escrows that logs say were opened from the transactions
// that opened them. What cannot be read, as when it was opened through another
// contract and the node gives no trace, is left out.
func (k *contracts) openings(ctx context.Context, logs []types.Log) ([]*chains.Escrow, error) {
	if len(logs) == 0 {
		return nil, nil
	}
	frames := make([]*CallFrame, len(logs))
	requests := make([]Request, len(logs))
	for i, l := range logs {
		requests[i] = Request{Method: "eth_getTransactionByHash", Params: []any{l.TxHash}, Result: &frames[i]}
	}
	if err := batch(ctx, k.chain.node, requests); err != nil {
		return nil, err
	}
	traces := make([]*CallFrame, len(logs))
	var again []Request
	for i, l := range logs {
		if frames[i] != nil && frames[i].To != k.EscrowManager.Address {
			again = append(again, Request{Method: "debug_traceTransaction", Params: []any{l.TxHash, json.RawMessage(`{"tracer":"callTracer"}`)}, Result: &traces[i]})
		}
	}
	if len(again) > 0 {
		if err := k.chain.node.Batch(ctx, again); err != nil {
			return nil, err
		}
	}
	var found []*chains.Escrow
	for i, l := range logs {
		e, err := k.opening(l, frames[i], traces[i])
		if err != nil {
			k.chain.env.Log.Info("an opened escrow cannot be read", "chain", k.chain.net.Chain, "tx", l.TxHash.Hex(), "err", err)
			continue
		}
		found = append(found, e)
	}
	return found, nil
}

func (k *contracts) opening(l types.Log, tx, trace *CallFrame) (*chains.Escrow, error) {
	event, err := k.DecodeLog(l)
	if err != nil {
		return nil, err
	}
	init, ok := event.(InitializeEvent)
	if !ok {
		return nil, fmt.Errorf("not an opening of a swap")
	}
	if trace != nil {
		tx = trace
	}
	if tx == nil {
		return nil, fmt.Errorf("the node does not have the transaction")
	}
	s, err := k.FindSwapData(*tx, init.EscrowHash)
	if err != nil {
		return nil, err
	}
	e, err := k.Deployment.Escrow(s)
	return &e, err
}
