package swappertest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/chains/bitcoin/mempoolspace"
	"github.com/swapper-go/swapper/internal/devnet"
	"github.com/swapper-go/swapper/internal/devnet/control"
	"github.com/swapper-go/swapper/storage"
	"github.com/swapper-go/swapper/watchtower"
)

// Network is a running network. Its methods are safe for concurrent use.
type Network struct {
	// User has 0.4 BTC, 10 000 000 sats on Lightning, 10 000 native coins of each smart
	// chain and more of its tokens than can be spent.
	User *User

	net     *devnet.Net
	backend *mempoolspace.Client
	nostr   *watchtower.Nostr
	control string // base URL of the control calls, if they are served

	stop    context.CancelFunc
	running sync.WaitGroup
	closing sync.Once
	closers []io.Closer // what is not part of net, in the order of its start

	mu    sync.Mutex
	users int // made so far
	links int
}

// Start starts a network for a test and closes it at the test's end. The test fails
// if it cannot be started.
func Start(t testing.TB, o Options) *Network {
	t.Helper()
	n, err := New(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := n.Close(); err != nil {
			t.Error(err)
		}
	})
	return n
}

// New starts a network. ctx only bounds the start; the network runs until it is closed.
func New(ctx context.Context, o Options) (*Network, error) {
	options, err := o.network()
	if err != nil {
		return nil, fmt.Errorf("start the network: %w", err)
	}
	n := &Network{stop: func() {}}
	if n.net, err = devnet.Start(ctx, options); err != nil {
		return nil, err
	}
	if err := n.open(o); err != nil {
		return nil, errors.Join(fmt.Errorf("start the network: %w", err), n.Close())
	}
	return n, nil
}

// open starts what stands around the network.
func (n *Network) open(o Options) (err error) {
	n.User = &User{network: n, wallet: control.WalletOf(n.net)}
	// The newest state is asked for every time: a test that mines a block wants it noticed.
	backend := mempoolspace.Options{Network: bitcoin.Regtest, URLs: []string{n.net.Bitcoin.URL()}, TipAge: -1}
	if o.Hear {
		backend.WebSocket = []string{n.net.Bitcoin.Server().SocketURL()}
	}
	n.backend, err = mempoolspace.New(backend)
	if err != nil {
		return err
	}
	n.closers = append(n.closers, n.backend)
	if n.nostr, err = watchtower.NewNostr(watchtower.NostrOptions{Network: bitcoin.Regtest, Relays: []string{n.net.Nostr.URL()}}); err != nil {
		return err
	}
	n.closers = append(n.closers, n.nostr)
	if o.Listen.Control != "" {
		if err := n.serve(o.Listen.Control); err != nil {
			return err
		}
	}
	ctx, stop := context.WithCancel(context.Background())
	n.stop = stop
	if o.MineEvery > 0 {
		n.running.Go(func() { n.mine(ctx, o.MineEvery) })
	}
	return nil
}

// serve serves the control calls.
func (n *Network) serve(address string) error {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	server := &http.Server{Handler: control.Handler(n.net), ReadHeaderTimeout: 10 * time.Second}
	n.running.Go(func() { _ = server.Serve(listener) }) // until Close
	n.closers = append(n.closers, server)
	n.control = "http://" + listener.Addr().String()
	return nil
}

func (n *Network) mine(ctx context.Context, every time.Duration) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			_ = n.Mine(1) // the next tick tries again
		}
	}
}

// Close stops the network. Close its clients first. It may be called more than
// once.
func (n *Network) Close() (err error) {
	n.closing.Do(func() {
		n.stop()
		for i := len(n.closers) - 1; i >= 0; i-- {
			err = errors.Join(err, n.closers[i].Close())
		}
		n.running.Wait()
		err = errors.Join(err, n.net.Close())
	})
	return err
}

// Config returns the configuration of a client of this network, complete for
// [swapper.Open]. Its store is in memory and new with every call: put your own in its
// place, or keep the configuration to open another client on the same swaps, which
// then also leaves alone the providers that have lied.
// Everything else may be changed too.
func (n *Network) Config() swapper.Config {
	return swapper.Config{
		Network:   bitcoin.Regtest,
		Store:     new(storage.Memory),
		Chains:    n.net.Chains(),
		LPs:       swapper.LPs{URLs: n.net.LPURLs(), Trusted: n.net.LPURLs()[0], AllowHTTP: true, AllowLocal: true},
		Bitcoin:   n.backend,
		Prices:    n.net.Prices.Market(),
		LNURL:     swapper.LNURLOptions{AllowLocal: true, Transport: n.net.LNURL.Transport()},
		Messenger: n.nostr,
		Now:       n.Now,
	}
}

// URL returns where a chain's API is, for code that reads the chain itself: mempool.space's REST
// API for BITCOIN (with a slash at the end), JSON-RPC for the smart chains. It returns "" for a chain
// that the network does not have.
func (n *Network) URL(chainID string) string {
	switch {
	case chainID == chainBitcoin:
		return n.net.Bitcoin.URL()
	case chainID == n.evm():
		return n.net.EVM.URL()
	case n.isSolana(chainID):
		return n.net.Solana.URL()
	case n.isStarknet(chainID):
		return n.net.Starknet.URL()
	}
	return ""
}

// Describe writes, as indented JSON, what another process needs to know: where
// everything is, the contracts and tokens, and the private keys of the users, which
// are worth nothing.
func (n *Network) Describe(w io.Writer) error {
	d := n.net.Describe()
	if n.control != "" {
		d.Control, d.Clock = n.control, n.control+"/clock"
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(d)
}
