package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/httpapi"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/swappertest"
)

// town is a local network on its own sockets, and a server that is started by a
// configuration file alone.
type town struct {
	*testing.T
	net     *swappertest.Network
	text    []byte // what examples/devnet prints
	says    description
	dir     string
	environ []string        // of the server
	swaps   swapper.Service // by HTTP
	base    string          // of the server
	log     lockedBuffer    // what the server says
	end     func() error    // ends the server

	orders io.Writer // to the server, where it is a process of its own, see follow
}

// lockedBuffer may be written to while it is read.
type lockedBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// description is the part of what examples/devnet prints that is used here.
type description struct {
	Bitcoin struct{ REST string }
	EVM     struct {
		RPC               string
		ChainID           uint64
		ContractVersion   string
		Contracts, Tokens map[string]string
	}
	Solana struct {
		RPC, Genesis, ProgramVersion string
		Programs                     map[string]struct{ SwapProgram, BtcRelay string }
		Tokens                       map[string]string
	}
	LPs    []string
	Prices map[string]string
	Nostr  string
	LNURL  struct{ Pay, Withdraw, Address, Domain, Host, CA string }

	Control, Clock string
}

func newTown(t *testing.T) *town {
	t.Helper()
	return newTownWith(t, swappertest.Options{})
}

func newTownWith(t *testing.T, o swappertest.Options) *town {
	t.Helper()
	o.Listen.Control = "127.0.0.1:0"
	v := &town{T: t, net: swappertest.Start(t, o), dir: t.TempDir()}
	var text bytes.Buffer
	if err := v.net.Describe(&text); err != nil {
		t.Fatal(err)
	}
	v.text = text.Bytes()
	if err := json.Unmarshal(v.text, &v.says); err != nil {
		t.Fatal(err)
	}
	return v
}

func (v *town) write(name string, value any) string {
	v.Helper()
	text, err := json.Marshal(value)
	if err == nil {
		err = os.WriteFile(filepath.Join(v.dir, name), text, 0o600)
	}
	if err != nil {
		v.Fatal(err)
	}
	return filepath.Join(v.dir, name)
}

// serve starts the server; it ends with the test.
func (v *town) serve(settings map[string]any) {
	v.Helper()
	usual := func(key string, value any) {
		if _, given := settings[key]; !given {
			settings[key] = value
		}
	}
	usual("auth", []any{map[string]any{"type": "none", "name": "public", "rateLimit": nil}})
	usual("rateLimit", map[string]int{"windowMs": 1000, "maxRequests": 10})
	usual("logLevel", "error")
	path := v.write("config.yaml", settings)
	address := free(v)
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- start(ctx, from{file: path}, address, false, v.environ, &v.log) }()
	v.end = sync.OnceValue(func() error {
		stop()
		return <-ended
	})
	v.Cleanup(func() {
		if err := v.end(); err != nil {
			v.Error(err, &v.log)
		}
	})
	v.base = "http://" + address
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		response, err := http.Get(v.base + "/readyz")
		var text []byte
		if err == nil {
			text, _ = io.ReadAll(response.Body)
			response.Body.Close()
			if response.StatusCode == http.StatusOK {
				break
			}
		}
		select {
		case err := <-ended:
			ended <- err
			v.Fatal(err)
		default:
		}
		if time.Now().After(deadline) {
			v.Fatalf("not ready: %v %s", err, text)
		}
	}
	client, err := httpapi.NewClient(v.base+"/api", httpapi.ClientOptions{})
	if err != nil {
		v.Fatal(err)
	}
	v.swaps = client
}

func (v *town) create(in swapper.CreateSwapInput) *swapper.CreateSwapOutput {
	v.Helper()
	s, err := v.swaps.CreateSwap(v.Context(), in)
	if err != nil {
		v.Fatal(err)
	}
	return s
}

// settle makes a swap and does all that it asks for.
func (v *town) settle(in swapper.CreateSwapInput) {
	v.Helper()
	if end := v.finish(v.create(in).SwapID, nil); !end.IsSuccess {
		v.Fatalf("%s to %s: ended as %s", in.SrcToken, in.DstToken, end.State.Name)
	}
}

// finish does all that a swap asks for until done, or until it is over.
func (v *town) finish(id string, done func(*swapper.GetSwapStatusOutput) bool) *swapper.GetSwapStatusOutput {
	v.Helper()
	if done == nil {
		done = func(s *swapper.GetSwapStatusOutput) bool { return s.IsFinished }
	}
	defer trial.Hasten(v, v.net)()
	s, err := v.net.User.FinishUntil(v.Context(), v.swaps, id, done)
	if err != nil {
		text, _ := json.Marshal(s)
		v.Fatalf("%v; last %s", err, text)
	}
	return s
}

// advance moves every clock, by a call.
func (v *town) advance(d time.Duration) {
	v.Helper()
	response, err := http.Post(fmt.Sprintf("%s/advance?seconds=%d", v.says.Control, int(d.Seconds())), "", nil)
	if err != nil {
		v.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		v.Fatal(response.Status)
	}
}

func (v *town) me() string { return v.net.User.Address("CITREA") }

func (v *town) fromLightning() swapper.CreateSwapInput {
	return swapper.CreateSwapInput{SrcToken: "LIGHTNING-BTC", DstToken: "CITREA-WBTC", Amount: big.NewInt(100_000), AmountType: swapper.ExactIn, DstAddress: v.me()}
}

func (v *town) fromBitcoin() swapper.CreateSwapInput {
	in := v.fromLightning()
	in.SrcToken = "BITCOIN-BTC"
	return in
}

// A network of one's own is configured by the keys of README.md alone.
func TestServesANetworkByItsKeys(t *testing.T) {
	t.Parallel()
	v := newTown(t)
	d := v.says
	contracts := map[string]any{"version": d.EVM.ContractVersion, "height": 1}
	for name, at := range d.EVM.Contracts {
		if name != "wrappedNative" {
			contracts[name] = at
		}
	}
	token := func(ticker string, decimals int) map[string]any {
		return map[string]any{"ticker": ticker, "name": "My " + ticker, "decimals": decimals, "displayDecimals": 4, "address": d.EVM.Tokens[ticker]}
	}
	if err := os.WriteFile(filepath.Join(v.dir, "ca.pem"), []byte(d.LNURL.CA), 0o600); err != nil {
		t.Fatal(err)
	}
	v.serve(map[string]any{
		"bitcoinNetwork": "REGTEST",
		"bitcoin":        map[string]any{"urls": []string{d.Bitcoin.REST}},
		"chains": map[string]any{"CITREA": map[string]any{
			"rpc": []string{d.EVM.RPC}, "chainId": d.EVM.ChainID, "contracts": []any{contracts}, "wrappedNative": d.EVM.Contracts["wrappedNative"],
			"tokens":    []any{token("CBTC", 18), token("WBTC", 8), token("USDC", 6)},
			"safeBlock": "latest", "finalizedBlock": "safe", "priorityFee": 100_000, "maxBaseFee": 2_000_000_000, "feePPM": 1_250_000, "stateDiffFee": false,
		}},
		"lps":         map[string]any{"urls": d.LPs, "allowHttp": true, "allowLocal": true},
		"prices":      map[string]any{"fixed": map[string]string{"CITREA-CBTC": "100000000"}, "services": d.Prices, "usdPerBitcoin": 100_000},
		"lnurl":       map[string]any{"allowLocal": true, "hosts": map[string]string{d.LNURL.Domain: d.LNURL.Host}, "caFile": "ca.pem"},
		"relays":      []string{d.Nostr},
		"policy":      map[string]any{"tolerancePPM": 20_000, "anyNode": true},
		"keepExpired": "36h",
		"clock":       d.Clock,
	})
	list, err := v.swaps.GetSupportedTokens(t.Context(), swapper.GetSupportedTokensInput{Side: swapper.SideInput})
	if err != nil || len(list) != 5 {
		t.Errorf("%d tokens, %v", len(list), err)
	}
	v.settle(v.fromLightning())
	v.settle(swapper.CreateSwapInput{SrcToken: "CITREA-USDC", DstToken: "LIGHTNING-BTC", Amount: big.NewInt(20_000), AmountType: swapper.ExactOut, SrcAddress: v.me(),
		DstAddress: d.LNURL.Address}) // a Lightning address
}

// By what examples/devnet printed the server does all that the network offers.
func TestServesALocalNetwork(t *testing.T) {
	t.Parallel()
	v := newTown(t)
	v.write("local.json", json.RawMessage(v.text))
	v.serve(map[string]any{"local": "local.json"})

	for _, to := range []string{v.says.LNURL.Pay, v.says.LNURL.Address} {
		v.settle(swapper.CreateSwapInput{SrcToken: "CITREA-WBTC", DstToken: "LIGHTNING-BTC", Amount: big.NewInt(20_000), AmountType: swapper.ExactOut, SrcAddress: v.me(), DstAddress: to})
	}
	in := v.fromLightning()
	in.SrcAddress = v.says.LNURL.Withdraw // pays for itself
	v.settle(in)
	v.settle(v.fromBitcoin())

	// Nobody claims for the user.
	v.net.Misbehave(swappertest.WatchtowerFault{Off: true, Deaf: true})
	for _, in := range []swapper.CreateSwapInput{v.fromLightning(), v.fromBitcoin()} {
		s := v.create(in)
		v.finish(s.SwapID, func(s *swapper.GetSwapStatusOutput) bool {
			a, ok := s.CurrentAction.(*swapper.Wait)
			return ok && a.Name == "Automatic settlement"
		})
		v.advance(2 * time.Minute)
		if end := v.finish(s.SwapID, nil); !end.IsSuccess {
			t.Errorf("%s: ended as %s", in.SrcToken, end.State.Name)
		}
	}

	v.net.Misbehave()

	// Every clock moves, the server's with them.
	s := v.create(v.fromLightning())
	v.advance(30 * 24 * time.Hour)
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		got, err := v.swaps.GetSwapStatus(t.Context(), swapper.GetSwapStatusInput{SwapID: s.SwapID})
		if err != nil {
			t.Fatal(err)
		}
		if got.IsExpired {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("a month later the quote stands: %+v", got.State)
		}
	}
	v.settle(v.fromLightning())
}

func TestLocalTakesThePlaceOfANetwork(t *testing.T) {
	v := &town{T: t, dir: t.TempDir()}
	v.write("local.json", map[string]any{})
	settings := map[string]any{"local": "local.json", "auth": []any{map[string]string{"type": "none", "name": "public"}}, "rateLimit": map[string]int{"windowMs": 1000, "maxRequests": 10}}
	if _, err := load(v.write("config.yaml", settings), nil); err == nil {
		t.Error("a file that describes no network")
	}
	if err := os.WriteFile(filepath.Join(v.dir, "local.json"), []byte(`{"evm": {`), 0o600); err != nil { // the network is still starting
		t.Fatal(err)
	}
	if _, err := load(v.write("config.yaml", settings), nil); err == nil || !strings.Contains(err.Error(), "wait until it has started") {
		t.Errorf("half a file: %v", err)
	}
	settings["bitcoinNetwork"] = "TESTNET4"
	if _, err := load(v.write("config.yaml", settings), nil); err == nil {
		t.Error("two networks at once")
	}
}
