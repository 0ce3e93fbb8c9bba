package rpc

import (
	"encoding/json"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/swapper-go/swapper/internal/httpx"
	"github.com/swapper-go/swapper/internal/jsonrpc/rpctest"
	"github.com/swapper-go/swapper/internal/starknet/wire"
	"github.com/swapper-go/swapper/internal/trial"
)

// What many swaps ask a busy node goes out together: their nonces, and the head, which all
// ask for in the same words, once in each request. A node that takes no batches is asked
// one by one.
func TestSwapsAskABusyNodeTogether(t *testing.T) {
	for name, noBatches := range map[string]bool{"batches": false, "no batches": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				gate := &rpctest.Gate{NoBatches: noBatches, Answer: func(c rpctest.Call) any {
					switch c.Method {
					case "starknet_chainId":
						return rpctest.Result(c, "0x534e5f4d41494e")
					case "starknet_specVersion":
						return rpctest.Result(c, "0.8.1")
					case "starknet_getNonce":
						return rpctest.Result(c, "0x5")
					case "starknet_traceTransaction":
						return rpctest.Result(c, map[string]any{})
					}
					return rpctest.Result(c, json.RawMessage(`{"status":"ACCEPTED_ON_L2","block_hash":"0x9","block_number":5,"timestamp":2000000000,"transactions":[],`+
						`"l1_gas_price":{"price_in_fri":"0x3","price_in_wei":"0x1"},"l1_data_gas_price":{"price_in_fri":"0x7","price_in_wei":"0x1"},"l2_gas_price":{"price_in_fri":"0x5","price_in_wei":"0x1"}}`))
				}}
				nodes := trial.Must(Dial(func(wire.Felt) error { return nil }, []string{"http://node.invalid"}, gate, time.Now))(t)
				defer nodes.Close()
				nodes.Retry = httpx.RetryPolicy{Calls: 1}
				ask := func(requests ...Request) error { return AskAll(t.Context(), nodes, requests) }
				if err := ask(HeadRequest(new(Head))); err != nil { // the node says who it is
					t.Fatal(err)
				}
				const places, swaps = 5, 40
				requests := gate.Together(t, places, func(int) error { return ask(TraceRequest(wire.FeltOf(1), new(json.RawMessage))) }, swaps, func(i int) error {
					var head Head
					var nonce PreConfirmedNonce
					err := ask(PreConfirmedNonceRequest(wire.FeltOf(uint64(i+1)), &nonce), HeadRequest(&head))
					if err == nil && head.Height != 5 {
						err = errors.New("no head")
					}
					return err
				})
				calls := 0
				for _, r := range requests {
					calls += len(r)
				}
				if noBatches && (len(requests) != calls || calls < swaps) || !noBatches && (len(requests) > places || calls > swaps+places) {
					t.Errorf("%d swaps asked in %d requests, with %d calls", swaps, len(requests), calls)
				}
			})
		})
	}
}

// What takes a node long, or may be done once only, shares no request.
func TestOnlyLightQuestionsAreAskedTogether(t *testing.T) {
	at := AtHash(wire.FeltOf(1))
	for _, r := range []Request{HeadRequest(new(Head)), BlockRequest(at, new(Block)), NonceRequest(wire.FeltOf(1), at, new(Nonce)),
		PreConfirmedNonceRequest(wire.FeltOf(1), new(PreConfirmedNonce)), ClassHashRequest(wire.FeltOf(1), at, new(ClassHash)),
		CallRequest(wire.FeltOf(1), wire.FeltOf(2), nil, at, new(Felts)), ReceiptRequest(wire.FeltOf(1), new(Receipt)), ProgressRequest(wire.FeltOf(1), new(Progress))} {
		if !light(r) {
			t.Errorf("%s waits for a request of its own", r.Method)
		}
	}
	for _, r := range []Request{EventsRequest(Filter{}, "", new(Page)), TraceRequest(wire.FeltOf(1), new(json.RawMessage)), BlockTracesRequest(wire.FeltOf(1), new(BlockTraces)),
		{Method: "starknet_addInvokeTransaction"}, {Method: "starknet_estimateFee"}, {Method: "starknet_simulateTransactions"}} {
		if light(r) {
			t.Errorf("%s shares a request", r.Method)
		}
	}
}
