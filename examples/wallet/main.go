// Command wallet serves a web page that makes swaps on a local network: Bitcoin,
// Lightning, Citrea, Solana, Starknet, a liquidity provider and a watchtower, all in
// this process and without internet.
//
//	go run ./examples/wallet        # then open http://127.0.0.1:8080
//
// The page is static and needs no build step: it calls the operations of httpapi and reads
// the stream of events. What verifies in the page is compiled when the program starts, with
// the go command. A button of the page has the local network's user sign, pay or wait
// for blocks; a browser wallet can send Citrea's transactions instead.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/httpapi"
	"github.com/swapper-go/swapper/httpapi/events"
	"github.com/swapper-go/swapper/swappertest"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	flags := flag.NewFlagSet("wallet", flag.ExitOnError) // of its own: the local network's packages have some of their tests
	listen := flags.String("listen", "127.0.0.1:8080", "address of the page; anybody who reaches it moves the local network's money")
	_ = flags.Parse(os.Args[1:]) // ends the process on errors
	if flags.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "wallet: %q is not a flag; see -help\n", flags.Arg(0))
		os.Exit(2)
	}
	if err := run(ctx, os.Stdout, *listen); err != nil {
		fmt.Fprintln(os.Stderr, "wallet:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer, listen string) (err error) {
	network, err := swappertest.New(ctx, swappertest.Options{EVM: swappertest.EVMOptions{ChainID: evmChainID}, Solana: swappertest.SolanaOptions{Version: "v1"}, Starknet: swappertest.StarknetOptions{On: true}})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, network.Close()) }()
	client, err := swapper.Open(ctx, network.Config())
	if err != nil {
		return err
	}
	ended := make(chan struct{})
	go func() { defer close(ended); _ = client.Run(ctx) }() // until it is closed
	defer func() { client.Close(); <-ended }()

	folder, err := os.MkdirTemp("", "wallet")
	if err != nil {
		return err
	}
	verifies := prepare(ctx, folder)
	defer func() { <-verifies.done; err = errors.Join(err, os.RemoveAll(folder)) }()
	streams := events.New(client, events.Options{Now: network.Now})
	pages, err := handler(network, client, streams, verifies)
	if err != nil {
		return err
	}
	server := &http.Server{Handler: pages, ReadHeaderTimeout: 10 * time.Second}
	server.RegisterOnShutdown(streams.Close)
	socket, err := net.Listen("tcp", listen)
	if err != nil {
		return err
	}
	go func() {
		<-ctx.Done()
		ending, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		if server.Shutdown(ending) != nil {
			_ = server.Close()
		}
	}()
	fmt.Fprintf(out, "The wallet is at http://%s\n", socket.Addr())
	if err := server.Serve(socket); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// handler serves the page, the operations with their events, the local network's user and
// nodes, and what verifies in the page.
func handler(network *swappertest.Network, client *swapper.Client, streams *events.Streams, verifies *verifier) (http.Handler, error) {
	wallet, err := ownChains(network)
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	httpapi.Mount(mux, "/api", client, httpapi.Options{Operations: []httpapi.Operation{streams.Operation()}})
	mux.Handle("/local/", http.StripPrefix("/local", (&user{network, client}).handler()))
	mux.Handle("/nodes/", serveNodes(network))
	mux.Handle("GET /links", serveLinks(network))
	mux.Handle("/verify/", http.StripPrefix("/verify", verifies))
	about := newSite(network, client, wallet, verifies)
	mux.HandleFunc("GET /site", about.describe)
	mux.HandleFunc("GET /rates", about.rates)
	mux.HandleFunc("GET /qr", serveQR)
	mux.Handle("/", servePage())
	return mux, nil
}
