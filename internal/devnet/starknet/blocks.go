package starknet

import (
	"fmt"
	"math/big"

	"github.com/swapper-go/swapper/internal/devnet/starknet/contracts"
	"github.com/swapper-go/swapper/internal/starknet/wire"
)

// protocol is the version of Starknet that blocks say they were made by.
const protocol = "0.14.0"

// hexes writes felts.
func hexes(all []contracts.Felt) []string {
	texts := make([]string, len(all))
	for i, f := range all {
		texts[i] = wire.Hex(f)
	}
	return texts
}

func hexOf(n *big.Int) string { return fmt.Sprintf("%#x", n) }

func hexOfUint(n uint64) string { return fmt.Sprintf("%#x", n) }

// header writes what is the same in all forms of a block.
func (q *request) header(b *contracts.Block) map[string]any {
	price := func(fri, wei *big.Int) map[string]string {
		return map[string]string{"price_in_fri": hexOf(fri), "price_in_wei": hexOf(wei)}
	}
	p := b.Prices
	h := map[string]any{
		"timestamp": b.Time, "sequencer_address": wire.Hex(b.Sequencer), "starknet_version": protocol, "l1_da_mode": "BLOB",
		"l1_gas_price": price(p.Fri.L1, p.Wei.L1), "l1_data_gas_price": price(p.Fri.L1Data, p.Wei.L1Data),
	}
	if q.version >= V8 {
		h["l2_gas_price"] = price(p.Fri.L2, p.Wei.L2)
	}
	if q.view.IsOpen(b) {
		if q.version >= V9 {
			h["block_number"] = b.Number
		} else {
			h["parent_hash"] = wire.Hex(b.Parent)
		}
		return h
	}
	h["block_hash"], h["parent_hash"], h["block_number"], h["new_root"] = wire.Hex(b.Hash), wire.Hex(b.Parent), b.Number, wire.Hex(b.Root)
	h["status"] = q.blockStatus(b)
	if q.version >= V10 {
		d := q.view.Diff(b)
		events := 0
		for _, tx := range b.Txs {
			events += len(tx.Events)
		}
		for _, of := range []string{"event", "transaction", "receipt", "state_diff"} {
			h[of+"_commitment"] = wire.Hex(wire.Poseidon(wire.ShortString(of), b.Hash))
		}
		h["event_count"], h["transaction_count"] = events, len(b.Txs)
		h["state_diff_length"] = len(d.Storage) + len(d.Nonces) + len(d.Deployed) + len(d.Replaced)
	}
	return h
}

// blockStatus is how sure a closed block is.
func (q *request) blockStatus(b *contracts.Block) string {
	if b.Number <= q.view.L1Head().Number {
		return "ACCEPTED_ON_L1"
	}
	return "ACCEPTED_ON_L2"
}

// finality is how sure a transaction is. Before version 0.9 one of the open block is
// accepted.
func (q *request) finality(b *contracts.Block) string {
	switch {
	case !q.view.IsOpen(b):
		return q.blockStatus(b)
	case q.version >= V9:
		return "PRE_CONFIRMED"
	}
	return "ACCEPTED_ON_L2"
}

func (q *request) withTxs(write func(*contracts.Executed) any) (any, *NodeError) {
	b, err := q.block()
	if err != nil {
		return nil, err
	}
	txs := []any{}
	for _, tx := range b.Txs {
		txs = append(txs, write(tx))
	}
	h := q.header(b)
	h["transactions"] = txs
	return h, nil
}

func (q *request) getBlockWithTxHashes() (any, *NodeError) {
	return q.withTxs(func(tx *contracts.Executed) any { return wire.Hex(tx.Hash) })
}

func (q *request) getBlockWithTxs() (any, *NodeError) {
	return q.withTxs(func(tx *contracts.Executed) any { return writeTx(tx.Tx, true) })
}

func (q *request) getBlockWithReceipts() (any, *NodeError) {
	return q.withTxs(func(tx *contracts.Executed) any {
		return map[string]any{"transaction": writeTx(tx.Tx, q.version < V8), "receipt": q.receipt(tx, false)}
	})
}

func (q *request) getBlockTransactionCount() (any, *NodeError) {
	b, err := q.block()
	if err != nil {
		return nil, err
	}
	return len(b.Txs), nil
}

func (q *request) getStateUpdate() (any, *NodeError) {
	b, err := q.block()
	if err != nil {
		return nil, err
	}
	var old contracts.Felt
	if before := q.view.Block(b.Number - 1); b.Number > 0 && before != nil {
		old = before.Root
	}
	out := map[string]any{"state_diff": q.diff(q.view.Diff(b))}
	if q.version < V10 || !q.view.IsOpen(b) {
		out["old_root"] = wire.Hex(old)
	}
	if !q.view.IsOpen(b) {
		out["block_hash"], out["new_root"] = wire.Hex(b.Hash), wire.Hex(b.Root)
	}
	return out, nil
}

// diff writes changes.
func (q *request) diff(d contracts.Diff) any {
	type entry struct {
		Key   string `json:"key"`
		Value string `json:"value"`
	}
	type contract struct {
		Address string  `json:"address"`
		Entries []entry `json:"storage_entries"`
	}
	storage := []contract{}
	for i, s := range d.Storage {
		if i == 0 || d.Storage[i-1].Contract != s.Contract {
			storage = append(storage, contract{Address: wire.Hex(s.Contract)})
		}
		last := &storage[len(storage)-1]
		last.Entries = append(last.Entries, entry{wire.Hex(s.Key), wire.Hex(s.Value)})
	}
	nonces, deployed, replaced := []any{}, []any{}, []any{}
	for _, n := range d.Nonces {
		nonces = append(nonces, map[string]string{"contract_address": wire.Hex(n.Contract), "nonce": hexOfUint(n.Nonce)})
	}
	for _, c := range d.Deployed {
		deployed = append(deployed, map[string]string{"address": wire.Hex(c.Contract), "class_hash": wire.Hex(c.Class)})
	}
	for _, c := range d.Replaced {
		replaced = append(replaced, map[string]string{"contract_address": wire.Hex(c.Contract), "class_hash": wire.Hex(c.Class)})
	}
	out := map[string]any{"storage_diffs": storage, "nonces": nonces, "deployed_contracts": deployed, "replaced_classes": replaced,
		"declared_classes": []any{}, "deprecated_declared_classes": []any{}}
	if q.version >= V10 {
		out["migrated_compiled_classes"] = []any{}
	}
	return out
}
