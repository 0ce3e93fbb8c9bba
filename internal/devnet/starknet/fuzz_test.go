package starknet_test

import (
	"encoding/json"
	"math/big"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/swapper-go/swapper/internal/devnet/starknet"
	"github.com/swapper-go/swapper/internal/devnet/starknet/contracts"
	"github.com/swapper-go/swapper/internal/trial"
)

// FuzzRequest hands the server any body: it answers, with JSON, and the chain goes on.
func FuzzRequest(f *testing.F) {
	k := newKit(f, contracts.Options{})
	raw := trial.Must(json.Marshal(k.body(k.transfer(0, big.NewInt(1)))))(k)
	f.Add(`{"jsonrpc":"2.0","id":1,"method":"starknet_getEvents","params":{"filter":{"chunk_size":2,"from_block":{"block_number":1},"keys":[["0x1"],[]],"continuation_token":"1-1"}}}`)
	f.Add(`{"jsonrpc":"2.0","id":1,"method":"starknet_call","params":[{"contract_address":"0x1","entry_point_selector":"0x2","calldata":["0x3"]},"latest"]}`)
	f.Add(`[{"jsonrpc":"2.0","id":null,"method":"starknet_getStateUpdate","params":["pre_confirmed"]}]`)
	f.Add(`{"jsonrpc":"2.0","id":1,"method":"starknet_getBlockWithReceipts","params":{"block_id":{"block_hash":"0x1"}}}`)
	f.Add(`{"jsonrpc":"2.0","id":1,"method":"starknet_addInvokeTransaction","params":{"invoke_transaction":` + string(raw) + `}}`)
	f.Add(`{"jsonrpc":"2.0","id":1,"method":"starknet_simulateTransactions","params":["latest",[` + string(raw) + `],["SKIP_VALIDATE"]]}`)
	f.Add(`{"jsonrpc":"2.0","id":1,"method":"starknet_estimateFee","params":[[` + string(raw) + `],[],"pre_confirmed"]}`)
	f.Fuzz(func(t *testing.T, body string) {
		w := httptest.NewRecorder()
		starknet.Handle(k.server, w, httptest.NewRequest("POST", "/v0_9", strings.NewReader(body)))
		if !json.Valid(w.Body.Bytes()) {
			t.Errorf("%q: %s", body, w.Body)
		}
	})
}
