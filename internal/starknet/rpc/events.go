package rpc

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/swapper-go/swapper/internal/starknet/wire"
)

// Bounds of searches of events (protocol: chain-starknet.md §3).
const (
	EventsPerPage = 100 // that a page may have
	KeyValues     = 64  // alternatives in one position of the keys
	maxToken      = 512 // characters of a continuation token
)

// Event is an event in an accepted block.
type Event struct {
	wire.Log
	Tx     wire.Felt
	Height uint64
	Block  wire.Felt // hash
}

// Filter says which events are searched. The keys list what each position may be, none
// for anything.
type Filter struct {
	From   wire.Felt
	Keys   [][]wire.Felt
	Blocks Range
}

// Page is a part of what was found, in the order in which it happened. What is in the
// block that is being made is left out, be it that a node adds it.
type Page struct {
	Events []Event
	Next   string // where the next part begins; "" where there is none. A page that has one may be empty
}

type pageJSON struct {
	Events []struct {
		From   *felt   `json:"from_address"`
		Keys   Felts   `json:"keys"`
		Data   Felts   `json:"data"`
		Block  *felt   `json:"block_hash"`
		Height *uint64 `json:"block_number"`
		Tx     *felt   `json:"transaction_hash"`
	} `json:"events"`
	Next string `json:"continuation_token"`
}

// UnmarshalJSON implements [json.Unmarshaler].
func (p *Page) UnmarshalJSON(data []byte) error {
	var j pageJSON
	if err := json.Unmarshal(data, &j); err != nil {
		return err
	}
	if j.Events == nil {
		return errors.New("no list of events")
	}
	if len(j.Next) > maxToken {
		return errors.New("the continuation token is too long")
	}
	*p = Page{Next: j.Next}
	for _, e := range j.Events {
		if e.Block == nil || e.Height == nil {
			continue // pre-confirmed
		}
		if e.From == nil || e.Tx == nil || e.Block.IsZero() || *e.Height > maxNumber {
			return errors.New("an event has no contract, transaction or block")
		}
		p.Events = append(p.Events, Event{Log: wire.Log{From: e.From.Felt, Keys: e.Keys, Data: e.Data}, Tx: e.Tx.Felt, Height: *e.Height, Block: e.Block.Felt})
	}
	return nil
}

// EventsRequest asks for a page of events; from is [Page.Next] of the page before, "" for
// the first. It is refused where it has others than were asked for, or in another order.
func EventsRequest(f Filter, from string, result *Page) Request {
	keys := make([][]string, len(f.Keys))
	for i, some := range f.Keys {
		keys[i] = hexes(some)
	}
	filter := object{"address": wire.Hex(f.From), "from_block": AtHeight(f.Blocks.First).param(), "to_block": f.Blocks.last(), "keys": keys, "chunk_size": EventsPerPage}
	if from != "" {
		filter["continuation_token"] = from
	}
	return Request{Method: "starknet_getEvents", Named: object{"filter": filter}, Result: result, Check: func(got any) error {
		p := got.(*Page)
		if p.Next != "" && p.Next == from {
			return errors.New("the page ends where it begins")
		}
		return f.check(p.Events)
	}}
}

func (f Filter) check(events []Event) error {
	if len(events) > EventsPerPage {
		return fmt.Errorf("%d events are more than %d", len(events), EventsPerPage)
	}
	for i, e := range events {
		switch {
		case e.From != f.From || !f.matches(e.Keys):
			return errors.New("an event is not among those that were asked for")
		case e.Height < f.Blocks.First || e.Height > f.Blocks.Last:
			return fmt.Errorf("an event is in block %d, which was not asked for", e.Height)
		case i > 0 && e.Height < events[i-1].Height:
			return errors.New("the events are not in the order of their blocks")
		case i > 0 && e.Height == events[i-1].Height && e.Block != events[i-1].Block:
			return fmt.Errorf("block %d has two hashes", e.Height)
		}
	}
	return nil
}

func (f Filter) matches(keys []wire.Felt) bool {
	for i, some := range f.Keys {
		if len(some) > 0 && (i >= len(keys) || !slices.Contains(some, keys[i])) {
			return false
		}
	}
	return true
}
