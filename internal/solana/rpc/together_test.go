package rpc

import (
	"encoding/json"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/swapper-go/swapper/internal/httpx"
	"github.com/swapper-go/swapper/internal/jsonrpc/rpctest"
	"github.com/swapper-go/swapper/internal/solana/wire"
	"github.com/swapper-go/swapper/internal/trial"
)

// What many swaps ask a busy node goes out together: their accounts, and the block hash,
// which all ask for in the same words, once in each request. A node that takes no batches
// is asked one by one.
func TestSwapsAskABusyNodeTogether(t *testing.T) {
	for name, noBatches := range map[string]bool{"batches": false, "no batches": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				questions := every()
				gate := &rpctest.Gate{NoBatches: noBatches, Answer: func(c rpctest.Call) any {
					switch c.Method {
					case "getGenesisHash":
						return rpctest.Result(c, "genesis")
					case "getMultipleAccounts":
						return rpctest.Result(c, json.RawMessage(`{"context":{"slot":7},"value":[null]}`))
					case "getLatestBlockhash":
						return rpctest.Result(c, json.RawMessage(questions["block hash"].good))
					}
					return rpctest.Result(c, json.RawMessage(questions["block"].good))
				}}
				nodes := trial.Must(Dial(func(string) error { return nil }, []string{"http://node.invalid"}, gate, time.Now))(t)
				defer nodes.Close()
				nodes.Retry = httpx.RetryPolicy{Calls: 1}
				ask := func(requests ...Request) error { return AskAll(t.Context(), nodes, requests) }
				if err := ask(LatestBlockhashRequest(Confirmed, new(LatestBlockhash))); err != nil { // the node says who it is
					t.Fatal(err)
				}
				const places, swaps = 5, 40
				requests := gate.Together(t, places, func(i int) error { return ask(BlockRequest(uint64(5+i), Confirmed, new(Block))) }, swaps, func(i int) error {
					var accounts Accounts
					var hash LatestBlockhash
					err := ask(AccountsRequest([]wire.Key{{byte(i + 1)}}, Confirmed, &accounts), LatestBlockhashRequest(Confirmed, &hash))
					if err == nil && (accounts.Slot != 7 || hash.Slot != 7) {
						err = fmt.Errorf("%+v, %+v", accounts, hash)
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
	for name, q := range every() {
		want := map[string]bool{"accounts": true, "slot": true, "block hash": true, "validity": true, "statuses": true, "transaction": true}[name]
		if got := light(q.request); got != want {
			t.Errorf("%s: %v, expected %v", name, got, want)
		}
	}
}
