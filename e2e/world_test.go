package e2e

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"math/big"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/chains/bitcoin/mempoolspace"
	"github.com/swapper-go/swapper/chains/evm"
	devbitcoin "github.com/swapper-go/swapper/internal/devnet/bitcoin"
	devevm "github.com/swapper-go/swapper/internal/devnet/evm"
	"github.com/swapper-go/swapper/internal/devnet/lightning"
	"github.com/swapper-go/swapper/internal/devnet/lp"
	"github.com/swapper-go/swapper/internal/devnet/wallet"
	"github.com/swapper-go/swapper/storage/bolt"
	"github.com/swapper-go/swapper/swap/price"
	"github.com/swapper-go/swapper/tokens"
)

// world is a local network with one LP, a client on a store on disk, and a user
// with money on every side.
type world struct {
	t      *testing.T
	clock  *clock
	evm    *devevm.Net
	ln     *lightning.Net
	lp     *lp.LP
	path   string
	store  *bolt.Store
	client *swapper.Client
	user   *wallet.Wallet
	stop   func()
}

// start brings everything up. It ends with the test.
func start(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, clock: &clock{}, path: filepath.Join(t.TempDir(), "swaps.db")}
	var err error
	if w.evm, err = devevm.Start(devevm.Options{Now: w.clock.now}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.evm.Close() })
	b := w.evm.Bitcoin()
	w.ln = lightning.New(lightning.Options{Now: w.clock.now, Height: func() uint32 { h, _ := b.Tip(); return h }})
	node := func(name string) *lightning.Node {
		n, err := w.ln.NewNode(name, 100_000_000)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	if w.lp, err = lp.Start(t.Context(), lp.Options{EVM: w.evm, Lightning: node("lp"), Now: w.clock.now}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.lp.Close() })
	w.user = &wallet.Wallet{EVM: w.evm.User, Lightning: node("user"), Poll: 20 * time.Millisecond}
	if w.user.Bitcoin, err = b.NewWallet(bitcoin.P2WPKH); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Faucet(w.user.Bitcoin.Address, 100_000_000); err != nil {
		t.Fatal(err)
	}
	w.open()
	t.Cleanup(w.close)
	return w
}

// open opens the client, as a process that starts.
func (w *world) open() {
	w.t.Helper()
	var err error
	if w.store, err = bolt.Open(w.t.Context(), w.path, bolt.Options{}); err != nil {
		w.t.Fatal(err)
	}
	b, err := mempoolspace.New(mempoolspace.Options{Network: bitcoin.Regtest, URLs: []string{w.evm.Bitcoin().URL()}})
	if err != nil {
		w.t.Fatal(err)
	}
	c := w.evm.Contracts()
	n := w.evm.Network()
	native := tokens.Token{Chain: n.Chain, Ticker: "CBTC", Name: "Coin", Decimals: 18, DisplayDecimals: 8, Address: evm.Native.Hex()}
	list := []tokens.Token{native,
		{Chain: n.Chain, Ticker: "WBTC", Name: "Wrapped bitcoin", Decimals: 8, DisplayDecimals: 8, Address: c.Token.Hex()},
		{Chain: n.Chain, Ticker: "USDC", Name: "Dollar", Decimals: 6, DisplayDecimals: 2, Address: c.Dollar.Hex()}}
	log := io.Discard
	if testing.Verbose() {
		log = os.Stderr
	}
	w.client, err = swapper.Open(w.t.Context(), swapper.Config{
		Network: bitcoin.Regtest, Store: w.store, Bitcoin: b, Now: w.clock.now,
		Chains: []chains.Factory{evm.Custom(evm.Options{RPC: []string{w.evm.URL()}, Network: &n, Tokens: list})},
		LPs:    swapper.LPs{URLs: []string{w.lp.URL()}, AllowHTTP: true},
		Prices: price.Fixed{Prices: map[string]*big.Int{"CITREA-CBTC": big.NewInt(1e14), "CITREA-WBTC": big.NewInt(1e14), "CITREA-USDC": big.NewInt(1e9)}, USD: 0.001},
		Logger: slog.New(slog.NewTextHandler(log, nil)),
	})
	if err != nil {
		w.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { defer close(ended); w.client.Run(ctx) }()
	w.stop = func() { cancel(); <-ended }
	w.user.Swaps = w.client
	w.user.Progress = func(s *swapper.GetSwapStatusOutput) {
		w.t.Logf("%s %d %s", s.SwapType, s.State.Number, s.State.Name)
	}
}

// close ends the client, as a process that stops.
func (w *world) close() {
	if w.stop == nil {
		return
	}
	w.stop()
	w.stop = nil
	w.client.Close()
	w.store.Close()
}

func (w *world) bitcoin() *devbitcoin.Net { return w.evm.Bitcoin() }

func (w *world) within(d time.Duration) context.Context {
	ctx, cancel := context.WithTimeoutCause(w.t.Context(), d, fmt.Errorf("%s are over", d))
	w.t.Cleanup(cancel)
	return ctx
}

func (w *world) create(in swapper.CreateSwapInput) *swapper.CreateSwapOutput {
	w.t.Helper()
	s, err := w.client.CreateSwap(w.within(30*time.Second), in)
	if err != nil {
		w.t.Fatalf("createSwap: %v", err)
	}
	return s
}

// finish lets the user do everything until the swap is over.
func (w *world) finish(id string) *swapper.GetSwapStatusOutput {
	w.t.Helper()
	s, err := w.user.Finish(w.within(60*time.Second), id, nil)
	if err != nil {
		w.t.Fatalf("%v; last %+v", err, s)
	}
	return s
}
