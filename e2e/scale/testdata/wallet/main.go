// Command wallet is a wallet with package verify, the client of httpapi, and the chains that build tags
// choose (evm, solana, starknet). Its operations are called over HTTP by who measures its memory.
package main

import (
	"encoding/json"
	"fmt"
	"log"
	"math/big"
	"net"
	"net/http"
	"os"
	"runtime"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/chains/bitcoin/mempoolspace"
	"github.com/swapper-go/swapper/httpapi"
	"github.com/swapper-go/swapper/price"
	"github.com/swapper-go/swapper/storage"
	"github.com/swapper-go/swapper/verify"
)

// network is what a local network says of itself.
type network map[string]json.RawMessage

func (n network) read(part string, into any) {
	if err := json.Unmarshal(n[part], into); err != nil {
		log.Fatal(err)
	}
}

// family is the chain that is compiled in.
var family func(network) chains.Factory

func main() {
	var o struct {
		Service string
		Network network
		Ahead   time.Duration // of the network's clock
		Prices  map[string]*big.Int
	}
	if err := json.NewDecoder(os.Stdin).Decode(&o); err != nil {
		log.Fatal(err)
	}
	remote, err := httpapi.NewClient(o.Service, httpapi.ClientOptions{})
	if err != nil {
		log.Fatal(err)
	}
	var of struct{ REST string }
	o.Network.read("bitcoin", &of)
	backend, err := mempoolspace.New(mempoolspace.Options{Network: bitcoin.Regtest, URLs: []string{of.REST}})
	if err != nil {
		log.Fatal(err)
	}
	w, err := verify.Wrap(remote, verify.Config{Network: bitcoin.Regtest, Chains: []chains.Factory{family(o.Network)}, Store: new(storage.Memory), Bitcoin: backend,
		Prices: price.Fixed{Prices: o.Prices}, Now: func() time.Time { return time.Now().Add(o.Ahead) }})
	if err != nil {
		log.Fatal(err)
	}
	operations := httpapi.New(w, httpapi.Options{})
	http.HandleFunc("/memory", func(rw http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Has("live") {
			runtime.GC()
		}
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		fmt.Fprint(rw, m.HeapAlloc)
	})
	http.Handle("/", operations)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("http://" + l.Addr().String())
	log.Fatal(http.Serve(l, nil))
}
