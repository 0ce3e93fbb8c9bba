// Command quickstart swaps in four directions on a network of its own: Bitcoin to
// a smart chain and back, Lightning to the chain and back. It needs no internet
// and no keys. Everything is real but the money: blocks, contracts, payments, a
// liquidity provider, and a store on disk.
package main

import (
	"context"
	"fmt"
	"io"
	"math/big"
	"os"
	"os/signal"
	"path/filepath"
	"time"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/chains/bitcoin/mempoolspace"
	"github.com/swapper-go/swapper/internal/devnet"
	"github.com/swapper-go/swapper/internal/devnet/wallet"
	"github.com/swapper-go/swapper/nostr"
	"github.com/swapper-go/swapper/price"
	"github.com/swapper-go/swapper/storage/bolt"
	"github.com/swapper-go/swapper/watchtower"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "quickstart:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer) error {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Minute)
	defer cancel()

	fmt.Fprintln(out, "Starting Bitcoin, an EVM chain, Lightning, a liquidity provider and a watchtower ...")
	net, err := devnet.Start(ctx, devnet.Options{Watchtower: true})
	if err != nil {
		return err
	}
	defer net.Close()

	dir, err := os.MkdirTemp("", "quickstart")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	client, shut, err := open(ctx, net, filepath.Join(dir, "swaps.db"))
	if err != nil {
		return err
	}
	defer shut()
	running, end := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() { defer close(ended); client.Run(running) }()
	defer func() { end(); <-ended }()
	go mine(running, net)

	t := &tour{out: out, net: net, client: client, user: &wallet.Wallet{Swaps: client, EVM: net.EVM.User, Bitcoin: net.Wallet, Lightning: net.Payer}}
	return t.all(ctx)
}

// open opens the client, on a file, as a wallet backend does.
func open(ctx context.Context, net *devnet.Net, path string) (*swapper.Client, func(), error) {
	store, err := bolt.Open(ctx, path, bolt.Options{})
	if err != nil {
		return nil, nil, err
	}
	backend, err := mempoolspace.New(mempoolspace.Options{Network: bitcoin.Regtest, URLs: []string{net.Bitcoin.URL()}})
	if err != nil {
		return nil, nil, err
	}
	messenger, err := nostr.New(nostr.Options{Network: bitcoin.Regtest, Relays: []string{net.Nostr.URL()}})
	if err != nil {
		return nil, nil, err
	}
	client, err := swapper.Open(ctx, swapper.Config{
		Network: bitcoin.Regtest,
		Store:   store,
		Chains:  []chains.Factory{net.Chain()},
		LPs:     swapper.LPs{URLs: net.LPURLs(), AllowHTTP: true},
		Bitcoin: backend,
		Prices: price.Fixed{USD: 0.001, Prices: map[string]*big.Int{ // micro-sats per token
			"CITREA-CBTC": big.NewInt(1e14), "CITREA-WBTC": big.NewInt(1e14), "CITREA-USDC": big.NewInt(1e9)}},
		Messenger: watchtower.OverNostr(messenger),
		Now:       net.Clock.Now,
	})
	if err != nil {
		return nil, nil, err
	}
	return client, func() { client.Close(); messenger.Close(); store.Close() }, nil
}

// mine makes Bitcoin a little faster than it is.
func mine(ctx context.Context, net *devnet.Net) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(500 * time.Millisecond):
			if net.Mine(1) != nil {
				return
			}
		}
	}
}
