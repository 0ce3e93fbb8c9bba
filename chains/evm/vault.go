package evm

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/btcsuite/btcd/wire"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/fault"
	evmread "github.com/swapper-go/swapper/internal/evm/read"
	"github.com/swapper-go/swapper/internal/evm/rpc"
	evmwire "github.com/swapper-go/swapper/internal/evm/wire"
	"github.com/swapper-go/swapper/internal/settle"
)

func (k *contracts) WithdrawalData(recipient string, raw [2]uint64) ([]byte, error) {
	return evmwire.WithdrawalData(recipient, raw, nil)
}

func (k *contracts) WithdrawalDataLen(gasDrop bool) int { return evmwire.PayoutFormat().Len(gasDrop) }

func (k *contracts) ParseWithdrawal(tx *wire.MsgTx) (chains.Withdrawal, error) {
	return evmwire.ParseWithdrawal(tx)
}

// Vaults takes one round trip, and a second one for vaults that are seen for the
// first time.
//
// A settled query goes to all nodes; so it does in the other methods.
func (k *contracts) Vaults(ctx context.Context, queries []chains.VaultID) ([]chains.VaultFact, error) {
	return settle.Vaults(ctx, k.panel(), queries, k.vaults, (*contracts).vaults)
}

// vaults asks one node.
func (k *contracts) vaults(ctx context.Context, queries []chains.VaultID) ([]chains.VaultFact, error) {
	facts := make([]chains.VaultFact, len(queries))
	var refs []evmwire.VaultRef
	var asked []int
	for i, id := range queries {
		ref, err := vaultRef(id)
		if err != nil {
			facts[i].Err = err
			continue
		}
		refs, asked = append(refs, ref), append(asked, i)
	}
	if len(refs) == 0 {
		return facts, nil
	}
	reads, heads, err := k.readVaults(ctx, refs)
	if err != nil {
		return nil, err
	}
	for n, i := range asked {
		facts[i] = reads[n].Fact(heads.Latest)
	}
	return facts, nil
}

func (k *contracts) readVaults(ctx context.Context, refs []evmwire.VaultRef) ([]evmread.VaultRead, chains.Heads, error) {
	var h headsRequest
	node := &along{Node: k.chain.node, extra: h.requests(k.chain.net)}
	reads, err := k.ReadVaults(ctx, node, refs, chains.Block{}, k.memory.params.Get)
	if err := node.answered(err); err != nil {
		return nil, chains.Heads{}, err
	}
	k.memory.noteVaults(reads)
	heads, err := h.heads()
	return reads, heads, err
}

func vaultRef(id chains.VaultID) (evmwire.VaultRef, error) {
	owner, err := account("owner", id.Owner)
	if err != nil {
		return evmwire.VaultRef{}, err
	}
	if !evmwire.InBits(id.ID, 96) {
		return evmwire.VaultRef{}, fault.Invalid("vaultId", "must be from 0 to 2^96-1")
	}
	return evmwire.VaultRef{Owner: owner, ID: id.ID}, nil
}

// Withdrawals takes one round trip for the heads and then the scan of the logs
// since the lowest height: a round trip for every five ranges of 950 blocks. What
// was scanned once and cannot change is not scanned again.
func (k *contracts) Withdrawals(ctx context.Context, queries []chains.WithdrawalQuery) ([]chains.WithdrawalFact, error) {
	p := k.panel()
	facts, err := settle.Withdrawals(ctx, p, queries, k.withdrawals, (*contracts).withdrawals)
	for i, f := range facts {
		l, bad := withdrawalLookup(queries[i])
		if !queries[i].Settled || k.alone() || bad != nil || f.Err != nil {
			continue
		}
		key := withdrawalKey(l, queries[i].From)
		searched := lowest(p, queries[i].From, func(k *contracts, now time.Time) (uint64, bool) { return k.memory.withdrawals.From(key, now) })
		k.memory.withdrawals.Note(key, f, searched, buriedBelow(settledTo(f.Final, f.Head)), k.chain.env.Now(), true)
	}
	return facts, err
}

// withdrawals asks one node.
func (k *contracts) withdrawals(ctx context.Context, queries []chains.WithdrawalQuery) ([]chains.WithdrawalFact, error) {
	if len(queries) == 0 {
		return nil, nil
	}
	began := k.chain.env.Now()
	heads, err := k.chain.Heads(ctx)
	if err != nil {
		return nil, err
	}
	facts := make([]chains.WithdrawalFact, len(queries))
	var lookups []evmwire.WithdrawalLookup
	var asked []int
	from := heads.Latest.Height
	for i, q := range queries {
		l, err := withdrawalLookup(q)
		if err != nil {
			facts[i].Err = err
			continue
		}
		key := withdrawalKey(l, q.From)
		if done, ok := k.memory.withdrawals.Done(key); ok {
			facts[i] = done
			continue
		}
		begin := max(q.From, k.VaultManager.Height)
		if next, ok := k.memory.withdrawals.From(key, began); ok {
			begin = max(begin, next)
		}
		from = min(from, begin)
		lookups, asked = append(lookups, l), append(asked, i)
	}
	read, err := k.ReadWithdrawals(ctx, k.chain.node, lookups, rpc.BlockRange{From: from, To: heads.Latest.Height})
	if err != nil {
		return nil, err
	}
	for n, i := range asked {
		f := read[n]
		f.Final = f.State != chains.WithdrawalNone && f.Height != 0 && f.Height <= heads.Final.Height
		k.memory.withdrawals.Note(withdrawalKey(lookups[n], queries[i].From), f, searchedTo(queries[i].From, heads), buriedBelow(heads.Final), began, k.alone())
		facts[i] = f
	}
	for i := range facts {
		facts[i].Head = heads.Latest
	}
	return facts, nil
}

func withdrawalLookup(q chains.WithdrawalQuery) (evmwire.WithdrawalLookup, error) {
	ref, err := vaultRef(q.Vault)
	if err != nil {
		return evmwire.WithdrawalLookup{}, err
	}
	to, err := account("recipient", q.Recipient)
	if err != nil {
		return evmwire.WithdrawalLookup{}, err
	}
	return evmwire.WithdrawalLookup{Vault: ref, Recipient: to, TxID: q.TxID}, nil
}

// DryRun takes one round trip.
func (k *contracts) DryRun(ctx context.Context, txs [][]byte) error {
	answers := make([]hexutil.Bytes, len(txs))
	requests := make([]rpc.Request, len(txs))
	for i, tx := range txs {
		data, err := evmwire.ParseCall(tx)
		if err != nil {
			return err
		}
		requests[i] = rpc.CallRequest(k.VaultManager.Address, data, "latest", &answers[i])
	}
	if err := k.chain.node.Batch(ctx, requests); err != nil {
		return err
	}
	for i, r := range requests {
		if r.Err != nil {
			return fault.New(fault.Upstream, "the vault's contract cannot parse transaction %d: %w", i, r.Err)
		}
	}
	return nil
}

// RelayTip takes one round trip. With several nodes it is what most of them say,
// the higher of two: watchtowers are paid for what the relay lacks, see
// [chain.towerRate].
func (k *contracts) RelayTip(ctx context.Context) (uint32, error) {
	ask, err := evmwire.RelayABI().Pack("getBlockheight")
	if err != nil {
		return 0, err
	}
	request := func() []rpc.Request {
		return []rpc.Request{rpc.CallRequest(k.BtcRelay.Address, ask, "latest", new(hexutil.Bytes))}
	}
	read := func(r []rpc.Request) (tip uint32, err error) {
		if r[0].Err != nil {
			return 0, fmt.Errorf("%s: %w", r[0].Method, r[0].Err)
		}
		err = evmwire.Unpack(evmwire.RelayABI(), "getBlockheight", *r[0].Result.(*hexutil.Bytes), &tip)
		return tip, err
	}
	if n, ok := k.chain.node.(*rpc.Nodes); ok && n.Several() {
		var tips []uint32
		err := n.Each(ctx, request, func(r []rpc.Request) {
			if tip, err := read(r); err == nil {
				tips = append(tips, tip)
			}
		})
		if err == nil && len(tips) > 0 {
			slices.Sort(tips)
			return tips[len(tips)/2], nil
		}
	}
	r := request()
	if err := k.chain.node.Batch(ctx, r); err != nil {
		return 0, err
	}
	return read(r)
}

// OpenedVaults takes one round trip for the heads, and those of searching the logs of up to two
// hundred thousand blocks.
func (k *contracts) OpenedVaults(ctx context.Context, from uint64) (opened []chains.OpenedVault, next uint64, err error) {
	heads, err := k.chain.Heads(ctx)
	if err != nil {
		return nil, from, err
	}
	from = max(from, k.VaultManager.Height)
	to := min(heads.Final.Height, from+pollMost-1)
	if from > to {
		return nil, from, nil
	}
	logs, err := k.chain.filter(ctx, k.VaultManager.Address, rpc.BlockRange{From: from, To: to}, [][]common.Hash{{evmwire.VaultABI().Events["Opened"].ID}})
	if err != nil {
		return nil, from, err
	}
	for _, l := range logs {
		e, err := k.DecodeLog(l)
		if v, ok := e.(evmwire.VaultOpenEvent); ok && err == nil {
			opened = append(opened, chains.OpenedVault{VaultID: chains.VaultID{Owner: v.Owner.Hex(), ID: v.ID}, Height: l.BlockNumber})
		}
	}
	return opened, to + 1, nil
}
