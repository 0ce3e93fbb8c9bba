package read

import (
	"encoding/json"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/starknet/rpc"
	"github.com/swapper-go/swapper/internal/starknet/wire"
	"github.com/swapper-go/swapper/internal/trial"
)

// invoke is a signed transaction.
func invoke(t testing.TB) (*wire.Transaction, string) {
	t.Helper()
	n, _ := wire.NetworkFor(bitcoin.Mainnet)
	call := trial.Must(wire.Transfer(wire.STRK, wire.FeltOf(5), big.NewInt(10)))(t)
	tx := n.NewInvoke(wire.FeltOf(0x11), 5, wire.FeeRate{L1: big.NewInt(1), L2: big.NewInt(2), L1Data: big.NewInt(3)}, []wire.Call{call})
	tx.Signed, tx.Calldata, tx.Signature = true, wire.ExecuteCalldata(tx.Calls), []wire.Felt{wire.FeltOf(1), wire.FeltOf(2)}
	id := trial.Must(tx.ID())(t)
	return tx, id
}

const addInvoke = "starknet_addInvokeTransaction"

func (s *stub) takes(answer any) { s.methods[addInvoke] = func(json.RawMessage) any { return answer } }

func TestSend(t *testing.T) {
	t.Parallel()
	tx, id := invoke(t)
	took := map[string]string{"transaction_hash": id}
	for name, c := range map[string]struct {
		first, second any // of nodes; nil: there is one
		known         string
		code          fault.Code
	}{
		"taken":                                {took, nil, "", ""},
		"taken by both":                        {took, took, "", ""},
		"already there":                        {refusal{Code: 59, Text: "A transaction with the same hash already exists in the mempool"}, nil, "", ""},
		"taken by one":                         {refusal{Code: 55, Text: "Account validation failed", Data: json.RawMessage(`"x"`)}, took, "", ""},
		"under another id":                     {map[string]string{"transaction_hash": "0x1"}, nil, "", fault.Upstream},
		"nonce used":                           {refusal{Code: 52, Text: "Invalid transaction nonce"}, nil, "", fault.InvalidState},
		"nonce used by itself":                 {refusal{Code: 52, Text: "Invalid transaction nonce"}, nil, "RECEIVED", ""},
		"nonce used, rejected before":          {refusal{Code: 52, Text: "Invalid transaction nonce"}, nil, "REJECTED", fault.InvalidState},
		"no balance":                           {refusal{Code: 54, Text: "Account balance is smaller than the transaction's max_fee"}, refusal{Code: 54, Text: "the same"}, "", fault.InvalidState},
		"too cheap to replace":                 {refusal{Code: 64, Text: "Replacement transaction is underpriced"}, nil, "", fault.InvalidState},
		"fee too low":                          {refusal{Code: 65, Text: "Transaction fee below minimum"}, nil, "", fault.InvalidState},
		"not an account":                       {refusal{Code: 58, Text: "Sender address is not an account contract"}, nil, "", fault.InvalidState},
		"refused by one, the other in trouble": {refusal{Code: 54, Text: "x"}, refusal{Code: -32603, Text: "Internal error"}, "", fault.InvalidState},
		"unexpected":                           {refusal{Code: 63, Text: "An unexpected error occurred"}, nil, "", fault.Upstream},
		"not in this form":                     {refusal{Code: -32602, Text: "Invalid params"}, nil, "", fault.Upstream},
		"no such method":                       {refusal{Code: -32601, Text: "Method not found"}, refusal{Code: 52, Text: "x"}, "", fault.Upstream},
		"nothing":                              {map[string]string{}, nil, "", fault.Upstream},
	} {
		t.Run(name, func(t *testing.T) {
			first := newStub(t)
			first.takes(c.first)
			if c.known != "" {
				first.progress[id] = map[string]string{"finality_status": c.known}
			}
			urls := []string{first.serve()}
			if c.second != nil {
				second := newStub(t)
				second.takes(c.second)
				urls = append(urls, second.serve())
			}
			err := connect(t, time.Unix(stubNow, 0), urls...).Send(t.Context(), tx)
			if c.code == "" != (err == nil) || err != nil && fault.CodeOf(err) != c.code {
				t.Errorf("%v", err)
			}
		})
	}
	s := newStub(t)
	s.takes(took)
	ledger := s.reader().ledger
	unsigned := *tx
	unsigned.Signed = false
	if err := ledger.Send(t.Context(), &unsigned); fault.CodeOf(err) != fault.InvalidInput {
		t.Errorf("%v", err)
	}
}

// receiptOf is a receipt in the words of a version.
func receiptOf(id, execution, finality string, height int) map[string]any {
	r := map[string]any{"type": "INVOKE", "transaction_hash": id, "actual_fee": map[string]any{"amount": "0x9", "unit": "FRI"}, "execution_status": execution, "finality_status": finality,
		"messages_sent": []any{}, "events": []any{}, "execution_resources": map[string]any{"l1_gas": 0, "l2_gas": 1, "l1_data_gas": 0}}
	if height > 0 {
		r["block_number"], r["block_hash"] = height, hashOf(uint64(height))
	}
	if execution == "REVERTED" {
		r["revert_reason"] = "Error in contract: 0x6e6f20706f776572 ('no power')"
	}
	return r
}

// What is only in the block that is being made is pending in every version, whatever a
// node calls it.
func TestStatus(t *testing.T) {
	t.Parallel()
	tx, id := invoke(t)
	signed := []chains.Signed{{ID: wire.Hex64(felt(t, id)), From: wire.Hex64(tx.Sender), Nonce: tx.Nonce}}
	unknown := refusal{Code: 29, Text: "Transaction hash not found"}
	for name, c := range map[string]struct {
		receipt, progress any
		nonce             uint64
		state             chains.TxState
	}{
		"unknown":                   {unknown, unknown, 5, chains.TxUnknown},
		"received":                  {unknown, map[string]string{"finality_status": "RECEIVED"}, 5, chains.TxPending},
		"candidate":                 {unknown, map[string]string{"finality_status": "CANDIDATE"}, 5, chains.TxPending},
		"rejected":                  {unknown, map[string]string{"finality_status": "REJECTED"}, 5, chains.TxUnknown},
		"pre-confirmed (0.9)":       {map[string]any{"block_number": 5001, "transaction_hash": id, "execution_status": "SUCCEEDED", "finality_status": "PRE_CONFIRMED"}, map[string]string{"finality_status": "PRE_CONFIRMED", "execution_status": "SUCCEEDED"}, 5, chains.TxPending},
		"pending (0.8)":             {receiptOf(id, "SUCCEEDED", "ACCEPTED_ON_L2", 0), map[string]string{"finality_status": "ACCEPTED_ON_L2", "execution_status": "SUCCEEDED"}, 5, chains.TxPending},
		"in a block of the future":  {receiptOf(id, "SUCCEEDED", "ACCEPTED_ON_L2", 5001), unknown, 5, chains.TxPending},
		"accepted":                  {receiptOf(id, "SUCCEEDED", "ACCEPTED_ON_L2", 4990), map[string]string{"finality_status": "ACCEPTED_ON_L2"}, 6, chains.TxConfirmed},
		"accepted on L1":            {receiptOf(id, "SUCCEEDED", "ACCEPTED_ON_L1", 3000), map[string]string{"finality_status": "ACCEPTED_ON_L1"}, 6, chains.TxConfirmed},
		"reverted":                  {receiptOf(id, "REVERTED", "ACCEPTED_ON_L2", 4990), map[string]string{"finality_status": "ACCEPTED_ON_L2"}, 6, chains.TxReverted},
		"another took its nonce":    {unknown, unknown, 6, chains.TxReplaced},
		"its status is known alone": {unknown, map[string]string{"finality_status": "ACCEPTED_ON_L2"}, 6, chains.TxPending},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStub(t)
			s.receipts[id], s.progress[id], s.nonces["0x11"] = c.receipt, c.progress, c.nonce
			r := s.reader()
			trips := r.count()
			all := trial.Must(r.ledger.Status(t.Context(), append(signed, chains.Signed{ID: "no id"})))(t)
			got := all[0]
			if got.State != c.state || got.Final != (got.State == chains.TxConfirmed || got.State == chains.TxReverted) || got.Final != (got.Block.Hash != "") || all[1].State != chains.TxUnknown {
				t.Errorf("%+v", all)
			}
			if c.state == chains.TxReverted && !strings.Contains(got.Reason, "no power") {
				t.Errorf("reason %q", got.Reason)
			}
			want := int32(1)
			if c.state == chains.TxReplaced {
				want = 2
			}
			trips.expect(t, "a status", want)
		})
	}
	t.Run("another node has it", func(t *testing.T) {
		first, second := newStub(t), newStub(t)
		first.nonces["0x11"], second.nonces["0x11"] = 6, 6
		second.receipts[id] = receiptOf(id, "SUCCEEDED", "ACCEPTED_ON_L2", 4990)
		all, err := connect(t, time.Unix(stubNow, 0), first.serve(), second.serve()).Status(t.Context(), signed)
		if err != nil || all[0].State != chains.TxConfirmed {
			t.Errorf("%+v, %v", all, err)
		}
	})
	t.Run("another node is behind", func(t *testing.T) {
		first, second := newStub(t), newStub(t)
		first.nonces["0x11"], second.nonces["0x11"] = 6, 5
		all, err := connect(t, time.Unix(stubNow, 0), first.serve(), second.serve()).Status(t.Context(), signed)
		if err != nil || all[0].State != chains.TxUnknown {
			t.Errorf("%+v, %v", all, err)
		}
	})
	t.Run("only the id is known", func(t *testing.T) {
		s := newStub(t)
		s.nonces["0x11"] = 9
		all, err := s.reader().ledger.Status(t.Context(), []chains.Signed{{ID: id}})
		if err != nil || all[0].State != chains.TxUnknown {
			t.Errorf("%+v, %v", all, err)
		}
	})
	t.Run("a receipt of another transaction", func(t *testing.T) {
		s := newStub(t)
		s.receipts[id] = receiptOf("0x77", "SUCCEEDED", "ACCEPTED_ON_L2", 4990)
		if all, err := s.reader().ledger.Status(t.Context(), signed); fault.CodeOf(err) != fault.Upstream {
			t.Errorf("%+v, %v", all, err)
		}
	})
}

// What a transaction paid in STRK counts once it is in a block.
func TestPaid(t *testing.T) {
	t.Parallel()
	transfer := wire.Hex(wire.SelectorTransfer)
	events := []any{
		map[string]any{"from_address": wire.Hex(wire.STRK), "keys": []string{transfer, "0x1", "0x22"}, "data": []string{"0x5", "0x0"}},
		map[string]any{"from_address": wire.Hex(wire.STRK), "keys": []string{transfer}, "data": []string{"0x1", "0x22", "0x7", "0x1"}},
		map[string]any{"from_address": wire.Hex(wire.STRK), "keys": []string{transfer, "0x22", "0x1"}, "data": []string{"0x9", "0x0"}}, // from it
		map[string]any{"from_address": "0x5", "keys": []string{transfer, "0x1", "0x22"}, "data": []string{"0x9", "0x0"}},               // another token
		map[string]any{"from_address": wire.Hex(wire.STRK), "keys": []string{"0x1", "0x1", "0x22"}, "data": []string{"0x9", "0x0"}},    // another event
	}
	want := new(big.Int).Add(new(big.Int).Lsh(big.NewInt(1), 128), big.NewInt(12))
	for name, c := range map[string]struct {
		receipt map[string]any
		paid    *big.Int
	}{
		"accepted":       {receiptOf("0x9", "SUCCEEDED", "ACCEPTED_ON_L2", 4990), want},
		"reverted":       {receiptOf("0x9", "REVERTED", "ACCEPTED_ON_L2", 4990), new(big.Int)},
		"not in a block": {receiptOf("0x9", "SUCCEEDED", "ACCEPTED_ON_L2", 0), new(big.Int)},
		"unknown":        {nil, new(big.Int)},
	} {
		s := newStub(t)
		if c.receipt != nil {
			c.receipt["events"] = events
			s.receipts["0x9"] = c.receipt
		}
		paid, err := s.reader().ledger.Paid(t.Context(), wire.FeltOf(9), wire.FeltOf(0x22))
		if err != nil || paid.Amount.Cmp(c.paid) != 0 {
			t.Errorf("%s: %v, %v", name, paid.Amount, err)
		}
	}
}

// What transactions would use and do, in the words of versions 0.7 and later.
func TestEstimateAndSimulate(t *testing.T) {
	t.Parallel()
	tx, _ := invoke(t)
	for version, fee := range map[string]map[string]any{
		"0.7.1":  {"gas_consumed": "0x1", "gas_price": "0x2", "data_gas_consumed": "0x3", "data_gas_price": "0x4", "overall_fee": "0xe", "unit": "FRI"},
		"0.8.1":  {"l1_gas_consumed": "0x1", "l1_gas_price": "0x2", "l2_gas_consumed": "0x0", "l2_gas_price": "0x9", "l1_data_gas_consumed": "0x3", "l1_data_gas_price": "0x4", "overall_fee": "0xe", "unit": "FRI"},
		"0.10.0": {"l1_gas_consumed": "0x1", "l1_gas_price": "0x2", "l2_gas_consumed": "0x0", "l2_gas_price": "0x9", "l1_data_gas_consumed": "0x3", "l1_data_gas_price": "0x4", "overall_fee": "0xe", "unit": "FRI"},
	} {
		s := newStub(t)
		s.version = version
		ledger := s.reader().ledger
		estimate := func() (all []rpc.Estimate, err error) {
			r := trial.Must(rpc.TrialRequest([]*wire.Transaction{tx}, &all))(t)
			err = rpc.AskAll(t.Context(), ledger.Nodes, []rpc.Request{r})
			return all, err
		}
		simulate := func() (all []rpc.Simulation, err error) {
			r := trial.Must(rpc.SimulateRequest([]*wire.Transaction{tx}, &all))(t)
			err = rpc.AskAll(t.Context(), ledger.Nodes, []rpc.Request{r})
			return all, err
		}
		demand := func(p json.RawMessage, list string, flags ...string) {
			var q struct {
				Request, Transactions []map[string]any
				Block                 string   `json:"block_id"`
				Flags                 []string `json:"simulation_flags"`
			}
			_ = json.Unmarshal(p, &q)
			if len(q.Request)+len(q.Transactions) != 1 || q.Block != map[bool]string{true: "pending", false: "pre_confirmed"}[s.old()] || q.Flags == nil || !slices.Equal(q.Flags, append([]string{}, flags...)) || !strings.Contains(string(p), `"`+list+`"`) {
				t.Errorf("%s: %s", version, p)
			}
		}
		s.methods["starknet_estimateFee"] = func(p json.RawMessage) any { demand(p, "request", "SKIP_VALIDATE"); return []any{fee} }
		reason := any(nil)
		s.methods["starknet_simulateTransactions"] = func(p json.RawMessage) any {
			demand(p, "transactions")
			execute := map[string]any{"contract_address": "0x11", "calls": []any{}}
			if reason != nil {
				execute = map[string]any{"revert_reason": reason}
			}
			return []any{map[string]any{"transaction_trace": map[string]any{"type": "INVOKE", "execute_invocation": execute}, "fee_estimation": fee}}
		}
		all, err := estimate()
		if err != nil || all[0].Gas != (wire.Gas{L1: 1, L1Data: 3}) || all[0].Fee.Int64() != 14 || all[0].Prices.L1.Int64() != 2 {
			t.Errorf("%s: %+v, %v", version, all, err)
		}
		done, err := simulate()
		if err != nil || done[0].Reverted || done[0].Estimate.Fee.Int64() != 14 {
			t.Errorf("%s: %+v, %v", version, done, err)
		}
		reason = "0x6e6f20706f776572 ('no power')"
		if done, err = simulate(); err != nil || !done[0].Reverted || !strings.Contains(done[0].Reason, "no power") {
			t.Errorf("%s: %+v, %v", version, done, err)
		}
		s.methods["starknet_estimateFee"] = func(json.RawMessage) any { return []any{} }
		if _, err := estimate(); fault.CodeOf(err) != fault.Upstream {
			t.Errorf("%s: %v", version, err)
		}
		s.methods["starknet_estimateFee"] = func(json.RawMessage) any {
			return refusal{Code: 41, Text: "Transaction execution error", Data: json.RawMessage(`{"transaction_index":0,"execution_error":{"contract_address":"0x11","class_hash":"0x1","selector":"0x2","error":"0x6e6f20706f776572"}}`)}
		}
		if _, err := estimate(); !rpc.IsReverted(err) || !strings.Contains(rpc.RevertReason(err), "no power") {
			t.Errorf("%s: %v, %s", version, err, rpc.RevertReason(err))
		}
	}
}

// What each node makes of the fee rate; one that does not tell the price of L2 gas is not
// asked where another does.
func TestFeeRates(t *testing.T) {
	t.Parallel()
	first, second := newStub(t), newStub(t)
	first.methods["starknet_getBlockWithTxHashes"] = func(json.RawMessage) any {
		b := first.block(json.RawMessage(`"latest"`)).(map[string]any)
		delete(b, "l2_gas_price")
		return b
	}
	ledger := connect(t, time.Unix(stubNow, 0), first.serve(), second.serve())
	rate, err := ledger.FeeRate(t.Context())
	if err != nil || rate.String() != "3,6,8;v3" {
		t.Errorf("%s, %v", rate, err)
	}
	n := 0
	if err := ledger.FeeRates(t.Context(), func(r wire.FeeRate) { n++ }); err != nil || n != 1 {
		t.Errorf("%d, %v", n, err)
	}
}
