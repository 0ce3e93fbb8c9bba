package swapper

import (
	"crypto/rand"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/chains/bitcoin/mempoolspace"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/lp"
	"github.com/swapper-go/swapper/lnurl"
	"github.com/swapper-go/swapper/nostr"
	"github.com/swapper-go/swapper/price"
	"github.com/swapper-go/swapper/storage"
	"github.com/swapper-go/swapper/watchtower"
)

// Config is what a [Client] is made of. Network and Store must be given; every
// other zero field is the network's preset.
type Config struct {
	Network bitcoin.Network // the zero value is mainnet
	Store   storage.Store   // where swaps are kept; see package storage/bolt. The caller closes it, after the client

	// Chains are the smart chains to swap with, in the order in which addresses
	// and bare tickers are tried: evm.Citrea(evm.Options{RPC: ...}). A chain that
	// is not passed in costs nothing.
	Chains []chains.Factory

	LPs LPs // the zero value: the network's registry

	// Bitcoin reads Bitcoin. nil: mempool.space's servers for the network; none for
	// regtest. [mempoolspace.New] with URLs is an instance of the caller's own, or an
	// Esplora server, and has all that is needed. Package noderpc asks a node: btcd
	// with both indexes has all but a Graph; Bitcoin Core has no index of addresses
	// either, so that a spendable balance takes a scan of all outputs and leaves out
	// what is not confirmed, and gas for on-chain bitcoin ([Client.CreateGasSwap]) is
	// not followed.
	Bitcoin bitcoin.Backend
	// Graph knows the nodes of the Lightning network, by which the invoices of swaps
	// from Lightning are checked. nil: the backend, if it does, as those of
	// mempoolspace do. One is needed on mainnet and testnet3, unless Policy.AnyNode is
	// set; beside package noderpc it is the only thing that mempoolspace is asked for.
	Graph  bitcoin.LightningGraph
	Prices price.Source // nil: the median of the public services, see [price.Market]
	LNURL  lnurl.Config // its Network is the client's
	HTTP   http.RoundTripper

	// Policy is how strict quotes are checked, and what a swap may cost: by default
	// LPs' fees and watchtowers' pay of 5 % each, or 1000 sats, and a price 1 % off
	// the market. AnyNode is set on every network
	// but mainnet and testnet3, because no public graph knows the others' nodes.
	Policy lp.Policy

	// Messenger gives preimages to watchtowers, which then claim for users who are
	// not there. nil: watchtower.OverNostr with nostr's relays for the network; nothing
	// is published on regtest and signet, which have none. The caller closes its own.
	Messenger watchtower.Messenger

	Now    func() time.Time // nil: the system's clock
	Rand   io.Reader        // nil: the system's secure source; safe for concurrent use
	Logger *slog.Logger     // nil: silence. Secrets are never logged

	KeepExpired time.Duration // how long expired quotes that were never used stay readable; 0: 24 h
}

// LPs says which liquidity providers are asked, and how.
type LPs struct {
	URLs     []string // base URLs; empty: those of the registry
	Registry string   // address of the list of LPs; "": the network's, of which regtest and signet have none
	Trusted  string   // base URL of the LP that gas is bought from on trust; "": the network's, if it has one

	AllowHTTP bool // permits LPs over http
	// AllowLocal permits LPs on addresses that are not public, and over http on
	// loopback addresses. It is for local networks, and set on regtest: on a public
	// service it would let a registry, or who names a provider of gas, reach what
	// only the server can reach.
	AllowLocal bool
	Auth       *lp.Auth // signs requests, for LPs that grant known clients more of them
	Transport  http.RoundTripper
}

// fill puts presets in the place of zero fields.
func (c Config) fill() (Config, error) {
	if !c.Network.Valid() {
		return c, fault.Invalid("network", "is not a known Bitcoin network")
	}
	if c.Store == nil {
		return c, fault.Invalid("store", "is required")
	}
	if c.HTTP == nil {
		c.HTTP = http.DefaultTransport
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Rand == nil {
		c.Rand = rand.Reader
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	c.LNURL.Network = c.Network
	if c.LNURL.Now == nil {
		c.LNURL.Now = c.Now
	}
	if c.LPs.Registry == "" && len(c.LPs.URLs) == 0 {
		if c.LPs.Registry = lp.RegistryURL(c.Network); c.LPs.Registry == "" {
			return c, fault.Invalid("lps", "%s has no public registry of liquidity providers: set lps.urls", c.Network)
		}
	}
	if c.LPs.Trusted == "" {
		c.LPs.Trusted = lp.DefaultTrustedURL(c.Network)
	}
	if c.Prices == nil {
		c.Prices = price.Market(price.Options{Client: &http.Client{Transport: c.HTTP}})
	}
	if c.Network != bitcoin.Mainnet && c.Network != bitcoin.Testnet3 {
		c.Policy.AnyNode = true
	}
	if c.Network == bitcoin.Regtest {
		c.LPs.AllowLocal = true
	}
	if c.Bitcoin == nil {
		if mempoolspace.DefaultURLs(c.Network) == nil {
			return c, fault.Invalid("bitcoin", "is required on %s, which has no public Bitcoin backend", c.Network)
		}
		b, err := mempoolspace.New(mempoolspace.Options{Network: c.Network, HTTP: &http.Client{Transport: c.HTTP}, Logger: c.Logger})
		if err != nil {
			return c, fmt.Errorf("bitcoin backend: %w", err)
		}
		c.Bitcoin = b
	}
	if c.Messenger == nil && len(nostr.DefaultRelays(c.Network)) > 0 {
		m, err := nostr.New(nostr.Options{Network: c.Network, HTTP: c.HTTP, Now: c.Now, Rand: c.Rand, Log: c.Logger})
		if err != nil {
			return c, fmt.Errorf("messenger: %w", err)
		}
		c.Messenger = watchtower.OverNostr(m)
	}
	if graph, ok := c.Bitcoin.(bitcoin.LightningGraph); ok && c.Graph == nil {
		c.Graph = graph
	}
	if c.Graph == nil && !c.Policy.AnyNode {
		return c, fault.Invalid("graph", "is required on %s because the Bitcoin backend has no Lightning graph: use a mempoolspace client, or set policy.anyNode", c.Network)
	}
	if c.Bitcoin.Network() != c.Network {
		return c, fault.Invalid("bitcoin", "the backend serves %s, but the client is configured for %s", c.Bitcoin.Network(), c.Network)
	}
	return c, nil
}
