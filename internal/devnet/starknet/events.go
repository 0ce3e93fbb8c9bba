package starknet

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/swapper-go/swapper/internal/devnet/starknet/contracts"
	"github.com/swapper-go/swapper/internal/starknet/wire"
)

const (
	maxPage = 1024 // events
	maxKeys = 16   // positions of a filter
	maxTerm = 1024 // values of a position
)

type filter struct {
	From  *blockID        `json:"from_block"`
	To    *blockID        `json:"to_block"`
	At    json.RawMessage `json:"address"`
	Keys  [][]hexFelt     `json:"keys"`
	Size  int             `json:"chunk_size"`
	Token string          `json:"continuation_token"`

	addresses []contracts.Felt
}

// readAddresses reads one address or, since version 0.10, several.
func (f *filter) readAddresses(version NodeVersion) *NodeError {
	if len(f.At) == 0 || string(f.At) == "null" {
		return nil
	}
	var one hexFelt
	var several []hexFelt
	err := json.Unmarshal(f.At, &one)
	if err == nil {
		several = []hexFelt{one}
	} else if version >= V10 {
		err = json.Unmarshal(f.At, &several)
	}
	if err != nil {
		return wrongParams("filter.address: " + err.Error())
	}
	f.addresses = feltsOf(several)
	return nil
}

// token is where the next page begins.
type token struct{ block, skip uint64 }

func (t token) String() string { return fmt.Sprintf("%d-%d", t.block, t.skip) }

func parseToken(text string) (t token, ok bool) {
	n, err := fmt.Sscanf(text, "%d-%d", &t.block, &t.skip)
	return t, err == nil && n == 2 && t.String() == text
}

func (f *filter) takes(e contracts.Event) bool {
	if f.addresses != nil && !slices.Contains(f.addresses, e.From) {
		return false
	}
	for i, any := range f.Keys {
		if len(any) > 0 && (i >= len(e.Keys) || !slices.Contains(any, hexFelt{e.Keys[i]})) {
			return false
		}
	}
	return true
}

func (q *request) getEvents() (any, *NodeError) {
	var f filter
	if err := q.param("filter", &f); err != nil {
		return nil, err
	}
	if err := f.readAddresses(q.version); err != nil {
		return nil, err
	}
	switch {
	case f.Size < 1:
		return nil, wrongParams("filter.chunk_size must be at least 1")
	case f.Size > maxPage:
		return nil, pageTooBig
	case len(f.Keys) > maxKeys, slices.ContainsFunc(f.Keys, func(any []hexFelt) bool { return len(any) > maxTerm }):
		return nil, tooManyKeys
	}
	first, err := q.bound(f.From, 0)
	if err != nil {
		return nil, err
	}
	last, err := q.bound(f.To, q.view.Head().Number)
	if err != nil {
		return nil, err
	}
	from := token{first, 0}
	if f.Token != "" {
		var ok bool
		if from, ok = parseToken(f.Token); !ok || from.block < first || from.block > last {
			return nil, wrongToken
		}
	}
	if open := q.view.Open().Number; q.fault.NoOpenBlock && last >= open {
		last = open - 1
	}
	end, cut := last, false
	if n := q.fault.PageBlocks; n > 0 && last >= from.block+n {
		end, cut = from.block+n-1, true
	}
	return q.page(f, from, end, cut), nil
}

// page writes one page of events from a place on, up to a block. With cut there may be
// more behind it.
func (q *request) page(f filter, from token, end uint64, cut bool) any {
	events, next := []any{}, ""
	at := token{block: from.block}
	for e := range q.view.Events(from.block, end) {
		if q.fault.NoEvents {
			break
		}
		if n := e.Tx.Block.Number; n != at.block {
			at = token{block: n}
		}
		place := at
		at.skip++
		if place.block == from.block && place.skip < from.skip || !f.takes(e.Event) {
			continue
		}
		if len(events) == f.Size {
			next = place.String()
			break
		}
		events = append(events, q.emitted(e))
	}
	if next == "" && cut {
		next = token{block: end + 1}.String()
	}
	page := map[string]any{"events": events}
	if next != "" {
		page["continuation_token"] = next
	}
	return page
}

// bound is the number of the block that an end of a range names. A number beyond the
// chain is one that nothing has happened in yet.
func (q *request) bound(id *blockID, or uint64) (uint64, *NodeError) {
	if id == nil {
		return or, nil
	}
	if id.number != nil {
		if *id.number > q.view.Head().Number && or > 0 {
			return q.view.Head().Number, nil
		}
		return *id.number, nil
	}
	b, err := q.find(*id)
	if err != nil {
		return 0, err
	}
	return b.Number, nil
}

func (q *request) emitted(e contracts.Emitted) any {
	out := writeEvent(e.Event)
	out["transaction_hash"] = wire.Hex(e.Tx.Hash)
	if b := e.Tx.Block; !q.view.IsOpen(b) {
		out["block_hash"], out["block_number"] = wire.Hex(b.Hash), b.Number
	} else if q.version >= V9 {
		out["block_number"] = b.Number
	}
	if q.version >= V10 {
		out["transaction_index"], out["event_index"] = e.Tx.Index, e.Index
	}
	return out
}

func writeEvent(e contracts.Event) map[string]any {
	return map[string]any{"from_address": wire.Hex(e.From), "keys": hexes(e.Keys), "data": hexes(e.Data)}
}
