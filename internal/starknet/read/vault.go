package read

import (
	"bytes"
	"context"
	"fmt"
	"time"

	btcwire "github.com/btcsuite/btcd/wire"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/settle"
	"github.com/swapper-go/swapper/internal/starknet/rpc"
	"github.com/swapper-go/swapper/internal/starknet/wire"
)

// Vaults reads vaults, in their order, in one round trip. One that was never opened, or
// closed, is not open. One that believes another relay says so in OurRelay, and must not
// be used (protocol: chain-starknet.md §15.3).
//
// All nodes are asked. In the other methods they are for a settled query.
func (r *Reader) Vaults(ctx context.Context, queries []chains.VaultID) ([]chains.VaultFact, error) {
	return settle.Vaults(ctx, r.panel(), queries, r.vaults, (*Reader).vaults)
}

// vaults asks one node.
func (r *Reader) vaults(ctx context.Context, queries []chains.VaultID) ([]chains.VaultFact, error) {
	facts := make([]chains.VaultFact, len(queries))
	refs := make([]wire.VaultRef, len(queries))
	answers := make([]rpc.Felts, len(queries))
	var head rpc.Head
	requests := []rpc.Request{rpc.HeadRequest(&head)}
	var asked []int
	for i, id := range queries {
		if refs[i], facts[i].Err = wire.VaultRefOf(id); facts[i].Err != nil {
			continue
		}
		asked = append(asked, i)
		requests = append(requests, r.call(r.VaultManager, wire.EntryGetVault, refs[i].Felts(), rpc.Latest, &answers[i]))
	}
	if len(asked) == 0 {
		return facts, nil
	}
	if err := r.ledger.Nodes.Batch(ctx, requests); err != nil {
		return nil, err
	}
	if requests[0].Err != nil {
		return nil, upstream(requests[0])
	}
	heads := r.ledger.heads(&head)
	for n, i := range asked {
		facts[i].Head = heads.Latest
		if requests[n+1].Err != nil {
			facts[i].Err = upstream(requests[n+1])
			continue
		}
		v, err := wire.ReadVault(refs[i], answers[i])
		if err != nil {
			facts[i].Err = fault.New(fault.Upstream, "%w", err)
			continue
		}
		facts[i].Vault = r.Neutral(v)
	}
	return facts, nil
}

// withdrawalKey names what is remembered of a withdrawal.
type withdrawalKey struct {
	wire.WithdrawalLookup
	from uint64
}

// Withdrawals answers queries, in their order: what the vault manager's events say of a
// Bitcoin transaction, from the lowest height of each query on. It takes one round trip,
// another one for each page more that a node makes of a search. What was searched once
// and cannot change is not searched again (protocol: chain-starknet.md §15.4).
func (r *Reader) Withdrawals(ctx context.Context, queries []chains.WithdrawalQuery) ([]chains.WithdrawalFact, error) {
	facts, err := settle.Withdrawals(ctx, r.panel(), queries, r.withdrawals, (*Reader).withdrawals)
	for i, f := range facts {
		if l, err := lookupOf(queries[i]); queries[i].Settled && !r.alone() && err == nil && f.Err == nil {
			r.noteWithdrawal(withdrawalKey{l, max(queries[i].From, r.VaultManager.Height)}, f, f.Head, r.ledger.Now(), true)
		}
	}
	return facts, err
}

// withdrawals asks one node.
func (r *Reader) withdrawals(ctx context.Context, queries []chains.WithdrawalQuery) ([]chains.WithdrawalFact, error) {
	if len(queries) == 0 {
		return nil, nil
	}
	facts := make([]chains.WithdrawalFact, len(queries))
	began := r.ledger.Now()
	keys := make([]withdrawalKey, len(queries))
	var asked []int
	for i, q := range queries {
		l, err := lookupOf(q)
		if err != nil {
			facts[i].Err = err
			continue
		}
		keys[i] = withdrawalKey{l, max(q.From, r.VaultManager.Height)}
		if f, ok := r.memory.withdrawals.Done(keys[i]); ok {
			facts[i] = f
			continue
		}
		asked = append(asked, i)
	}
	var scans []*scan
	for first := 0; first < len(asked); first += rpc.KeyValues {
		filter := rpc.Filter{From: r.VaultManager.Address, Keys: [][]wire.Felt{{wire.SelectorFronted, wire.SelectorClaimed, wire.SelectorClosed}, nil, nil},
			Blocks: rpc.Range{First: rpc.Newest, Last: rpc.Newest}}
		for _, i := range asked[first:min(first+rpc.KeyValues, len(asked))] {
			begin := keys[i].from
			if next, ok := r.memory.withdrawals.From(keys[i], began); ok {
				begin = max(begin, next)
			}
			filter.Blocks.First = min(filter.Blocks.First, begin)
			low, high := wire.TxIDKeys(queries[i].TxID)
			filter.Keys[1], filter.Keys[2] = append(filter.Keys[1], low), append(filter.Keys[2], high)
		}
		scans = append(scans, newScan(filter))
	}
	var head rpc.Head
	along := []rpc.Request{rpc.HeadRequest(&head)}
	if err := r.ledger.run(ctx, along, scans); err != nil {
		return nil, err
	}
	if along[0].Err != nil {
		return nil, upstream(along[0])
	}
	heads := r.ledger.heads(&head)
	for n, i := range asked {
		s := scans[n/rpc.KeyValues]
		if s.err != nil {
			facts[i].Err = s.err
			continue
		}
		facts[i] = r.outcome(keys[i].WithdrawalLookup, s.found)
		r.noteWithdrawal(keys[i], facts[i], heads.Latest, began, r.alone())
	}
	for i := range facts {
		facts[i].Head = heads.Latest
		facts[i].Final = facts[i].Height != 0 && facts[i].Height <= heads.Final.Height
	}
	return facts, nil
}

// noteWithdrawal keeps what stays of a fact that was asked for at a time.
func (r *Reader) noteWithdrawal(k withdrawalKey, f chains.WithdrawalFact, head chains.Block, asked time.Time, settled bool) {
	r.memory.withdrawals.Note(k, f, searchedTo(k.from, head), buriedBelow(head), asked, settled)
}

func lookupOf(q chains.WithdrawalQuery) (l wire.WithdrawalLookup, err error) {
	if l.Vault, err = wire.VaultRefOf(q.Vault); err != nil {
		return l, err
	}
	if l.Recipient, err = wire.ParseAddress(q.Recipient); err != nil {
		return l, fault.Invalid("recipient", "%w", err)
	}
	l.TxID = q.TxID
	return l, nil
}

func (r *Reader) outcome(l wire.WithdrawalLookup, events []rpc.Event) chains.WithdrawalFact {
	low, high := wire.TxIDKeys(l.TxID)
	var logs []wire.VaultLog
	for _, e := range events {
		if e.Keys[1] == low && e.Keys[2] == high { // the filter demands three
			logs = append(logs, wire.VaultLog{Log: e.Log, TxID: wire.Hex(e.Tx), Height: e.Height})
		}
	}
	return r.Outcome(l, logs)
}

// DryRun has the vault manager read Bitcoin transactions, with or without witnesses, as
// it will when they are claimed, and demands that it reads them as we do. It takes one
// round trip. A transaction that it does not read so is an error with the code
// fault.Upstream: claiming it would close the vault (protocol: chain-starknet.md §20.3).
func (r *Reader) DryRun(ctx context.Context, txs [][]byte) error {
	withdrawals := make([]chains.Withdrawal, len(txs))
	answers := make([]rpc.Felts, len(txs))
	requests := make([]rpc.Request, len(txs))
	for i, raw := range txs {
		var tx btcwire.MsgTx
		if err := tx.Deserialize(bytes.NewReader(raw)); err != nil {
			return fault.New(fault.Upstream, "the vault contract cannot read the transaction: %w", err)
		}
		var err error
		if withdrawals[i], err = wire.ParseWithdrawal(&tx); err != nil {
			return fault.New(fault.Upstream, "the vault contract cannot read transaction %s: %w", tx.TxHash(), err)
		}
		var stripped bytes.Buffer
		if err := tx.SerializeNoWitness(&stripped); err != nil {
			return err
		}
		requests[i] = r.call(r.VaultManager, wire.EntryParseBitcoinTx, wire.ByteArray(stripped.Bytes()), rpc.Latest, &answers[i])
	}
	if len(txs) == 0 {
		return nil
	}
	if err := r.ledger.Nodes.Batch(ctx, requests); err != nil {
		return err
	}
	for i, w := range withdrawals {
		if err := requests[i].Err; rpc.IsReverted(err) {
			return fault.New(fault.Upstream, "the vault contract cannot read the transaction: %w", rpc.Reason(rpc.RevertReason(err)))
		} else if err != nil {
			return upstream(requests[i])
		}
		if err := wire.CheckParsedWithdrawal(answers[i], w); err != nil {
			return fmt.Errorf("transaction %d: %w", i, err)
		}
	}
	return nil
}

// OpenedVaults takes one round trip for the heads, and one for each page of the events of up to
// fifty thousand blocks.
func (r *Reader) OpenedVaults(ctx context.Context, from uint64) (opened []chains.OpenedVault, next uint64, err error) {
	heads, err := r.ledger.Heads(ctx)
	if err != nil {
		return nil, from, err
	}
	from = max(from, r.VaultManager.Height)
	to := min(heads.Final.Height, from+pastBlocks-1)
	if from > to {
		return nil, from, nil
	}
	s := newScan(rpc.Filter{From: r.VaultManager.Address, Keys: [][]wire.Felt{{wire.SelectorOpened}}, Blocks: rpc.Range{First: from, Last: to}})
	if err := r.ledger.run(ctx, nil, []*scan{s}); err != nil {
		return nil, from, err
	}
	if s.err != nil {
		return nil, from, s.err
	}
	for _, e := range s.found {
		said, err := r.DecodeLog(e.Log)
		if v, ok := said.(wire.VaultOpenEvent); ok && err == nil {
			opened = append(opened, chains.OpenedVault{VaultID: chains.VaultID{Owner: wire.Hex64(v.Owner), ID: wire.Number(v.ID)}, Height: e.Height})
		}
	}
	return opened, to + 1, nil
}
