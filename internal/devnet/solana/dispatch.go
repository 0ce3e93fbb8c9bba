package solana

import (
	"encoding/json"
	"net/http"
	"slices"

	"github.com/swapper-go/swapper/internal/devnet/loopback"
	"github.com/swapper-go/swapper/internal/devnet/solana/bank"
	"github.com/swapper-go/swapper/internal/solana/wire"
)

// NodeError is the error of a call.
type NodeError = loopback.RPCError

type (
	call  = loopback.Call
	reply = loopback.Reply
)

// answer answers one call or a batch of them.
func (s *NodeServer) answer(w http.ResponseWriter, r *http.Request, f NodeFault) {
	lose := func(methods []string) bool { return f.LoseAnswer && slices.Contains(methods, "sendTransaction") }
	s.rpc.Answer(w, r, f.MaxBatch, lose, func(q call) reply { return s.do(q, f) })
}

// request is a call under way.
type request struct {
	*NodeServer
	fault  NodeFault
	params []json.RawMessage
}

// methods are what nodes have of them that clients of the network use.
var methods = map[string]func(*request) (any, *NodeError){
	"getAccountInfo": (*request).getAccountInfo, "getMultipleAccounts": (*request).getMultipleAccounts, "getBalance": (*request).getBalance,
	"getProgramAccounts": (*request).getProgramAccounts, "getTokenAccountBalance": (*request).getTokenAccountBalance,
	"getTokenAccountsByOwner": (*request).getTokenAccountsByOwner, "getTokenSupply": (*request).getTokenSupply, "getTokenLargestAccounts": (*request).getTokenLargestAccounts,
	"getMinimumBalanceForRentExemption": (*request).getMinimumBalanceForRentExemption, "getSupply": (*request).getSupply,

	"getSlot": (*request).getSlot, "getBlockHeight": (*request).getBlockHeight, "getBlock": (*request).getBlock, "getBlocks": (*request).getBlocks,
	"getBlocksWithLimit": (*request).getBlocksWithLimit, "getBlockTime": (*request).getBlockTime, "getLatestBlockhash": (*request).getLatestBlockhash,
	"isBlockhashValid": (*request).isBlockhashValid, "getFirstAvailableBlock": (*request).getFirstAvailableBlock, "minimumLedgerSlot": (*request).getFirstAvailableBlock,
	"getRecentPrioritizationFees": (*request).getRecentPrioritizationFees,

	"getTransaction": (*request).getTransaction, "getSignatureStatuses": (*request).getSignatureStatuses,
	"getSignaturesForAddress": (*request).getSignaturesForAddress, "getTransactionCount": (*request).getTransactionCount,
	"sendTransaction": (*request).sendTransaction, "simulateTransaction": (*request).simulateTransaction, "getFeeForMessage": (*request).getFeeForMessage,
	"requestAirdrop": (*request).requestAirdrop,

	"getGenesisHash": (*request).getGenesisHash, "getVersion": (*request).getVersion, "getHealth": (*request).getHealth, "getEpochInfo": (*request).getEpochInfo,
	"getIdentity": (*request).getIdentity, "getSlotLeader": (*request).getIdentityText,
	"getSlotLeaders": (*request).getSlotLeaders, "getEpochSchedule": (*request).getEpochSchedule, "getVoteAccounts": (*request).getVoteAccounts,
}

// do carries one call out.
func (s *NodeServer) do(q call, f NodeFault) reply {
	run := methods[q.Method]
	r := &request{NodeServer: s, fault: f}
	switch {
	case q.Version != "2.0" || q.Method == "":
		return loopback.Failed(q.ID, &NodeError{Code: -32600, Message: "Invalid request"})
	case run == nil, slices.Contains(f.Refuse, q.Method), q.Method == "requestAirdrop" && s.airdrop == nil:
		return loopback.Failed(q.ID, &NodeError{Code: -32601, Message: "Method not found"})
	case slices.Contains(f.Fail, q.Method):
		return loopback.Failed(q.ID, &NodeError{Code: -32603, Message: "Internal error"})
	case len(q.Params) > 0 && string(q.Params) != "null" && json.Unmarshal(q.Params, &r.params) != nil:
		return loopback.Failed(q.ID, wrongParams("expected an array of parameters"))
	}
	value, failure := run(r)
	if failure != nil {
		return loopback.Failed(q.ID, failure)
	}
	result, err := json.Marshal(value)
	if err != nil {
		return loopback.Failed(q.ID, &NodeError{Code: -32603, Message: "Internal error"})
	}
	if f.Rewrite != nil {
		result = f.Rewrite(q.Method, r.params, result)
	}
	return loopback.Succeeded(q.ID, result)
}

func wrongParams(text string) *NodeError {
	return &NodeError{Code: -32602, Message: "Invalid params: " + text}
}

// config is every option that a method can have.
type config struct {
	Commitment          string
	PreflightCommitment string
	Encoding            string
	DataSlice           *struct{ Offset, Length int }
	MinContextSlot      *uint64

	Filters     []filter // getProgramAccounts
	WithContext bool

	TransactionDetails             *string // getBlock, getTransaction
	Rewards                        *bool
	MaxSupportedTransactionVersion *int

	SkipPreflight          bool // sendTransaction, simulateTransaction
	SigVerify              bool
	ReplaceRecentBlockhash bool
	InnerInstructions      bool
	Accounts               *struct {
		Encoding  string
		Addresses []string
	}

	Limit         *int // getSignaturesForAddress
	Before, Until string

	EnableReceivedNotification bool // signatureSubscribe
}

// config reads the options at a place, which may be missing. Old clients pass an
// encoding there.
func (q *request) config(at int) (c config, err *NodeError) {
	if at >= len(q.params) || string(q.params[at]) == "null" {
		return c, nil
	}
	if json.Unmarshal(q.params[at], &c.Encoding) == nil {
		return c, nil
	}
	if e := json.Unmarshal(q.params[at], &c); e != nil {
		return c, wrongParams(e.Error())
	}
	return c, nil
}

// param reads a parameter that must be there.
func (q *request) param(at int, to any) *NodeError {
	if at >= len(q.params) {
		return wrongParams("`params` should have at least " + string(rune('1'+at)) + " argument(s)")
	}
	if err := json.Unmarshal(q.params[at], to); err != nil {
		return wrongParams(err.Error())
	}
	return nil
}

// key reads an address that must be there.
func (q *request) key(at int) (k wire.Key, err *NodeError) {
	var text string
	if err := q.param(at, &text); err != nil {
		return k, err
	}
	return parseKey(text)
}

func parseKey(text string) (wire.Key, *NodeError) {
	k, err := wire.ParseKey(text)
	if err != nil {
		return k, &NodeError{Code: -32602, Message: "Invalid param: Invalid"}
	}
	return k, nil
}

// commitment reads a level; "" is finalized, as nodes have it.
func commitment(text string) (bank.Commitment, *NodeError) {
	switch text {
	case "processed", "recent":
		return bank.Processed, nil
	case "confirmed", "single", "singleGossip":
		return bank.Confirmed, nil
	case "", "finalized", "max", "root":
		return bank.Finalized, nil
	}
	return 0, wrongParams("unknown variant `" + text + "`, expected one of `processed`, `confirmed`, `finalized`")
}

// about is [request.read] for a method whose parameters are a key and options.
func (q *request) about(f func(*bank.View, wire.Key, config) (any, *NodeError)) (any, *NodeError) {
	k, err := q.key(0)
	if err != nil {
		return nil, err
	}
	c, err := q.config(1)
	if err != nil {
		return nil, err
	}
	return q.read(c, func(v *bank.View) (any, *NodeError) { return f(v, k, c) })
}

// read calls f with the ledger as the options want it.
func (q *request) read(c config, f func(*bank.View) (any, *NodeError)) (value any, err *NodeError) {
	level, err := commitment(c.Commitment)
	if err != nil {
		return nil, err
	}
	q.bank().Read(level, q.fault.Behind, func(v *bank.View) {
		if head := v.Head().Slot; c.MinContextSlot != nil && head < *c.MinContextSlot {
			err = &NodeError{Code: -32016, Message: "Minimum context slot has not been reached", Data: map[string]uint64{"contextSlot": head}}
			return
		}
		if value, err = f(v); err != nil {
			return
		}
		// What is returned may share memory with the ledger.
		raw, e := json.Marshal(value)
		if e != nil {
			err = &NodeError{Code: -32603, Message: "Internal error"}
			return
		}
		value = json.RawMessage(raw)
	})
	return value, err
}

// sure is read for methods that know of no block below confirmed.
func (q *request) sure(c config, f func(*bank.View) (any, *NodeError)) (any, *NodeError) {
	if level, err := commitment(c.Commitment); err == nil && level == bank.Processed {
		return nil, &NodeError{Code: -32602, Message: "Method does not support commitment below `confirmed`"}
	}
	return q.read(c, f)
}

// in puts a value into its context.
func in(v *bank.View, value any) any {
	return map[string]any{"context": map[string]any{"apiVersion": version, "slot": v.Head().Slot}, "value": value}
}
