package read

import (
	"maps"
	"slices"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/evm/rpc"
	"github.com/swapper-go/swapper/internal/evm/wire"
	"github.com/swapper-go/swapper/internal/settle"
)

// likelyPlaces are the blocks in which things were seen to happen that could
// still be undone. Asked about together with the state, they save a trip if
// nothing was.
func likelyPlaces(escrows []common.Hash, known Known) (places settle.Places) {
	for i, e := range escrows {
		if known.Likely == nil {
			break
		}
		if at, ok := known.Likely(e); ok {
			places.Add(i, at)
		}
	}
	return places
}

// placesLeft are the blocks of which the logs are needed and not there.
func (d Contracts) placesLeft(escrows []common.Hash, lookups []escrowLookup) (places settle.Places) {
	for i, l := range lookups {
		var at settle.Blocks
		if l.record.State != uint8(chains.EscrowNone) && l.opened == nil {
			if _, event := d.logOf(l.logs, escrows[i], "Initialize", l.record.InitBlockheight); event == nil {
				at.Opened = l.record.InitBlockheight
			}
		}
		if state := chains.EscrowState(l.record.State); state == chains.EscrowClaimed || state == chains.EscrowRefunded {
			if _, event := d.logOf(l.logs, escrows[i], endEvent(state), l.record.FinishBlockheight); event == nil {
				at.Ended = l.record.FinishBlockheight
			}
		}
		places.Add(i, at)
	}
	return places
}

// escrowSearch asks for what happened to escrows in known blocks. One search of
// logs serves as many escrows as a topic may list and a range of blocks holds.
type escrowSearch struct {
	of       common.Address
	escrows  []common.Hash
	groups   []settle.Places
	found    [][]types.Log // by group
	requests []rpc.Request // those of the groups come first
	times    blockTimes
}

// searchHistory makes the requests for places. The times of their blocks are added to times.
func (d Contracts) searchHistory(escrows []common.Hash, places settle.Places, times blockTimes) *escrowSearch {
	s := &escrowSearch{of: d.EscrowManager.Address, escrows: escrows, groups: places.Groups(rpc.LogTopicValues, rpc.LogRange), times: times}
	s.found = make([][]types.Log, len(s.groups))
	for g, group := range s.groups {
		s.requests = append(s.requests, rpc.LogRequest(s.of, rpc.BlockRange{From: group[0].Height, To: group[len(group)-1].Height},
			[][]common.Hash{escrowEvents(), nil, nil, settle.Of(group, escrows)}, &s.found[g]))
	}
	heights := slices.CompactFunc(slices.Clone(places), func(a, b settle.Place) bool { return a.Height == b.Height })
	if len(heights) <= timesAsked {
		for _, p := range heights {
			s.requests = append(s.requests, times.request(p.Height))
		}
	}
	return s
}

// sinceRequest asks for what happened to escrows since the lowest of the heights. A node that
// finds the range too long, or that lags behind, refuses it, and the state says where to look.
func (d Contracts) sinceRequest(since map[common.Hash]uint64, at chains.Heads, result *[]types.Log) rpc.Request {
	hashes, from := slices.Collect(maps.Keys(since)), slices.Min(slices.Collect(maps.Values(since)))
	return rpc.NewLogsRequest(d.EscrowManager.Address, from, rpc.BlockParam(at.Latest), [][]common.Hash{escrowEvents(), nil, nil, hashes[:min(len(hashes), rpc.LogTopicValues)]}, result)
}

// escrowEvents are the kinds of what happens to escrows.
func escrowEvents() []common.Hash {
	events := wire.EscrowABI().Events
	return []common.Hash{events["Initialize"].ID, events["Claim"].ID, events["Refund"].ID}
}

// handOut gives the logs that were found to their escrows, and, where the search
// must have found something, why it failed.
func (s *escrowSearch) handOut(lookups []escrowLookup, must bool) {
	for g, group := range s.groups {
		for _, p := range group {
			l := &lookups[p.Escrow]
			if err := s.requests[g].Err; err != nil {
				if must {
					l.err = err
				}
				continue
			}
			for _, log := range s.found[g] {
				if log.Address == s.of && !log.Removed && len(log.Topics) == 4 && log.Topics[3] == s.escrows[p.Escrow] && log.BlockNumber == p.Height {
					l.logs = append(l.logs, log)
				}
			}
		}
	}
}

// timesAsked is up to how many blocks are asked for their times. Where more are
// concerned only nodes whose logs carry the time of a block report it.
const timesAsked = 64

// blockTimes are heads of blocks by height.
type blockTimes map[uint64]**rpc.BlockHead

func (t blockTimes) request(height uint64) rpc.Request {
	t[height] = new(*rpc.BlockHead)
	return rpc.BlockRequest(height, t[height])
}

// block names the block of a log.
func (t blockTimes) block(log types.Log) chains.Block {
	b := chains.Block{Height: log.BlockNumber, Hash: log.BlockHash.Hex(), Time: int64(log.BlockTimestamp)}
	if asked := t[log.BlockNumber]; asked != nil && *asked != nil && (*asked).Hash == log.BlockHash {
		b.Time = int64((*asked).Timestamp)
	}
	return b
}
