package rpc

import (
	"slices"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
)

// LateLogs is how many blocks are read again while nothing happens, since nodes
// deliver logs late.
const LateLogs = 60

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
	return slices.ContainsFunc(logs, func(l types.Log) bool { return l.BlockHash == c.BlockHash && l.Index == c.LogIndex })
}

// Next returns the cursor after the new logs up to tip have been read.
func (c LogCursor) Next(logs []types.Log, tip uint64) LogCursor {
	if n := len(logs); n > 0 {
		return LogCursor{logs[n-1].BlockNumber, logs[n-1].BlockHash, logs[n-1].Index}
	}
	if tip > c.Block && tip-c.Block > LateLogs {
		return LogCursor{Block: tip - LateLogs}
	}
	return c
}
