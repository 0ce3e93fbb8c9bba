package solana

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/bounds"
	"github.com/swapper-go/swapper/internal/httpx"
	"github.com/swapper-go/swapper/internal/jsonrpc/rpctest"
	"github.com/swapper-go/swapper/internal/solana/read"
	"github.com/swapper-go/swapper/internal/solana/rpc"
	"github.com/swapper-go/swapper/internal/solana/wire"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/internal/vectors"
)

// What became of a transaction, as a node tells it.
func TestVectorsTxStatus(t *testing.T) {
	t.Parallel()
	vectors.Load(t, "chain-solana", "tx-serialization").Of(t, "getTxStatus").Each(t, func(t *testing.T, c *vectors.Case) {
		var in struct {
			SignedTx, TxID string
			ReceiptMeta    json.RawMessage
		}
		c.Input(t, &in)
		var want map[string]json.RawMessage
		c.Expected(t, &want)
		known := string(in.ReceiptMeta) != `"absent"`
		var meta struct{ Err json.RawMessage }
		if known && json.Unmarshal(in.ReceiptMeta, &meta) != nil {
			t.Fatal("meta")
		}
		inContext := func(v any) any {
			return map[string]any{"context": map[string]any{"slot": 9}, "value": v}
		}
		server := rpctest.Serve(t, func(calls []rpctest.Call) any {
			var all []any
			for _, call := range calls {
				var answer any
				switch call.Method {
				case "getGenesisHash":
					answer = "any"
				case "getLatestBlockhash":
					answer = inContext(map[string]any{"blockhash": wire.Key{7}.String(), "lastValidBlockHeight": 1000})
				case "getMultipleAccounts":
					answer = inContext([]any{nil})
				case "getBlock":
					answer = map[string]any{"blockhash": wire.Key{8}.String(), "blockHeight": 5, "blockTime": 6}
				case "getSignatureStatuses":
					status := []any{nil}
					if known {
						status[0] = map[string]any{"slot": 5, "err": meta.Err, "confirmationStatus": "confirmed"}
					}
					answer = inContext(status)
				}
				all = append(all, rpctest.Result(call, answer))
			}
			return all
		})
		ch := chainAt(t, server.URL)
		tx := trial.Must(wire.ParseTx(vectors.Unhex(t, in.SignedTx)))(t)
		ids, err := wire.IDs([]string{in.SignedTx})
		if err != nil || ids[0] != in.TxID {
			t.Fatalf("ids %v, %v, want %s", ids, err, in.TxID)
		}
		signed := chains.Signed{ID: in.TxID, Raw: tx.Raw}
		state := func(tx chains.Signed) chains.TxState {
			t.Helper()
			all := trial.Must(ch.Status(t.Context(), []chains.Signed{tx}))(t)
			return all[0].State
		}
		got, byID := state(signed), state(chains.Signed{ID: in.TxID})
		names := map[chains.TxState]string{chains.TxConfirmed: "success", chains.TxReverted: "reverted", chains.TxUnknown: "not_found", chains.TxPending: "pending"}
		switch {
		case string(in.ReceiptMeta) == "null":
			// The reference cannot read a receipt without an outcome; here the outcome is asked for by itself.
			c.Differ(t, "sol-tx-status")
			if got != chains.TxConfirmed {
				t.Errorf("state %v", got)
			}
		case string(want["txStatus"]) == `"pending"`:
			// One that nobody has sent is not pending, however fresh it is.
			c.Differ(t, "sol-tx-status")
			if got != chains.TxUnknown {
				t.Errorf("state %v, not sent", got)
			}
			ch.hashes.sent.Add(in.TxID, struct{}{})
			if got := state(signed); got != chains.TxPending {
				t.Errorf("state %v, sent", got)
			}
		default:
			delete(want, "calls")
			vectors.SameJSON(t, vectors.JSON(t, want), map[string]string{"txStatus": names[got], "txIdStatus": names[byID]})
		}
		if !strings.Contains(string(want["txIdStatus"]), names[byID]) && string(in.ReceiptMeta) != "null" {
			t.Errorf("by id: %v, want %s", byID, want["txIdStatus"])
		}
	})
}

// chainAt is the chain behind one node that tells nothing of its cluster.
func chainAt(t *testing.T, url string) *chain {
	t.Helper()
	now := func() time.Time { return time.Unix(1_756_278_357, 0) }
	nodes := trial.Must(rpc.Dial(func(string) error { return nil }, []string{url}, http.DefaultTransport, now))(t)
	t.Cleanup(nodes.Close)
	nodes.Retry = httpx.RetryPolicy{Calls: 1}
	log := slog.New(slog.DiscardHandler)
	c := &chain{node: nodes, nodes: nodes, most: 1, env: chains.Env{Now: now, Log: log}, ledger: read.NewLedger(nodes, now, log), hashes: newHashes(), signed: bounds.NewCache[uint64, rpc.Block](16)}
	w, ok := wire.NetworkFor(bitcoin.Testnet3)
	if !ok {
		t.Fatal("no deployment")
	}
	for _, p := range w.Programs {
		c.contracts = append(c.contracts, &contract{chain: c, Programs: p, reader: read.New(p, c.ledger)})
	}
	return c
}
