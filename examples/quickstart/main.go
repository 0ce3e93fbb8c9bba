// Command quickstart swaps in twelve directions on a network of its own: from Bitcoin and
// from Lightning to Citrea (an EVM chain), Solana and Starknet, and back. It needs no
// internet and no keys. Blocks, contracts, payments, a liquidity provider and a store on
// disk work as they do on public networks; only the money has no value.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"time"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/storage/bolt"
	"github.com/swapper-go/swapper/swappertest"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	flags := flag.NewFlagSet("quickstart", flag.ExitOnError) // without flags: the local network's packages have some of their tests
	_ = flags.Parse(os.Args[1:])                             // ends the process on errors
	if flags.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "quickstart: it takes no arguments, and %q is one\n", flags.Arg(0))
		os.Exit(2)
	}
	if err := run(ctx, os.Stdout, (*tour).directions); err != nil {
		fmt.Fprintln(os.Stderr, "quickstart:", err)
		os.Exit(1)
	}
}

// run makes the swaps that choose names, and writes what becomes of them.
func run(ctx context.Context, out io.Writer, choose func(*tour) ([]direction, error)) (err error) {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Minute)
	defer cancel()

	fmt.Fprintln(out, "Starting Bitcoin, Lightning, Citrea, Solana, Starknet, a liquidity provider and a watchtower ...")
	network, err := swappertest.New(ctx, swappertest.Options{MineEvery: 500 * time.Millisecond, Hear: true, Solana: swappertest.SolanaOptions{Version: "v1"}, Starknet: swappertest.StarknetOptions{On: true}})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, network.Close()) }()

	dir, err := os.MkdirTemp("", "quickstart")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	store, err := bolt.Open(ctx, filepath.Join(dir, "swaps.db"), bolt.Options{})
	if err != nil {
		return err
	}
	defer store.Close()

	config := network.Config() // on a public network: its name, the chains, and this store
	config.Store = store
	client, err := swapper.Open(ctx, config)
	if err != nil {
		return err
	}
	ended := make(chan struct{})
	go func() { defer close(ended); _ = client.Run(ctx) }() // until it is closed
	defer func() { client.Close(); <-ended }()

	t := &tour{out: out, network: network, client: client}
	directions, err := choose(t)
	if err != nil {
		return err
	}
	return t.all(ctx, directions)
}
