package starknet_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/swapper-go/swapper/internal/devnet/starknet"
	"github.com/swapper-go/swapper/internal/devnet/starknet/contracts"
	"github.com/swapper-go/swapper/internal/starknet/wire"
	"github.com/swapper-go/swapper/internal/trial"
)

const (
	v7  = "/rpc/v0_7"
	v8  = "/rpc/v0_8"
	v9  = "/v0_9"
	v10 = "/v0_10"
)

// keysOf returns the names of an object's members.
func keysOf(o object) []string { return slices.Sorted(maps.Keys(o)) }

func TestVersions(t *testing.T) {
	k := newKit(t, contracts.Options{Manual: true})
	for path, want := range map[string]string{"": "0.9.0", "/": "0.9.0", "/rpc": "0.9.0", v7: "0.7.1", v8: "0.8.1", v9: "0.9.0", v10: "0.10.0"} {
		var version string
		if k.get(path, "specVersion", nil, &version); version != want {
			t.Errorf("%s speaks %s", path, version)
		}
	}
	if status, _ := k.post("/v0_6", `{}`); status != http.StatusNotFound {
		t.Errorf("a version that there is not: status %d", status)
	}
}

// TestOpenBlockByVersion reads a transaction that is pre-confirmed, or pending.
func TestOpenBlockByVersion(t *testing.T) {
	k := newKit(t, contracts.Options{Manual: true})
	hash := wire.Hex(k.send(k.transfer(0, big.NewInt(1))))
	header := []string{"l1_da_mode", "l1_data_gas_price", "l1_gas_price", "sequencer_address", "starknet_version", "timestamp", "transactions"}
	for path, want := range map[string]struct {
		tag, finality string
		block         []string
		receipt       []string
	}{
		v7:  {"pending", "ACCEPTED_ON_L2", append([]string{"parent_hash"}, header...), nil},
		v8:  {"pending", "ACCEPTED_ON_L2", append([]string{"parent_hash", "l2_gas_price"}, header...), nil},
		v9:  {"pre_confirmed", "PRE_CONFIRMED", append([]string{"block_number", "l2_gas_price"}, header...), []string{"block_number"}},
		v10: {"pre_confirmed", "PRE_CONFIRMED", append([]string{"block_number", "l2_gas_price"}, header...), []string{"block_number"}},
	} {
		var block, receipt, status object
		k.get(path, "getBlockWithTxHashes", object{"block_id": want.tag}, &block)
		slices.Sort(want.block)
		if got := keysOf(block); !slices.Equal(got, want.block) {
			t.Errorf("%s: the block has %v, want %v", path, got, want.block)
		}
		k.get(path, "getTransactionReceipt", []any{hash}, &receipt)
		more := slices.DeleteFunc(keysOf(receipt), func(name string) bool { return !strings.HasPrefix(name, "block_") })
		if !slices.Equal(more, want.receipt) || receipt["finality_status"] != want.finality {
			t.Errorf("%s: the receipt is %v", path, receipt)
		}
		k.get(path, "getTransactionStatus", object{"transaction_hash": hash}, &status)
		if status["finality_status"] != want.finality || status["execution_status"] != "SUCCEEDED" {
			t.Errorf("%s: the status is %v", path, status)
		}
	}
	k.fails(v8, "getBlockWithTxHashes", object{"block_id": "pre_confirmed"}, -32602)
	k.fails(v9, "getBlockWithTxHashes", object{"block_id": "pending"}, -32602)
	k.fails(v8, "getBlockWithTxHashes", object{"block_id": "l1_accepted"}, -32602)
}

// TestShapesByVersion looks at what the versions write differently.
func TestShapesByVersion(t *testing.T) {
	k := newKit(t, contracts.Options{})
	k.send(k.transfer(0, big.NewInt(1)))
	reverted := wire.Hex(k.send(k.transfer(1, strk(5000))))
	estimate := k.body(k.transfer(2, big.NewInt(1)))
	for path, want := range map[string]struct{ resources, estimate, status []string }{
		v7: {[]string{"data_availability", "steps"}, []string{"data_gas_consumed", "data_gas_price", "gas_consumed", "gas_price", "overall_fee", "unit"},
			[]string{"execution_status", "finality_status"}},
		v8: {[]string{"l1_data_gas", "l1_gas", "l2_gas"},
			[]string{"l1_data_gas_consumed", "l1_data_gas_price", "l1_gas_consumed", "l1_gas_price", "l2_gas_consumed", "l2_gas_price", "overall_fee", "unit"},
			[]string{"execution_status", "failure_reason", "finality_status"}},
	} {
		var receipt, status object
		var estimates []object
		k.get(path, "getTransactionReceipt", []any{reverted}, &receipt)
		if got := keysOf(receipt["execution_resources"].(object)); !slices.Equal(got, want.resources) || receipt["execution_status"] != "REVERTED" || receipt["revert_reason"] == "" {
			t.Errorf("%s: %v", path, receipt)
		}
		k.get(path, "getTransactionStatus", []any{reverted}, &status)
		if got := keysOf(status); !slices.Equal(got, want.status) {
			t.Errorf("%s: status %v", path, got)
		}
		k.get(path, "estimateFee", object{"request": []any{estimate}, "simulation_flags": []string{}, "block_id": "latest"}, &estimates)
		if got := keysOf(estimates[0]); !slices.Equal(got, want.estimate) {
			t.Errorf("%s: estimate %v", path, got)
		}
	}
	// Reasons of calls are texts before version 0.8, and then one object inside of the other.
	request := object{"request": object{"contract_address": wire.Hex(wire.STRK), "entry_point_selector": wire.Hex(wire.Selector("transfer")),
		"calldata": []string{"0x5", "0x1", "0x0"}}, "block_id": "latest"}
	var old struct {
		Reason string `json:"revert_error"`
	}
	k.must(json.Unmarshal(k.fails(v7, "call", request, 40), &old))
	var now struct {
		Reason struct {
			Contract string `json:"contract_address"`
			Error    string `json:"error"`
		} `json:"revert_error"`
	}
	k.must(json.Unmarshal(k.fails(v9, "call", request, 40), &now))
	if !strings.Contains(old.Reason, now.Reason.Error) || now.Reason.Contract != wire.Hex(wire.STRK) {
		t.Errorf("reasons %+v and %+v", old, now)
	}
}

// TestErrors makes every error of the specification that there is a way to.
func TestErrors(t *testing.T) {
	k := newKit(t, contracts.Options{})
	add := func(tx *wire.Transaction) object {
		if tx.Type == wire.DeployAccount {
			return object{"deploy_account_transaction": k.body(tx)}
		}
		return object{"invoke_transaction": k.body(tx)}
	}
	one := big.NewInt(1)
	first := k.transfer(0, one)
	k.send(first)
	k.fails("", "addInvokeTransaction", add(first), 52)
	k.fails("", "addInvokeTransaction", add(k.transfer(300, one)), 52)
	forged := k.transfer(1, one)
	forged.Signature[0] = wire.FeltOf(7)
	var why string
	k.must(json.Unmarshal(k.fails("", "addInvokeTransaction", add(forged), 55), &why))
	if !strings.Contains(why, "Account: invalid signature") {
		t.Errorf("a forged signature: %s", why)
	}
	with := func(change func(*wire.Bounds)) *wire.Transaction {
		tx := k.transfer(1, one)
		tx.Bounds.L2.MaxPrice, tx.Bounds.L1Data.MaxPrice = new(big.Int).Set(tx.Bounds.L2.MaxPrice), new(big.Int).Set(tx.Bounds.L1Data.MaxPrice)
		change(&tx.Bounds)
		tx.Signed = false
		k.must(alice.SignTransaction(tx))
		return tx
	}
	k.fails("", "addInvokeTransaction", add(with(func(b *wire.Bounds) { b.L2.MaxPrice.SetInt64(1) })), 53)
	k.fails("", "addInvokeTransaction", add(with(func(b *wire.Bounds) { b.L2.MaxAmount = 100 })), 53)
	k.fails("", "addInvokeTransaction", add(with(func(b *wire.Bounds) { b.L2.MaxPrice.Set(strk(1)) })), 54)
	k.fails("", "addInvokeTransaction", add(with(func(b *wire.Bounds) { b.L2.MaxAmount = 1 << 40 })), 63)
	other := network.NewInvoke(bob.Address(), 0, rate(), []wire.Call{{To: wire.STRK, Entry: "approve", Gas: wire.Gas{L2: 1 << 24, L1Data: 1000}}})
	k.must(bob.SignTransaction(other))
	k.fails("", "addInvokeTransaction", add(other), 55)
	deploy := network.NewDeploy(bob.Address(), rate())
	k.must(bob.SignTransaction(deploy))
	unknown := add(deploy)
	unknown["deploy_account_transaction"].(object)["class_hash"] = "0x99"
	k.fails("", "addDeployAccountTransaction", unknown, 54) // at another address, which has nothing
	old := add(k.transfer(1, one))
	old["invoke_transaction"].(object)["version"] = "0x1"
	k.fails("", "addInvokeTransaction", old, 61)
	old["invoke_transaction"].(object)["version"] = "0x100000000000000000000000000000003"
	k.fails("", "addInvokeTransaction", old, 63)
	k.chain.Hold(true)
	waiting := k.transfer(1, one)
	k.send(waiting)
	k.fails("", "addInvokeTransaction", add(waiting), 59)
	k.fails("", "addInvokeTransaction", add(k.transfer(1, big.NewInt(2))), 64)
	id := trial.Must(waiting.ID())(k)
	k.fails("", "getTransactionReceipt", []any{id}, 29)
	k.fails("", "traceTransaction", []any{id}, 10)
	var status object
	if k.get("", "getTransactionStatus", []any{id}, &status); status["finality_status"] != "RECEIVED" {
		t.Errorf("a transaction that waits: %v", status)
	}

	call := func(to, entry string, data ...string) object {
		return object{"request": object{"contract_address": to, "entry_point_selector": entry, "calldata": append([]string{}, data...)}, "block_id": "latest"}
	}
	balance, coin := wire.Hex(wire.Selector("balance_of")), wire.Hex(wire.STRK)
	k.fails("", "call", call("0x99", balance), 20)
	k.fails("", "call", call(coin, "0x99"), 21)
	k.fails(v7, "call", call(coin, "0x99"), 40)
	k.fails("", "call", call(coin, balance), 40)
	k.fails("", "getNonce", object{"block_id": "latest", "contract_address": "0x99"}, 20)
	k.fails("", "getBlockWithTxs", object{"block_id": object{"block_number": 99}}, 24)
	k.fails("", "getBlockWithTxs", object{"block_id": object{"block_hash": "0x99"}}, 24)
	k.fails("", "getTransactionByBlockIdAndIndex", object{"block_id": "latest", "index": 7}, 27)
	k.fails("", "getClass", object{"block_id": "latest", "class_hash": "0x99"}, 28)
	k.fails("", "getTransactionByHash", object{"transaction_hash": "0x99"}, 29)
	filter := func(of object) object { return object{"filter": of} }
	k.fails("", "getEvents", filter(object{"chunk_size": 1025}), 31)
	k.fails("", "getEvents", filter(object{"chunk_size": 1, "continuation_token": "x"}), 33)
	k.fails("", "getEvents", filter(object{"chunk_size": 1, "continuation_token": "99-0"}), 33)
	k.fails("", "getEvents", filter(object{"chunk_size": 1, "keys": make([][]string, 17)}), 34)
	k.fails("", "getEvents", filter(object{"chunk_size": 0}), -32602)
	k.fails("", "getNonce", object{"block_id": "latest"}, -32602)
	k.fails("", "getNonce", object{"block_id": "newest", "contract_address": coin}, -32602)
	k.fails("", "getNonce", object{"block_id": "latest", "contract_address": "12"}, -32602)
	k.fails("", "getNonce", object{"block_id": "latest", "contract_address": "0x800000000000011000000000000000000000000000000000000000000000001"}, -32602)
	k.fails("", "getMessagesStatus", object{"transaction_hash": "0x1e3bd2c9b1aa3c1c8c2f7f7ba6f8ae5d10b1a62d5e3f4a1b9c8d7e6f50413223"}, 29)
	message := func(to string) object {
		return object{"message": object{"from_address": "0x1", "to_address": to, "entry_point_selector": balance, "payload": []string{}}, "block_id": "latest"}
	}
	k.fails("", "estimateMessageFee", message("0x99"), 20)
	k.fails("", "estimateMessageFee", message(coin), 40)
	k.fails("", "estimateMessageFee", object{"message": object{}, "block_id": "latest"}, -32602)
	k.fails("", "getStorageProof", object{"block_id": "latest"}, 42)
	k.fails("", "getStorageProof", object{"block_id": object{"block_number": 99}}, 24)
	k.fails("", "nothing", nil, -32601)
	k.fails("", "estimateFee", object{"request": []any{k.body(k.transfer(0, one))}, "simulation_flags": []string{}, "block_id": "latest"}, 41)
	k.fails("", "simulateTransactions", object{"transactions": []any{}, "simulation_flags": []string{"NONE"}, "block_id": "latest"}, -32602)
}

// TestEvents reads all events page by page, with every size of page, and by filters.
func TestEvents(t *testing.T) {
	k := newKit(t, contracts.Options{Manual: true})
	for i := range uint64(6) {
		k.send(k.transfer(i, big.NewInt(int64(i+1))))
		if i%2 == 1 {
			k.chain.Produce(1)
		}
	}
	type page struct {
		Events []object
		Token  string `json:"continuation_token"`
	}
	all := func(of object) (all []object, pages int) {
		for {
			var p page
			k.get("", "getEvents", object{"filter": of}, &p)
			all, pages = append(all, p.Events...), pages+1
			if p.Token == "" {
				return all, pages
			}
			of["continuation_token"] = p.Token
		}
	}
	whole, _ := all(object{"chunk_size": 1000, "address": wire.Hex(wire.STRK)})
	if len(whole) != 12 {
		t.Fatalf("%d events of six transfers and their fees", len(whole))
	}
	for size := 1; size < 14; size++ {
		got, pages := all(object{"chunk_size": size, "address": wire.Hex(wire.STRK)})
		if fmt.Sprint(got) != fmt.Sprint(whole) || pages > 12/size+1 {
			t.Errorf("in pages of %d: %d events in %d pages", size, len(got), pages)
		}
	}
	to := []any{[]string{wire.Hex(wire.Selector("Transfer"))}, []string{}, []string{wire.Hex(bob.Address())}}
	if got, _ := all(object{"chunk_size": 3, "keys": to}); len(got) != 6 {
		t.Errorf("%d transfers to Bob", len(got))
	}
	k.send(k.transfer(6, big.NewInt(1)))
	if got, _ := all(object{"chunk_size": 3, "keys": to}); len(got) != 6 {
		t.Errorf("%d transfers to Bob in accepted blocks", len(got))
	}
	got, _ := all(object{"chunk_size": 3, "keys": to, "to_block": "pre_confirmed"})
	if len(got) != 7 || got[6]["block_hash"] != nil || got[5]["block_hash"] == nil {
		t.Errorf("%d transfers to Bob with the open block: %v", len(got), got)
	}
	head := k.chain.Head().Number
	if got, _ := all(object{"chunk_size": 9, "keys": to, "from_block": object{"block_number": head}, "to_block": object{"block_number": head}}); len(got) != 2 {
		t.Errorf("%d transfers to Bob in the last block", len(got))
	}
	if got, _ := all(object{"chunk_size": 9, "from_block": object{"block_number": head + 5}}); len(got) != 0 {
		t.Errorf("%d events beyond the chain", len(got))
	}
	k.server.Misbehave(starknet.NodeFault{PageBlocks: 1})
	if got, pages := all(object{"chunk_size": 100, "keys": to}); len(got) != 6 || pages != int(head)+1 {
		t.Errorf("block by block: %d transfers in %d pages", len(got), pages)
	}
}

func TestSimulation(t *testing.T) {
	k := newKit(t, contracts.Options{})
	before := k.chain.Head().Hash
	first, second := k.body(k.transfer(0, big.NewInt(1))), k.body(k.transfer(1, strk(5000)))
	var results []struct {
		Trace struct {
			Execute object `json:"execute_invocation"`
			Fee     object `json:"fee_transfer_invocation"`
		} `json:"transaction_trace"`
		Estimate object `json:"fee_estimation"`
	}
	ask := object{"transactions": []any{first, second}, "block_id": "latest", "simulation_flags": []string{}}
	k.get("", "simulateTransactions", ask, &results)
	if len(results) != 2 || results[0].Trace.Execute["calls"] == nil || results[1].Trace.Execute["revert_reason"] == nil || results[0].Trace.Fee == nil {
		t.Errorf("%+v", results)
	}
	ask["simulation_flags"] = []string{"SKIP_FEE_CHARGE"}
	first["signature"] = []string{}
	k.fails("", "simulateTransactions", ask, 41)
	ask["simulation_flags"] = []string{"SKIP_FEE_CHARGE", "SKIP_VALIDATE"}
	results = nil
	k.get("", "simulateTransactions", ask, &results)
	if results[0].Trace.Fee != nil {
		t.Error("the fee was charged")
	}
	// A fee is asked for with a signature over another version, and bounds that allow nothing.
	tx := k.transfer(0, big.NewInt(1))
	tx.Bounds = wire.FeeRate{}.Bounds(wire.Gas{})
	hash := trial.Must(tx.QueryHash())(k)
	tx.Signature = trial.Must(alice.Sign(hash))(k)
	query := k.body(tx)
	query["version"] = "0x100000000000000000000000000000003"
	var estimates []object
	k.get("", "estimateFee", object{"request": []any{query}, "simulation_flags": []string{}, "block_id": "pre_confirmed"}, &estimates)
	if k.chain.Head().Hash != before {
		t.Error("a simulation moved the chain")
	}
}

func TestBatch(t *testing.T) {
	k := newKit(t, contracts.Options{})
	_, text := k.post("", `[{"jsonrpc":"2.0","id":"a","method":"starknet_blockNumber"},{"jsonrpc":"2.0","id":2,"method":"no"},{"id":3}]`)
	var replies []struct {
		ID    any
		Error *starknet.NodeError
	}
	k.must(json.Unmarshal([]byte(text), &replies))
	if len(replies) != 3 || replies[0].ID != "a" || replies[0].Error != nil || replies[1].Error.Code != -32601 || replies[2].Error.Code != -32600 {
		t.Errorf("%s", text)
	}
	for body, code := range map[string]int{`[]`: -32700, `{`: -32700, ``: -32700, `{"jsonrpc":"2.0","id":1,"method":"starknet_getNonce","params":7}`: -32602} {
		var a answer
		_, text := k.post("", body)
		if k.must(json.Unmarshal([]byte(text), &a)); a.Error == nil || a.Error.Code != code {
			t.Errorf("%q: %s", body, text)
		}
	}
	k.server.Misbehave(starknet.NodeFault{MaxBatch: 1})
	if _, text := k.post("", `[{},{}]`); !strings.Contains(text, "Batch too large") {
		t.Errorf("%s", text)
	}
	if got := k.server.Requests(); len(got) < 2 || !slices.Equal(got[0], []string{"starknet_blockNumber", "no", ""}) {
		t.Errorf("requests %v", got)
	}
}

func TestFaults(t *testing.T) {
	k := newKit(t, contracts.Options{Manual: true})
	k.send(k.transfer(0, big.NewInt(1)))
	k.chain.Produce(1)
	open := wire.Hex(k.send(k.transfer(1, big.NewInt(1))))
	var number json.Number
	var text string
	var block, status object
	with := func(f starknet.NodeFault) { k.server.Misbehave(f) }
	with(starknet.NodeFault{Behind: 1})
	if k.get("", "blockNumber", nil, &number); number != "2" {
		t.Errorf("behind, the node is at %s", number)
	}
	k.fails("", "getTransactionStatus", []any{open}, 29)
	if k.get("", "getNonce", object{"block_id": "pre_confirmed", "contract_address": wire.Hex(alice.Address())}, &text); text != "0x0" {
		t.Errorf("behind, the nonce is %s", text)
	}
	with(starknet.NodeFault{NoOpenBlock: true})
	k.fails("", "getTransactionReceipt", []any{open}, 29)
	if k.get("", "getBlockWithTxHashes", object{"block_id": "pre_confirmed"}, &block); len(block["transactions"].([]any)) != 0 {
		t.Errorf("the open block has %v", block["transactions"])
	}
	with(starknet.NodeFault{WrongNetwork: true, WrongSpec: "0.1.0"})
	if k.get("", "chainId", nil, &text); text == wire.Hex(network.ChainIDFelt()) {
		t.Error("the chain id is right")
	}
	if k.get("", "specVersion", nil, &text); text != "0.1.0" {
		t.Errorf("the version is %s", text)
	}
	with(starknet.NodeFault{Fail: []string{"starknet_chainId"}, Refuse: []string{"starknet_call"}, NoEvents: true, NoTraces: true})
	k.fails("", "chainId", nil, -32603)
	k.fails("", "call", nil, -32601)
	k.fails("", "traceTransaction", []any{open}, 10)
	with(starknet.NodeFault{LoseTransaction: true})
	if a := k.ask("", "addInvokeTransaction", object{"invoke_transaction": k.body(k.transfer(2, big.NewInt(1)))}); a.Error != nil {
		t.Errorf("a lost transaction: %v", a.Error)
	}
	with(starknet.NodeFault{Rewrite: func(method string, _ map[string]json.RawMessage, result json.RawMessage) json.RawMessage {
		return json.RawMessage(`"` + method + `"`)
	}})
	if k.get("", "blockNumber", nil, &text); text != "starknet_blockNumber" {
		t.Errorf("rewritten: %s", text)
	}
	with(starknet.NodeFault{PerSecond: 1})
	limited := 0
	for range 4 {
		if code, _ := k.post("", `{}`); code == http.StatusTooManyRequests {
			limited++
		}
	}
	if limited < 2 {
		t.Errorf("%d of 4 requests were refused", limited)
	}
	with(starknet.NodeFault{LoseAnswer: true})
	body := trial.Must(json.Marshal(object{"jsonrpc": "2.0", "id": 1, "method": "starknet_addInvokeTransaction", "params": object{"invoke_transaction": k.body(k.transfer(2, big.NewInt(1)))}}))(k)
	if _, err := http.Post(k.server.URL(), "application/json", strings.NewReader(string(body))); err == nil {
		t.Error("the answer came")
	}
	with(starknet.NodeFault{})
	if k.get("", "getNonce", object{"block_id": "pre_confirmed", "contract_address": wire.Hex(alice.Address())}, &text); text != "0x3" {
		t.Errorf("the transaction whose answer was lost was not taken: nonce %s", text)
	}
	k.chain.DropPreConfirmed()
	k.fails("", "getTransactionStatus", []any{open}, 29)
	k.get("", "getBlockWithTxs", object{"block_id": "latest"}, &block)
	k.get("", "getTransactionStatus", []any{block["transactions"].([]any)[0].(object)["transaction_hash"]}, &status)
	with(starknet.NodeFault{Status: 502})
	if code, _ := k.post("", `{}`); code != 502 {
		t.Errorf("status %d", code)
	}
	with(starknet.NodeFault{Delay: time.Millisecond, Garbage: true})
	if _, text := k.post("", `{}`); !strings.HasPrefix(text, "<html>") {
		t.Errorf("garbage: %s", text)
	}
}
