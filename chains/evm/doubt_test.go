package evm

import (
	"context"
	"encoding/json"
	"log/slog"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/evm/read"
	"github.com/swapper-go/swapper/internal/evm/rpc"
	"github.com/swapper-go/swapper/internal/evm/wire"
	"github.com/swapper-go/swapper/internal/settle"
	"github.com/swapper-go/swapper/internal/trial"
)

// staged is a node whose answers are written out: the n-th batch gets the n-th
// stage, the last one stays.
type staged struct {
	stages []func(rpc.Request) any // what to store in Result; an error goes to Err
	trips  int
}

func (s *staged) Batch(_ context.Context, requests []rpc.Request) error {
	stage := s.stages[min(s.trips, len(s.stages)-1)]
	s.trips++
	for i := range requests {
		answer := stage(requests[i])
		if err, failed := answer.(error); failed {
			requests[i].Err = err
			continue
		}
		text, err := json.Marshal(answer)
		if err != nil {
			return err
		}
		requests[i].Err = json.Unmarshal(text, requests[i].Result)
	}
	return nil
}

// stagedChain is a chain on a staged node at a fixed time.
func stagedChain(t *testing.T, now int64, stages ...func(rpc.Request) any) (*chain, *contracts, *staged) {
	t.Helper()
	n := presetOf(t, "CITREA/MAINNET")
	node := &staged{stages: stages}
	c := &chain{net: n, node: node, nonces: settle.NewSentTxs[*wire.Transaction](),
		env: chains.Env{Now: func() time.Time { return time.Unix(now, 0) }, Log: slog.New(slog.DiscardHandler)}}
	k := &contracts{chain: c, Contracts: read.Contracts{Deployment: n.Deployments[0]}, memory: newMemory()}
	return c, k, node
}

// An authorisation is over only if the escrow is not open at the very block whose
// time says so: a batch may be answered by machines that are at different heights.
func TestAnAuthorizationIsOverOnlyForSure(t *testing.T) {
	t.Parallel()
	const timeout = 1_700_000_000
	state := func(s uint8) []byte {
		m := wire.EscrowABI().Methods["getHashStateMultiple"]
		return pack(t, &m, []wire.EscrowRecord{{InitBlockheight: 90 * uint64(s), State: s}})
	}
	answer := func(opened uint8, err error) func(rpc.Request) any {
		return func(r rpc.Request) any {
			switch r.Method {
			case "eth_getBlockByNumber":
				return &rpc.BlockHead{Number: 100, Hash: common.Hash{1}, Timestamp: timeout + 5}
			case "eth_call":
				if err != nil {
					return err
				}
				return hexutil.Bytes(state(opened))
			}
			return nil
		}
	}
	s := payInSwap(t, presetOf(t, "CITREA/MAINNET").Deployments[0], common.Address{1})
	for name, test := range map[string]struct {
		second func(rpc.Request) any
		auth   chains.AuthState
		failed bool
	}{
		"not open":       {answer(0, nil), chains.AuthOver, false},
		"open after all": {answer(1, nil), chains.AuthOver, true},
		"cannot be told": {answer(0, &nodeError{code: -32000, text: "pruned"}), chains.AuthLate, false},
	} {
		_, k, node := stagedChain(t, timeout+5, answer(0, nil), test.second)
		e := trial.Must(k.Deployment.Escrow(s))(t)
		facts, err := k.Escrows(t.Context(), []chains.EscrowQuery{{Escrow: &e, Auth: &chains.Auth{Timeout: timeout}}})
		if err != nil || node.trips != 2 {
			t.Fatalf("%s: %d trips, %v", name, node.trips, err)
		}
		if f := facts[0]; f.Auth != test.auth || (f.Err != nil) != test.failed {
			t.Errorf("%s: %+v", name, f)
		}
	}
}

// A transaction that is mined while a batch is answered is not replaced.
func TestATransactionIsReplacedOnlyForSure(t *testing.T) {
	t.Parallel()
	answer := func(mined bool, nonce uint64) func(rpc.Request) any {
		return func(r rpc.Request) any {
			switch r.Method {
			case "eth_getBlockByNumber":
				return &rpc.BlockHead{Number: 100, Hash: common.Hash{1}}
			case "eth_getTransactionCount":
				return hexutil.Uint64(nonce)
			case "eth_getTransactionReceipt":
				if mined {
					return &receipt{Status: 1, BlockNumber: 100}
				}
			}
			return nil
		}
	}
	tx := chains.Signed{ID: common.Hash{9}.Hex(), From: common.Address{1}.Hex(), Nonce: 4}
	for name, test := range map[string]struct {
		stages []func(rpc.Request) any
		want   chains.TxState
		trips  int
	}{
		"not known yet":        {[]func(rpc.Request) any{answer(false, 4)}, chains.TxUnknown, 1},
		"mined meanwhile":      {[]func(rpc.Request) any{answer(false, 5), answer(true, 5)}, chains.TxConfirmed, 2},
		"replaced":             {[]func(rpc.Request) any{answer(false, 5), answer(false, 5)}, chains.TxReplaced, 2},
		"the nonce was a slip": {[]func(rpc.Request) any{answer(false, 5), answer(false, 4)}, chains.TxUnknown, 2},
	} {
		c, _, node := stagedChain(t, 1, test.stages...)
		got, err := c.Status(t.Context(), []chains.Signed{tx})
		if err != nil || got[0].State != test.want || node.trips != test.trips {
			t.Errorf("%s: %v after %d trips, %v", name, got, node.trips, err)
		}
	}
}

// What was sent is known to the process before it is known to all nodes.
func TestNonceFollowsWhatWasSent(t *testing.T) {
	t.Parallel()
	from := common.Address{1}.Hex()
	c, _, _ := stagedChain(t, 1000, func(r rpc.Request) any { return nil })
	c.noteSent(chains.Signed{From: from, Nonce: 7})
	c.noteSent(chains.Signed{From: from, Nonce: 6})
	for pending, want := range map[uint64]uint64{5: 8, 8: 8, 9: 9} {
		if got := c.nonces.Next(from, pending, c.env.Now()); got != want {
			t.Errorf("pending %d: %d, want %d", pending, got, want)
		}
	}
	c.env.Now = func() time.Time { return time.Unix(1000, 0).Add(settle.SendTimeout) }
	if got := c.nonces.Next(from, 5, c.env.Now()); got != 5 {
		t.Errorf("long after: %d", got)
	}
}

// What nodes say of a transaction that they do not take.
func TestSendReadsRefusals(t *testing.T) {
	t.Parallel()
	tx := chains.Signed{ID: common.Hash{9}.Hex(), From: common.Address{1}.Hex()}
	for text, want := range map[string]string{
		"already known": "", "AlreadyKnown": "", "transaction already imported": "", "known transaction: 12": "",
		"nonce too low: next nonce 5": "invalid_state", "Nonce too low": "invalid_state", "OldNonce": "invalid_state", "NONCE_TOO_LOW": "invalid_state",
		"insufficient funds for gas * price + value": "invalid_state", "replacement transaction underpriced": "invalid_state",
		"max fee per gas less than block base fee: address 0x1": "invalid_state", "intrinsic gas too low": "invalid_state", "FeeTooLow, EffectivePriorityFeePerGas too low": "invalid_state",
		"txpool is full": "upstream", "limit exceeded": "upstream", "": "upstream",
	} {
		c, _, _ := stagedChain(t, 1, func(r rpc.Request) any {
			if r.Method == "eth_sendRawTransaction" {
				return &nodeError{code: -32000, text: text}
			}
			return nil
		})
		err := c.Send(t.Context(), tx)
		if got := string(fault.CodeOf(err)); got != want {
			t.Errorf("%q: %v", text, err)
		}
	}
	known := func(r rpc.Request) any {
		if r.Method == "eth_sendRawTransaction" {
			return &nodeError{code: -32000, text: "nonce too low"}
		}
		return json.RawMessage(`{}`)
	}
	c, _, _ := stagedChain(t, 1, known)
	if err := c.Send(t.Context(), tx); err != nil {
		t.Errorf("mined already: %v", err)
	}
	c, _, _ = stagedChain(t, 1, func(r rpc.Request) any { return common.Hash{8} })
	if err := c.Send(t.Context(), tx); err == nil {
		t.Error("another transaction was sent")
	}
}
