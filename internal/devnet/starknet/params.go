package starknet

import (
	"encoding/json"
	"fmt"
	"math/big"
	"strings"

	"github.com/swapper-go/swapper/internal/devnet/starknet/contracts"
	"github.com/swapper-go/swapper/internal/starknet/wire"
)

// param reads a parameter that must be there.
func (q *request) param(name string, to any) *NodeError {
	raw, ok := q.params[name]
	if !ok {
		return wrongParams("missing field `" + name + "`")
	}
	if err := json.Unmarshal(raw, to); err != nil {
		return wrongParams(name + ": " + err.Error())
	}
	return nil
}

// hexFelt is a felt as nodes take it: 0x and hexadecimal digits.
type hexFelt struct{ contracts.Felt }

func (f *hexFelt) UnmarshalJSON(raw []byte) error {
	var text string
	if err := json.Unmarshal(raw, &text); err != nil {
		return fmt.Errorf("expected a field element in hexadecimal text")
	}
	if !strings.HasPrefix(text, "0x") {
		return fmt.Errorf("a field element must begin with 0x, not be %.20q", text)
	}
	var err error
	f.Felt, err = wire.ParseFelt(text)
	return err
}

func feltsOf(all []hexFelt) []contracts.Felt {
	out := make([]contracts.Felt, len(all))
	for i, f := range all {
		out[i] = f.Felt
	}
	return out
}

// felt reads a felt that must be there.
func (q *request) felt(name string) (contracts.Felt, *NodeError) {
	var f hexFelt
	err := q.param(name, &f)
	return f.Felt, err
}

// hexNumber is a number of at most so many bits as nodes take it.
type hexNumber struct{ *big.Int }

func (n *hexNumber) UnmarshalJSON(raw []byte) error {
	var text string
	if err := json.Unmarshal(raw, &text); err != nil || !strings.HasPrefix(text, "0x") || len(text) > 66 {
		return fmt.Errorf("expected a number in hexadecimal text")
	}
	var ok bool
	if n.Int, ok = new(big.Int).SetString(text[2:], 16); !ok || n.Sign() < 0 {
		return fmt.Errorf("expected a number in hexadecimal text")
	}
	return nil
}

// blockID is how a request names a block.
type blockID struct {
	tag    string
	number *uint64
	hash   *hexFelt
}

func (b *blockID) UnmarshalJSON(raw []byte) error {
	if json.Unmarshal(raw, &b.tag) == nil && b.tag != "" {
		return nil
	}
	var of struct {
		Number *uint64  `json:"block_number"`
		Hash   *hexFelt `json:"block_hash"`
	}
	if err := json.Unmarshal(raw, &of); err != nil {
		return err
	}
	if (of.Number == nil) == (of.Hash == nil) {
		return fmt.Errorf("expected a block tag, a block number or a block hash")
	}
	b.number, b.hash = of.Number, of.Hash
	return nil
}

// block finds a block. The open one is found by its tag alone.
func (q *request) find(id blockID) (*contracts.Block, *NodeError) {
	var b *contracts.Block
	switch {
	case id.number != nil:
		b = q.view.Block(*id.number)
	case id.hash != nil:
		b = q.view.BlockOf(id.hash.Felt)
	case id.tag == "latest":
		return q.view.Head(), nil
	case id.tag == "l1_accepted" && q.version >= V9:
		return q.view.L1Head(), nil
	case id.tag == "pending" && q.version < V9, id.tag == "pre_confirmed" && q.version >= V9:
		return q.open(), nil
	default:
		return nil, wrongParams("unknown block tag " + id.tag)
	}
	if b == nil {
		return nil, blockNotFound
	}
	return b, nil
}

// open is the open block as far as the node knows it.
func (q *request) open() *contracts.Block {
	b := q.view.Open()
	if q.fault.NoOpenBlock {
		empty := *b
		empty.Txs = nil
		return &empty
	}
	return b
}

// block reads the block that a request is about.
func (q *request) block() (*contracts.Block, *NodeError) {
	var id blockID
	if err := q.param("block_id", &id); err != nil {
		return nil, err
	}
	return q.find(id)
}
