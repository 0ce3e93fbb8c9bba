//go:build js

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/big"
	"net/http"
	"strings"
	"syscall/js"
	"time"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/chains/bitcoin/mempoolspace"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/httpapi"
	"github.com/swapper-go/swapper/price"
	"github.com/swapper-go/swapper/tokens"
	"github.com/swapper-go/swapper/verify"
)

// config is the configuration as index.d.ts describes it, without the page's functions.
type config struct {
	Service        string                     `json:"service"` // base URL
	Network        string                     `json:"network"` // Bitcoin's, as in testnet4; "": mainnet
	Headers        map[string]string          `json:"headers"` // of requests to the service
	Chains         map[string]json.RawMessage `json:"chains"`
	Bitcoin        []string                   `json:"bitcoin"` // base URLs of mempool.space's API; none: its public servers
	NoBitcoin      bool                       `json:"noBitcoin"`
	MaxTrustedSats int64                      `json:"maxTrustedSats"`
	Policy         struct {
		TolerancePPM     int64 `json:"tolerancePPM"`
		MaxFeePPM        int64 `json:"maxFeePPM"`
		MaxWatchtowerPPM int64 `json:"maxWatchtowerPPM"`
	} `json:"policy"`
	LNURL struct {
		AllowLocal bool `json:"allowLocal"`
	} `json:"lnurl"`
}

// families read the entry of a chain, by its identifier; each file of a family that is
// compiled in adds to it.
var families = map[string]func(network bitcoin.Network, path string, text json.RawMessage) (chains.Factory, error){}

// chain is what the entry of every chain has beside its network.
type chain struct {
	RPC    []string       `json:"rpc"`
	Tokens []tokens.Token `json:"tokens"`
}

// wrap makes the service that verifies.
func wrap(text string, page js.Value) (swapper.Service, error) {
	var c config
	if err := strictly("", []byte(text), &c); err != nil {
		return nil, err
	}
	if c.Network == "" {
		c.Network = bitcoin.Mainnet.String()
	}
	network, err := bitcoin.ParseNetwork(c.Network)
	if err != nil {
		return nil, fault.Invalid("network", "%w", err)
	}
	fetch := fetcher{page.Get("fetch")}
	client := &http.Client{Transport: fetch}
	header := http.Header{}
	for name, value := range c.Headers {
		header.Set(name, value)
	}
	remote, err := httpapi.NewClient(c.Service, httpapi.ClientOptions{HTTP: client, Header: header})
	if err != nil {
		return nil, fault.At("service", err)
	}
	own := verify.Config{Network: network, Store: &store{page: page}, HTTP: fetch, NoBitcoin: c.NoBitcoin, MaxTrustedSats: c.MaxTrustedSats,
		LNURL:  swapper.LNURLOptions{Transport: fetch, AllowLocal: c.LNURL.AllowLocal},
		Policy: swapper.Policy{TolerancePPM: c.Policy.TolerancePPM, MaxFeePPM: c.Policy.MaxFeePPM, MaxWatchtowerPPM: c.Policy.MaxWatchtowerPPM}}
	for id, entry := range c.Chains {
		path := "chains." + id
		open, ok := families[id]
		if !ok {
			return nil, fault.Invalid(path, "%s is not a chain of this build", id)
		}
		f, err := open(network, path, entry)
		if err != nil {
			return nil, fault.At(path, err)
		}
		own.Chains = append(own.Chains, f)
	}
	if c.Bitcoin != nil {
		if own.Bitcoin, err = mempoolspace.New(mempoolspace.Options{Network: network, URLs: c.Bitcoin, HTTP: client}); err != nil {
			return nil, fault.At("bitcoin", err)
		}
	}
	if p := page.Get("prices"); p.Type() == js.TypeFunction {
		own.Prices = prices{p}
	}
	if now := page.Get("now"); now.Type() == js.TypeFunction {
		own.Now = func() time.Time { return time.UnixMilli(int64(now.Invoke().Float())) }
	}
	return verify.Wrap(given{remote}, own)
}

// prices are the wallet's own, by its function.
type prices struct{ of js.Value }

func (p prices) Name() string { return "the wallet's own" }

func (p prices) Price(ctx context.Context, t tokens.Token) (*big.Int, error) {
	v, err := call(ctx, p.of, t.ID())
	switch {
	case err != nil:
		return nil, fault.New(fault.Upstream, "the wallet's price of %s: %w", t.ID(), err)
	case v.IsNull() || v.IsUndefined():
		return nil, fmt.Errorf("%w: %s", price.ErrUnknownToken, t.ID())
	}
	text := js.Global().Get("String").Invoke(v).String()
	n, ok := new(big.Int).SetString(text, 10)
	if !ok || n.Sign() <= 0 {
		return nil, fault.New(fault.Upstream, "the wallet's price of %s is %q, must be a whole number of micro-sats above 0", t.ID(), text)
	}
	return n, nil
}

// USDPerSat implements [price.Source]; it is only displayed, and not here.
func (p prices) USDPerSat(context.Context) (float64, error) {
	return 0, fault.New(fault.Unsupported, "the wallet's own prices are not in US dollars")
}

// givenKey is where a context has the service's answer that the wallet already has.
type givenKey struct{}

// given answers with what the wallet already has of the service, and asks the service else.
type given struct{ swapper.Service }

func (g given) CreateSwap(ctx context.Context, in swapper.CreateSwapInput) (*swapper.CreateSwapOutput, error) {
	if text, ok := ctx.Value(givenKey{}).(string); ok {
		return readGiven[swapper.CreateSwapOutput](text)
	}
	return g.Service.CreateSwap(ctx, in)
}

func (g given) CreateGasSwap(ctx context.Context, in swapper.CreateGasSwapInput) (*swapper.CreateSwapOutput, error) {
	if text, ok := ctx.Value(givenKey{}).(string); ok {
		return readGiven[swapper.CreateSwapOutput](text)
	}
	return g.Service.CreateGasSwap(ctx, in)
}

// GetSwapStatus asks the service if it has to hear a secret, whatever is given.
func (g given) GetSwapStatus(ctx context.Context, in swapper.GetSwapStatusInput) (*swapper.GetSwapStatusOutput, error) {
	if text, ok := ctx.Value(givenKey{}).(string); ok && in.Secret == "" {
		return readGiven[swapper.GetSwapStatusOutput](text)
	}
	return g.Service.GetSwapStatus(ctx, in)
}

func readGiven[T any](text string) (*T, error) {
	out := new(T)
	if err := json.NewDecoder(strings.NewReader(text)).Decode(out); err != nil {
		return nil, fault.New(fault.Upstream, "the service's answer could not be decoded: %w", err)
	}
	return out, nil
}
