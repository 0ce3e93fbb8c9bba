package starknet

import "github.com/swapper-go/swapper/internal/starknet/wire"

// getMessagesStatus looks for the messages of a transaction of Ethereum: no such transaction has sent one here.
func (q *request) getMessagesStatus() (any, *NodeError) {
	var hash hexNumber
	if err := q.param("transaction_hash", &hash); err != nil {
		return nil, err
	}
	return nil, txNotFound
}

// estimateMessageFee fails as it does on nodes for a contract that handles no messages from Ethereum: none does here.
func (q *request) estimateMessageFee() (any, *NodeError) {
	var m struct {
		To       *hexFelt   `json:"to_address"`
		Selector *hexFelt   `json:"entry_point_selector"`
		Payload  *[]hexFelt `json:"payload"`
	}
	if err := q.param("message", &m); err != nil {
		return nil, err
	}
	if m.To == nil || m.Selector == nil || m.Payload == nil {
		return nil, wrongParams("message: to_address, entry_point_selector and payload are required")
	}
	b, err := q.block()
	if err != nil {
		return nil, err
	}
	if class := q.view.ClassAt(m.To.Felt, b); class.IsZero() {
		return nil, contractNotFound
	}
	return nil, &NodeError{Code: 40, Message: "Contract error", Data: map[string]any{"revert_error": "Entry point EntryPointSelector(" + wire.Hex(m.Selector.Felt) + ") not found in contract."}}
}

// getStorageProof refuses every block, as nodes do that keep no tries of past states.
func (q *request) getStorageProof() (any, *NodeError) {
	if _, err := q.block(); err != nil {
		return nil, err
	}
	return nil, noStorageProof
}
