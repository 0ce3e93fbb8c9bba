package read

import (
	"maps"
	"slices"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/settle"
	"github.com/swapper-go/swapper/internal/starknet/rpc"
	"github.com/swapper-go/swapper/internal/starknet/wire"
)

// Bounds of a search that serves several escrows: as many as fit one page with opening and
// end, and a range of blocks that nodes search at once.
const (
	groupEscrows = rpc.EventsPerPage / 2
	groupBlocks  = 2000
)

// pastOf asks what happened to escrows in known blocks, and when that was.
type pastOf struct {
	r       *Reader
	escrows []wire.Felt
	groups  []settle.Places
	scans   []*scan
	blocks  []*rpc.Block
	asks    []rpc.Request // for the blocks, and for lately
	lately  rpc.Page      // what happened since a height, as far as one page has it
}

// timesAsked is up to how many blocks are asked for their times at once. Where more are
// concerned the times of the others stay unknown until they are asked for again.
const timesAsked = 64

// pastOf also asks for the times of the blocks at untimed, as far as they are not too many.
func (r *Reader) pastOf(escrows []wire.Felt, places settle.Places, untimed []uint64) *pastOf {
	p := &pastOf{r: r, escrows: escrows, groups: places.Groups(groupEscrows, groupBlocks)}
	for _, g := range p.groups {
		p.scans = append(p.scans, newScan(rpc.Filter{From: r.EscrowManager.Address, Keys: [][]wire.Felt{escrowEvents(), nil, nil, nil, settle.Of(g, escrows)},
			Blocks: rpc.Range{First: g[0].Height, Last: g[len(g)-1].Height}}))
	}
	slices.Sort(untimed)
	untimed = slices.Compact(untimed)
	for _, height := range untimed[:min(len(untimed), timesAsked)] {
		b := new(rpc.Block)
		p.blocks = append(p.blocks, b)
		p.asks = append(p.asks, rpc.BlockRequest(rpc.AtHeight(height), b))
	}
	return p
}

// since asks for what happened to escrows since the lowest of the heights. What is not on
// the first page is asked for where the state says that it is.
func (p *pastOf) since(from map[wire.Felt]uint64) {
	if len(from) == 0 {
		return
	}
	hashes := slices.Collect(maps.Keys(from))
	p.asks = append(p.asks, rpc.EventsRequest(rpc.Filter{From: p.r.EscrowManager.Address, Keys: [][]wire.Felt{escrowEvents(), nil, nil, nil, hashes[:min(len(hashes), rpc.KeyValues)]},
		Blocks: rpc.Range{First: slices.Min(slices.Collect(maps.Values(from))), Last: rpc.Newest}}, "", &p.lately))
}

// escrowEvents are the kinds of what happens to escrows.
func escrowEvents() []wire.Felt {
	return []wire.Felt{wire.SelectorInitialize, wire.SelectorClaim, wire.SelectorRefund}
}

// handOut gives what was found to its escrows, and, where a search must have found
// something, why it failed.
func (p *pastOf) handOut(lookups []lookup, must bool) {
	for i, b := range p.blocks {
		if p.asks[i].Err == nil && !b.Hash.IsZero() {
			p.r.ledger.times.Add(b.Hash, b.Time)
		}
	}
	for _, e := range p.lately.Events {
		if i := slices.Index(p.escrows, e.Keys[4]); i >= 0 { // the filter demands five
			lookups[i].events = append(lookups[i].events, e)
		}
	}
	for i, g := range p.groups {
		for _, at := range g {
			l := &lookups[at.Escrow]
			if err := p.scans[i].err; err != nil {
				if must {
					l.err = err
				}
				continue
			}
			for _, e := range p.scans[i].found {
				if e.Height == at.Height && e.Keys[4] == p.escrows[at.Escrow] { // the filter demands five
					l.events = append(l.events, e)
				}
			}
		}
	}
}

// blockOf names the block of an event, with its time if that is known.
func (l *Ledger) blockOf(e rpc.Event) chains.Block {
	b := chains.Block{Height: e.Height, Hash: wire.Hex(e.Block)}
	b.Time, _ = l.times.Get(e.Block)
	return b
}

// timed reports whether the time of a block is known.
func (l *Ledger) timed(block wire.Felt) bool {
	_, ok := l.times.Get(block)
	return ok
}
