package evm

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"math/big"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/ethclient"
	"github.com/ethereum/go-ethereum/rpc"
	"github.com/google/go-cmp/cmp"

	"github.com/swapper-go/swapper/internal/evm/wire"
	"github.com/swapper-go/swapper/internal/trial"
)

func TestServerMisbehaves(t *testing.T) {
	t.Parallel()
	n := start(t, Options{})
	ok(t, n.Mine(3))
	s := trial.Must(n.Serve(""))(t)
	patience := time.Minute
	ask := func(body string) (int, string, error) {
		client := http.Client{Timeout: patience}
		resp, err := client.Post(s.URL(), "application/json", strings.NewReader(body))
		if err != nil {
			return 0, "", err
		}
		defer resp.Body.Close()
		b, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
		return resp.StatusCode, strings.TrimSpace(string(b)), err
	}
	one := func(method, params string) string {
		return `{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":` + params + `}`
	}
	tests := []struct {
		name   string
		fault  Fault
		body   string
		status int
		want   string // part of the answer; "" for none at all
	}{
		{"good", Fault{}, one("eth_chainId", "[]"), 200, `{"jsonrpc":"2.0","id":1,"result":"0x7a69"}`},
		{"batch", Fault{}, "[" + one("eth_chainId", "[]") + "," + one("eth_none", "[]") + "]", 200, `"error":{"code":-32601`},
		{"nonsense", Fault{}, "{", 200, "-32700"},
		{"no parameters", Fault{}, `{"jsonrpc":"2.0","id":7,"method":"eth_blockNumber"}`, 200, `"id":7,"result"`},
		{"down", Fault{Down: true}, one("eth_chainId", "[]"), 0, ""},
		{"502", Fault{Status: 502}, one("eth_chainId", "[]"), 502, "Bad Gateway"},
		{"garbage", Fault{Garbage: true}, one("eth_chainId", "[]"), 200, "<html>"},
		{"slow", Fault{Delay: 5 * time.Second}, one("eth_chainId", "[]"), 0, ""},
		{"wrong chain", Fault{WrongChain: true}, one("eth_chainId", "[]"), 200, `"0x7a6a"`},
		{"batches", Fault{MaxBatch: 1}, "[" + one("eth_chainId", "[]") + "," + one("eth_chainId", "[]") + "]", 200, "-32600"},
		{"logs", Fault{LogRange: 2}, one("eth_getLogs", `[{"fromBlock":"0x0","toBlock":"0x3"}]`), 200, "-32005"},
		{"few logs", Fault{LogRange: 2}, one("eth_getLogs", `[{"fromBlock":"0x2","toBlock":"0x3"}]`), 200, `"result":[`},
		{"refused", Fault{Refuse: []string{"debug_traceTransaction"}}, one("debug_traceTransaction", "[]"), 200, "-32601"},
		{"failed", Fault{Fail: []string{"eth_call"}}, one("eth_call", "[]"), 200, "-32603"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s.Misbehave(test.fault)
			if test.fault.Delay > 0 {
				patience = time.Second
				defer func() { patience = time.Minute }()
			}
			status, body, err := ask(test.body)
			if (err != nil) != (test.want == "") || status != test.status || !strings.Contains(body, test.want) {
				t.Errorf("%d %s %v", status, body, err)
			}
		})
	}
	s.Misbehave(Fault{Huge: true})
	if _, body, _ := ask(one("eth_chainId", "[]")); len(body) < 1<<20-1 {
		t.Errorf("%d bytes", len(body))
	}
	s.Requests()
	s.Misbehave(Fault{})
	_, _, _ = ask("[" + one("eth_chainId", "[]") + "," + one("eth_blockNumber", "[]") + "]")
	_, _, _ = ask(one("eth_blockNumber", "[]"))
	if diff := cmp.Diff([][]string{{"eth_chainId", "eth_blockNumber"}, {"eth_blockNumber"}}, s.Requests()); diff != "" {
		t.Error(diff)
	}
}

func TestServerBehind(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	n := start(t, Options{SafeDepth: 1})
	client := trial.Must(ethclient.Dial(n.URL()))(t)
	defer client.Close()
	to := common.Address{9}
	sent := trial.Must(n.User.Send(ctx, wire.Call{To: to, Value: big.NewInt(7), Gas: 21_000}))(t)
	mint := trial.Must(n.mintCall(n.Contracts().Token, to, big.NewInt(1)))(t)
	minted := trial.Must(n.User.Send(ctx, mint))(t)
	head := n.Head().Number.Uint64()

	n.Server().Misbehave(Fault{Behind: 2})
	if got := trial.Must(client.BlockNumber(ctx))(t); got != head-2 {
		t.Errorf("height %d of %d", got, head)
	}
	if got := trial.Must(client.HeaderByNumber(ctx, nil))(t); got.Number.Uint64() != head-2 {
		t.Errorf("latest is %d of %d", got.Number, head)
	}
	if got := trial.Must(client.HeaderByNumber(ctx, big.NewInt(int64(rpc.SafeBlockNumber))))(t); got.Number.Uint64() != head-3 {
		t.Errorf("safe is %d of %d", got.Number, head)
	}
	if _, err := client.HeaderByNumber(ctx, new(big.Int).SetUint64(head)); err == nil {
		t.Error("a block that is not known yet")
	}
	if got := trial.Must(client.BalanceAt(ctx, to, nil))(t); got.Sign() != 0 {
		t.Errorf("balance %s", got)
	}
	if got := trial.Must(client.PendingNonceAt(ctx, n.User.Address))(t); got != 0 {
		t.Errorf("nonce %d", got)
	}
	for _, id := range []common.Hash{sent.TxHash, minted.TxHash} {
		if _, err := client.TransactionReceipt(ctx, id); err == nil {
			t.Error("a receipt that is not known yet")
		}
	}
	logs := func() int {
		return len(trial.Must(client.FilterLogs(ctx, ethereum.FilterQuery{FromBlock: new(big.Int).SetUint64(head - 1), ToBlock: nil}))(t))
	}
	n.Server().Misbehave(Fault{Behind: 1})
	if got := logs(); got != 0 {
		t.Errorf("%d logs", got)
	}
	n.Server().Misbehave(Fault{})
	if got := logs(); got != 1 {
		t.Errorf("%d logs", got)
	}
}

func TestAnswerIsLostButTransactionIsNot(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	n := start(t, Options{})
	client := trial.Must(ethclient.Dial(n.URL()))(t)
	defer client.Close()
	tx := trial.Must(n.User.Sign(wire.Call{To: common.Address{9}, Value: big.NewInt(7), Gas: 21_000}))(t)
	n.Server().Misbehave(Fault{LoseAnswer: true})
	if err := client.SendTransaction(ctx, tx); err == nil {
		t.Error("answered")
	}
	trial.Must(n.Wait(ctx, tx.Hash()))(t)
}

func TestBlocksCarryCitreasFee(t *testing.T) {
	t.Parallel()
	for _, rate := range []uint64{0, 123_456_789} {
		n := start(t, Options{L1FeeRate: rate})
		resp, err := http.Post(n.URL(), "application/json", bytes.NewBufferString(`{"jsonrpc":"2.0","id":1,"method":"eth_getBlockByNumber","params":["latest",false]}`))
		ok(t, err)
		var answer struct{ Result map[string]any }
		ok(t, json.NewDecoder(resp.Body).Decode(&answer))
		ok(t, resp.Body.Close())
		if got, has := answer.Result["l1FeeRate"]; has != (rate != 0) || (has && got != "0x75bcd15") {
			t.Errorf("rate %d: %v", rate, got)
		}
		if n.Network().StateDiffFee != (rate != 0) {
			t.Error("the configuration does not say so")
		}
	}
}

func TestTracesAreServed(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	k := newKit(t, Options{})
	s := k.payIn(Native, nil)
	r := k.open(s, k.User)
	client := trial.Must(rpc.Dial(k.URL()))(t)
	defer client.Close()
	var frame wire.CallFrame
	ok(t, client.CallContext(ctx, &frame, "debug_traceTransaction", r.TxHash, map[string]string{"tracer": "callTracer"}))
	found := trial.Must(k.d.FindSwapData(frame, trial.Must(s.EscrowHash())(t)))(t)
	if found.Claimer != k.LP.Address {
		t.Errorf("found %+v", found)
	}
}
