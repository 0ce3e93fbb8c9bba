package rpc

import (
	"encoding/json"
	"errors"

	"github.com/swapper-go/swapper/internal/starknet/wire"
)

// CallRequest asks what an entry point of a contract returns after a block. A contract
// that reverts is an error that [IsReverted] knows, with [RevertReason].
func CallRequest(contract, entry wire.Felt, calldata []wire.Felt, at At, result *Felts) Request {
	return Request{Method: "starknet_call", Result: result, Named: object{"block_id": at.param(), "request": object{
		"contract_address": wire.Hex(contract), "entry_point_selector": wire.Hex(entry), "calldata": hexes(calldata)}}}
}

// Nonce is the nonce that the next transaction of an account has, in terms of accepted
// blocks.
type Nonce uint64

// PreConfirmedNonce is the nonce that the next transaction of an account has, if what is
// in the block that is being made gets into it.
type PreConfirmedNonce uint64

func readNonce(data []byte) (uint64, error) {
	var f felt
	if err := json.Unmarshal(data, &f); err != nil {
		return 0, err
	}
	n := f.number()
	if !n.IsUint64() {
		return 0, errors.New("the nonce is too large: it must be below 2^64")
	}
	return n.Uint64(), nil
}

// UnmarshalJSON implements [json.Unmarshaler].
func (n *Nonce) UnmarshalJSON(data []byte) error {
	got, err := readNonce(data)
	*n = Nonce(got)
	return err
}

// UnmarshalJSON implements [json.Unmarshaler].
func (n *PreConfirmedNonce) UnmarshalJSON(data []byte) error {
	got, err := readNonce(data)
	*n = PreConfirmedNonce(got)
	return err
}

// NonceRequest asks for an account's nonce after a block. Where there is no account the
// answer is an error that [IsNoContract] knows.
func NonceRequest(account wire.Felt, at At, result *Nonce) Request {
	return Request{Method: "starknet_getNonce", Named: object{"contract_address": wire.Hex(account), "block_id": at.param()}, Result: result}
}

// PreConfirmedNonceRequest asks for an account's nonce in the block that is being made.
func PreConfirmedNonceRequest(account wire.Felt, result *PreConfirmedNonce) Request {
	return Request{Method: "starknet_getNonce", Result: result, Form: func(v int) any {
		return object{"contract_address": wire.Hex(account), "block_id": preConfirmed(v)}
	}}
}

// ClassHash is the class of a contract.
type ClassHash struct{ wire.Felt }

// UnmarshalJSON implements [json.Unmarshaler].
func (c *ClassHash) UnmarshalJSON(data []byte) error {
	var f felt
	err := json.Unmarshal(data, &f)
	c.Felt = f.Felt
	if err == nil && f.IsZero() {
		err = errors.New("the class hash is zero")
	}
	return err
}

// ClassHashRequest asks of which class the contract at an address is after a block.
// Where there is none the answer is an error that [IsNoContract] knows.
func ClassHashRequest(contract wire.Felt, at At, result *ClassHash) Request {
	return Request{Method: "starknet_getClassHashAt", Named: object{"block_id": at.param(), "contract_address": wire.Hex(contract)}, Result: result}
}
