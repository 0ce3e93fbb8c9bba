package rpc

import (
	"math"

	"github.com/swapper-go/swapper/internal/starknet/wire"
)

// At is a state of the chain after a block that was accepted: the newest, or one that is
// named. The block that is being made is none.
type At struct {
	kind   atKind
	height uint64
	hash   wire.Felt
}

type atKind uint8

const (
	atLatest atKind = iota
	atHeight
	atHash
)

// Latest is the newest block that was accepted on L2: what the network acts on.
var Latest = At{}

// AtHeight is the block of a height, on whatever branch the node has it.
func AtHeight(n uint64) At { return At{kind: atHeight, height: n} }

// AtHash is one block: a node on another branch does not have it.
func AtHash(hash wire.Felt) At { return At{kind: atHash, hash: hash} }

// param is a block id.
func (a At) param() any {
	switch a.kind {
	case atHeight:
		return object{"block_number": a.height}
	case atHash:
		return object{"block_hash": wire.Hex(a.hash)}
	}
	return "latest"
}

// object is an object of JSON.
type object map[string]any

// Newest is the upper end of a range of blocks that has none.
const Newest = math.MaxUint64

// Range is a range of accepted blocks, both ends included.
type Range struct {
	First uint64
	Last  uint64 // [Newest]: as far as the node has got
}

// last is the upper end as nodes take it. Left to the node, it would include the block
// that is being made.
func (r Range) last() any {
	if r.Last == Newest {
		return Latest.param()
	}
	return AtHeight(r.Last).param()
}
