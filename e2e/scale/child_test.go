//go:build unix

package scale

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"runtime"
	"runtime/metrics"
	"strconv"
	"strings"
	"sync"
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
	"github.com/swapper-go/swapper/storage"
	"github.com/swapper-go/swapper/storage/bolt"
	"github.com/swapper-go/swapper/storage/postgres"
	"github.com/swapper-go/swapper/tokens"
	"github.com/swapper-go/swapper/watchtower"
)

// childEnv makes this test binary a process of the service. Its value is a [child] in JSON.
const childEnv = "SWAPPER_TEST_SCALE_CHILD"

// What such a process says, one thing a line.
const (
	sayReady = "ready " // and the URL of its service
	sayLook  = "look "  // and the id of a swap whose pass has begun
	sayMuch  = "much "  // and its memory, a [memory] in JSON
)

// gasPath is where a process makes gas swaps, for which the interface has no operation.
const gasPath = "/gas/create"

// byHeader names the process that makes a request, for who counts requests.
const byHeader = "X-Test-Process"

// child is what such a process is told: which one it is, its database, and the network.
type child struct {
	Name          string
	Bolt          string // file; "": PostgreSQL
	DSN, Schema   string
	REST, Relay   string
	LPs           []string
	Tellers       struct{ Bitcoin, EVM []string } // WebSocket URLs
	EVM           node[evmNetwork]
	Solana        *node[solana.Network]
	Starknet      *node[starknet.Network]
	SolanaVersion string
	Quiet         bool // it says nothing of what it does
}

type evmNetwork = evm.Network

// node is a chain as a process is told of it.
type node[T any] struct {
	RPC     string
	Network T
	Tokens  []tokens.Token
}

// live is the process. It ends when its standard input does, as it does when its
// parent is gone.
func live(text string) error {
	var o child
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		cancel()
	}()
	said := newSayer()
	defer said.close()
	store, closeStore, err := o.store(ctx, said)
	if err != nil {
		return err
	}
	defer closeStore()
	client, closeAll, err := o.client(ctx, store)
	if err != nil {
		return err
	}
	defer closeAll()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	httpapi.Mount(mux, "", client, httpapi.Options{})
	mux.HandleFunc("POST "+gasPath, func(w http.ResponseWriter, r *http.Request) {
		var in swapper.CreateGasSwapInput
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		out, err := client.CreateGasSwap(r.Context(), in)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		_ = json.NewEncoder(w).Encode(out) // the caller notices what is missing
	})
	server := &http.Server{Handler: mux}
	defer server.Close()
	go server.Serve(listener)
	go func() {
		for tick := time.NewTicker(5 * time.Second); ; <-tick.C {
			if text, err := json.Marshal(memoryNow()); err == nil {
				said.say(sayMuch + string(text))
			}
		}
	}()
	said.say(sayReady + "http://" + listener.Addr().String())
	if err := client.Run(ctx); !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}

func (o child) client(ctx context.Context, store storage.Store) (*swapper.Client, func(), error) {
	backend, err := mempoolspace.New(mempoolspace.Options{Network: bitcoin.Regtest, URLs: []string{o.REST}, WebSocket: o.Tellers.Bitcoin, Concurrency: 64})
	if err != nil {
		return nil, nil, err
	}
	m, err := watchtower.NewNostr(watchtower.NostrOptions{Relays: []string{o.Relay}, Network: bitcoin.Regtest})
	if err != nil {
		return nil, nil, err
	}
	all := []chains.Factory{evm.Custom(evm.Options{RPC: []string{o.EVM.RPC}, WebSocket: o.Tellers.EVM, Network: &o.EVM.Network, Tokens: o.EVM.Tokens})}
	if n := o.Solana; n != nil {
		all = append(all, solana.Custom(solana.Options{RPC: []string{n.RPC}, Version: o.SolanaVersion, Network: &n.Network, Tokens: n.Tokens}))
	}
	if n := o.Starknet; n != nil {
		all = append(all, starknet.Custom(starknet.Options{RPC: []string{n.RPC}, Network: &n.Network, Tokens: n.Tokens}))
	}
	log := io.Writer(os.Stderr)
	if o.Quiet {
		log = io.Discard
	}
	client, err := swapper.Open(ctx, swapper.Config{
		Network: bitcoin.Regtest, Store: store, Bitcoin: backend, Chains: all,
		LPs:       swapper.LPs{URLs: o.LPs, AllowHTTP: true, Transport: signing{lphttp.NewTransport(lphttp.TransportOptions{AllowLocal: true}), o.Name}},
		Prices:    prices,
		LNURL:     swapper.LNURLOptions{AllowLocal: true, Transport: signing{&http.Transport{DisableKeepAlives: true}, o.Name}},
		Messenger: m,
		Logger:    slog.New(slog.NewTextHandler(log, nil)),
	})
	if err != nil {
		return nil, nil, errors.Join(err, m.Close())
	}
	return client, func() { client.Close(); _ = m.Close() }, nil
}

// signing adds to each request who makes it.
type signing struct {
	http.RoundTripper
	name string
}

func (s signing) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set(byHeader, s.name)
	return s.RoundTripper.RoundTrip(r)
}

// sayer writes lines to the standard output, many at once.
type sayer struct {
	mu    sync.Mutex
	out   *bufio.Writer
	ended chan struct{}
}

func newSayer() *sayer {
	s := &sayer{out: bufio.NewWriterSize(os.Stdout, 1<<16), ended: make(chan struct{})}
	go func() {
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-s.ended:
				return
			case <-tick.C:
				s.flush()
			}
		}
	}()
	return s
}

func (s *sayer) say(line string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	fmt.Fprintln(s.out, line)
}

func (s *sayer) flush() {
	s.mu.Lock()
	defer s.mu.Unlock()
	_ = s.out.Flush() // the parent notices what is missing
}

func (s *sayer) close() { close(s.ended); s.flush() }

// store opens the store, which says what is read of it. Beside PostgreSQL's are methods
// that a file has not, so each has its own type.
func (o child) store(ctx context.Context, said *sayer) (storage.Store, func() error, error) {
	if o.Bolt != "" {
		s, err := bolt.Open(ctx, o.Bolt, bolt.Options{})
		if err != nil {
			return nil, nil, err
		}
		return tellingFile{s, said}, s.Close, nil
	}
	s, err := postgres.Open(ctx, o.DSN, postgres.Options{Schema: o.Schema, Timeout: 5 * time.Second})
	if err != nil {
		return nil, nil, err
	}
	return tellingStore{s, said}, s.Close, nil
}

// tellingFile is a tellingStore in one file.
type tellingFile struct {
	*bolt.Store
	said *sayer
}

func (s tellingFile) Get(ctx context.Context, id string) (storage.Entry, error) {
	e, err := s.Store.Get(ctx, id)
	if err == nil {
		s.said.say(sayLook + id)
	}
	return e, err
}

// tellingStore says which swaps are read: each pass begins with that.
type tellingStore struct {
	*postgres.Store
	said *sayer
}

func (s tellingStore) Get(ctx context.Context, id string) (storage.Entry, error) {
	e, err := s.Store.Get(ctx, id)
	if err == nil {
		s.said.say(sayLook + id)
	}
	return e, err
}

// memoryNow is what this process has in memory.
func memoryNow() memory {
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(live)
	m := memory{At: time.Now(), Live: live[0].Value.Uint64(), Heap: live[1].Value.Uint64(), Goroutines: runtime.NumGoroutine()}
	if text, err := os.ReadFile("/proc/self/statm"); err == nil { // Linux has it
		if f := strings.Fields(string(text)); len(f) > 1 {
			pages, _ := strconv.ParseUint(f[1], 10, 64)
			m.Resident = pages * uint64(os.Getpagesize())
		}
	}
	return m
}
