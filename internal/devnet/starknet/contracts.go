package starknet

import (
	"slices"

	"github.com/swapper-go/swapper/internal/devnet/starknet/contracts"
	"github.com/swapper-go/swapper/internal/starknet/wire"
)

// contract reads a block and the address of a contract that exists there.
func (q *request) contract() (*contracts.Block, contracts.Felt, *NodeError) {
	b, err := q.block()
	if err != nil {
		return nil, contracts.Felt{}, err
	}
	at, err := q.felt("contract_address")
	if err != nil {
		return nil, at, err
	}
	if class := q.view.ClassAt(at, b); class.IsZero() {
		return nil, at, contractNotFound
	}
	return b, at, nil
}

func (q *request) getStorageAt() (any, *NodeError) {
	key, err := q.felt("key")
	if err != nil {
		return nil, err
	}
	b, at, err := q.contract()
	if err != nil {
		return nil, err
	}
	return wire.Hex(q.view.Storage(at, key, b)), nil
}

func (q *request) getNonce() (any, *NodeError) {
	b, at, err := q.contract()
	if err != nil {
		return nil, err
	}
	return hexOfUint(q.view.Nonce(at, b)), nil
}

func (q *request) getClassHashAt() (any, *NodeError) {
	b, at, err := q.contract()
	if err != nil {
		return nil, err
	}
	return wire.Hex(q.view.ClassAt(at, b)), nil
}

func (q *request) getClassAt() (any, *NodeError) {
	b, at, err := q.contract()
	if err != nil {
		return nil, err
	}
	return q.class(q.view.ClassAt(at, b))
}

func (q *request) getClass() (any, *NodeError) {
	if _, err := q.block(); err != nil {
		return nil, err
	}
	hash, err := q.felt("class_hash")
	if err != nil {
		return nil, err
	}
	return q.class(hash)
}

// class writes a class as a compiler of Cairo would have made it, without a program:
// there is none.
func (q *request) class(hash contracts.Felt) (any, *NodeError) {
	c, ok := q.view.Class(hash)
	if !ok {
		return nil, classNotFound
	}
	type entry struct {
		Selector string `json:"selector"`
		Index    int    `json:"function_idx"`
	}
	external, constructor := []entry{}, []entry{}
	for i, s := range c.Selectors() {
		external = append(external, entry{wire.Hex(s), i})
	}
	if c.Constructor != nil {
		constructor = append(constructor, entry{wire.Hex(wire.Selector("constructor")), len(external)})
	}
	abi := c.ABI
	if abi == "" {
		abi = `[{"type":"interface","name":"local::IContract","items":[]}]` // enough to tell that it is of Cairo 1
	}
	return map[string]any{
		"sierra_program": []string{"0x1", "0x7", "0x0"}, "contract_class_version": "0.1.0", "abi": abi,
		"entry_points_by_type": map[string]any{"EXTERNAL": external, "CONSTRUCTOR": constructor, "L1_HANDLER": []entry{}},
	}, nil
}

func (q *request) call() (any, *NodeError) {
	var c struct {
		Contract *hexFelt   `json:"contract_address"`
		Selector *hexFelt   `json:"entry_point_selector"`
		Calldata *[]hexFelt `json:"calldata"`
	}
	if err := q.param("request", &c); err != nil {
		return nil, err
	}
	if c.Contract == nil || c.Selector == nil || c.Calldata == nil {
		return nil, wrongParams("request: contract_address, entry_point_selector and calldata are required")
	}
	b, err := q.block()
	if err != nil {
		return nil, err
	}
	at := q.view.ClassAt(c.Contract.Felt, b)
	if at.IsZero() {
		return nil, contractNotFound
	}
	if class, _ := q.view.Class(at); q.version >= V8 && !slices.Contains(class.Selectors(), c.Selector.Felt) {
		return nil, entryNotFound
	}
	i := q.view.Call(c.Contract.Felt, c.Selector.Felt, feltsOf(*c.Calldata), b)
	if i.Failed != nil {
		return nil, &NodeError{Code: 40, Message: "Contract error", Data: map[string]any{"revert_error": q.execution(i)}}
	}
	return hexes(i.Result), nil
}
