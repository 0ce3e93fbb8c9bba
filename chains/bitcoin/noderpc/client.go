// Package noderpc reads a Bitcoin network through the JSON-RPC interface of the
// caller's own node: Bitcoin Core (with -txindex) or btcd (with --txindex and
// --addrindex).
//
// The node is trusted about which chain is best and what waits in its mempool;
// what hashes to an id is checked all the same. What the nodes can tell differs:
//
//	                      Core                                btcd
//	address transactions  not available                       address index
//	address outputs       scan of all outputs, slow;          address index
//	                      confirmed ones only
//	spender of a          not available (state and            if its output has an address
//	confirmed output      height of others: yes)
//	spent outputs of a    with the transaction (Core 25)      from the parents, see bitcoin.FillPrevouts
//	transaction
//	spends in the mempool Core 24 and later                   btcd 0.24.2 and later
//
// Neither knows the Lightning network: on mainnet and testnet3 the client's
// configuration needs a graph beside it. What a node cannot tell is an error with
// code Unsupported. Whoever needs addresses with Core points package mempoolspace
// at an Esplora server in front of it.
package noderpc

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"sync"
	"time"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/flight"
	"github.com/swapper-go/swapper/internal/lru"
	"github.com/swapper-go/swapper/internal/recent"
)

// Options of a client.
type Options struct {
	Network bitcoin.Network // the node must serve it; there is no default
	URL     string          // of the node, as in http://127.0.0.1:8332

	User, Password string // either these
	CookieFile     string // or Core's .cookie file, read again when the node refuses what it held
	CertFile       string // PEM file with the certificate to accept, as in btcd's rpc.cert; "" means the system's rules

	HTTP            *http.Client  // nil means one with CertFile's rules; then CertFile must be ""
	Timeout         time.Duration // of one HTTP request; 0 means 10 s
	ScanTimeout     time.Duration // of Core's scan for the outputs of an address; 0 means 5 minutes
	Attempts        int           // in all, at a request that the node does not answer; 0 means 3
	RetryDelay      time.Duration // before the second attempt, doubled before each further one; 0 means 250 ms
	Concurrency     int           // requests at once; 0 means 4
	MempoolAge      time.Duration // how old the whole mempool may be, which fee standings are computed from; 0 means 2 s, negative: always asked
	FallbackFeeRate float64       // sat/vB when the node has no estimate; 0 means its minimum on regtest and an error elsewhere
}

// Client is a [bitcoin.Backend]. The first call asks the node once which one it
// is; otherwise the number of requests stands with each method. Make one with [New].
type Client struct {
	o       Options
	genesis bitcoin.Hash
	http    *http.Client
	owned   bool
	slots   chan struct{}

	flight  flight.Group
	mempool recent.Value[map[bitcoin.Hash]poolTx]
	headers *lru.Cache[bitcoin.Hash, bitcoin.Header] // height included
	txids   *lru.Cache[bitcoin.Hash, []bitcoin.Hash] // of blocks
	scan    chan struct{}                            // holds one: Core does one scan at a time

	mu     sync.Mutex
	node   *node  // nil until it was asked
	secret string // the cookie, "user:password"
}

var _ bitcoin.Backend = (*Client)(nil)

// New returns a client. It sends nothing, but reads CertFile.
func New(o Options) (*Client, error) {
	if !o.Network.Valid() {
		return nil, fault.Invalid("network", "is not a known Bitcoin network")
	}
	u, err := url.Parse(o.URL)
	if err != nil || u.Host == "" || u.User != nil || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fault.Invalid("url", "must be an http or https URL without a user name: %.60q", o.URL)
	}
	if o.CookieFile != "" && (o.User != "" || o.Password != "") {
		return nil, fault.Invalid("cookieFile", "cannot be combined with a user and password")
	}
	if o.HTTP != nil && o.CertFile != "" {
		return nil, fault.Invalid("certFile", "cannot be combined with an HTTP client: configure the certificate in the client")
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
	if o.Concurrency <= 0 {
		o.Concurrency = 4
	}
	c := &Client{
		o:       o,
		genesis: genesis,
		slots:   make(chan struct{}, o.Concurrency),
		headers: lru.New[bitcoin.Hash, bitcoin.Header](4096),
		txids:   lru.New[bitcoin.Hash, []bitcoin.Hash](16),
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
	return c, nil
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

// Network returns the network of the options. No request.
func (c *Client) Network() bitcoin.Network { return c.o.Network }

// CheckNetwork compares the node's genesis block with that of the network. One
// request, none once it was right.
func (c *Client) CheckNetwork(ctx context.Context) error {
	_, err := c.learn(ctx)
	return err
}

// blamed makes an error that neither the caller nor the state of the chain can
// be the reason of one of the node: it answered, but not with what was asked for.
func (c *Client) blamed(ctx context.Context, err error) error {
	if err == nil || ctx.Err() != nil || errors.Is(err, bitcoin.ErrNotFound) {
		return err
	}
	_, coded := errors.AsType[*fault.Error](err)
	_, rejected := errors.AsType[*bitcoin.RejectedError](err)
	if coded || rejected {
		return err
	}
	return fault.New(fault.Upstream, "Bitcoin node %s: %w", c.o.URL, err)
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
