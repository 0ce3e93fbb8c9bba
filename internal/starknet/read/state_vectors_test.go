package read

import (
	"encoding/hex"
	"encoding/json"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	starkrpc "github.com/swapper-go/swapper/internal/starknet/rpc"
	"github.com/swapper-go/swapper/internal/starknet/wire"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/internal/vectors"
)

// exchange is a question to a node of a vector, with its answer.
type exchange struct {
	Method string
	Params struct {
		Request callJSON
		Tx      string          `json:"transaction_hash"`
		BlockID json.RawMessage `json:"block_id"`
	}
	Result json.RawMessage
	Error  *refusal
}

// learn has the stub know what the node of a vector said.
func (s *stub) learn(rpc []exchange) {
	for _, x := range rpc {
		switch x.Method {
		case "starknet_getEvents":
			var page struct{ Events []eventJSON }
			if err := json.Unmarshal(x.Result, &page); err != nil {
				s.t.Fatal(err)
			}
			s.add(page.Events...)
		case "starknet_getBlockWithTxHashes":
			var b struct {
				Number uint64 `json:"block_number"`
				Time   int64  `json:"timestamp"`
			}
			if err := json.Unmarshal(x.Result, &b); err != nil {
				s.t.Fatal(err)
			}
			s.times[b.Number] = b.Time
		case "starknet_traceTransaction":
			s.traces[wire.Hex(felt(s.t, x.Params.Tx))] = x.Result
		}
	}
	s.contract = func(c callJSON) any {
		for _, x := range rpc {
			r := x.Params.Request
			if x.Method != "starknet_call" || number(r.Contract).Cmp(number(c.Contract)) != 0 || number(r.Entry).Cmp(number(c.Entry)) != 0 || len(r.Calldata) != len(c.Calldata) {
				continue
			}
			equal := true
			for i := range r.Calldata {
				equal = equal && number(r.Calldata[i]).Cmp(number(c.Calldata[i])) == 0
			}
			switch {
			case !equal:
			case x.Error != nil:
				return *x.Error
			default:
				var all []string
				if json.Unmarshal(x.Result, &all) != nil { // a file that writes errors as answers
					var e refusal
					if err := json.Unmarshal(x.Result, &e); err != nil {
						s.t.Error(err)
					}
					return e
				}
				return all
			}
		}
		return refusal{Code: 40, Text: "Contract error", Data: json.RawMessage(`{"revert_error":"nothing was recorded of this"}`)}
	}
}

// escrows answers the manager's question for the states of several escrows.
func (s *stub) escrows(d wire.Deployment, states map[wire.Felt][3]uint64) {
	other := s.contract
	s.contract = func(c callJSON) any {
		if felt(s.t, c.Contract) != d.EscrowManager.Address || felt(s.t, c.Entry) != wire.Selector(wire.EntryHashStates) {
			if other == nil {
				return refusal{Code: 21, Text: "Requested entrypoint does not exist in the contract"}
			}
			return other(c)
		}
		all := []wire.Felt{wire.FeltOf(uint64(len(c.Calldata) - 1))}
		for _, h := range c.Calldata[1:] {
			for _, n := range states[felt(s.t, h)] {
				all = append(all, wire.FeltOf(n))
			}
		}
		return hexes(all...)
	}
}

func swapOf(t testing.TB, text json.RawMessage) (wire.SwapData, wire.Felt) {
	t.Helper()
	d := trial.Must(wire.ParseSwapData(text))(t)
	hash := trial.Must(d.EscrowHash())(t)
	return d, hash
}

func escrowOf(t testing.TB, d wire.Deployment, s wire.SwapData) *chains.Escrow {
	t.Helper()
	e := trial.Must(d.Escrow(s))(t)
	return &e
}

// initialize is the event by which the manager tells of an opening.
func initialize(t testing.TB, d wire.Deployment, s wire.SwapData, height uint64, tx string) eventJSON {
	t.Helper()
	hash := trial.Must(s.EscrowHash())(t)
	return eventJSON{Height: &height, Tx: tx, From: wire.Hex64(d.EscrowManager.Address), Keys: hexes(wire.SelectorInitialize, s.Offerer, s.Claimer, s.ClaimData, hash), Data: hexes(s.ClaimHandler, s.RefundHandler)}
}

// ended is the event by which it tells of a claim, with a secret, or of a refund.
func ended(t testing.TB, d wire.Deployment, s wire.SwapData, height uint64, tx string, secret []byte) eventJSON {
	e := initialize(t, d, s, height, tx)
	if secret == nil {
		e.Keys[0], e.Data = wire.Hex(wire.SelectorRefund), hexes(wire.Felt{}, s.RefundHandler)
		return e
	}
	data := []wire.Felt{wire.FeltOf(8)}
	for i := range 8 {
		data = append(data, wire.FeltOf(new(big.Int).SetBytes(secret[4*i:4*i+4]).Uint64()))
	}
	e.Keys[0], e.Data = wire.Hex(wire.SelectorClaim), hexes(append(data, s.ClaimHandler)...)
	return e
}

// What a client makes of a node's answers about escrows: their state with the transactions
// that led to it, in the reference's names.
func TestVectorsEscrowStatus(t *testing.T) {
	t.Parallel()
	f := vectors.Load(t, "chain-starknet", "state").Of(t, "getCommitStatus", "getCommitStatusEventMissing", "getCommitStatuses")
	f.Each(t, func(t *testing.T, c *vectors.Case) {
		var in struct {
			Fn        string
			Now       int64
			Signer    string
			Swap      json.RawMessage
			Swaps     []json.RawMessage
			RPC       []exchange
			HashState struct {
				InitBlockheight, FinishBlockheight uint64
				State                              uint64
			}
		}
		c.Input(t, &in)
		s := newStub(t)
		s.learn(in.RPC)
		r := s.reader()
		d := r.Deployment
		if in.Fn == "getCommitStatuses" {
			var queries []chains.EscrowQuery
			for _, text := range in.Swaps {
				data, _ := swapOf(t, text)
				queries = append(queries, chains.EscrowQuery{Escrow: escrowOf(t, d, data)})
			}
			s.escrows(d, nil)
			facts := trial.Must(r.Escrows(t.Context(), queries))(t)
			var want struct{ Keys []string }
			c.Expected(t, &want)
			var got []string
			for i, f := range facts {
				if f.Err != nil || f.State != chains.EscrowNone {
					t.Error(f.State, f.Err)
				}
				got = append(got, hex.EncodeToString(queries[i].Escrow.Hash))
			}
			same(t, "escrows", want.Keys, got)
			return
		}
		data, hash := swapOf(t, in.Swap)
		state := [3]uint64{in.HashState.InitBlockheight, in.HashState.FinishBlockheight, in.HashState.State}
		if in.Fn == "getCommitStatusEventMissing" {
			state = [3]uint64{100, 120, 2}
		}
		s.escrows(d, map[wire.Felt][3]uint64{hash: state})
		recorded := len(s.events) > 0
		if !recorded && state[2] != 0 {
			s.add(initialize(t, d, data, state[0], "0x11"))
			if state[2] == 3 {
				s.add(ended(t, d, data, state[1], "0x12", nil))
			} else if state[2] == 2 && in.Fn == "getCommitStatus" {
				s.add(ended(t, d, data, state[1], "0x12", make([]byte, 32)))
			}
		}
		facts := trial.Must(r.Escrows(t.Context(), []chains.EscrowQuery{{Escrow: escrowOf(t, d, data)}}))(t)
		fact := facts[0]
		if in.Fn == "getCommitStatusEventMissing" {
			if !vectors.Refused(c.Want(t)) || fault.CodeOf(fact.Err) != fault.Upstream || fact.State != chains.EscrowClaimed {
				t.Errorf("%+v", fact)
			}
			return
		}
		if fact.Err != nil {
			t.Fatal(fact.Err)
		}
		signer, now := felt(t, in.Signer), time.Unix(in.Now, 0)
		open, expired := fact.State == chains.EscrowOpen, data.IsExpired(signer, now)
		got := map[string]any{"isExpired": expired, "isClaimable": signer == data.Claimer && open && !expired,
			"isRefundable": signer == data.Offerer && open && expired, "isCommited": open}
		var want map[string]json.RawMessage
		c.Expected(t, &want)
		if paid := fact.State == chains.EscrowClaimed; paid != (string(want["type"]) == `"PAID"`) {
			t.Errorf("state %v, the reference says %s", fact.State, want["type"])
		}
		delete(want, "type")
		if recorded {
			for name, id := range map[string]string{"initTxId": fact.InitTx, "claimTxId": fact.ClaimTx, "refundTxId": fact.RefundTx} {
				if id != "" {
					got[name] = wire.Hex64(felt(t, id))
				}
			}
			if fact.State == chains.EscrowClaimed {
				got["claimResult"] = hex.EncodeToString(fact.Result)
			}
			if _, ok := want["txBlock"]; ok {
				got["txBlock"] = map[string]any{"blockTime": fact.Finished.Time, "blockHeight": fact.Finished.Height}
			}
			same(t, "head", chains.Block{Height: s.height, Hash: hashOf(s.height), Time: s.time}, fact.Head)
		} else {
			for _, name := range []string{"initTxId", "claimTxId", "refundTxId", "claimResult", "txBlock"} { // of blocks that this case does not have
				delete(want, name)
			}
		}
		vectors.SameJSON(t, vectors.JSON(t, want), got)
		if fact.Final != (fact.State != chains.EscrowNone) {
			t.Errorf("final: %v", fact.Final)
		}
	})
}

// Funds, balances, transactions, nonces, blocks and networks.
func TestVectorsNodeReads(t *testing.T) {
	t.Parallel()
	f := vectors.Load(t, "chain-starknet", "state").Of(t, "lpReads", "lpReputation", "getTxIdStatus", "getFinalizedBlock", "verifyNetwork", "getNonce")
	f.Each(t, func(t *testing.T, c *vectors.Case) {
		var in struct {
			Fn, Address, Token, NodeChainID, BitcoinNetwork, AskedNetwork string
			RPC                                                           []exchange
			RPCAnswer                                                     json.RawMessage
			RPCResult                                                     []string
		}
		c.Input(t, &in)
		s := newStub(t)
		s.learn(in.RPC)
		r := s.reader()
		ledger := r.ledger
		switch in.Fn {
		case "lpReads":
			funds := trial.Must(r.Funds(t.Context(), felt(t, in.Address), felt(t, in.Token)))(t)
			balance := trial.Must(ledger.Balance(t.Context(), felt(t, in.Address), felt(t, in.Token)))(t)
			reputation := map[string]any{}
			text := func(n uint64) string { return new(big.Int).SetUint64(n).String() }
			for k, v := range funds.Reputation {
				reputation[k.String()] = map[string]any{"successVolume": v.SuccessVolume.String(), "successCount": text(v.Successes), "coopCloseVolume": v.CoopCloseVolume.String(),
					"coopCloseCount": text(v.CoopCloses), "failVolume": v.FailureVolume.String(), "failCount": text(v.Failures)}
			}
			vectors.SameJSON(t, c.Want(t), map[string]any{"reputation": reputation, "vaultBalance": funds.Balance.String(), "walletBalance": balance.String()})
		case "lpReputation":
			s.contract = func(x callJSON) any {
				if felt(t, x.Entry) == wire.Selector(wire.EntryReputation) {
					return in.RPCResult
				}
				return []string{"0x1", "0x0", "0x0"}
			}
			if _, err := r.Funds(t.Context(), wire.FeltOf(1), wire.FeltOf(2)); fault.CodeOf(err) != fault.Upstream || !vectors.Refused(c.Want(t)) {
				t.Error(err)
			}
		case "getTxIdStatus":
			var e struct{ Error *refusal }
			trial.Do(t, json.Unmarshal(in.RPCAnswer, &e))
			var status struct {
				Finality  string `json:"finality_status"`
				Execution string `json:"execution_status"`
				Reason    string `json:"failure_reason"`
			}
			_ = json.Unmarshal(in.RPCAnswer, &status)
			if e.Error != nil {
				s.methods["starknet_getTransactionStatus"] = func(json.RawMessage) any { return *e.Error }
			} else {
				s.progress["0x77"] = in.RPCAnswer
				if status.Execution != "" { // one that was executed has a receipt, of a block only if it is in one
					receipt := map[string]any{"type": "INVOKE", "transaction_hash": "0x77", "actual_fee": map[string]any{"amount": "0x9", "unit": "FRI"}, "execution_status": status.Execution,
						"finality_status": status.Finality, "messages_sent": []any{}, "events": []any{}, "execution_resources": map[string]any{}}
					if status.Execution == "REVERTED" {
						receipt["revert_reason"] = status.Reason
					}
					if strings.HasPrefix(status.Finality, "ACCEPTED") {
						receipt["block_hash"], receipt["block_number"] = hashOf(4990), 4990
					}
					s.receipts["0x77"] = receipt
				}
			}
			all, err := ledger.Status(t.Context(), []chains.Signed{{ID: "0x0000000000000000000000000000000000000000000000000000000000000077"}})
			if err != nil {
				if !vectors.Refused(c.Want(t)) || fault.CodeOf(err) != fault.Upstream {
					t.Error(err)
				}
				return
			}
			got := map[chains.TxState]string{chains.TxUnknown: "not_found", chains.TxPending: "pending", chains.TxConfirmed: "success", chains.TxReverted: "reverted"}[all[0].State]
			vectors.SameJSON(t, c.Want(t), map[string]string{"status": got})
			if got == "success" || got == "reverted" {
				same(t, "block", chains.Block{Height: 4990, Hash: hashOf(4990)}, all[0].Block)
				same(t, "reason", status.Reason, all[0].Reason)
			}
		case "getFinalizedBlock":
			c.NotOurs(t, "accepted-on-l1")
		case "verifyNetwork":
			on := trial.Must(bitcoin.ParseNetwork(strings.ToLower(in.BitcoinNetwork)))(t)
			n, _ := wire.NetworkFor(on)
			s.methods["starknet_chainId"] = func(json.RawMessage) any { return in.NodeChainID }
			nodes := trial.Must(starkrpc.Dial(n.CheckChainID, []string{s.serve()}, nil, time.Now))(t)
			defer nodes.Close()
			err := nodes.Ask(t.Context(), []starkrpc.Request{starkrpc.HeadRequest(new(starkrpc.Head))})
			if in.AskedNetwork != "" { // there is one Bitcoin network for all parts here
				if !vectors.Refused(c.Want(t)) {
					t.Error("accepted by the reference")
				}
				return
			}
			if id := felt(t, in.NodeChainID); id != wire.ShortString(wire.Mainnet) && id != wire.ShortString(wire.Sepolia) {
				c.Differ(t, "stark-identity")
				if err == nil || nodes.Foreign() == nil {
					t.Errorf("the chain id %s is accepted", in.NodeChainID)
				}
				return
			}
			if refused := vectors.Refused(c.Want(t)); refused != (err != nil) || refused != (nodes.Foreign() != nil) {
				t.Error(err, nodes.Foreign())
			}
		case "getNonce":
			var asked json.RawMessage
			s.methods["starknet_getNonce"] = func(p json.RawMessage) any {
				if !strings.Contains(string(p), "latest") {
					asked = p
				}
				var e refusal
				if json.Unmarshal(in.RPCAnswer, &e) == nil && e.Code != 0 {
					return e
				}
				return in.RPCAnswer
			}
			a, err := ledger.Account(t.Context(), wire.FeltOf(5))
			var want struct{ Request json.RawMessage }
			c.Expected(t, &want)
			vectors.SameJSON(t, want.Request, map[string]any{"method": "starknet_getNonce", "params": asked})
			if err != nil {
				if !vectors.Refused(c.Want(t)) {
					t.Error(err)
				}
				return
			}
			var answer struct{ Nonce string }
			c.Expected(t, &answer)
			same(t, "nonce", answer.Nonce, new(big.Int).SetUint64(uint64(a.Next)).String())
		}
	})
}
