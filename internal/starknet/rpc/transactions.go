package rpc

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/big"

	"github.com/swapper-go/swapper/internal/starknet/wire"
)

// Receipt is what came of a transaction that was executed.
type Receipt struct {
	Tx       wire.Felt
	Reverted bool
	Reason   string   // of a revert; may be empty
	Fee      *big.Int // that was paid, in fri; nil where it was paid in another unit
	Events   []wire.Log

	accepted bool
	block    BlockRef
}

// BlockRef names an accepted block.
type BlockRef struct {
	Height uint64
	Hash   wire.Felt
	OnL1   bool
}

// Accepted returns the block that the transaction is in. It is false for one that is only
// in the block that is being made: all that the receipt says may not come true. Before
// version 0.9 nodes call such a transaction accepted on L2 too; what tells it apart is
// that its block has no hash.
func (r *Receipt) Accepted() (BlockRef, bool) { return r.block, r.accepted }

// UnmarshalJSON implements [json.Unmarshaler].
func (r *Receipt) UnmarshalJSON(data []byte) error {
	var j struct {
		Tx        *felt           `json:"transaction_hash"`
		Execution string          `json:"execution_status"`
		Finality  string          `json:"finality_status"`
		Reason    json.RawMessage `json:"revert_reason"`
		Block     *felt           `json:"block_hash"`
		Height    *uint64         `json:"block_number"`
		Fee       *struct {
			Amount *felt  `json:"amount"`
			Unit   string `json:"unit"`
		} `json:"actual_fee"`
		Events []struct {
			From *felt `json:"from_address"`
			Keys Felts `json:"keys"`
			Data Felts `json:"data"`
		} `json:"events"`
	}
	if err := json.Unmarshal(data, &j); err != nil {
		return err
	}
	*r = Receipt{}
	if j.Tx == nil {
		return errors.New("the receipt names no transaction")
	}
	r.Tx = j.Tx.Felt
	switch j.Execution {
	case "SUCCEEDED":
	case "REVERTED":
		r.Reverted = true
	default:
		return fmt.Errorf("unknown execution status %.40q", j.Execution)
	}
	if len(j.Reason) > 0 && string(j.Reason) != "null" {
		r.Reason = wire.RevertReason(j.Reason)
	}
	onL1 := j.Finality == "ACCEPTED_ON_L1"
	if (onL1 || j.Finality == "ACCEPTED_ON_L2") && j.Block != nil && !j.Block.IsZero() && j.Height != nil {
		if *j.Height > maxNumber {
			return fmt.Errorf("the height of the block is too large: it must be at most %d", int64(maxNumber))
		}
		r.accepted, r.block = true, BlockRef{Height: *j.Height, Hash: j.Block.Felt, OnL1: onL1}
	}
	if j.Fee != nil && j.Fee.Unit == "FRI" {
		r.Fee = j.Fee.Amount.number()
	}
	for _, e := range j.Events {
		if e.From == nil {
			return errors.New("an event has no contract")
		}
		r.Events = append(r.Events, wire.Log{From: e.From.Felt, Keys: e.Keys, Data: e.Data})
	}
	return nil
}

// ReceiptRequest asks what came of a transaction. One that was not executed, as far as
// the node knows, is an error that [IsNoTx] knows.
func ReceiptRequest(tx wire.Felt, result *Receipt) Request {
	return Request{Method: "starknet_getTransactionReceipt", Named: object{"transaction_hash": wire.Hex(tx)}, Result: result, Check: func(got any) error {
		if r := got.(*Receipt); r.Tx != tx {
			return fmt.Errorf("the receipt is of %s, not of %s", wire.Hex(r.Tx), wire.Hex(tx))
		}
		return nil
	}}
}

// Progress is how far a node has got with a transaction. That it is in a block only
// [Receipt.Accepted] says.
type Progress string

// The steps that nodes tell of.
const (
	Received  Progress = "RECEIVED"
	Candidate Progress = "CANDIDATE"
	Executed  Progress = "PRE_CONFIRMED" // or accepted
	Rejected  Progress = "REJECTED"      // before version 0.9: it will not be executed as it is
)

// UnmarshalJSON implements [json.Unmarshaler].
func (p *Progress) UnmarshalJSON(data []byte) error {
	var j struct {
		Finality string `json:"finality_status"`
	}
	if err := json.Unmarshal(data, &j); err != nil {
		return err
	}
	switch j.Finality {
	case "RECEIVED", "CANDIDATE", "REJECTED":
		*p = Progress(j.Finality)
	case "PRE_CONFIRMED", "ACCEPTED_ON_L2", "ACCEPTED_ON_L1":
		*p = Executed
	default:
		return fmt.Errorf("unknown finality status %.40q", j.Finality)
	}
	return nil
}

// ProgressRequest asks how far the node has got with a transaction. One that it does not
// know is an error that [IsNoTx] knows.
func ProgressRequest(tx wire.Felt, result *Progress) Request {
	return Request{Method: "starknet_getTransactionStatus", Named: object{"transaction_hash": wire.Hex(tx)}, Result: result}
}

// Sent is the id under which a node took a transaction.
type Sent struct{ ID wire.Felt }

// UnmarshalJSON implements [json.Unmarshaler].
func (s *Sent) UnmarshalJSON(data []byte) error {
	var j struct {
		ID *felt `json:"transaction_hash"`
	}
	if err := json.Unmarshal(data, &j); err != nil {
		return err
	}
	if j.ID == nil {
		return errors.New("the node does not name the transaction that it took")
	}
	s.ID = j.ID.Felt
	return nil
}

// SendRequest hands a signed transaction to a node.
func SendRequest(tx *wire.Transaction, result *Sent) (Request, error) {
	method, param, body, err := tx.Broadcast()
	if err != nil {
		return Request{}, err
	}
	return Request{Method: method, Named: object{param: body}, Result: result}, nil
}

const methodTrace = "starknet_traceTransaction"

// TraceRequest asks for the calls that a transaction made. It proves nothing by itself:
// what is read out of it must hash to what is known.
func TraceRequest(tx wire.Felt, result *json.RawMessage) Request {
	return Request{Method: methodTrace, Named: object{"transaction_hash": wire.Hex(tx)}, Result: result}
}

// BlockTraces are the traces of a block's transactions, by their ids.
type BlockTraces map[wire.Felt]json.RawMessage

// UnmarshalJSON implements [json.Unmarshaler].
func (b *BlockTraces) UnmarshalJSON(data []byte) error {
	var all []struct {
		Tx    *felt           `json:"transaction_hash"`
		Trace json.RawMessage `json:"trace_root"`
	}
	if err := json.Unmarshal(data, &all); err != nil {
		return err
	}
	*b = BlockTraces{}
	for _, t := range all {
		if t.Tx != nil && len(t.Trace) > 0 {
			(*b)[t.Tx.Felt] = t.Trace
		}
	}
	return nil
}

// BlockTracesRequest asks for the calls that all transactions of a block made: some nodes
// have these where they do not have those of one transaction.
func BlockTracesRequest(block wire.Felt, result *BlockTraces) Request {
	return Request{Method: "starknet_traceBlockTransactions", Named: object{"block_id": AtHash(block).param()}, Result: result}
}
