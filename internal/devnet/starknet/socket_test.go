package starknet_test

import (
	"encoding/json"
	"math/big"
	"testing"

	"github.com/coder/websocket"
	"github.com/google/go-cmp/cmp"

	"github.com/swapper-go/swapper/internal/devnet/starknet/contracts"
	"github.com/swapper-go/swapper/internal/starknet/wire"
	"github.com/swapper-go/swapper/internal/trial"
)

// The status of a transaction is told of once it is known, and at once to those who come later.
func TestStatusOfATransactionIsHeard(t *testing.T) {
	t.Parallel()
	k := newKit(t, contracts.Options{})
	conn, _, err := websocket.Dial(t.Context(), k.server.SocketURL(), nil)
	k.must(err)
	defer conn.CloseNow()
	ask := func(method string, params any) {
		t.Helper()
		text := trial.Must(json.Marshal(object{"jsonrpc": "2.0", "id": 1, "method": "starknet_" + method, "params": params}))(k)
		k.must(conn.Write(t.Context(), websocket.MessageText, text))
	}
	says := func(want object) {
		t.Helper()
		_, text, err := conn.Read(t.Context())
		k.must(err)
		var got object
		k.must(json.Unmarshal(text, &got))
		if delete(got, "jsonrpc"); cmp.Diff(want, got) != "" {
			t.Errorf("-want +got:\n%s", cmp.Diff(want, got))
		}
	}
	transfer := k.transfer(0, big.NewInt(1))
	tx := trial.Must(contracts.NewTx(transfer, false))(k)
	hash := wire.Hex(tx.Hash)
	told := func(id string) object {
		return object{"method": "starknet_subscriptionTransactionStatus", "params": object{"subscription_id": id,
			"result": object{"transaction_hash": hash, "status": object{"finality_status": "ACCEPTED_ON_L1", "execution_status": "SUCCEEDED"}}}}
	}

	ask("subscribeTransactionStatus", object{"transaction_hash": hash})
	says(object{"id": 1.0, "result": "1"})
	k.send(transfer)
	says(told("1"))
	ask("subscribeTransactionStatus", object{"transaction_hash": hash})
	says(object{"id": 1.0, "result": "2"})
	says(told("2"))
	ask("unsubscribe", object{"subscription_id": "1"})
	says(object{"id": 1.0, "result": true})
	ask("subscribeTransactionStatus", object{"transaction_hash": "no felt"})
	_, text, err := conn.Read(t.Context())
	k.must(err)
	var refused struct{ Error struct{ Code int } }
	if k.must(json.Unmarshal(text, &refused)); refused.Error.Code != -32602 {
		t.Errorf("no felt: %s", text)
	}
}
