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
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
)

// extension does what a wallet's extension does for a page, with a key and the chain's node.
// It is on Ethereum, knows no other chain until it is told of one, and its user declines what he is told to.
type extension struct {
	key     *ecdsa.PrivateKey
	address string
	node    string

	mu      sync.Mutex
	decline map[string]int // how often, by method
	hold    chan struct{}  // what the user takes to answer when he is asked to switch; nil: no time
	known   []string       // chains that it was told of
	chain   string
	calls   []string
}

// injected is what a page finds in window.ethereum: it carries each request to the test, and tells of the
// chain when it has switched.
const injected = `window.ethereum = { heard: {}, on(name, f) { this.heard[name] = f; }, request: async (q) => {
	const r = await fetch(%q, { method: 'POST', body: JSON.stringify(q) });
	const a = await r.json();
	if (a.error) throw Object.assign(new Error(a.error.message), { code: a.error.code });
	if (q.method === 'wallet_switchEthereumChain') window.ethereum.heard.chainChanged(q.params[0].chainId);
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
	hold := e.hold
	e.mu.Unlock()
	if hold != nil && method == "wallet_switchEthereumChain" {
		<-hold
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.calls = append(e.calls, method)
	if e.decline[method] > 0 {
		e.decline[method]--
		return nil, &refusal{4001, "User rejected the request."}
	}
	var chain struct {
		ChainID string   `json:"chainId"`
		Name    string   `json:"chainName"`
		RPC     []string `json:"rpcUrls"`
	}
	switch method {
	case "eth_requestAccounts":
		return []string{e.address}, nil
	case "eth_chainId":
		return e.chain, nil
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
		ChainID                            hexutil.Big
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
	if tx.ChainID.ToInt().Cmp(id) != 0 {
		return "", fmt.Errorf("the transaction is for chain %s", &tx.ChainID)
	}
	signed, err := types.SignNewTx(e.key, types.LatestSignerForChainID(id), &types.DynamicFeeTx{ChainID: id, Nonce: uint64(tx.Nonce), GasTipCap: tx.MaxPriorityFeePerGas.ToInt(),
		GasFeeCap: tx.MaxFeePerGas.ToInt(), Gas: uint64(tx.Gas), To: &tx.To, Value: tx.Value.ToInt(), Data: tx.Data})
	if err != nil {
		return "", err
	}
	raw, err := signed.MarshalBinary()
	return hexutil.Encode(raw), err
}

// extended starts a network and a page with a browser's wallet that has money on it, and connects it.
func extended(t *testing.T) (*world, *extension, tab) {
	t.Helper()
	key, err := crypto.GenerateKey()
	if err != nil {
		t.Fatal(err)
	}
	w := own(t, nil)
	e := &extension{key: key, address: crypto.PubkeyToAddress(key.PublicKey).Hex(), node: w.URL("CITREA"), chain: "0x1", decline: make(map[string]int)}
	server := httptest.NewServer(e)
	t.Cleanup(server.Close)
	for token, amount := range map[string]*big.Int{"CITREA-CBTC": big.NewInt(1e18), "CITREA-WBTC": big.NewInt(10_000_000)} {
		if err := w.SendTokens(t.Context(), token, e.address, amount); err != nil {
			t.Fatal(err)
		}
	}
	p := browse(t, w.url, page.SetBypassCSP(true), before(fmt.Sprintf(injected, server.URL)))
	p.until(`document.getElementById('limits').textContent !== ''`)
	p.key("connect")
	p.until(`document.getElementById('connect').textContent.startsWith('0x')`)
	return w, e, p
}

// set changes the extension.
func (e *extension) set(change func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	change()
}

// moves has the wallet go to another chain, and tell the page of it.
func (e *extension) moves(p tab, chain string) {
	p.Helper()
	e.set(func() { e.chain = chain })
	p.do(chromedp.Evaluate(fmt.Sprintf(`window.ethereum.heard.chainChanged(%q)`, chain), nil))
}

// says demands words of the page.
func (p tab) says(id, want string) {
	p.Helper()
	if got := p.text(id); got != want {
		p.Errorf("%s says %q, want %q", id, got, want)
	}
}

// What its user declines in a wallet of the browser is said, and can be tried again; then it
// sends, and the service sees it on the chain.
func TestBrowserWallet(t *testing.T) {
	t.Parallel()
	_, e, p := extended(t)
	e.set(func() { e.chain, e.decline["eth_sendTransaction"] = hexutil.EncodeUint64(evmChainID), 1 })
	e.moves(p, hexutil.EncodeUint64(evmChainID))
	p.ask("CITREA-WBTC", "BITCOIN-BTC", "receive", "0.002")
	p.phaseIs("sign")
	p.key("go")
	p.until(`document.getElementById('fault').textContent !== ''`)
	p.says("fault", "You declined in your wallet. Nothing was signed or sent. Try again when you are ready.")
	p.phaseIs("sign")
	p.look("declined")
	if got := get[string](p, `document.activeElement.id`); got != "go" {
		t.Errorf("the focus is at %q, not at the button that tries again", got)
	}
	if got := p.finish(); got != "received" {
		t.Errorf("ended as %q: %s", got, p.text("stage"))
	}
}

// A wallet on another network than the swap has a screen of its own, whose button has it switch: it is told of
// a network that it does not know, its user may decline, and whatever it changes to meanwhile is noticed.
func TestWalletOnAnotherChain(t *testing.T) {
	t.Parallel()
	_, e, p := extended(t)
	p.ask("CITREA-WBTC", "BITCOIN-BTC", "receive", "0.002")
	p.phaseIs("elsewhere")
	p.says("headline", "Your wallet is on Ethereum")
	p.says("go", "Switch to Citrea (local)")
	if lead := p.text("lead"); !strings.HasPrefix(lead, "To pay 0.002") || !strings.HasSuffix(lead, "your wallet has to be on Citrea (local). Switching signs and pays nothing.") {
		t.Errorf("the screen says %q", lead)
	}
	p.look("elsewhere")
	focused := func() {
		t.Helper()
		if got := get[string](p, `document.activeElement.id`); got != "go" {
			t.Errorf("the focus is at %q, not at the button", got)
		}
	}
	hold := make(chan struct{})
	e.set(func() { e.decline["wallet_switchEthereumChain"], e.hold = 1, hold })
	p.key("go")
	p.phase("switching")
	p.says("headline", "Confirm in your wallet")
	p.look("switching")
	e.set(func() { e.hold = nil })
	close(hold)
	p.until(`document.getElementById('fault').textContent !== ''`)
	p.says("fault", "You declined, so your wallet stays on Ethereum. Nothing was signed or sent. Switch here when you are ready, or choose Citrea (local) in the wallet.")
	p.phaseIs("elsewhere")
	focused()
	p.press(kb.Enter) // it is told of the network now
	p.phase("sign")
	p.says("fault", "")
	e.set(func() {
		if !slices.Contains(e.calls, "wallet_addEthereumChain") || slices.Contains(e.calls, "eth_sendTransaction") {
			t.Errorf("the wallet was asked %q", e.calls)
		}
	})
	for chain, title := range map[string]string{"0xaa36a7": "Your wallet is on Sepolia", "0x3039": "Your wallet is on another network"} {
		e.moves(p, chain)
		p.phase("elsewhere")
		p.says("headline", title)
		if unknown := strings.Contains(p.text("lead"), "with the number 12345."); unknown != (chain == "0x3039") {
			t.Errorf("on %s it says %q", chain, p.text("lead"))
		}
	}
	e.moves(p, hexutil.EncodeUint64(evmChainID))
	p.phase("sign")
	e.set(func() { e.chain = "0x1" }) // without a word
	p.until(`!document.getElementById('go').hidden`)
	p.key("go")
	p.phase("elsewhere")
	if got := p.finish(); got != "received" {
		t.Errorf("ended as %q: %s", got, p.text("stage"))
	}
}

// A browser without a wallet is told so, and the test wallet goes on.
func TestNoBrowserWallet(t *testing.T) {
	t.Parallel()
	p := browse(t, everyChain(t).url)
	p.key("connect")
	p.until(`document.getElementById('problem').textContent === 'This browser has no wallet. The test wallet pays instead.'`)
}
