package evm

import (
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
)

// lateLogs is how many blocks are read again while nothing happens, since nodes
// deliver logs late.
const lateLogs = 60

// LogCursor is how far the logs of one contract have been read.
type LogCursor struct {
	Block     uint64      `json:"block"`
	BlockHash common.Hash `json:"blockHash,omitzero"` // of the last log that was read, zero if none
	LogIndex  uint        `json:"logIndex,omitempty"`
}

// New returns the logs of [c.Block, tip], in ascending order, that were not read
// before.
func (c LogCursor) New(logs []types.Log) []types.Log {
	if c.BlockHash == (common.Hash{}) {
		return logs
	}
	for i, l := range logs {
		if l.BlockHash == c.BlockHash && l.Index == c.LogIndex {
			return logs[i+1:]
		}
	}
	return logs
}

// Found reports whether the last log that was read stands where it stood, given
// the logs of [c.Block, tip]. It does not after a reorganisation.
func (c LogCursor) Found(logs []types.Log) bool {
	if c.BlockHash == (common.Hash{}) {
		return true
	}
	for _, l := range logs {
		if l.BlockHash == c.BlockHash && l.Index == c.LogIndex {
			return true
		}
	}
	return false
}

// Next returns the cursor after the new logs up to tip have been read.
func (c LogCursor) Next(logs []types.Log, tip uint64) LogCursor {
	if n := len(logs); n > 0 {
		return LogCursor{logs[n-1].BlockNumber, logs[n-1].BlockHash, logs[n-1].Index}
	}
	if tip > c.Block && tip-c.Block > lateLogs {
		return LogCursor{Block: tip - lateLogs}
	}
	return c
}

// BlockRange is a range of blocks, both ends included.
type BlockRange struct{ From, To uint64 }

// LogRanges cuts the blocks from first to last into ranges that one eth_getLogs
// may ask for, in ascending order. They cover every block once, the last one
// included (protocol: chain-evm.md §13.14).
func LogRanges(first, last, size uint64) []BlockRange {
	var ranges []BlockRange
	if size == 0 {
		return nil
	}
	for from := first; from <= last; {
		to := last
		if last-from >= size {
			to = from + size - 1
		}
		ranges = append(ranges, BlockRange{from, to})
		if to == last {
			break
		}
		from = to + 1
	}
	return ranges
}
