package read

import (
	"context"
	"iter"
	"slices"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/settle"
	"github.com/swapper-go/swapper/internal/starknet/rpc"
	"github.com/swapper-go/swapper/internal/starknet/wire"
)

// pastBlocks is how many blocks of a history are searched at a time.
const pastBlocks = 50_000

// History yields every escrow and every withdrawal in which signer is a party, of all
// given deployments, from a height on, oldest first. It takes one round trip for the
// head, one for each fifty thousand blocks, and for a stretch in which there are swaps
// those of reading them. An error ends the sequence: a node that has no trace of an
// opening hides a swap (protocol: chain-starknet.md §12.4, §15.4).
func (l *Ledger) History(ctx context.Context, readers []*Reader, signer wire.Felt, from uint64) iter.Seq2[chains.Past, error] {
	return func(yield func(chains.Past, error) bool) {
		heads, err := l.Heads(ctx)
		if err != nil {
			yield(chains.Past{}, err)
			return
		}
		first := heads.Latest.Height
		for _, r := range readers {
			first = min(first, r.EscrowManager.Height, r.VaultManager.Height)
		}
		windows := func(yield func(rpc.Range) bool) {
			for begin := max(from, first); begin <= heads.Latest.Height; begin += pastBlocks {
				if !yield(rpc.Range{First: begin, Last: min(begin+pastBlocks-1, heads.Latest.Height)}) {
					return
				}
			}
		}
		settle.Histories(windows, readers, func(r *Reader, window rpc.Range) ([]chains.Past, error) {
			return r.past(ctx, signer, window, heads)
		})(yield)
	}
}

// past returns the swaps of an account that were opened, or paid out by a vault, in a
// range of blocks.
func (r *Reader) past(ctx context.Context, who wire.Felt, window rpc.Range, heads chains.Heads) ([]chains.Past, error) {
	opened, is := []wire.Felt{wire.SelectorInitialize}, []wire.Felt{who}
	ask := func(of wire.Contract, keys ...[]wire.Felt) *scan {
		return newScan(rpc.Filter{From: of.Address, Keys: keys, Blocks: window})
	}
	escrows := []*scan{ask(r.EscrowManager, opened, is), ask(r.EscrowManager, opened, nil, is)}
	paid := []*scan{ask(r.VaultManager, []wire.Felt{wire.SelectorClaimed, wire.SelectorFronted}, nil, nil, nil, nil, is)}
	if err := r.ledger.run(ctx, nil, append(escrows, paid...)); err != nil {
		return nil, err
	}
	events, err := all(escrows)
	if err != nil {
		return nil, err
	}
	payouts, err := all(paid)
	if err != nil {
		return nil, err
	}
	events = slices.DeleteFunc(events, func(e rpc.Event) bool { return !r.isOurs(e) })
	found, errs, err := r.openings(ctx, events)
	if err != nil {
		return nil, err
	}
	var queries []chains.EscrowQuery
	seen := map[wire.Felt]bool{}
	for _, e := range events {
		hash := e.Keys[4]
		if seen[hash] {
			continue
		}
		seen[hash] = true
		if found[hash] == nil {
			return nil, fault.New(fault.Upstream, "the opening of escrow %s cannot be read: %w", wire.Hex64(hash), errs[hash])
		}
		queries = append(queries, chains.EscrowQuery{Escrow: found[hash]})
	}
	facts, err := r.Escrows(ctx, queries)
	if err != nil {
		return nil, err
	}
	var past []chains.Past
	for i, f := range facts {
		past = append(past, chains.Past{Escrow: queries[i].Escrow, Fact: f})
	}
	return append(past, r.pastWithdrawals(who, payouts, heads)...), nil
}

// pastWithdrawals reads payouts to an account from events.
func (r *Reader) pastWithdrawals(who wire.Felt, events []rpc.Event, heads chains.Heads) []chains.Past {
	var past []chains.Past
	for _, e := range events {
		said, err := r.DecodeLog(e.Log)
		if err != nil {
			continue
		}
		w := chains.PastWithdrawal{Version: r.Version, Recipient: wire.Hex64(who)}
		w.Fact = chains.WithdrawalFact{Height: e.Height, Head: heads.Latest, Final: e.Height <= heads.Final.Height}
		switch said := said.(type) {
		case wire.VaultClaimEvent:
			w.Owner, w.VaultID, w.BitcoinTx, w.Raw = wire.Hex64(said.Owner), wire.Number(said.ID), said.BitcoinTx, said.Amounts
			w.Fact.State, w.Fact.ClaimTx = chains.WithdrawalClaimed, wire.Hex(e.Tx)
		case wire.VaultFrontEvent:
			w.Owner, w.VaultID, w.BitcoinTx, w.Raw = wire.Hex64(said.Owner), wire.Number(said.ID), said.BitcoinTx, said.Amounts
			w.Fact.State, w.Fact.FrontTx = chains.WithdrawalFronted, wire.Hex(e.Tx)
		default:
			continue
		}
		past = append(past, chains.Past{Withdrawal: &w})
	}
	return past
}
