package rpc

import (
	"encoding/json"
	"errors"

	"github.com/swapper-go/swapper/internal/solana/wire"
)

// SlotRequest asks for the newest slot.
func SlotRequest(at At, result *uint64) Request {
	return Request{Method: "getSlot", Params: []any{at.with(nil)}, Result: result}
}

// Block is what is read of a block.
type Block struct {
	Hash   wire.Hash `json:"blockhash"`
	Height *uint64   `json:"blockHeight"`
	Time   *int64    `json:"blockTime"` // Unix seconds
	Parent uint64    `json:"parentSlot"`
}

// BlockRequest asks for the block of a slot. [IsSkipped] tells that there is none.
func BlockRequest(slot uint64, at At, result *Block) Request {
	return Request{Method: "getBlock", Params: []any{slot, at.with(options{"encoding": "base64", "transactionDetails": "none", "rewards": false, "maxSupportedTransactionVersion": 0})}, Result: result,
		Check: func(got any) error {
			b := got.(*Block)
			if b.Hash.IsZero() || b.Height == nil || b.Time == nil {
				return errors.New("the block has no hash, height or time")
			}
			return nil
		}}
}

// BlockFees is what a block's transactions paid.
type BlockFees struct {
	Signatures []string `json:"signatures"` // one for each transaction
	Rewards    []struct {
		Lamports int64  `json:"lamports"`
		Type     string `json:"rewardType"`
	} `json:"rewards"`
}

// Reward returns what the block's leader got of the fees, in lamports, and false if the
// block does not say.
func (b *BlockFees) Reward() (lamports uint64, ok bool) {
	for _, r := range b.Rewards {
		if r.Type == "Fee" && r.Lamports >= 0 {
			return uint64(r.Lamports), true
		}
	}
	return 0, false
}

// BlockFeesRequest asks what the transactions of a slot's block paid.
func BlockFeesRequest(slot uint64, at At, result **BlockFees) Request {
	return Request{Method: "getBlock", Params: []any{slot, at.with(options{"encoding": "base64", "transactionDetails": "signatures", "rewards": true, "maxSupportedTransactionVersion": 0})}, Result: result}
}

// LatestBlockhash is the hash of the newest block.
type LatestBlockhash struct {
	Slot      uint64 // of the block
	Hash      wire.Hash
	LastValid uint64 // block height up to which a transaction with the hash is accepted
}

// UnmarshalJSON implements [json.Unmarshaler].
func (l *LatestBlockhash) UnmarshalJSON(data []byte) error {
	var reply inContext[struct {
		Blockhash            string
		LastValidBlockHeight uint64
	}]
	if err := json.Unmarshal(data, &reply); err != nil {
		return err
	}
	hash, err := wire.ParseKey(reply.Value.Blockhash)
	if err != nil || reply.Context.Slot == nil || reply.Value.LastValidBlockHeight == 0 {
		return errors.New("the newest block hash is incomplete: it needs a hash, a slot and a last valid block height")
	}
	*l = LatestBlockhash{*reply.Context.Slot, wire.Hash(hash), reply.Value.LastValidBlockHeight}
	return nil
}

// LatestBlockhashRequest asks for the hash that new transactions carry.
func LatestBlockhashRequest(at At, result *LatestBlockhash) Request {
	return Request{Method: "getLatestBlockhash", Params: []any{at.with(nil)}, Result: result}
}

// Validity says whether transactions with a block hash are still accepted.
type Validity struct {
	Slot  uint64
	Valid bool
}

// UnmarshalJSON implements [json.Unmarshaler].
func (v *Validity) UnmarshalJSON(data []byte) error {
	var reply inContext[*bool]
	if err := json.Unmarshal(data, &reply); err != nil {
		return err
	}
	if reply.Value == nil || reply.Context.Slot == nil {
		return errors.New("neither valid nor invalid")
	}
	*v = Validity{*reply.Context.Slot, *reply.Value}
	return nil
}

// BlockhashValidRequest asks whether transactions with a block hash are still accepted.
func BlockhashValidRequest(hash wire.Hash, at At, result *Validity) Request {
	return Request{Method: "isBlockhashValid", Params: []any{hash.String(), at.with(nil)}, Result: result}
}
