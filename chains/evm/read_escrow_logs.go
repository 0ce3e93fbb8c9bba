package evm

import (
	"cmp"
	"context"
	"slices"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"

	"github.com/swapper-go/swapper/chains"
)

// escrowPlace is a block in which something happened to an escrow.
type escrowPlace struct {
	height uint64
	escrow int
}

// readHistory fetches what happened to escrows from the blocks that their states
// name, in one round trip. One search serves as many escrows as a topic may list
// and a range of blocks holds.
func (d Deployment) readHistory(ctx context.Context, node Node, escrows []common.Hash, lookups []escrowLookup) (blockTimes, error) {
	var places []escrowPlace
	for i, l := range lookups {
		if l.record.State != uint8(chains.EscrowNone) && l.opened == nil {
			places = append(places, escrowPlace{l.record.InitBlockheight, i})
		}
		if l.record.State == uint8(chains.EscrowClaimed) || l.record.State == uint8(chains.EscrowRefunded) {
			places = append(places, escrowPlace{l.record.FinishBlockheight, i})
		}
	}
	slices.SortFunc(places, func(a, b escrowPlace) int {
		if a.height != b.height {
			return cmp.Compare(a.height, b.height)
		}
		return a.escrow - b.escrow
	})
	events := escrowABI().Events
	kinds := []common.Hash{events["Initialize"].ID, events["Claim"].ID, events["Refund"].ID}
	groups := groupPlaces(places)
	found := make([][]types.Log, len(groups))
	requests := make([]Request, len(groups))
	for g, group := range groups {
		var hashes []common.Hash
		for _, p := range group {
			if h := escrows[p.escrow]; !slices.Contains(hashes, h) {
				hashes = append(hashes, h)
			}
		}
		requests[g] = logRequest(d.EscrowManager.Address, BlockRange{group[0].height, group[len(group)-1].height},
			[][]common.Hash{kinds, nil, nil, hashes}, &found[g])
	}
	times := blockTimes{}
	heights := slices.CompactFunc(slices.Clone(places), func(a, b escrowPlace) bool { return a.height == b.height })
	if len(heights) <= timesAsked {
		for _, p := range heights {
			requests = append(requests, times.request(p.height))
		}
	}
	if len(requests) == 0 {
		return times, nil
	}
	if err := node.Batch(ctx, requests); err != nil {
		return nil, err
	}
	for g, group := range groups {
		for _, p := range group {
			l := &lookups[p.escrow]
			if err := requests[g].Err; err != nil {
				l.err = err
				continue
			}
			for _, log := range found[g] {
				if log.Address == d.EscrowManager.Address && !log.Removed && len(log.Topics) == 4 && log.Topics[3] == escrows[p.escrow] && log.BlockNumber == p.height {
					l.logs = append(l.logs, log)
				}
			}
		}
	}
	return times, nil
}

// groupPlaces cuts places in ascending order into groups that one search of logs
// can serve.
func groupPlaces(places []escrowPlace) [][]escrowPlace {
	var groups [][]escrowPlace
	for len(places) > 0 {
		n := 1
		for n < len(places) && n < LogTopicValues && places[n].height-places[0].height < LogRange {
			n++
		}
		groups = append(groups, places[:n])
		places = places[n:]
	}
	return groups
}

// timesAsked is up to how many blocks are asked for their times. Where more are
// concerned the time of a block is told only by nodes whose logs carry it.
const timesAsked = 64

// blockTimes are heads of blocks by height.
type blockTimes map[uint64]**blockHead

func (t blockTimes) request(height uint64) Request {
	t[height] = new(*blockHead)
	return blockRequest(height, t[height])
}

// block names the block of a log.
func (t blockTimes) block(log types.Log) chains.Block {
	b := chains.Block{Height: log.BlockNumber, Hash: log.BlockHash.Hex(), Time: int64(log.BlockTimestamp)}
	if asked := t[log.BlockNumber]; asked != nil && *asked != nil && (*asked).Hash == log.BlockHash {
		b.Time = int64((*asked).Timestamp)
	}
	return b
}
