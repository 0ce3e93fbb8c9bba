package evm

import (
	"context"
	"iter"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/evm/rpc"
	"github.com/swapper-go/swapper/internal/evm/wire"
	"github.com/swapper-go/swapper/internal/settle"
)

// History takes one round trip for the heads, one for each 4750 blocks, and for a
// stretch in which there are swaps those of reading them.
func (c *chain) History(ctx context.Context, signer string, from uint64) iter.Seq2[chains.Past, error] {
	of, err := account("signer", signer)
	if err != nil {
		return settle.NoHistory(err)
	}
	return func(yield func(chains.Past, error) bool) {
		heads, err := c.Heads(ctx)
		if err != nil {
			yield(chains.Past{}, err)
			return
		}
		first := heads.Latest.Height
		for _, k := range c.contracts {
			first = min(first, k.EscrowManager.Height, k.VaultManager.Height)
		}
		who := common.BytesToHash(of[:])
		windows := rpc.NewLogRanges(max(from, first), heads.Latest.Height, rpc.LogRange).Up(rpc.ParallelLogReads)
		settle.Histories(windows, c.contracts, func(k *contracts, window []rpc.BlockRange) ([]chains.Past, error) {
			return k.past(ctx, who, window, heads)
		})(yield)
	}
}

// past returns the swaps of an account that were opened, or paid out by a vault,
// in some ranges of blocks.
func (k *contracts) past(ctx context.Context, who common.Hash, window []rpc.BlockRange, heads chains.Heads) ([]chains.Past, error) {
	opened := []common.Hash{wire.EscrowABI().Events["Initialize"].ID}
	paid := []common.Hash{wire.VaultABI().Events["Claimed"].ID, wire.VaultABI().Events["Fronted"].ID}
	var requests []rpc.Request
	var answers []*[]types.Log
	ask := func(of wire.Contract, topics ...[]common.Hash) {
		for _, r := range window {
			if r.From = max(r.From, of.Height); r.From > r.To {
				continue
			}
			answer := new([]types.Log)
			answers = append(answers, answer)
			requests = append(requests, rpc.LogRequest(of.Address, r, topics, answer))
		}
	}
	ask(k.EscrowManager, opened, []common.Hash{who})
	ask(k.EscrowManager, opened, nil, []common.Hash{who})
	ask(k.VaultManager, paid, nil, []common.Hash{who})
	if err := rpc.AskAll(ctx, k.chain.node, requests); err != nil {
		return nil, err
	}
	var logs []types.Log
	for _, a := range answers {
		logs = append(logs, *a...)
	}
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
	facts, err := k.Escrows(ctx, queries)
	if err != nil {
		return nil, err
	}
	var past []chains.Past
	for i, f := range facts {
		past = append(past, chains.Past{Escrow: queries[i].Escrow, Fact: f})
	}
	return append(past, k.pastWithdrawals(who, logs, heads)...), nil
}

// pastWithdrawals reads payouts to an account from logs.
func (k *contracts) pastWithdrawals(who common.Hash, logs []types.Log, heads chains.Heads) []chains.Past {
	var past []chains.Past
	for _, l := range logs {
		e, err := k.DecodeLog(l)
		if err != nil {
			continue
		}
		w := chains.PastWithdrawal{Version: k.Version(), Recipient: common.BytesToAddress(who[12:]).Hex()}
		w.Fact = chains.WithdrawalFact{Height: l.BlockNumber, Head: heads.Latest, Final: l.BlockNumber <= heads.Final.Height}
		switch e := e.(type) {
		case wire.VaultClaimEvent:
			w.Owner, w.VaultID, w.BitcoinTx, w.Raw = e.Owner.Hex(), e.ID, e.BitcoinTx, e.Amounts
			w.Fact.State, w.Fact.ClaimTx = chains.WithdrawalClaimed, l.TxHash.Hex()
		case wire.VaultFrontEvent:
			w.Owner, w.VaultID, w.BitcoinTx, w.Raw = e.Owner.Hex(), e.ID, e.BitcoinTx, e.Amounts
			w.Fact.State, w.Fact.FrontTx = chains.WithdrawalFronted, l.TxHash.Hex()
		default:
			continue
		}
		past = append(past, chains.Past{Withdrawal: &w})
	}
	return past
}
