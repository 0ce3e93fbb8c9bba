package scale

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/pprof"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/chains/bitcoin/mempoolspace"
	"github.com/swapper-go/swapper/chains/evm"
	"github.com/swapper-go/swapper/httpapi"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/storage/bolt"
	"github.com/swapper-go/swapper/tokens"
)

// serviceEnv makes this test binary the service: a client on a store of its own, in
// the background and over HTTP, so that its processor time can be told from that of the
// callers and of the network. Its value is a [service] in JSON.
const serviceEnv = "SWAPPER_FIGURES_SERVICE"

// profilesEnv names a directory for a processor profile of the service from each load.
const profilesEnv = "SWAPPER_FIGURES_PROFILES"

// service is what such a process is told: where its store and the network are.
type service struct {
	Store, REST, RPC string
	LPs              []string
	Network          evm.Network
	Tokens           []tokens.Token
}

// serve is the process. It ends when its standard input does.
func serve(text string) error {
	var o service
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	store, err := bolt.Open(ctx, o.Store, bolt.Options{})
	if err != nil {
		return err
	}
	defer store.Close()
	backend, err := mempoolspace.New(mempoolspace.Options{Network: bitcoin.Regtest, URLs: []string{o.REST}})
	if err != nil {
		return err
	}
	client, err := swapper.Open(ctx, swapper.Config{
		Network: bitcoin.Regtest, Store: store, Bitcoin: backend,
		Chains: []chains.Factory{evm.Custom(evm.Options{RPC: []string{o.RPC}, Network: &o.Network, Tokens: o.Tokens})},
		LPs:    swapper.LPs{URLs: o.LPs, AllowHTTP: true},
		Prices: prices,
	})
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
	mux.HandleFunc("GET /processor", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, processor().Microseconds()) })
	mux.HandleFunc("GET /profile", func(_ http.ResponseWriter, r *http.Request) {
		pprof.StopCPUProfile()
		if name := r.FormValue("file"); name != "" {
			if f, err := os.Create(name); err == nil {
				_ = pprof.StartCPUProfile(f)
			}
		}
	})
	server := &http.Server{Handler: mux}
	defer server.Close()
	go server.Serve(listener)
	go client.Run(ctx)
	fmt.Println("http://" + listener.Addr().String())
	_, _ = io.Copy(io.Discard, os.Stdin)
	pprof.StopCPUProfile()
	return nil
}

// apart starts the service as a process of its own before the bed's network, and returns
// its base URL. The bed's user asks it from then on.
func (b *bed) apart() string {
	b.tb.Helper()
	text, err := json.Marshal(service{Store: filepath.Join(b.tb.TempDir(), "swaps.db"), REST: b.net.Bitcoin.URL(), RPC: b.net.EVM.URL(),
		LPs: b.net.LPURLs(), Network: b.net.EVM.Config(), Tokens: b.net.Tokens()})
	if err != nil {
		b.tb.Fatal(err)
	}
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), serviceEnv+"="+string(text))
	child.Stderr = os.Stderr
	in, err := child.StdinPipe()
	if err != nil {
		b.tb.Fatal(err)
	}
	out, err := child.StdoutPipe()
	if err != nil {
		b.tb.Fatal(err)
	}
	if err := child.Start(); err != nil {
		b.tb.Fatal(err)
	}
	b.tb.Cleanup(func() { in.Close(); _ = child.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		b.tb.Fatalf("the service did not start: %v", err)
	}
	base := strings.TrimSpace(line)
	if b.api, err = httpapi.NewClient(base, httpapi.ClientOptions{}); err != nil {
		b.tb.Fatal(err)
	}
	b.user.Swaps = b.api
	return base
}

// spentBy is the processor time of the service at a base URL.
func spentBy(tb testing.TB, base string) time.Duration {
	tb.Helper()
	resp := trial.Must(http.Get(base + "/processor"))(tb)
	defer resp.Body.Close()
	text := trial.Must(io.ReadAll(resp.Body))(tb)
	us := trial.Must(strconv.ParseInt(string(text), 10, 64))(tb)
	return time.Duration(us) * time.Microsecond
}
