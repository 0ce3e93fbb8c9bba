package main

import (
	"crypto/ecdsa"
	"encoding/json"
	"fmt"
	"math/big"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/page"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
)

// extension does what a wallet's extension does for a page, with a key and the chain's node.
// It knows no chain but Ethereum until it is told of one, and its user declines as often as he is asked to.
type extension struct {
	key     *ecdsa.PrivateKey
	address string
	node    string

	mu      sync.Mutex
	decline int
	known   []string // chains that it was told of
	chain   string
	calls   []string
}

// injected is what a page finds in window.ethereum: it carries each request to the test.
const injected = `window.ethereum = { on() {}, request: async (q) => {
	const r = await fetch(%q, { method: 'POST', body: JSON.stringify(q) });
	const a = await r.json();
	if (a.error) throw Object.assign(new Error(a.error.message), { code: a.error.code });
	return a.result;
} };`

type refusal struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

func (e *extension) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Access-Control-Allow-Origin", "*")
	w.Header().Set("Access-Control-Allow-Headers", "*")
	if r.Method != http.MethodPost {
		return
	}
	var q struct {
		Method string
		Params []json.RawMessage
	}
	if err := json.NewDecoder(r.Body).Decode(&q); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	result, refused := e.call(r, q.Method, q.Params)
	_ = json.NewEncoder(w).Encode(map[string]any{"result": result, "error": refused})
}

func (e *extension) call(r *http.Request, method string, params []json.RawMessage) (any, *refusal) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.calls = append(e.calls, method)
	var chain struct {
		ChainID string   `json:"chainId"`
		Name    string   `json:"chainName"`
		RPC     []string `json:"rpcUrls"`
	}
	switch method {
	case "eth_requestAccounts":
		return []string{e.address}, nil
	case "wallet_switchEthereumChain":
		_ = json.Unmarshal(params[0], &chain)
		if !slices.Contains(e.known, chain.ChainID) {
			return nil, &refusal{4902, "Unrecognized chain ID"}
		}
		e.chain = chain.ChainID
		return nil, nil
	case "wallet_addEthereumChain":
		if err := json.Unmarshal(params[0], &chain); err != nil || chain.Name == "" || len(chain.RPC) != 1 || chain.RPC[0] != e.node {
			return nil, &refusal{-32602, fmt.Sprintf("the chain is %s", params[0])}
		}
		e.known = append(e.known, chain.ChainID)
		return nil, nil
	case "eth_sendTransaction":
		if e.chain != hexutil.EncodeUint64(evmChainID) {
			return nil, &refusal{4901, "the wallet is on another chain"}
		}
		if e.decline > 0 {
			e.decline--
			return nil, &refusal{4001, "User rejected the request."}
		}
		raw, err := e.sign(params[0])
		if err != nil {
			return nil, &refusal{-32603, err.Error()}
		}
		method, params = "eth_sendRawTransaction", []json.RawMessage{json.RawMessage(fmt.Sprintf("%q", raw))}
	}
	body, _ := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
	req, err := http.NewRequestWithContext(r.Context(), http.MethodPost, e.node, strings.NewReader(string(body)))
	if err != nil {
		return nil, &refusal{-32603, err.Error()}
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, &refusal{-32603, err.Error()}
	}
	defer resp.Body.Close()
	var reply struct {
		Result any
		Error  *refusal
	}
	if err := json.NewDecoder(resp.Body).Decode(&reply); err != nil {
		return nil, &refusal{-32603, err.Error()}
	}
	return reply.Result, reply.Error
}

func (e *extension) sign(param json.RawMessage) (string, error) {
	var tx struct {
		To                                 common.Address
		Nonce, Gas                         hexutil.Uint64
		MaxPriorityFeePerGas, MaxFeePerGas hexutil.Big
		Value                              hexutil.Big
		Data                               hexutil.Bytes
	}
	if err := json.Unmarshal(param, &tx); err != nil {
		return "", err
	}
	id := big.NewInt(evmChainID)
	signed, err := types.SignNewTx(e.key, types.LatestSignerForChainID(id), &types.DynamicFeeTx{ChainID: id, Nonce: uint64(tx.Nonce), GasTipCap: tx.MaxPriorityFeePerGas.ToInt(),
		GasFeeCap: tx.MaxFeePerGas.ToInt(), Gas: uint64(tx.Gas), To: &tx.To, Value: tx.Value.ToInt(), Data: tx.Data})
	if err != nil {
		return "", err
	}
	raw, err := signed.MarshalBinary()
	return hexutil.Encode(raw), err
}

// A wallet of the browser that does not know the chain is told of it; what its user declines
// is said, and can be tried again; then it sends, and the service sees it on the chain.
func TestBrowserWallet(t *testing.T) {
	t.Parallel()
	key, err := crypto.GenerateKey()
	if err != nil {
		t.Fatal(err)
	}
	w := own(t, nil)
	e := &extension{key: key, address: crypto.PubkeyToAddress(key.PublicKey).Hex(), node: w.URL("CITREA"), decline: 1}
	server := httptest.NewServer(e)
	defer server.Close()
	for token, amount := range map[string]*big.Int{"CITREA-CBTC": big.NewInt(1e18), "CITREA-WBTC": big.NewInt(10_000_000)} {
		if err := w.SendTokens(t.Context(), token, e.address, amount); err != nil {
			t.Fatal(err)
		}
	}
	p := browse(t, w.url, page.SetBypassCSP(true), before(fmt.Sprintf(injected, server.URL)))
	p.until(`document.getElementById('limits').textContent !== ''`)
	p.key("connect")
	p.until(`document.getElementById('connect').textContent.startsWith('0x')`)
	p.ask("CITREA-WBTC", "BITCOIN-BTC", "receive", "0.002")
	p.key("go")
	p.until(`document.getElementById('fault').textContent !== ''`)
	if got := p.text("fault"); got != "You declined in your wallet. Nothing was signed or sent. Try again when you are ready." {
		t.Errorf("a refused signature is said as %q", got)
	}
	p.phaseIs("sign")
	p.look("declined")
	if got := get[string](p, `document.activeElement.id`); got != "go" {
		t.Errorf("the focus is at %q, not at the button that tries again", got)
	}
	if got := p.finish(); got != "received" {
		t.Errorf("ended as %q", got)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if !slices.Contains(e.calls, "wallet_addEthereumChain") {
		t.Errorf("the wallet was asked %q", e.calls)
	}
}

// A browser without a wallet is told so, and the test wallet goes on.
func TestNoBrowserWallet(t *testing.T) {
	t.Parallel()
	p := browse(t, everyChain(t).url)
	p.key("connect")
	p.until(`document.getElementById('problem').textContent === 'This browser has no wallet. The test wallet pays instead.'`)
}
