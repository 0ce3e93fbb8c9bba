package wire

import (
	"encoding/json"
	"fmt"
	"math/big"
	"slices"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
)

// CallFrame is one call of a transaction's trace, or the transaction itself with
// no inner calls.
type CallFrame struct {
	Type  string         `json:"type"` // CALL, CREATE, ...
	From  common.Address `json:"from"`
	To    common.Address `json:"to"`
	Input hexutil.Bytes  `json:"input"`
	Calls []CallFrame    `json:"calls"`
}

// UnmarshalJSON reads a frame; a transaction that creates a contract has no
// destination, which is the zero address here.
func (f *CallFrame) UnmarshalJSON(data []byte) error {
	type plain CallFrame
	in := struct {
		*plain
		To *common.Address `json:"to"`
	}{plain: (*plain)(f)}
	if err := json.Unmarshal(data, &in); err != nil {
		return err
	}
	f.To = common.Address{}
	if in.To != nil {
		f.To = *in.To
	}
	return nil
}

// creates reports whether the frame deploys a contract.
func (f CallFrame) creates() bool {
	return f.Type == "CREATE" || f.Type == "CREATE2" || f.To == common.Address{}
}

// maxTraceDepth bounds the recursion into a trace; the EVM itself allows 1024.
const maxTraceDepth = 1024

// walk visits f and the calls inside it until visit returns true.
func (f CallFrame) walk(depth int, visit func(CallFrame) bool) bool {
	if visit(f) {
		return true
	}
	if depth < maxTraceDepth {
		for _, inner := range f.Calls {
			if inner.walk(depth+1, visit) {
				return true
			}
		}
	}
	return false
}

// FindStoredHeader rebuilds the stored header with the given commitment from the
// transaction that brought it to the relay (protocol: chain-evm.md §10.2): the
// transaction itself where its destination is the relay, or its trace. Whatever
// is found hashes to the commitment, so the source need not be trusted.
func (d Deployment) FindStoredHeader(tx CallFrame, commit common.Hash) (StoredHeader, bool) {
	var found StoredHeader
	ok := tx.walk(0, func(f CallFrame) bool {
		if f.creates() {
			// The genesis header is the constructor's first argument, before one more word.
			if n := len(f.Input); n >= 192 {
				found = StoredHeader(f.Input[n-192 : n-32])
				return found.CommitHash() == commit
			}
			return false
		}
		if f.To != d.BtcRelay.Address {
			return false
		}
		base, headers, ok := submittedHeaders(f.Input)
		if !ok {
			return false
		}
		for found = base; ; headers = headers[1:] {
			if found.CommitHash() == commit {
				return true
			}
			if len(headers) == 0 {
				return false
			}
			next, err := found.Next(headers[0])
			if err != nil {
				return false
			}
			found = next
		}
	})
	return found, ok
}

// managerCall is a call of the escrow manager that was read.
type managerCall struct {
	Method    string
	Escrow    abiEscrow
	Signature []byte
	Timeout   *big.Int
	ExtraData []byte
	Witness   []byte
}

// readManagerCall reads call data of the escrow manager that is about an escrow; ok is
// false for any other.
func readManagerCall(input []byte) (c managerCall, ok bool) {
	if len(input) < 4 {
		return c, false
	}
	of := EscrowABI()
	m, err := of.MethodById(input[:4])
	if err != nil || !slices.Contains([]string{"initialize", "claim", "refund", "cooperativeRefund"}, m.Name) {
		return c, false
	}
	values, err := m.Inputs.Unpack(input[4:])
	if err != nil || assign(m.Inputs, values, &c) != nil {
		return c, false
	}
	c.Method = m.Name
	return c, true
}

// FindSwapData finds the escrow with the given hash in the transaction that
// opened it: its own call data where its destination is the escrow manager, or
// its trace (protocol: chain-evm.md §8.1, §13.18). The hash is what makes it
// sure; the extra data is what the transaction published.
func (d Deployment) FindSwapData(tx CallFrame, escrow common.Hash) (SwapData, error) {
	var found SwapData
	var problem error
	ok := tx.walk(0, func(f CallFrame) bool {
		if f.To != d.EscrowManager.Address {
			return false
		}
		c, ok := readManagerCall(f.Input)
		if !ok || c.Method != "initialize" {
			return false
		}
		kind, known := d.KindOf(c.Escrow.ClaimHandler)
		if !known {
			problem = fmt.Errorf("escrow %s has unknown claim handler %s", escrow, c.Escrow.ClaimHandler)
			return false
		}
		s, err := fromTuple(c.Escrow, kind, c.ExtraData)
		if err != nil {
			problem = err
			return false
		}
		hash, err := s.EscrowHash()
		found = s
		return err == nil && hash == escrow
	})
	switch {
	case ok:
		return found, nil
	case problem != nil:
		return SwapData{}, problem
	}
	return SwapData{}, fmt.Errorf("the transaction does not open escrow %s", escrow)
}
