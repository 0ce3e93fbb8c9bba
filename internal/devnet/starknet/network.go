package starknet

import (
	"github.com/swapper-go/swapper/internal/starknet/wire"
)

func (q *request) specVersion() (any, *NodeError) {
	if q.fault.WrongSpec != "" {
		return q.fault.WrongSpec, nil
	}
	return q.version.String(), nil
}

func (q *request) chainID() (any, *NodeError) {
	id := q.view.ChainID()
	if q.fault.WrongNetwork {
		id = wire.ShortString("SN_OTHER")
	}
	return wire.Hex(id), nil
}

func (q *request) syncing() (any, *NodeError) { return false, nil }

func (q *request) blockNumber() (any, *NodeError) { return q.view.Head().Number, nil }

func (q *request) blockHashAndNumber() (any, *NodeError) {
	b := q.view.Head()
	return map[string]any{"block_hash": wire.Hex(b.Hash), "block_number": b.Number}, nil
}
