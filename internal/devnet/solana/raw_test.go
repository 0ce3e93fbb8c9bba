package solana_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/swapper-go/swapper/internal/devnet/solana"
	"github.com/swapper-go/swapper/internal/devnet/solana/bank"
	"github.com/swapper-go/swapper/internal/solana/wire"
	"github.com/swapper-go/swapper/internal/trial"
)

type object = map[string]any

// answer is what a server says to a call.
type answer struct {
	Result any
	Error  *solana.NodeError
}

// at follows a path of members and indexes into a value.
func at(v any, path ...any) any {
	for _, p := range path {
		switch of := v.(type) {
		case object:
			v = of[fmt.Sprint(p)]
		case []any:
			i, ok := p.(int)
			if !ok || i >= len(of) {
				return nil
			}
			v = of[i]
		default:
			return nil
		}
	}
	return v
}

func (k *kit) post(body string) (int, []byte) {
	k.t.Helper()
	r, err := http.Post(k.server.URL(), "application/json", strings.NewReader(body))
	if err != nil {
		k.t.Fatal(err)
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	if err != nil {
		k.t.Fatal(err)
	}
	return r.StatusCode, text
}

// ask makes a call with parameters.
func (k *kit) ask(method string, params ...any) answer {
	k.t.Helper()
	if params == nil {
		params = []any{}
	}
	body, err := json.Marshal(object{"jsonrpc": "2.0", "id": 7, "method": method, "params": params})
	if err != nil {
		k.t.Fatal(err)
	}
	_, text := k.post(string(body))
	var a struct {
		answer
		ID int
	}
	d := json.NewDecoder(bytes.NewReader(text))
	if err := d.Decode(&a); err != nil || a.ID != 7 {
		k.t.Fatalf("%s: %v: %s", method, err, text)
	}
	return a.answer
}

// value is the result of a call that succeeds, or what is at a path in it.
func (k *kit) value(method string, params []any, path ...any) any {
	k.t.Helper()
	a := k.ask(method, params...)
	if a.Error != nil {
		k.t.Fatalf("%s%v: %+v", method, params, a.Error)
	}
	return at(a.Result, path...)
}

func (k *kit) is(want any, method string, params []any, path ...any) {
	k.t.Helper()
	if d := cmp.Diff(want, k.value(method, params, path...)); d != "" {
		k.t.Errorf("%s%v%v: %s", method, params, path, d)
	}
}

func params(p ...any) []any { return p }

// newManual is a node whose blocks are made by the test.
func newManual(t *testing.T, o bank.Options) *kit {
	now := time.Unix(1_760_000_000, 0)
	o.Manual, o.Now = true, func() time.Time { return now }
	return newKit(t, o)
}

// TestErrors asks for what there is not, with the codes and texts that clients know.
func TestErrors(t *testing.T) {
	k := newManual(t, bank.Options{})
	k.bank.Produce(3)
	k.bank.Skip(2)
	alice := key("alice").PublicKey().String()
	long := key("long").PublicKey()
	good := base64.StdEncoding.EncodeToString(k.sign("alice", wire.Transfer(key("alice").PublicKey(), long, sol)))
	lame := base64.StdEncoding.EncodeToString(k.sign("alice", wire.Transfer(key("alice").PublicKey(), long, 5000*sol)))
	spoilt := k.sign("alice", wire.Transfer(key("alice").PublicKey(), long, sol))
	spoilt[3] ^= 1
	base64Tx := object{"encoding": "base64"}
	for _, c := range []struct {
		method string
		params []any
		code   int
		text   string
	}{
		{"getNothing", nil, -32601, "Method not found"},
		{"getPriorityFeeEstimate", nil, -32601, "Method not found"}, // a service's own
		{"getBalance", nil, -32602, "`params` should have at least 1 argument(s)"},
		{"getBalance", params("nonsense"), -32602, "Invalid param: Invalid"},
		{"getBalance", params(5), -32602, "cannot unmarshal number"},
		{"getBalance", params(alice, object{"commitment": "certain"}), -32602, "unknown variant `certain`"},
		{"getBalance", params(alice, object{"minContextSlot": 7}), -32016, "Minimum context slot has not been reached"},
		{"getBlock", params(7), -32004, "Block not available for slot 7"},
		{"getBlock", params(5), -32007, "Slot 5 was skipped, or missing due to ledger jump to recent snapshot"},
		{"getBlock", params(3, object{"commitment": "processed"}), -32602, "Method does not support commitment below `confirmed`"},
		{"getTransaction", params(strings.Repeat("1", 64), object{"commitment": "processed"}), -32602, "below `confirmed`"},
		{"getSignaturesForAddress", params(alice, object{"limit": 1001}), -32602, "Invalid limit; max 1000"},
		{"getSignatureStatuses", params(slices.Repeat([]string{strings.Repeat("1", 64)}, 257)), -32602, "max 256"},
		{"getMultipleAccounts", params(slices.Repeat([]string{alice}, 101)), -32602, "max 100"},
		{"getAccountInfo", params(key("wsol").PublicKey(), object{"encoding": "base99"}), 0, ""}, // there is no account
		{"getAccountInfo", params(mint.String(), object{"encoding": "base99"}), -32602, "unknown variant `base99`"},
		{"getTokenAccountBalance", params(alice), -32602, "not a Token account"},
		{"getTokenAccountBalance", params(long.String()), -32602, "could not find account"},
		{"getTokenAccountsByOwner", params(alice, object{"mint": alice}), -32602, "could not find mint"},
		{"getTokenSupply", params(alice), -32602, "not a Token mint"},
		{"getTokenLargestAccounts", params(alice), -32602, "not a Token mint"},
		{"getSlotLeaders", params(1, 5001), -32602, "Invalid limit; max 5000"},
		{"sendTransaction", params("!", base64Tx), -32602, "invalid base64 encoding"},
		{"sendTransaction", params("AAAA", base64Tx), -32602, "failed to deserialize"},
		{"sendTransaction", params(strings.Repeat("A", 1648), base64Tx), -32602, "too large: 1648 bytes (max: encoded/raw 1644/1232)"},
		{"sendTransaction", params(strings.Repeat("1", 1684)), -32602, "too large"},
		{"sendTransaction", params(good, object{"encoding": "hex"}), -32602, "unsupported encoding"},
		{"sendTransaction", params(base64.StdEncoding.EncodeToString(spoilt), base64Tx), -32003, "signature verification failure"},
		{"sendTransaction", params(lame, base64Tx), -32002, "Transaction simulation failed: Error processing Instruction 0: custom program error: 0x1"},
		{"simulateTransaction", params(good, object{"encoding": "base64", "sigVerify": true, "replaceRecentBlockhash": true}), -32602, "may not be used with"},
		{"simulateTransaction", params(base64.StdEncoding.EncodeToString(spoilt), object{"encoding": "base64", "sigVerify": true}), -32003, ""},
		{"requestAirdrop", params(alice), -32602, "at least 2"},
		{"getProgramAccounts", params(alice, object{"filters": []any{object{"memcmp": object{"offset": 0, "bytes": "0OIl"}}}}), -32602, "not decodable"},
	} {
		a := k.ask(c.method, c.params...)
		switch {
		case c.code == 0 && a.Error == nil:
		case a.Error == nil:
			t.Errorf("%s%v: %v, want error %d", c.method, c.params, a.Result, c.code)
		case a.Error.Code != c.code || !strings.Contains(a.Error.Message, c.text):
			t.Errorf("%s%v: %d %s, want %d %s", c.method, c.params, a.Error.Code, a.Error.Message, c.code, c.text)
		}
	}
	failed := k.ask("sendTransaction", lame, base64Tx)
	if got := at(failed.Error.Data, "err", "InstructionError", 1, "Custom"); got != 1.0 || len(at(failed.Error.Data, "logs").([]any)) != 3 {
		t.Errorf("%+v", failed.Error.Data)
	}
	if d := cmp.Diff(object{"contextSlot": 6.0}, k.ask("getSlot", object{"minContextSlot": 9}).Error.Data); d != "" {
		t.Error(d)
	}
}

// TestBodies sends what is no call, and calls in batches.
func TestBodies(t *testing.T) {
	k := newManual(t, bank.Options{})
	for body, want := range map[string]string{
		``:                            `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}`,
		`[]`:                          `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}`,
		`{"id":1,"method":"getSlot"}`: `{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"Invalid request"}}`,
		`{"jsonrpc":"2.0","id":"a","method":"getSlot"}`:                `{"jsonrpc":"2.0","id":"a","result":0}`,
		`{"jsonrpc":"2.0","id":1,"method":"getSlot","params":{"a":1}}`: `{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"Invalid params: expected an array of parameters"}}`,
		`[{"jsonrpc":"2.0","id":1,"method":"getSlot"},{"jsonrpc":"2.0","id":2,"method":"getX"}]`: `[{"jsonrpc":"2.0","id":1,"result":0},` +
			`{"jsonrpc":"2.0","id":2,"error":{"code":-32601,"message":"Method not found"}}]`,
	} {
		if status, text := k.post(body); status != 200 || strings.TrimSpace(string(text)) != want {
			t.Errorf("%s: %d %s", body, status, text)
		}
	}
	if status, _ := k.post(strings.Repeat(" ", 60_000)); status != http.StatusRequestEntityTooLarge {
		t.Errorf("a long body: %d", status)
	}
	r := trial.Must(http.Get(k.server.URL() + "/health"))(t)
	defer r.Body.Close()
	if text, _ := io.ReadAll(r.Body); string(text) != "ok" {
		t.Errorf("health: %s", text)
	}
	k.server.Requests()
	k.post(`[{"jsonrpc":"2.0","id":1,"method":"getSlot"},{"jsonrpc":"2.0","id":2,"method":"getHealth"}]`)
	if d := cmp.Diff([][]string{{"getSlot", "getHealth"}}, k.server.Requests()); d != "" {
		t.Error(d)
	}
}

// TestAnswers looks at one transaction through all methods, at every commitment.
func TestAnswers(t *testing.T) {
	k := newManual(t, bank.Options{ConfirmedLag: 1, FinalizedLag: 3})
	k.bank.Produce(5)
	alice, bob := key("alice").PublicKey(), key("bob").PublicKey()
	ata := wire.ATA(bob, mint)
	id := k.send("alice", wire.SetPrice(500), wire.EnsureATA(alice, bob, mint), bank.MintTo(mint, ata, alice, 1_230_000))
	sent := params(id.String(), object{"encoding": "jsonParsed", "commitment": "confirmed", "maxSupportedTransactionVersion": 0})
	statuses := params([]string{id.String(), strings.Repeat("1", 64)})
	k.is([]any{nil, nil}, "getSignatureStatuses", statuses, "value")
	k.bank.Produce(1)
	k.is("processed", "getSignatureStatuses", statuses, "value", 0, "confirmationStatus")
	k.is(0.0, "getSignatureStatuses", statuses, "value", 0, "confirmations")
	k.is(nil, "getTransaction", sent)
	k.is(1_230_000.0/1e6, "getTokenAccountBalance", params(ata.String(), object{"commitment": "processed"}), "value", "uiAmount")
	k.is(nil, "getAccountInfo", params(ata.String()), "value")
	k.bank.Produce(1)
	k.is("confirmed", "getSignatureStatuses", statuses, "value", 0, "confirmationStatus")
	k.is(6.0, "getTransaction", sent, "slot")
	k.is([]any{}, "getSignaturesForAddress", params(bob.String()))
	k.is(id.String(), "getSignaturesForAddress", params(bob.String(), object{"commitment": "confirmed"}), 0, "signature")
	k.bank.Produce(2)
	k.is("finalized", "getSignatureStatuses", statuses, "value", 0, "confirmationStatus")
	k.is(nil, "getSignatureStatuses", statuses, "value", 0, "confirmations")

	k.is("legacy", "getTransaction", sent, "version")
	k.is(1_760_000_000.0, "getTransaction", sent, "blockTime")
	k.is(object{"Ok": nil}, "getTransaction", sent, "meta", "status")
	k.is(5200.0, "getTransaction", sent, "meta", "fee") // 400000 units at 500
	k.is("mintTo", "getTransaction", sent, "transaction", "message", "instructions", 2, "parsed", "type")
	k.is("createIdempotent", "getTransaction", sent, "transaction", "message", "instructions", 1, "parsed", "type")
	k.is([]any{}, "getTransaction", sent, "transaction", "message", "instructions", 0, "accounts")
	k.is(object{"pubkey": alice.String(), "signer": true, "writable": true, "source": "transaction"}, "getTransaction", sent, "transaction", "message", "accountKeys", 0)
	k.is(1.0, "getTransaction", sent, "meta", "innerInstructions", 0, "index")
	k.is("initializeAccount3", "getTransaction", sent, "meta", "innerInstructions", 0, "instructions", 3, "parsed", "type")
	k.is("1.23", "getTransaction", sent, "meta", "postTokenBalances", 0, "uiTokenAmount", "uiAmountString")
	k.is([]any{}, "getTransaction", sent, "meta", "preTokenBalances")
	raw := params(id.String(), object{"encoding": "json"})
	k.is(1.0, "getTransaction", raw, "transaction", "message", "header", "numRequiredSignatures")
	k.is(nil, "getTransaction", raw, "version")
	k.is(2.0, "getTransaction", raw, "meta", "innerInstructions", 0, "instructions", 0, "stackHeight")
	bytesOf := k.value("getTransaction", params(id.String(), "base64"), "transaction", 0)
	if b, err := base64.StdEncoding.DecodeString(bytesOf.(string)); err != nil || len(b) < 200 {
		t.Errorf("%v: %v", bytesOf, err)
	}

	k.is("account", "getAccountInfo", params(ata.String(), object{"encoding": "jsonParsed"}), "value", "data", "parsed", "type")
	k.is("1230000", "getAccountInfo", params(ata.String(), object{"encoding": "jsonParsed"}), "value", "data", "parsed", "info", "tokenAmount", "amount")
	k.is("mint", "getMultipleAccounts", params([]string{alice.String(), mint.String()}, object{"encoding": "jsonParsed"}), "value", 1, "data", "parsed", "type")
	k.is([]any{base64.StdEncoding.EncodeToString(mint[:4]), "base64"}, "getAccountInfo",
		params(ata.String(), object{"encoding": "base64", "dataSlice": object{"offset": 0, "length": 4}}), "value", "data")
	k.is(165.0, "getAccountInfo", params(ata.String(), object{"encoding": "base64"}), "value", "space")
	if a := k.ask("getAccountInfo", ata.String()); a.Error == nil || a.Error.Code != -32600 {
		t.Errorf("165 bytes in base58: %+v", a)
	}
	k.is(ata.String(), "getTokenAccountsByOwner", params(bob.String(), object{"mint": mint.String()}, object{"encoding": "jsonParsed"}), "value", 0, "pubkey")
	k.is([]any{}, "getTokenAccountsByOwner", params(alice.String(), object{"programId": wire.TokenProgram.String()}, object{"encoding": "base64"}), "value")
	byBob := object{"encoding": "base64", "withContext": true, "filters": []any{object{"dataSize": 165}, object{"memcmp": object{"offset": 32, "bytes": bob.String()}}}}
	k.is(ata.String(), "getProgramAccounts", params(wire.TokenProgram.String(), byBob), "value", 0, "pubkey")
	byAlice := object{"encoding": "base64", "filters": []any{object{"memcmp": object{"offset": 32, "bytes": base64.StdEncoding.EncodeToString(alice[:]), "encoding": "base64"}}}}
	k.is([]any{}, "getProgramAccounts", params(wire.TokenProgram.String(), byAlice))
	k.is("1.23", "getTokenSupply", params(mint.String()), "value", "uiAmountString")
	k.is(object{"address": ata.String(), "amount": "1230000", "decimals": 6.0, "uiAmount": 1.23, "uiAmountString": "1.23"}, "getTokenLargestAccounts", params(mint.String()), "value", 0)
	leader := k.value("getSlotLeader", nil)
	k.is([]any{leader, leader}, "getSlotLeaders", params(3, 2))
	k.is(432000.0, "getEpochSchedule", nil, "slotsPerEpoch")
	k.is(object{"current": []any{}, "delinquent": []any{}}, "getVoteAccounts", nil)

	k.is(id.String(), "getBlock", params(6, object{"transactionDetails": "signatures"}), "signatures", 0)
	k.is(5200.0, "getBlock", params(6, object{"transactionDetails": "none"}), "rewards", 0, "lamports")
	k.is(nil, "getBlock", params(6, object{"transactionDetails": "none", "rewards": false}), "rewards")
	k.is(id.String(), "getBlock", params(6), "transactions", 0, "transaction", "signatures", 0)
	k.is(alice.String(), "getBlock", params(6, object{"transactionDetails": "accounts"}), "transactions", 0, "transaction", "accountKeys", 0, "pubkey")
	k.is([]any{5.0, 6.0}, "getBlocks", params(5, 6))
	k.is([]any{5.0, 6.0}, "getBlocks", params(5))
	k.is([]any{4.0, 5.0}, "getBlocksWithLimit", params(4, 2))
	k.is(1_760_000_000.0, "getBlockTime", params(6))
	k.is(9.0, "getSlot", params(object{"commitment": "processed"}))
	k.is(8.0, "getBlockHeight", params(object{"commitment": "confirmed"}))
	k.is(8.0, "getEpochInfo", params(object{"commitment": "confirmed"}), "absoluteSlot")
	k.is(1.0, "getTransactionCount", nil)
	latest := k.value("getLatestBlockhash", params(object{"commitment": "confirmed"}), "value").(object)
	if latest["lastValidBlockHeight"] != 158.0 {
		t.Errorf("%v", latest)
	}
	k.is(true, "isBlockhashValid", params(latest["blockhash"], object{"commitment": "processed"}), "value")
	k.is(false, "isBlockhashValid", params(latest["blockhash"]), "value") // not finalized yet
	k.is(2039280.0, "getMinimumBalanceForRentExemption", params(165))
	k.is(500.0, "getRecentPrioritizationFees", params([]string{ata.String()}), 6, "prioritizationFee")
	k.is(0.0, "getRecentPrioritizationFees", params([]string{key("carol").PublicKey().String()}), 6, "prioritizationFee")
	k.is(k.bank.Genesis().String(), "getGenesisHash", nil)
	k.is("ok", "getHealth", nil)
	for _, method := range []string{"getVersion", "getIdentity", "getSlotLeader", "getSupply", "getFirstAvailableBlock", "minimumLedgerSlot"} {
		k.value(method, nil)
	}
}

// TestHistoryPages pages through an address's transactions with both bounds.
func TestHistoryPages(t *testing.T) {
	k := newManual(t, bank.Options{})
	alice, bob := key("alice").PublicKey(), key("bob").PublicKey()
	var want []any
	for i := range 6 {
		id := k.send("alice", wire.Transfer(alice, bob, uint64(i)), wire.Instruction{Program: bank.MemoProgram, Data: []byte("hi")})
		want = append(want, id.String())
		if i%2 == 1 {
			k.bank.Produce(1)
		}
	}
	slices.Reverse(want)
	page := func(o object) (ids []any) {
		t.Helper()
		for _, tx := range k.value("getSignaturesForAddress", params(bob.String(), o)).([]any) {
			ids = append(ids, at(tx, "signature"))
		}
		return ids
	}
	for _, c := range []struct {
		options object
		want    []any
	}{
		{object{}, want}, {object{"limit": 2}, want[:2]}, {object{"before": want[1]}, want[2:]}, {object{"until": want[4]}, want[:4]},
		{object{"before": want[0], "until": want[3], "limit": 9}, want[1:3]}, {object{"before": want[0], "limit": 1}, want[1:2]},
		{object{"before": strings.Repeat("1", 64)}, nil}, {object{"until": strings.Repeat("1", 64)}, want},
	} {
		if d := cmp.Diff(c.want, page(c.options)); d != "" {
			t.Errorf("%v: %s", c.options, d)
		}
	}
	k.is("[2] hi", "getSignaturesForAddress", params(bob.String()), 0, "memo")
	k.is("finalized", "getSignaturesForAddress", params(bob.String()), 0, "confirmationStatus")
}

// TestSimulation executes without keeping anything.
func TestSimulation(t *testing.T) {
	k := newManual(t, bank.Options{})
	alice, bob := key("alice").PublicKey(), key("bob").PublicKey()
	raw := k.sign("alice", wire.Transfer(alice, bob, sol))
	text := base64.StdEncoding.EncodeToString(raw)
	options := object{"encoding": "base64", "sigVerify": true, "accounts": object{"encoding": "base64", "addresses": []string{bob.String(), mint.String()}}, "innerInstructions": true}
	k.is(float64(11*sol), "simulateTransaction", params(text, options), "value", "accounts", 0, "lamports")
	k.is(nil, "simulateTransaction", params(text, options), "value", "accounts", 1) // the transaction does not name it
	k.is(nil, "simulateTransaction", params(text, options), "value", "err")
	k.is(150.0, "simulateTransaction", params(text, options), "value", "unitsConsumed")
	k.is(float64(10*sol), "getBalance", params(bob.String()), "value")
	trial.Do(t, k.bank.Expire())
	k.is("BlockhashNotFound", "simulateTransaction", params(text, object{"encoding": "base64"}), "value", "err")
	k.is(nil, "simulateTransaction", params(text, object{"encoding": "base64", "replaceRecentBlockhash": true}), "value", "err")
	if a := k.ask("sendTransaction", text, object{"encoding": "base64"}); a.Error == nil || a.Error.Message != "Transaction simulation failed: Blockhash not found" {
		t.Errorf("%+v", a)
	}
	// Without preflight a node takes what no block will.
	k.value("sendTransaction", params(text, object{"encoding": "base64", "skipPreflight": true}))
	k.bank.Produce(1)
	k.is(float64(10*sol), "getBalance", params(bob.String()), "value")
}

// TestFaults lets servers misbehave.
func TestFaults(t *testing.T) {
	k := newManual(t, bank.Options{})
	alice, bob := key("alice").PublicKey(), key("bob").PublicKey()
	send := func(lamports uint64) []any {
		return params(base64.StdEncoding.EncodeToString(k.sign("alice", wire.Transfer(alice, bob, lamports))), object{"encoding": "base64"})
	}
	k.bank.Produce(4)
	k.server.Misbehave(solana.NodeFault{Behind: 3})
	k.is(1.0, "getSlot", nil)
	if a := k.ask("sendTransaction", send(1)...); a.Error == nil || a.Error.Code != -32002 {
		t.Errorf("a node that lags knows a new block hash: %+v", a)
	}
	k.server.Misbehave(solana.NodeFault{WrongNetwork: true})
	if k.value("getGenesisHash", nil) == k.bank.Genesis().String() {
		t.Error("the right network")
	}
	k.server.Misbehave(solana.NodeFault{Unhealthy: true})
	if a := k.ask("getHealth"); a.Error == nil || a.Error.Code != -32005 {
		t.Errorf("%+v", a)
	}
	k.server.Misbehave(solana.NodeFault{Refuse: []string{"getSlot"}, Fail: []string{"getBlockHeight"}})
	if a, b := k.ask("getSlot"), k.ask("getBlockHeight"); a.Error.Code != -32601 || b.Error.Code != -32603 {
		t.Errorf("%+v %+v", a, b)
	}
	k.server.Misbehave(solana.NodeFault{MaxBatch: 1})
	if _, text := k.post(`[{"jsonrpc":"2.0","id":1,"method":"getSlot"},{"jsonrpc":"2.0","id":2,"method":"getSlot"}]`); !strings.Contains(string(text), "-32600") {
		t.Errorf("%s", text)
	}
	k.server.Misbehave(solana.NodeFault{LoseTransaction: true})
	k.value("sendTransaction", send(1_000_000))
	k.bank.Produce(1)
	k.is(float64(10*sol), "getBalance", params(bob.String()), "value")
	k.server.Misbehave(solana.NodeFault{LoseAnswer: true})
	body := trial.Must(json.Marshal(object{"jsonrpc": "2.0", "id": 1, "method": "sendTransaction", "params": send(2_000_000)}))(t)
	if r, err := http.Post(k.server.URL(), "application/json", bytes.NewReader(body)); err == nil {
		r.Body.Close()
		t.Error("there was an answer")
	}
	k.bank.Produce(1)
	k.server.Misbehave(solana.NodeFault{Rewrite: func(method string, _ []json.RawMessage, result json.RawMessage) json.RawMessage {
		if method == "getBalance" {
			return json.RawMessage(`{"context":{"slot":1},"value":5}`)
		}
		return result
	}})
	k.is(5.0, "getBalance", params(bob.String()), "value")
	k.is(6.0, "getSlot", nil)
	k.server.Misbehave(solana.NodeFault{})
	k.is(float64(10*sol+2_000_000), "getBalance", params(bob.String()), "value")
	for status, f := range map[int]solana.NodeFault{502: {Status: 502}, 200: {Garbage: true}} {
		k.server.Misbehave(f)
		if got, text := k.post(`{}`); got != status || json.Valid(text) {
			t.Errorf("%d %s", got, text)
		}
	}
	k.server.Misbehave(solana.NodeFault{Down: true})
	if r, err := http.Post(k.server.URL(), "application/json", strings.NewReader(`{}`)); err == nil {
		r.Body.Close()
		t.Error("there was an answer")
	}
}

// TestAddress listens where it is told to, and on the port after it.
func TestAddress(t *testing.T) {
	k := newManual(t, bank.Options{})
	address := strings.TrimPrefix(k.server.URL(), "http://")
	if _, err := solana.Serve(solana.NodeOptions{Bank: k.bank, Address: address}); err == nil {
		t.Error("two servers have one address")
	}
	trial.Do(t, k.server.Close())
	again := trial.Must(solana.Serve(solana.NodeOptions{Bank: k.bank, Address: address}))(t)
	defer again.Close()
	if again.URL() != k.server.URL() || again.SocketURL() != k.server.SocketURL() {
		t.Errorf("%s and %s", again.URL(), again.SocketURL())
	}
}
