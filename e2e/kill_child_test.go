//go:build unix

package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"testing"
	"time"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/chains/bitcoin/mempoolspace"
	"github.com/swapper-go/swapper/chains/evm"
	"github.com/swapper-go/swapper/chains/solana"
	"github.com/swapper-go/swapper/chains/starknet"
	"github.com/swapper-go/swapper/httpapi"
	"github.com/swapper-go/swapper/internal/lp/lphttp"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/storage/bolt"
	"github.com/swapper-go/swapper/tokens"
	"github.com/swapper-go/swapper/watchtower"
)

// mortalEnv makes this test binary a process that can be lost: a client on a
// store, served over HTTP. Its value is a [mortal] in JSON.
const mortalEnv = "SWAPPER_TEST_MORTAL"

// What such a process says, one thing a line.
const (
	sayPoint = "point "
	sayReady = "ready " // and the URL of its service
)

func TestMain(m *testing.M) {
	text := os.Getenv(mortalEnv)
	if text == "" {
		trial.SideBySide()
		trial.Roomy()
		code := m.Run()
		_ = os.RemoveAll(folder)
		os.Exit(code)
	}
	if err := live(text); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// mortal is what such a process is told: where its store and the network are, by
// how much its clock is ahead of the system's, and at which point to die.
type mortal struct {
	Store, REST, RPC, Relay string
	LPs                     []string
	Network                 evm.Network
	Solana                  *solana.Network // the chain is Solana, with the version of the program
	Version                 string
	Starknet                *starknet.Network // the chain is Starknet
	Tokens                  []tokens.Token
	Ahead                   time.Duration
	DieAt                   string
	DieAfter                int
}

// live is the process. It ends when its standard input does, as it does when its
// parent is gone.
func live(text string) error {
	var o mortal
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		cancel()
	}()
	store, err := bolt.Open(ctx, o.Store, bolt.Options{})
	if err != nil {
		return err
	}
	defer store.Close()
	client, err := o.client(ctx, store)
	if err != nil {
		return err
	}
	defer client.Close()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	httpapi.Mount(mux, "", client, httpapi.Options{})
	mux.Handle("POST "+gasPath, beside(client.CreateGasSwap))
	mux.Handle("POST "+gasListPath, beside(client.ListGasSwaps))
	server := &http.Server{Handler: mux}
	defer server.Close()
	go server.Serve(listener)
	fmt.Println(sayReady + "http://" + listener.Addr().String())
	if err := client.Run(ctx); !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}

// What no operation of the interface does, and where the process does it.
const (
	gasPath     = "/gas/create"
	gasListPath = "/gas/list"
)

// beside serves a method of the client that is no operation of the interface.
func beside[I, O any](call func(context.Context, I) (O, error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in I
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		out, err := call(r.Context(), in)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		_ = json.NewEncoder(w).Encode(out) // the other side notices what is missing
	})
}

func (o mortal) client(ctx context.Context, store *bolt.Store) (*swapper.Client, error) {
	p := &points{dieAt: o.DieAt, dieAfter: o.DieAfter, count: map[string]int{}}
	backend, err := mempoolspace.New(mempoolspace.Options{Network: bitcoin.Regtest, URLs: []string{o.REST}, TipAge: -1})
	if err != nil {
		return nil, err
	}
	m, err := watchtower.NewNostr(watchtower.NostrOptions{Relays: []string{o.Relay}, Network: bitcoin.Regtest})
	if err != nil {
		return nil, err
	}
	chain := evm.Custom(evm.Options{RPC: []string{o.RPC}, Network: &o.Network, Tokens: o.Tokens})
	if o.Solana != nil {
		chain = solana.Custom(solana.Options{RPC: []string{o.RPC}, Version: o.Version, Network: o.Solana, Tokens: o.Tokens})
	}
	if o.Starknet != nil {
		chain = starknet.Custom(starknet.Options{RPC: []string{o.RPC}, Network: o.Starknet, Tokens: o.Tokens})
	}
	return swapper.Open(ctx, swapper.Config{
		Network: bitcoin.Regtest, Store: mortalStore{store, p}, Bitcoin: mortalBitcoin{backend, p},
		Now:       func() time.Time { return time.Now().Add(o.Ahead) },
		Chains:    []chains.Factory{mortalFactory{chain, p}},
		LPs:       swapper.LPs{URLs: o.LPs, AllowHTTP: true, Transport: mortalTransport{lphttp.NewTransport(lphttp.TransportOptions{AllowLocal: true}), p}},
		Prices:    prices,
		LNURL:     swapper.LNURLOptions{AllowLocal: true, Transport: mortalTransport{&http.Transport{DisableKeepAlives: true}, p}},
		Messenger: mortalMessenger{m, p},
		Logger:    slog.New(slog.NewTextHandler(os.Stderr, nil)),
	})
}
