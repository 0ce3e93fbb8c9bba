package evm_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/chains/evm"
)

// A chain is usually handed to swapper.Config, which opens it. On its own it is
// opened with what it needs of its surroundings.
func ExampleCitrea() {
	node := citreaNode() // in place of https://rpc.testnet.citrea.xyz
	defer node.Close()
	factory := evm.Citrea(evm.Options{RPC: []string{node.URL}})
	chain, err := factory.Open(context.Background(), chains.Env{Network: bitcoin.Testnet4,
		HTTP: http.DefaultTransport, Now: time.Now, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		fmt.Println(err)
		return
	}
	rate, err := chain.FeeRate(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	info := chain.Info()
	fmt.Println(info.ID, info.Default, info.Native.Ticker)
	fmt.Println("base fee, priority fee (wei per gas), L1 fee (wei per byte):", rate)
	// Output:
	// CITREA v1 CBTC
	// base fee, priority fee (wei per gas), L1 fee (wei per byte): 12500000,100000,300
}

// Contracts that are not published are described by a Network. What goes with a
// chain wherever its contracts stand comes from Preset.
func ExampleCustom() {
	network, _ := evm.Preset("GOAT", bitcoin.Mainnet)
	network.ChainID = 2345
	fmt.Println(network.Validate())
	// then network.Deployments = []evm.Deployment{...}, and
	// evm.Custom(evm.Options{RPC: ..., Network: &network, Tokens: ...})

	// Output: deployments: is required
}

// A wallet signs what an action of type SignSmartChainTransaction asks for with
// go-ethereum, and submits the hex of it.
func ExampleUnsignedTransaction() {
	const asked = "0x02ef8213fb07830186a083c042c083018a889452908400098527886e0f7030069857d2e4169ee787038d7ea4c6800080c0"
	key, err := crypto.HexToECDSA("4c0883a69102937d6231471b5dbb6204fe5129617082792ae468d01a3f362318")
	if err != nil {
		fmt.Println(err)
		return
	}
	tx, err := evm.UnsignedTransaction(asked)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("chain", tx.ChainId(), "nonce", tx.Nonce(), "to", tx.To(), "value", tx.Value())
	signed, err := types.SignTx(tx, types.LatestSignerForChainID(tx.ChainId()), key)
	if err != nil {
		fmt.Println(err)
		return
	}
	raw, err := signed.MarshalBinary()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("submit", hexutil.Encode(raw)[:20]+"...")
	// Output:
	// chain 5115 nonce 7 to 0x52908400098527886E0F7030069857D2E4169EE7 value 1000000000000000
	// submit 0x02f8728213fb078301...
}

// citreaNode answers what a chain asks when it is opened and for fees.
func citreaNode() *httptest.Server {
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var calls []struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
		}
		if json.NewDecoder(r.Body).Decode(&calls) != nil { // a single call: nodes may take no batches
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		var answers []map[string]any
		for _, c := range calls {
			answer := map[string]any{"jsonrpc": "2.0", "id": c.ID}
			switch c.Method {
			case "eth_chainId":
				answer["result"] = hexutil.Uint64(5115)
			case "eth_getBlockByNumber":
				answer["result"] = map[string]any{"number": "0x10", "hash": "0x" + fmt.Sprintf("%064x", 16),
					"timestamp": hexutil.Uint64(time.Now().Unix()), "baseFeePerGas": "0x989680", "l1FeeRate": "0x12c"}
			}
			answers = append(answers, answer)
		}
		_ = json.NewEncoder(w).Encode(answers)
	}))
}
