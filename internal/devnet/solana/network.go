package solana

import (
	"crypto/sha256"
	"slices"

	"github.com/swapper-go/swapper/internal/devnet/solana/bank"
	"github.com/swapper-go/swapper/internal/solana/wire"
)

// version is the node software that the answers are modelled on.
const version = "2.2.14"

const slotsInEpoch = 432_000

func (q *request) getGenesisHash() (any, *NodeError) {
	if q.fault.WrongNetwork {
		return wire.Hash(sha256.Sum256([]byte("another network"))).String(), nil
	}
	return q.bank().Genesis().String(), nil
}

func (q *request) getVersion() (any, *NodeError) {
	return map[string]any{"solana-core": version, "feature-set": 3640012085}, nil
}

// unhealthy is how a node says that it lags.
var unhealthy = &NodeError{Code: -32005, Message: "Node is unhealthy", Data: map[string]any{"numSlotsBehind": nil}}

func (q *request) getHealth() (any, *NodeError) {
	if q.fault.Unhealthy {
		return nil, unhealthy
	}
	return "ok", nil
}

func (q *request) getEpochInfo() (any, *NodeError) {
	c, err := q.config(0)
	if err != nil {
		return nil, err
	}
	return q.read(c, func(v *bank.View) (any, *NodeError) {
		h := v.Head()
		return map[string]any{"absoluteSlot": h.Slot, "blockHeight": h.Height, "epoch": h.Slot / slotsInEpoch, "slotIndex": h.Slot % slotsInEpoch,
			"slotsInEpoch": slotsInEpoch, "transactionCount": h.TxCount}, nil
	})
}

func (q *request) getTransactionCount() (any, *NodeError) {
	c, err := q.config(0)
	if err != nil {
		return nil, err
	}
	return q.read(c, func(v *bank.View) (any, *NodeError) { return v.Head().TxCount, nil })
}

func (q *request) getIdentity() (any, *NodeError) {
	text, err := q.getIdentityText()
	return map[string]any{"identity": text}, err
}

func (q *request) getIdentityText() (any, *NodeError) {
	return q.read(config{}, func(v *bank.View) (any, *NodeError) { return v.Head().Leader.String(), nil })
}

// mostLeaders is how many slots a request may ask the leaders of.
const mostLeaders = 5000

// getSlotLeaders names the leader of each slot: one leads them all.
func (q *request) getSlotLeaders() (any, *NodeError) {
	var from, count uint64
	if err := q.param(0, &from); err != nil {
		return nil, err
	}
	if err := q.param(1, &count); err != nil {
		return nil, err
	}
	if count == 0 || count > mostLeaders {
		return nil, &NodeError{Code: -32602, Message: "Invalid limit; max 5000"}
	}
	leader, err := q.getIdentityText()
	if err != nil {
		return nil, err
	}
	return slices.Repeat([]any{leader}, int(count)), nil
}

// getEpochSchedule describes epochs that are all of one length.
func (q *request) getEpochSchedule() (any, *NodeError) {
	return map[string]any{"slotsPerEpoch": slotsInEpoch, "leaderScheduleSlotOffset": slotsInEpoch, "warmup": false, "firstNormalEpoch": 0, "firstNormalSlot": 0}, nil
}

// getVoteAccounts names the validators that vote: none does, because one node alone makes all blocks.
func (q *request) getVoteAccounts() (any, *NodeError) {
	return map[string]any{"current": []any{}, "delinquent": []any{}}, nil
}

func (q *request) requestAirdrop() (any, *NodeError) {
	to, err := q.key(0)
	if err != nil {
		return nil, err
	}
	var lamports uint64
	if err := q.param(1, &lamports); err != nil {
		return nil, err
	}
	id, e := q.airdrop(to, lamports)
	if e != nil {
		return nil, &NodeError{Code: -32603, Message: "Internal error"}
	}
	return id.String(), nil
}
