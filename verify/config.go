package verify

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/chains/bitcoin/mempoolspace"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/address"
	"github.com/swapper-go/swapper/internal/bounds"
	"github.com/swapper-go/swapper/internal/chainio"
	"github.com/swapper-go/swapper/internal/httpx"
	"github.com/swapper-go/swapper/internal/lnurl"
	"github.com/swapper-go/swapper/internal/tokenlist"
	"github.com/swapper-go/swapper/price"
	"github.com/swapper-go/swapper/storage"
	"github.com/swapper-go/swapper/tokens"
)

// Store is the part of [storage.Store] that is used, under the same contract.
type Store interface {
	Get(ctx context.Context, id string) (storage.Entry, error)
	Create(ctx context.Context, e storage.Entry) error
	Update(ctx context.Context, e storage.Entry) error
	Note(ctx context.Context, name string) (data []byte, version uint64, err error)
	SetNote(ctx context.Context, name string, data []byte, version uint64) error
}

// Config says what the service's answers are compared with. Store and Chains are
// required; every other field that is zero takes its default. Nothing in it may be the
// service's.
type Config struct {
	Network bitcoin.Network  // the zero value is mainnet
	Chains  []chains.Factory // with the wallet's own nodes, as in [swapper.Config]
	// Store keeps what was agreed on, one small entry for each swap. The caller closes it. A
	// wallet that lives no longer than its swaps takes a [storage.Memory].
	Store   Store
	Bitcoin bitcoin.Backend // nil: mempool.space's servers; regtest has none
	// NoBitcoin is for a wallet without any Bitcoin backend. Swaps from Bitcoin and the balances
	// of its addresses are refused then, because nothing shows what happens on Bitcoin. Swaps to
	// Bitcoin need none: the smart chain shows their end.
	NoBitcoin bool
	Prices    price.Source // nil: the median of public services, see [price.Market]
	// Policy bounds prices and fees as in [swapper.Config], and its zero value is as safe.
	// AnyFee and AnyNode change nothing here: a service announces no fees.
	Policy swapper.Policy
	// MaxTrustedSats allows swaps of types TRUSTED_FROM_BTC and TRUSTED_FROM_BTCLN, for a chain's
	// native token, of up to so many sats each. No contract secures them: the provider can keep
	// the payment, and everything but the amounts is the service's word. 0: they are refused.
	MaxTrustedSats int64
	LNURL          swapper.LNURLOptions // how services behind links are reached, as in [swapper.Config]
	HTTP           http.RoundTripper    // for the nodes of chains, as in [swapper.Config]
	Now            func() time.Time     // nil: time.Now
	Rand           io.Reader            // for secrets; nil: crypto/rand.Reader
}

// Wrap returns a service that verifies the answers of another. It sends no request: the
// chains are opened by the first operation that needs them. What it returns is safe for
// concurrent use if the service is, does nothing in the background, and implements
// [io.Closer], which closes the chains and not the service. Errors are a [fault.Error]
// with [fault.InvalidInput] that names the field.
func Wrap(service swapper.Service, c Config) (swapper.Service, error) {
	switch {
	case service == nil:
		return nil, fault.Invalid("service", "is required")
	case !c.Network.Valid():
		return nil, fault.Invalid("network", "is not a known Bitcoin network")
	case c.Store == nil:
		return nil, fault.Invalid("store", "is required")
	case c.MaxTrustedSats < 0:
		return nil, fault.Invalid("maxTrustedSats", "must not be negative")
	case len(c.Chains) == 0:
		return nil, fault.Invalid("chains", "must have at least one chain")
	}
	if err := c.Policy.Validate(); err != nil {
		return nil, err
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Rand == nil {
		c.Rand = rand.Reader
	}
	if c.HTTP == nil {
		c.HTTP = httpx.Transport(8)
	}
	if c.Prices == nil {
		c.Prices = price.Market(price.Options{Client: &http.Client{Transport: c.HTTP}, Now: c.Now})
	}
	v := &verifier{service: service, config: c, turn: make(chan struct{}, 1),
		links: lnurl.New(lnurl.Config{Network: c.Network, OnionProxy: c.LNURL.OnionProxy, AllowLocal: c.LNURL.AllowLocal, Transport: c.LNURL.Transport, Now: c.Now})}
	switch {
	case c.NoBitcoin && c.Bitcoin != nil:
		return nil, fault.Invalid("noBitcoin", "cannot be set beside a Bitcoin backend")
	case c.NoBitcoin:
	case c.Bitcoin == nil:
		if mempoolspace.DefaultURLs(c.Network) == nil {
			return nil, fault.Invalid("bitcoin", "is required on %s, which has no public Bitcoin backend", c.Network)
		}
		b, err := mempoolspace.New(mempoolspace.Options{Network: c.Network, HTTP: &http.Client{Transport: c.HTTP}})
		if err != nil {
			return nil, fault.Invalid("bitcoin", "%w", err)
		}
		v.config.Bitcoin = b
		v.ours, _ = any(b).(io.Closer)
	case c.Bitcoin.Network() != c.Network:
		return nil, fault.Invalid("bitcoin", "the backend serves %s, but the configured network is %s", c.Bitcoin.Network(), c.Network)
	}
	return v, nil
}

// verifier is the service that Wrap returns.
type verifier struct {
	service swapper.Service
	config  Config
	links   *lnurl.Client
	ours    io.Closer // the Bitcoin backend that was made here; nil for none
	end     sync.Once

	turn   chan struct{} // held by who opens or closes the chains
	opened *opened
	closed bool
}

// opened are the chains once all of them are open.
type opened struct {
	byID   map[string]chains.Chain
	tokens *tokenlist.Registry
	parser *address.Parser
	reader *chainio.Reader // builds and checks transactions as for a service's own users
}

// reaches reports by an error that the wallet has no nodes of its own for a swap.
func (v *verifier) reaches(o *opened, t terms) error {
	if id := t.smart().Chain; o.byID[id] == nil {
		return fault.New(fault.Unsupported, "the swap is on %s, which is not configured", id)
	}
	return v.reachesFrom(t.Src)
}

// reachesFrom reports likewise of payments in a token.
func (v *verifier) reachesFrom(paid tokens.Token) error {
	if v.config.NoBitcoin && paid == tokens.BTC() {
		return fault.New(fault.Unsupported, "nothing that happens on Bitcoin can be verified: the wallet has no Bitcoin backend of its own (verify.Config.Bitcoin)")
	}
	return nil
}

// chains opens the chains unless they are open. A failure is not kept: the next
// operation tries again.
func (v *verifier) chains(ctx context.Context) (*opened, error) {
	select {
	case v.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { <-v.turn }()
	if v.closed {
		return nil, swapper.ErrClosed
	}
	if v.opened != nil {
		return v.opened, nil
	}
	all := make([]chains.Chain, len(v.config.Chains))
	g, gctx := errgroup.WithContext(ctx)
	for i, f := range v.config.Chains {
		g.Go(func() (err error) {
			all[i], err = f.Open(gctx, chains.Env{Network: v.config.Network, Bitcoin: v.config.Bitcoin, Now: v.config.Now, Rand: v.config.Rand,
				HTTP: v.config.HTTP, Log: slog.New(slog.DiscardHandler), Notes: bounds.NotesOf(v.config.Store, "verify/chain/"+f.ID()+"/")})
			return err
		})
	}
	err := g.Wait()
	o := &opened{byID: map[string]chains.Chain{}}
	var lists []tokenlist.Chain
	var forms []address.Chain
	for _, ch := range all {
		if ch != nil {
			info := ch.Info()
			o.byID[info.ID] = ch
			lists = append(lists, tokenlist.Chain{ID: info.ID, Tokens: info.Tokens, TokenAddress: ch.TokenAddress})
			forms = append(forms, addressForm{ch})
		}
	}
	if err == nil {
		o.tokens, err = tokenlist.New(lists...)
	}
	if err == nil {
		o.parser, err = address.New(address.Config{Network: v.config.Network, Chains: forms})
	}
	if err != nil {
		return nil, errors.Join(err, closeAll(all))
	}
	o.reader = chainio.New(o.byID, v.config.Bitcoin, nil)
	o.reader.MaxMinerFeePPM = v.config.Policy.MaxMinerFeePPM
	v.opened = o
	return o, nil
}

// addressForm is how a chain writes addresses.
type addressForm struct{ chains.Chain }

func (f addressForm) ID() string { return f.Info().ID }

func closeAll(all []chains.Chain) (err error) {
	for _, ch := range all {
		if c, ok := ch.(io.Closer); ok {
			err = errors.Join(err, c.Close())
		}
	}
	return err
}

// Close implements [io.Closer]. Later operations return [swapper.ErrClosed].
func (v *verifier) Close() (err error) {
	v.end.Do(func() {
		v.turn <- struct{}{}
		defer func() { <-v.turn }()
		v.closed = true
		if v.opened != nil {
			v.opened.reader.Close()
			err = closeAll(slices.Collect(maps.Values(v.opened.byID)))
		}
		if v.ours != nil {
			err = errors.Join(err, v.ours.Close())
		}
	})
	return err
}
