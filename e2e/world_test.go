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
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/chains/bitcoin/mempoolspace"
	"github.com/swapper-go/swapper/internal/devnet"
	"github.com/swapper-go/swapper/internal/devnet/control"
	"github.com/swapper-go/swapper/internal/devnet/watchtower"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/price"
	"github.com/swapper-go/swapper/storage/bolt"
	pub "github.com/swapper-go/swapper/watchtower"
)

// Prices of the local network: the native coin and WBTC are worth a bitcoin, a
// dollar a hundred-thousandth of one.
var prices = price.Fixed{Prices: map[string]*big.Int{"CITREA-CBTC": big.NewInt(1e14), "CITREA-WBTC": big.NewInt(1e14), "CITREA-USDC": big.NewInt(1e9),
	"SOLANA-SOL": big.NewInt(16e10), "SOLANA-WBTC": big.NewInt(1e14), "SOLANA-USDC": big.NewInt(1e9),
	"STARKNET-STRK": big.NewInt(13e7), "STARKNET-WBTC": big.NewInt(1e14), "STARKNET-USDC": big.NewInt(1e9)}, USD: 0.001}

// world is a local network, a client on a store on disk, and a user with money
// on every side.
type world struct {
	t     testing.TB
	net   *devnet.Net
	relay *watchtower.Relay
	tower *watchtower.Tower

	version devnet.Version // of the LPs
	ground                 // the smart chain that the swaps are on

	path   string
	store  *bolt.Store
	client *swapper.Client
	user   *control.Wallet
	config func(*swapper.Config)
	stop   func()
	mining chan struct{}
}

// options are what a test wants otherwise.
type options struct {
	net  devnet.Options
	lps  func(testing.TB) devnet.Version // of the LPs; nil: devnet.VersionOf
	slow bool                            // no Bitcoin blocks but those that the test mines
	on   string                          // the chain that the swaps are on, see the function on

	config func(*swapper.Config) // changes it before the client is opened; nil: nothing
}

// start brings everything up. It ends with the test.
func start(t testing.TB, o options) *world {
	t.Helper()
	w := &world{t: t, path: filepath.Join(t.TempDir(), "swaps.db"), mining: make(chan struct{}), config: o.config}
	if o.lps == nil {
		o.lps = devnet.VersionOf
	}
	o.net.Version = o.lps(t)
	on(o.on, &o.net)
	w.version = o.net.Version
	w.net = trial.Must(devnet.Start(t.Context(), o.net))(t)
	t.Cleanup(func() { w.net.Close() })
	w.relay = trial.Must(watchtower.StartRelay(""))(t)
	t.Cleanup(func() { w.relay.Close() })
	w.tower = trial.Must(w.net.Watch(t.Context(), watchtower.Options{Relays: []string{w.relay.URL()}, Every: 20 * time.Millisecond}))(t)
	w.ground = groundOf(o.on, w)
	t.Cleanup(func() { w.tower.Close() })
	w.user = &control.Wallet{EVM: w.net.EVM.User, Bitcoin: w.net.Wallet, Lightning: w.net.Payer, Poll: 20 * time.Millisecond}
	if w.net.Solana != nil {
		w.user.Solana = w.net.Solana.User
	}
	if w.net.Starknet != nil {
		key := w.net.Starknet.User.Key
		w.user.Starknet = &key
	}
	w.open()
	t.Cleanup(w.close)
	if !o.slow {
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			for {
				select {
				case <-w.mining:
					return
				case <-time.After(200 * time.Millisecond):
					w.net.Clock.Add(time.Second) // what was seen a second ago is looked at again
					w.net.Mine(1)
				}
			}
		}()
		t.Cleanup(func() { close(w.mining); <-ended })
	}
	return w
}

// in is the world in a subtest.
func (w *world) in(t *testing.T) *world {
	sub := *w
	sub.t = t
	sub.ground = w.ground.in(&sub)
	return &sub
}

// only is one version of LPs, whichever a test would have.
func only(v devnet.Version) func(testing.TB) devnet.Version {
	return func(testing.TB) devnet.Version { return v }
}

const older = devnet.Older

// bothVersions runs a test with LPs of each version, side by side.
func bothVersions(t *testing.T, run func(t *testing.T, o options)) {
	t.Parallel()
	for _, v := range devnet.Versions {
		t.Run(v.String(), func(t *testing.T) {
			t.Parallel()
			run(t, options{lps: only(v)})
		})
	}
}

// open opens the client, as a process that starts.
func (w *world) open() {
	w.t.Helper()
	var err error
	if w.store, err = bolt.Open(w.t.Context(), w.path, bolt.Options{}); err != nil {
		w.t.Fatal(err)
	}
	b, err := mempoolspace.New(mempoolspace.Options{Network: bitcoin.Regtest, URLs: []string{w.net.Bitcoin.URL()}, TipAge: -1})
	if err != nil {
		w.t.Fatal(err)
	}
	m, err := pub.NewNostr(pub.NostrOptions{Relays: []string{w.relay.URL()}, Network: bitcoin.Regtest})
	if err != nil {
		w.t.Fatal(err)
	}
	log := io.Discard
	if testing.Verbose() {
		log = os.Stderr
	}
	config := swapper.Config{
		Network: bitcoin.Regtest, Store: w.store, Bitcoin: b, Now: w.net.Clock.Now,
		Chains:    w.chains(),
		LPs:       swapper.LPs{URLs: w.net.LPURLs(), AllowHTTP: true},
		Prices:    prices,
		LNURL:     swapper.LNURLOptions{AllowLocal: true},
		Messenger: m,
		Logger:    slog.New(slog.NewTextHandler(log, nil)),
	}
	if w.config != nil {
		w.config(&config)
	}
	if w.client, err = swapper.Open(w.t.Context(), config); err != nil {
		w.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { defer close(ended); w.client.Run(ctx) }()
	w.stop = func() { cancel(); <-ended; m.Close() }
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
	return w.until(id, nil)
}

// until lets the user do everything until done.
func (w *world) until(id string, done func(*swapper.GetSwapStatusOutput) bool) *swapper.GetSwapStatusOutput {
	w.t.Helper()
	s, err := w.user.Finish(w.within(60*time.Second), id, done)
	if err != nil {
		w.t.Fatalf("%v; last %+v", err, s)
	}
	return s
}
