// Package noderpc reads a Bitcoin network through the JSON-RPC interface of the
// caller's own node: Bitcoin Core (with -txindex) or btcd (with --txindex and
// --addrindex).
//
// The node is trusted about which chain is best and what its mempool holds;
// hashes are still verified. The nodes differ in what they can provide:
//
//	                      Core                                btcd
//	address transactions  not available                       address index
//	address outputs       scan of all outputs, slow;          address index
//	                      confirmed ones only
//	spender of a          not available (state and            if its output has an address
//	confirmed output      height of others: yes)
//	spent outputs of a    with the transaction (Core 25)      not available
//	transaction
//	spends in the mempool Core 24 and later                   btcd 0.24.2 and later
//
// So there are two backends: [Client], for either node, and [Indexed], for a btcd
// with an address index. Neither knows the Lightning network: on mainnet and testnet3
// the client's configuration also needs a [bitcoin.LightningGraph]. Methods return an
// error with code Unsupported for what a node that is older, or lacks an index that is
// named above, cannot provide. If you need an address index with Core, run an Esplora
// server on top of it and use package mempoolspace.
package noderpc

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"sync"
	"time"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/async"
	"github.com/swapper-go/swapper/internal/bounds"
	"github.com/swapper-go/swapper/internal/httpx"
	"github.com/swapper-go/swapper/internal/subscribe"
)

// Options configures a [Client].
type Options struct {
	Network bitcoin.Network // required; the node must serve it
	URL     string          // of the node, for example http://127.0.0.1:8332

	User, Password string // use these
	CookieFile     string // or Core's .cookie file, read again when the node refuses the credentials
	CertFile       string // PEM file with the certificate to accept, such as btcd's rpc.cert; "" means the system's roots

	HTTP            *http.Client  // nil means a client that accepts CertFile; CertFile must be "" if this is set
	Timeout         time.Duration // of one HTTP request; 0 means 10 s
	ScanTimeout     time.Duration // of Core's scan for the outputs of an address; 0 means 5 minutes
	Attempts        int           // per request, when the node does not answer; 0 means 3
	RetryDelay      time.Duration // before the second attempt, doubled before each further one; 0 means 250 ms
	Concurrency     int           // concurrent requests; 0 means 4
	MempoolAge      time.Duration // maximum age of the mempool copy that effective fee rates are computed from; 0 means 2 s, negative disables the cache
	LongPoll        bool          // hear of blocks from Core, by waitforblockheight; see [Client.Follow]
	WebSocket       string        // hear of blocks from btcd, by notifyblocks: as in wss://127.0.0.1:8334/ws
	Logger          *slog.Logger  // of what is heard; nil: nothing is logged
	FallbackFeeRate float64       // sat/vB, used when the node has no estimate; 0 means the node's minimum on regtest and an error elsewhere
}

// Client is a [bitcoin.Backend], without an address index. The first call sends one request to identify the
// node; apart from that, each method documents how many requests it sends. It is
// safe for concurrent use. Create one with [New].
type Client struct {
	o       Options
	name    string // of the node, for errors
	genesis bitcoin.Hash
	http    *http.Client
	owned   bool
	slots   chan struct{}
	heard   *subscribe.Follower

	flight  async.Group
	mempool async.Recent[map[bitcoin.Hash]poolTx]
	headers *bounds.Cache[bitcoin.Hash, bitcoin.Header] // height included
	txids   *bounds.Cache[bitcoin.Hash, []bitcoin.Hash] // of blocks
	scan    chan struct{}                               // holds one: Core does one scan at a time

	mu     sync.Mutex
	node   *node  // nil until it was asked
	secret string // the cookie, "user:password"
}

var (
	_ bitcoin.Backend       = (*Client)(nil)
	_ bitcoin.MempoolReader = (*Client)(nil)
	_ bitcoin.Listener      = (*Client)(nil)
	_ bitcoin.BlockReader   = (*Client)(nil)
	_ bitcoin.AddressIndex  = (*Indexed)(nil)
)

// Indexed is the [Client] of a btcd that runs with --addrindex, which is a
// [bitcoin.AddressIndex] too.
type Indexed struct{ *Client }

// Indexed returns the client as one of a btcd that runs with --addrindex. It sends no request:
// with another node, what needs the index returns an error with code Unsupported.
func (c *Client) Indexed() *Indexed { return &Indexed{c} }

// New returns a client. It sends no request, but reads CertFile.
func New(o Options) (*Client, error) {
	if !o.Network.Valid() {
		return nil, fault.Invalid("network", "is not a known Bitcoin network")
	}
	u, err := url.Parse(o.URL)
	if err != nil || u.Host == "" || u.User != nil || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fault.Invalid("url", "must be an http or https URL without a user name")
	}
	if o.CookieFile != "" && (o.User != "" || o.Password != "") {
		return nil, fault.Invalid("cookieFile", "cannot be combined with a user and password")
	}
	if o.HTTP != nil && o.CertFile != "" {
		return nil, fault.Invalid("certFile", "cannot be combined with an HTTP client: configure the certificate in the client")
	}
	if !(o.FallbackFeeRate >= 0 && o.FallbackFeeRate <= bitcoin.HighestFeeRate) {
		return nil, fault.Invalid("fallbackFeeRate", "must be from 0 to %d sat/vB, not %v", bitcoin.HighestFeeRate, o.FallbackFeeRate)
	}
	genesis, err := bitcoin.ParseHash(o.Network.Params().GenesisHash)
	if err != nil {
		return nil, err
	}
	o.Timeout = cmp.Or(o.Timeout, 10*time.Second)
	o.ScanTimeout = cmp.Or(o.ScanTimeout, 5*time.Minute)
	o.MempoolAge = cmp.Or(o.MempoolAge, 2*time.Second)
	o.Attempts = cmp.Or(o.Attempts, 3)
	o.RetryDelay = cmp.Or(o.RetryDelay, 250*time.Millisecond)
	o.Logger = cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
	if o.Concurrency <= 0 {
		o.Concurrency = 4
	}
	c := &Client{
		o:       o,
		name:    u.Host, // a path may be an access key, and errors reach callers
		genesis: genesis,
		slots:   make(chan struct{}, o.Concurrency),
		headers: bounds.NewCache[bitcoin.Hash, bitcoin.Header](4096),
		txids:   bounds.NewCache[bitcoin.Hash, []bitcoin.Hash](16),
		scan:    make(chan struct{}, 1),
	}
	if o.HTTP != nil {
		own := *o.HTTP
		c.http = &own
	} else if c.http, err = newHTTP(o); err != nil {
		return nil, err
	} else {
		c.owned = true
	}
	c.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return c, c.listen()
}

func newHTTP(o Options) (*http.Client, error) {
	t := &http.Transport{MaxIdleConnsPerHost: o.Concurrency, IdleConnTimeout: 30 * time.Second, MaxResponseHeaderBytes: 64 << 10}
	if o.CertFile != "" {
		pem, err := os.ReadFile(o.CertFile)
		if err != nil {
			return nil, fault.Invalid("certFile", "%w", err)
		}
		pool := x509.NewCertPool()
		if !pool.AppendCertsFromPEM(pem) {
			return nil, fault.Invalid("certFile", "contains no certificate: %s", o.CertFile)
		}
		t.TLSClientConfig = &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
	}
	return &http.Client{Transport: t}, nil
}

// Close drops idle connections. Calls after it still work.
func (c *Client) Close() error {
	if c.owned {
		c.http.CloseIdleConnections()
	}
	return nil
}

// Network returns Options.Network. It sends no request.
func (c *Client) Network() bitcoin.Network { return c.o.Network }

// named is the node in an error, for the log.
func (c *Client) named() string { return " " + c.name }

// asked is the URL that the node is asked by, with the credentials.
func (c *Client) asked() string {
	u, err := url.Parse(c.o.URL)
	if err != nil {
		return c.o.URL
	}
	if user, password, err := c.credentials(false); err == nil {
		u.User = url.UserPassword(user, password)
	}
	return u.String()
}

// blamed attributes an error that neither the caller nor the state of the chain
// can have caused to the node: it answered, but not with what was asked for.
func (c *Client) blamed(ctx context.Context, err error) error {
	if err == nil || ctx.Err() != nil || errors.Is(err, bitcoin.ErrNotFound) {
		return err
	}
	_, coded := errors.AsType[*fault.Error](err)
	_, rejected := errors.AsType[*bitcoin.RejectedError](err)
	if coded || rejected {
		return err
	}
	return fault.New(fault.Upstream, "Bitcoin node%s: %w", fault.Hidden(c.named()), httpx.Concealed(err, c.asked()))
}

func blamedEach[T any](ctx context.Context, c *Client, results []bitcoin.Result[T]) []bitcoin.Result[T] {
	for i := range results {
		results[i].Err = c.blamed(ctx, results[i].Err)
	}
	return results
}

// unsupported is the error for what the node cannot tell.
func unsupported(format string, args ...any) error {
	return fault.New(fault.Unsupported, "the Bitcoin node does not support this: %s", fmt.Sprintf(format, args...))
}
