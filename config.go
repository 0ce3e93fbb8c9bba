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
	"github.com/swapper-go/swapper/internal/httpx"
	"github.com/swapper-go/swapper/internal/lp"
	"github.com/swapper-go/swapper/internal/lp/lphttp"
	"github.com/swapper-go/swapper/internal/lp/verify"
	"github.com/swapper-go/swapper/internal/nostr"
	"github.com/swapper-go/swapper/price"
	"github.com/swapper-go/swapper/storage"
	"github.com/swapper-go/swapper/watchtower"
)

// Config configures a [Client]. Network and Store are required; every other
// field that is zero takes the network's default.
type Config struct {
	Network bitcoin.Network // the zero value is mainnet
	Store   storage.Store   // where swaps are kept, see package storage/bolt; the caller closes it after the client

	// Chains are the smart chains to swap with, in the order in which addresses
	// and bare tickers are tried: evm.Citrea(evm.Options{RPC: ...}). Chains
	// that are not passed in cost nothing.
	//
	// Give each of them several nodes (RPC), of different operators. Before anything that
	// cannot be undone, all of them are asked: at least half must agree and none object.
	// One node alone is believed, and its lie can cost the whole amount of a swap: it can
	// show an escrow that draws out a preimage or a bitcoin payment, or a vault that takes
	// the user's bitcoin.
	Chains []chains.Factory
	// AllNodes demands that all nodes of a chain agree, instead of half of them. What
	// cannot be undone then waits while one of them is away; a claim whose preimage is
	// public waits for none.
	AllNodes bool

	LPs LPs // the zero value: the network's registry

	// Bitcoin gives access to the Bitcoin chain. nil means mempool.space's
	// servers for the network; regtest has none. [mempoolspace.New] with URLs
	// uses the caller's own mempool.space or Esplora server, which offers
	// everything that is needed. Package noderpc uses a node: btcd with both
	// indexes offers everything but a Graph. Bitcoin Core also lacks an address
	// index, so that a spendable balance requires a scan of all outputs and
	// leaves out unconfirmed ones. What a backend can do besides are interfaces that it
	// implements: without [bitcoin.AddressIndex] swaps of types FROM_BTC and
	// TRUSTED_FROM_BTC are refused with [fault.Unsupported], and without
	// [bitcoin.MempoolReader] fees of unconfirmed parents are not made up for. The log names
	// what is missing.
	Bitcoin bitcoin.Backend
	// Graph looks up nodes of the public Lightning network, to check the
	// invoices of swaps from Lightning. nil means the Bitcoin backend, if it
	// implements the interface as mempoolspace does. A graph is required on
	// mainnet and testnet3 unless Policy.AnyNode is set; mempoolspace can serve
	// as the Graph alone, next to a noderpc backend.
	Graph  bitcoin.LightningGraph
	Prices price.Source // nil: the median of public services, see [price.Market]
	LNURL  LNURLOptions
	// HTTP carries the requests to the nodes of chains. nil: [http.DefaultTransport]
	// with 8 kept connections to a node. Up to five requests to a node are under way at
	// once; one of your own should keep as many connections (MaxIdleConnsPerHost is 2
	// by default), or a busy client connects anew for most of them.
	HTTP http.RoundTripper

	// Policy says how strictly quotes are checked and what a swap may cost. By
	// default, LP fees and watchtower fees may be up to 5 % each (or 1000 sats,
	// if that is more), Bitcoin's miners may get 5 % (or 100,000 sats), and prices
	// may be up to 1 % off the market. AnyNode is set on
	// every network except mainnet and testnet3, because the nodes of the
	// others are in no public graph.
	Policy Policy

	// Messenger passes preimages to watchtowers, which then claim on behalf of
	// users who are offline. nil means a [watchtower.Nostr] with the default
	// Nostr relays of the network; regtest and signet have none, so nothing is
	// published there. A messenger passed in is closed by the caller.
	Messenger watchtower.Messenger
	// Claimer claims for the users of the service who are away, for example a
	// [watchtower.Tower], at the service's cost. It gets the preimage of a swap from
	// Lightning (FROM_BTCLN_AUTO) when the watchtowers do, and swaps from bitcoin (FROM_BTC,
	// SPV_VAULT_FROM_BTC) once the payment is confirmed. nil: only the watchtowers of
	// others claim. The caller runs and closes it.
	Claimer watchtower.Claimer

	Now    func() time.Time // nil: time.Now
	Rand   io.Reader        // nil: crypto/rand.Reader; must be safe for concurrent use
	Logger *slog.Logger     // nil: no logs; secrets are never logged

	KeepExpired time.Duration // how long expired, unused quotes stay readable; 0: 24 h
}

// LPs says which liquidity providers are used, and how they are reached.
type LPs struct {
	URLs     []string // base URLs; empty: those listed by the registry
	Registry string   // URL of the list of LPs; "": the network's own; regtest and signet have none
	Trusted  string   // base URL of the LP trusted with gas swaps; "": the network's default, if it has one

	AllowHTTP bool // permits plain http
	// AllowLocal permits LPs on addresses that are not public, and plain http
	// on loopback addresses. It is meant for local networks and is always set
	// on regtest. On a public server it would let a registry, or a caller who
	// names the provider of a gas swap, reach hosts that only the server can
	// reach.
	AllowLocal bool
	// Certificate and PrivateKey sign requests, for LPs with higher limits for known clients:
	// 256 hexadecimal digits (the authority's x-only key, its signature over the request key,
	// the request key), and the 64 of the request key's secret. "": requests are anonymous.
	Certificate string
	PrivateKey  Secret
	Transport   http.RoundTripper
}

// LNURLOptions says how LNURL services and Lightning addresses are reached.
type LNURLOptions struct {
	// OnionProxy is the host:port of a SOCKS5 proxy (Tor) through which onion
	// services are called; without one they are refused.
	OnionProxy string

	// AllowLocal permits http and addresses that are not public: loopback,
	// private networks and so on. It is for test networks; on a public service
	// it lets anybody reach what only the server can reach.
	AllowLocal bool

	// Transport replaces the guarded transport. It must itself refuse addresses
	// that are not public and send no request twice, and is taken to reach onion
	// hosts.
	Transport http.RoundTripper
}

// Policy is how strict the checks are, and what a swap may cost. The zero value
// is the usual one. Limits in parts per million are of the swap's value in sats;
// beside each of them a small sum always passes, because some costs are the same
// for every amount.
type Policy struct {
	// TolerancePPM is how much worse than the market a quote may be; 0 means
	// 10 000, 1 %.
	TolerancePPM int64
	// MaxFeePPM bounds the LP's fee, announced or not; 0 means 50 000, 5 %. Fees
	// up to 1000 sats always pass.
	MaxFeePPM int64
	// MaxWatchtowerPPM bounds what a watchtower gets for settling a swap from
	// Bitcoin or Lightning; 0 means 50 000, 5 %. Pay worth up to 1000 sats always
	// passes: about what claims cost, whatever is swapped. The pay follows from what
	// the chain's nodes say of fees, so this is what a node that lies can cost. An
	// amount too small to keep to it is refused.
	MaxWatchtowerPPM int64
	// AnyFee accepts fees above the announced ones, up to MaxFeePPM, which LPs with
	// plugins may charge (protocol: lp-protocol.md §8.5); the price is checked all
	// the same.
	AnyFee bool
	// AnyNode accepts Lightning nodes of any capacity, known to the graph or not:
	// for private networks.
	AnyNode bool
	// MaxDepositPPM bounds the security deposit of the legacy types; 0 means
	// 50 000, 5 %. Deposits worth up to 2000 sats always pass: they cover a refund
	// transaction.
	MaxDepositPPM int64
	// MaxMinerFeePPM bounds what Bitcoin's miners get: of the user for his payment,
	// unconfirmed parents included, and of an LP for its payout; 0 means 50 000, 5 %.
	// Fees up to 100 000 sats always pass, which a payment needs on a dear day. Rates
	// and sizes are what others say, so this is what a backend, an LP or a slip of a
	// digit can cost.
	MaxMinerFeePPM int64
	// PayoutVSize is the size, in vB, of the payout transaction that a network fee
	// may pay for; 0 means 400, some inputs more than usual.
	PayoutVSize int64
}

// Validate returns an [Error] with [fault.InvalidInput] that names the field if a value is
// negative. [Open] calls it.
func (p Policy) Validate() error { return verify.Policy(p).Validate() }

// Validate returns an [Error] with [fault.InvalidInput] that names the field if the
// certificate and the key are none, or do not belong together. [Open] calls it.
func (l LPs) Validate() error {
	_, err := l.auth()
	return err
}

func (l LPs) auth() (*lphttp.Auth, error) {
	if l.Certificate == "" && l.PrivateKey == "" {
		return nil, nil
	}
	return lphttp.NewAuth(l.Certificate, l.PrivateKey.Reveal())
}

// fill replaces zero fields with their defaults.
func (c Config) fill() (Config, error) {
	if !c.Network.Valid() {
		return c, fault.Invalid("network", "is not a known Bitcoin network")
	}
	if c.Store == nil {
		return c, fault.Invalid("store", "is required")
	}
	if err := c.Policy.Validate(); err != nil {
		return c, err
	}
	if c.KeepExpired < 0 {
		return c, fault.Invalid("keepExpired", "must not be negative, but is %s; 0 is 24 h", c.KeepExpired)
	}
	if c.HTTP == nil {
		c.HTTP = httpx.Transport(8)
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
	if c.LPs.Registry == "" && len(c.LPs.URLs) == 0 {
		if c.LPs.Registry = lp.RegistryURL(c.Network); c.LPs.Registry == "" {
			return c, fault.Invalid("lps", "%s has no public registry of liquidity providers: set lps.urls", c.Network)
		}
	}
	if c.LPs.Trusted == "" {
		c.LPs.Trusted = lp.DefaultTrustedURL(c.Network)
	}
	if c.Prices == nil {
		c.Prices = price.Market(price.Options{Client: &http.Client{Transport: c.HTTP}, Now: c.Now})
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
		m, err := watchtower.NewNostr(watchtower.NostrOptions{Network: c.Network, HTTP: c.HTTP, Now: c.Now, Rand: c.Rand, Log: c.Logger})
		if err != nil {
			return c, fmt.Errorf("messenger: %w", err)
		}
		c.Messenger = m
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
