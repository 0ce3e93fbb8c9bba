package scale

import (
	"context"
	"crypto/rand"
	"math/big"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"sync"
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
	"github.com/swapper-go/swapper/internal/devnet"
	"github.com/swapper-go/swapper/internal/devnet/control"
	"github.com/swapper-go/swapper/internal/devnet/lightning"
	"github.com/swapper-go/swapper/internal/devnet/lp"
	starkwire "github.com/swapper-go/swapper/internal/starknet/wire"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/storage/bolt"
)

// bed is what is measured: a client with the settings of a real one, and the
// mount, before a local network that may be slow.
type bed struct {
	tb      testing.TB
	net     *devnet.Net
	far     *distance
	version string // of the program on Solana, or onStarknet, if one of these is measured
	hears   bool   // of blocks and logs
	follows func() // ends the following of swaps; nil: nothing is followed
	user    *control.Wallet
	urls    struct {
		bitcoin, evm, other string
		lps                 []string
	}

	store  *bolt.Store
	client *swapper.Client
	server *httptest.Server
	api    swapper.Service // the client over HTTP
}

// onStarknet has Starknet measured.
const onStarknet = "Starknet"

// solana is the version of the program on Solana, "" if that is not measured.
func (b *bed) solana() string {
	if b.version == onStarknet {
		return ""
	}
	return b.version
}

// start starts a network and a client on an empty store.
func start(tb testing.TB) *bed { return startOn(tb, "") }

// startNear starts a network without a client, and nothing before its parts.
func startNear(tb testing.TB) *bed {
	tb.Helper()
	b := &bed{tb: tb}
	b.startNet()
	return b
}

// startNet starts the network and its user.
func (b *bed) startNet() {
	b.tb.Helper()
	var err error
	if b.net, err = devnet.Start(b.tb.Context(), devnet.Options{Solana: b.solana(), Starknet: b.version == onStarknet, LP: func(_ int, o *lp.Options) { o.Limits.Inflight = 1_000_000 }}); err != nil {
		b.tb.Fatal(err)
	}
	b.tb.Cleanup(func() { b.net.Close() })
	b.user = &control.Wallet{EVM: b.net.EVM.User, Bitcoin: b.net.Wallet, Lightning: b.net.Payer, Poll: 20 * time.Millisecond}
	switch b.version {
	case "":
	case onStarknet:
		b.user.Starknet = &b.net.Starknet.User.Key
	default:
		b.user.Solana = b.net.Solana.User
	}
}

// startOn is start with the EVM chain, or with Solana and a version of its program or
// Starknet in its place.
func startOn(tb testing.TB, version string) *bed {
	tb.Helper()
	b := &bed{tb: tb, far: new(distance), version: version}
	b.startNet()
	b.reach(func(url string) string { return b.far.before(tb, url) })
	b.keep()
	return b
}

// startFollowing is startOn with a client that follows its swaps, and that hears of blocks and
// logs or not. A block comes this often; 0: with each transaction.
func startFollowing(tb testing.TB, version string, hears bool, blocks time.Duration) *bed {
	tb.Helper()
	b := &bed{tb: tb, far: new(distance), version: version, hears: hears}
	b.startNet()
	b.reach(func(url string) string { return b.far.before(tb, url) })
	if blocks > 0 {
		tb.Cleanup(b.pace(blocks))
	}
	b.keep()
	b.follow()
	return b
}

// pace has a block of the measured chain come this often.
func (b *bed) pace(every time.Duration) (stop func()) {
	switch b.version {
	case "":
		return b.net.EVM.Pace(every)
	case onStarknet:
		return b.net.Starknet.Pace(every)
	}
	return b.net.Solana.Pace(every)
}

// follow has the client follow its swaps until it is closed.
func (b *bed) follow() {
	ctx, cancel := context.WithCancel(b.tb.Context())
	var running sync.WaitGroup
	running.Go(func() { _ = b.client.Run(ctx) })
	b.follows = func() { cancel(); running.Wait() }
}

// listens waits until all nodes are heard.
func (b *bed) listens() {
	b.tb.Helper()
	for b.tb.Context().Err() == nil {
		stats, err := b.client.Stats(b.tb.Context())
		if err != nil {
			b.tb.Fatal(err)
		}
		subscribed, alive := 0, true
		for _, part := range stats.Parts {
			for _, s := range part.Subscriptions {
				subscribed, alive = subscribed+1, alive && s.Alive
			}
		}
		if alive && subscribed == 2 { // Bitcoin's and the chain's
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// reach says where the parts of the network are reached.
func (b *bed) reach(at func(url string) string) {
	b.urls.bitcoin, b.urls.evm, b.urls.lps = at(b.net.Bitcoin.URL()), at(b.net.EVM.URL()), nil
	for _, u := range b.net.LPURLs() {
		b.urls.lps = append(b.urls.lps, at(u))
	}
	switch b.version {
	case "":
	case onStarknet:
		b.urls.other = at(b.net.Starknet.URL())
	default:
		b.urls.other = at(b.net.Solana.URL())
	}
}

// keep opens a store and a client on it.
func (b *bed) keep() {
	tb := b.tb
	b.store = trial.Must(bolt.Open(tb.Context(), filepath.Join(tb.TempDir(), "swaps.db"), bolt.Options{}))(tb)
	tb.Cleanup(func() { b.store.Close() })
	b.open()
	tb.Cleanup(b.close)
}

// nodes are those of a client.
func (b *bed) nodes() (bitcoin.Backend, chains.Factory) {
	b.tb.Helper()
	var blocks, logs []string
	if b.hears {
		blocks = []string{b.net.Bitcoin.Server().SocketURL()}
		switch b.version {
		case "":
			logs = []string{b.net.EVM.Server().SocketURL()}
		case onStarknet:
			logs = []string{b.net.Starknet.Server().SocketURL()}
		default:
			logs = []string{b.net.Solana.Server().SocketURL()}
		}
	}
	backend, err := mempoolspace.New(mempoolspace.Options{Network: bitcoin.Regtest, URLs: []string{b.urls.bitcoin}, WebSocket: blocks})
	if err != nil {
		b.tb.Fatal(err)
	}
	switch b.version {
	case "":
	case onStarknet:
		network := b.net.StarknetConfig()
		return backend, starknet.Custom(starknet.Options{RPC: []string{b.urls.other}, WebSocket: logs, Network: &network, Tokens: b.net.StarknetTokens()})
	default:
		network := b.net.SolanaConfig()
		return backend, solana.Custom(solana.Options{RPC: []string{b.urls.other}, WebSocket: logs, Version: b.version, Network: &network, Tokens: b.net.SolanaTokens()})
	}
	network := b.net.EVM.Config()
	return backend, evm.Custom(evm.Options{RPC: []string{b.urls.evm}, WebSocket: logs, Network: &network, Tokens: b.net.Tokens()})
}

// open opens a client that remembers nothing but what is stored.
func (b *bed) open() {
	b.tb.Helper()
	backend, chain := b.nodes()
	var err error
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = 64
	b.client, err = swapper.Open(b.tb.Context(), swapper.Config{
		Network: bitcoin.Regtest, Store: b.store, Bitcoin: backend, Now: b.net.Clock.Now, HTTP: transport,
		Chains: []chains.Factory{chain},
		LPs:    swapper.LPs{URLs: b.urls.lps, AllowHTTP: true},
		Prices: prices,
	})
	if err != nil {
		b.tb.Fatal(err)
	}
	b.user.Swaps = b.client
	b.server = httptest.NewServer(httpapi.New(b.client, httpapi.Options{}))
	if b.api, err = httpapi.NewClient(b.server.URL, httpapi.ClientOptions{}); err != nil {
		b.tb.Fatal(err)
	}
}

func (b *bed) close() {
	if b.follows != nil {
		b.follows()
	}
	b.server.Close()
	b.client.Close()
}

// on is the chain that is measured.
func (b *bed) on() string {
	switch b.version {
	case "":
		return "CITREA"
	case onStarknet:
		return starknet.ChainID
	}
	return solana.ChainID
}

// native is its own coin.
func (b *bed) native() string {
	return b.on() + "-" + map[string]string{"CITREA": "CBTC", solana.ChainID: "SOL", starknet.ChainID: "STRK"}[b.on()]
}

func (b *bed) address() string {
	switch b.version {
	case "":
		return b.net.EVM.User.Address.Hex()
	case onStarknet:
		return starkwire.Hex64(b.net.Starknet.User.Address)
	}
	return b.net.Solana.User.Address.String()
}

// types are the types that are measured, and a request for each.
var types = []swapper.SwapType{swapper.SwapToBTC, swapper.SwapToBTCLN, swapper.SwapFromBTCLNAuto, swapper.SwapSPVVaultFromBTC}

func (b *bed) request(typ swapper.SwapType) swapper.CreateSwapInput {
	switch typ {
	case swapper.SwapToBTC:
		return swapper.CreateSwapInput{SrcToken: b.native(), DstToken: "BITCOIN-BTC", Amount: big.NewInt(50_000), AmountType: swapper.ExactOut,
			SrcAddress: b.address(), DstAddress: b.net.Taproot.Address.String()}
	case swapper.SwapToBTCLN:
		preimage, _ := lightning.Preimage(rand.Text())
		invoice, err := b.net.Recipient.NewInvoice(lightning.InvoiceOptions{Preimage: preimage, AmountMsat: 50_000_000})
		if err != nil {
			b.tb.Fatal(err)
		}
		return swapper.CreateSwapInput{SrcToken: b.native(), DstToken: "LIGHTNING-BTC", Amount: big.NewInt(50_000), AmountType: swapper.ExactOut,
			SrcAddress: b.address(), DstAddress: invoice}
	case swapper.SwapFromBTCLNAuto, swapper.SwapFromBTCLN:
		return swapper.CreateSwapInput{SrcToken: "LIGHTNING-BTC", DstToken: b.on() + "-WBTC", Amount: big.NewInt(50_000), AmountType: swapper.ExactIn, DstAddress: b.address()}
	}
	return swapper.CreateSwapInput{SrcToken: "BITCOIN-BTC", DstToken: b.on() + "-WBTC", Amount: big.NewInt(100_000), AmountType: swapper.ExactIn, DstAddress: b.address()}
}

func (b *bed) create(typ swapper.SwapType) string {
	b.tb.Helper()
	s, err := b.client.CreateSwap(b.tb.Context(), b.request(typ))
	if err != nil {
		b.tb.Fatalf("createSwap %s: %v", typ, err)
	}
	return s.SwapID
}

// ask is the status request of the user's wallet.
func (b *bed) ask(id string) swapper.GetSwapStatusInput {
	return swapper.GetSwapStatusInput{SwapID: id, BitcoinAddress: b.net.Wallet.Address.String(), BitcoinPublicKey: b.net.Wallet.PublicKey()}
}
