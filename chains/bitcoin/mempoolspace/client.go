// Package mempoolspace reads a Bitcoin network through the REST API of
// mempool.space, or of a plain Esplora server.
//
// Several base URLs back each other up: one that is down, slow, rate limited,
// serves another network or contradicts itself is skipped, and tried again a
// minute later. Answers are verified wherever that is possible (see
// [bitcoin.Backend]).
package mempoolspace

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/async"
	"github.com/swapper-go/swapper/internal/bounds"
	"github.com/swapper-go/swapper/internal/httpx"
	"github.com/swapper-go/swapper/internal/subscribe"
)

// DefaultURLs returns the public base URLs of a network in order of preference;
// none for regtest and signet (protocol: bitcoin.md §3.1).
func DefaultURLs(n bitcoin.Network) []string {
	path, ok := map[bitcoin.Network]string{bitcoin.Mainnet: "api/", bitcoin.Testnet3: "testnet/api/", bitcoin.Testnet4: "testnet4/api/"}[n]
	if !ok {
		return nil
	}
	var urls []string
	for _, host := range []string{"mempool.space", "mempool.fra.mempool.space", "mempool.va1.mempool.space", "mempool.tk7.mempool.space"} {
		urls = append(urls, "https://"+host+"/"+path)
	}
	return urls
}

// Options configures a [Client]. Only Network is required on networks that have default URLs.
type Options struct {
	Network bitcoin.Network // required; the servers must serve it
	URLs    []string        // base URLs in order of preference, for example https://mempool.space/api/; nil means [DefaultURLs]

	// WebSocket are ws or wss URLs of mempool.space servers that tell of new blocks, for example
	// wss://mempool.space/api/v1/ws. Each is listened to while [Client.Follow] runs. What they
	// say is asked of URLs before anything is made of it, so that they need not be trusted.
	WebSocket []string

	HTTP        *http.Client  // its CheckRedirect is replaced; nil means a client with a default transport
	Timeout     time.Duration // of one HTTP request, body included; 0 means 15 s
	Hedge       time.Duration // after this long without an answer the next URL is asked too; 0 means 1.5 s
	Recheck     time.Duration // a URL that failed is asked again after this; 0 means 60 s
	Attempts    int           // per call, when no URL answers; 0 means 5
	RetryDelay  time.Duration // before the second attempt, doubled before each further one; 0 means 500 ms
	Concurrency int           // concurrent requests per URL; 0 means 6
	TipAge      time.Duration // maximum age of the cached tip, fee rates and projected blocks; 0 means 2 s, negative disables the cache
	Logger      *slog.Logger  // logs when URLs fail and recover; nil disables logging
}

// finalDepth is the number of confirmations from which on a block is taken to
// stay where it is, so that what it holds need not be asked for again; testnets
// have seen reorganisations of dozens of blocks. The depth is a server's word,
// so it is trusted for finalAge only.
const (
	finalDepth = 144
	finalAge   = 10 * time.Minute
)

// Client is a [bitcoin.Backend] with all that some backends can tell besides. The first
// request to each URL comes with another one for its genesis block; apart from
// that, each method documents how many requests it sends. It is safe for
// concurrent use. Create one with [New].
type Client struct {
	network bitcoin.Network
	genesis bitcoin.Hash
	http    *http.Client
	owned   bool // http was made here
	o       Options
	sources []*source
	log     *slog.Logger
	turns   chan struct{} // see askInTurn
	heard   *subscribe.Follower

	flight  async.Group
	tip     async.Recent[uint32]
	rates   async.Recent[bitcoin.FeeRates]
	blocks  async.Recent[[]bitcoin.ProjectedBlock]
	headers *bounds.Cache[bitcoin.Hash, bitcoin.Header]
	hashes  *bounds.Cache[uint32, aged[bitcoin.Hash]]      // of heights that are final
	txs     *bounds.Cache[bitcoin.Hash, aged[*bitcoin.Tx]] // confirmed for good; Confirmations is stale
}

var (
	_ bitcoin.Backend        = (*Client)(nil)
	_ bitcoin.AddressIndex   = (*Client)(nil)
	_ bitcoin.MempoolReader  = (*Client)(nil)
	_ bitcoin.LightningGraph = (*Client)(nil)
	_ bitcoin.Listener       = (*Client)(nil)
	_ bitcoin.BlockReader    = (*Client)(nil)
)

// New returns a client. It sends no request.
func New(o Options) (*Client, error) {
	if !o.Network.Valid() {
		return nil, fault.Invalid("network", "is not a known Bitcoin network")
	}
	if len(o.URLs) == 0 {
		if o.URLs = DefaultURLs(o.Network); o.URLs == nil {
			return nil, fault.Invalid("urls", "are required: Bitcoin %s has no default servers", o.Network)
		}
	}
	genesis, err := bitcoin.ParseHash(o.Network.Params().GenesisHash)
	if err != nil {
		return nil, err
	}
	setDefaults(&o)
	c := &Client{
		network: o.Network,
		genesis: genesis,
		http:    o.HTTP,
		o:       o,
		log:     o.Logger,
		headers: bounds.NewCache[bitcoin.Hash, bitcoin.Header](4096),
		hashes:  bounds.NewCache[uint32, aged[bitcoin.Hash]](4096),
		txs:     bounds.NewCache[bitcoin.Hash, aged[*bitcoin.Tx]](1024),
	}
	if c.http == nil {
		c.http, c.owned = &http.Client{Transport: transport(o.Concurrency)}, true
	} else {
		own := *c.http
		c.http = &own
	}
	c.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	for i, base := range o.URLs {
		base, err := baseURL(base)
		if err != nil {
			return nil, fault.Invalid(fmt.Sprintf("urls[%d]", i), "%w", err)
		}
		c.sources = append(c.sources, newSource(c, base))
	}
	c.turns = make(chan struct{}, o.Concurrency)
	return c, c.subscribe()
}

func setDefaults(o *Options) {
	o.Timeout = cmp.Or(o.Timeout, 15*time.Second)
	o.Hedge = cmp.Or(o.Hedge, 1500*time.Millisecond)
	o.Recheck = cmp.Or(o.Recheck, time.Minute)
	o.TipAge = cmp.Or(o.TipAge, 2*time.Second)
	if o.Concurrency <= 0 {
		o.Concurrency = 6
	}
	o.Logger = cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
}

func transport(perHost int) http.RoundTripper {
	t := httpx.Transport(perHost)
	if t, ok := t.(*http.Transport); ok {
		t.MaxResponseHeaderBytes = 64 << 10
	}
	return t
}

func baseURL(s string) (string, error) {
	u, err := url.Parse(s)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return "", errors.New("must be an http or https URL") // the text may hold a password
	}
	if u.RawQuery != "" || u.Fragment != "" {
		return "", errors.New("must not have a query or fragment")
	}
	return strings.TrimSuffix(u.String(), "/") + "/", nil
}

// Close drops idle connections. Calls after it still work.
func (c *Client) Close() error {
	if c.owned {
		c.http.CloseIdleConnections()
	}
	return nil
}

// Network returns Options.Network. It sends no request.
func (c *Client) Network() bitcoin.Network { return c.network }
