package solana

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/swapper-go/swapper/internal/devnet/solana/bank"
	"github.com/swapper-go/swapper/internal/solana/wire"
)

const (
	maxBlocks = 500_000 // slots of getBlocks
	feeBlocks = 150     // of getRecentPrioritizationFees
	maxFeeKey = 128
)

func (q *request) getSlot() (any, *NodeError) {
	c, err := q.config(0)
	if err != nil {
		return nil, err
	}
	return q.read(c, func(v *bank.View) (any, *NodeError) { return v.Head().Slot, nil })
}

func (q *request) getBlockHeight() (any, *NodeError) {
	c, err := q.config(0)
	if err != nil {
		return nil, err
	}
	return q.read(c, func(v *bank.View) (any, *NodeError) { return v.Head().Height, nil })
}

func (q *request) getLatestBlockhash() (any, *NodeError) {
	c, err := q.config(0)
	if err != nil {
		return nil, err
	}
	return q.read(c, func(v *bank.View) (any, *NodeError) {
		h := v.Head()
		return in(v, map[string]any{"blockhash": h.Hash.String(), "lastValidBlockHeight": bank.LastValid(h)}), nil
	})
}

func (q *request) isBlockhashValid() (any, *NodeError) {
	k, err := q.key(0) // a hash has the form of a key
	if err != nil {
		return nil, err
	}
	c, err := q.config(1)
	if err != nil {
		return nil, err
	}
	return q.read(c, func(v *bank.View) (any, *NodeError) { return in(v, v.Valid(wire.Hash(k))), nil })
}

func (q *request) getFirstAvailableBlock() (any, *NodeError) { return 0, nil }

// slot returns the block of a slot, or says why there is none.
func slot(v *bank.View, at uint64) (*bank.Block, *NodeError) {
	if b := v.Block(at); b != nil {
		return b, nil
	}
	if at > v.Head().Slot {
		return nil, &NodeError{Code: -32004, Message: fmt.Sprintf("Block not available for slot %d", at)}
	}
	return nil, &NodeError{Code: -32007, Message: fmt.Sprintf("Slot %d was skipped, or missing due to ledger jump to recent snapshot", at)}
}

func (q *request) getBlock() (any, *NodeError) {
	var at uint64
	if err := q.param(0, &at); err != nil {
		return nil, err
	}
	c, err := q.config(1)
	if err != nil {
		return nil, err
	}
	return q.sure(c, func(v *bank.View) (any, *NodeError) {
		b, err := slot(v, at)
		if err != nil {
			return nil, err
		}
		out := map[string]any{"blockhash": b.Hash.String(), "previousBlockhash": b.ParentHash.String(), "parentSlot": b.ParentSlot,
			"blockHeight": b.Height, "blockTime": b.Time}
		details := "full"
		if c.TransactionDetails != nil {
			details = *c.TransactionDetails
		}
		switch details {
		case "none":
		case "signatures":
			ids := []string{}
			for _, tx := range b.Txs {
				ids = append(ids, tx.ID.String())
			}
			out["signatures"] = ids
		case "full", "accounts":
			txs := []any{}
			for _, tx := range b.Txs {
				encoded, err := encodeTx(v, tx, c, details == "accounts")
				if err != nil {
					return nil, err
				}
				txs = append(txs, encoded)
			}
			out["transactions"] = txs
		default:
			return nil, wrongParams("unknown variant `" + details + "`, expected one of `full`, `signatures`, `none`, `accounts`")
		}
		if c.Rewards == nil || *c.Rewards {
			// Clients take a block without fees for one that says nothing about fees: every
			// block has them, of votes if of nothing else.
			reward := map[string]any{"pubkey": b.Leader.String(), "lamports": b.Reward, "postBalance": b.LeaderPost, "rewardType": "Fee", "commission": nil}
			out["rewards"], out["numRewardPartitions"] = []any{reward}, nil
		}
		return out, nil
	})
}

func (q *request) getBlockTime() (any, *NodeError) {
	var at uint64
	if err := q.param(0, &at); err != nil {
		return nil, err
	}
	return q.read(config{Commitment: "processed"}, func(v *bank.View) (any, *NodeError) {
		b, err := slot(v, at)
		if err != nil {
			return nil, err
		}
		return b.Time, nil
	})
}

func (q *request) getBlocks() (any, *NodeError) {
	var first uint64
	if err := q.param(0, &first); err != nil {
		return nil, err
	}
	last, configAt := uint64(1<<63), 1
	if len(q.params) > 1 && json.Unmarshal(q.params[1], &last) == nil {
		configAt = 2
	}
	c, err := q.config(configAt)
	if err != nil {
		return nil, err
	}
	return q.sure(c, func(v *bank.View) (any, *NodeError) {
		last := min(last, v.Head().Slot)
		if last >= first && last-first > maxBlocks {
			return nil, &NodeError{Code: -32602, Message: fmt.Sprintf("Slot range too large; max %d", maxBlocks)}
		}
		return v.Blocks(first, last), nil
	})
}

func (q *request) getBlocksWithLimit() (any, *NodeError) {
	var first uint64
	var limit int
	if err := q.param(0, &first); err != nil {
		return nil, err
	}
	if err := q.param(1, &limit); err != nil {
		return nil, err
	}
	c, err := q.config(2)
	if err != nil {
		return nil, err
	}
	if limit > maxBlocks {
		return nil, &NodeError{Code: -32602, Message: fmt.Sprintf("Limit too large; max %d", maxBlocks)}
	}
	return q.sure(c, func(v *bank.View) (any, *NodeError) {
		all := v.Blocks(first, v.Head().Slot)
		return all[:min(max(limit, 0), len(all))], nil
	})
}

func (q *request) getRecentPrioritizationFees() (any, *NodeError) {
	var texts []string
	if len(q.params) > 0 && string(q.params[0]) != "null" {
		if err := q.param(0, &texts); err != nil {
			return nil, err
		}
	}
	if len(texts) > maxFeeKey {
		return nil, &NodeError{Code: -32602, Message: fmt.Sprintf("Too many inputs provided; max %d", maxFeeKey)}
	}
	var keys []wire.Key
	for _, text := range texts {
		k, err := parseKey(text)
		if err != nil {
			return nil, err
		}
		keys = append(keys, k)
	}
	return q.read(config{Commitment: "processed"}, func(v *bank.View) (any, *NodeError) {
		out := []any{}
		for _, b := range v.Recent(feeBlocks) {
			least, any := uint64(0), false
			for _, tx := range b.Txs {
				if budget, err := tx.Budget(); err == nil && writes(tx, keys) && (!any || budget.Price < least) {
					least, any = budget.Price, true
				}
			}
			out = append(out, map[string]uint64{"slot": b.Slot, "prioritizationFee": least})
		}
		return out, nil
	})
}

// writes reports whether a transaction can write every one of the accounts.
func writes(tx *bank.Executed, keys []wire.Key) bool {
	for _, k := range keys {
		if i := slices.Index(tx.Message.AccountKeys, k); i < 0 || !tx.Writable(i) {
			return false
		}
	}
	return true
}
