package swapper

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/address"
	"github.com/swapper-go/swapper/internal/bounds"
	"github.com/swapper-go/swapper/internal/btc/single"
	"github.com/swapper-go/swapper/internal/chainio"
	"github.com/swapper-go/swapper/internal/engine"
	"github.com/swapper-go/swapper/internal/fleet"
	"github.com/swapper-go/swapper/internal/lnurl"
	"github.com/swapper-go/swapper/internal/lp/discovery"
	"github.com/swapper-go/swapper/internal/lp/lphttp"
	"github.com/swapper-go/swapper/internal/lp/verify"
	"github.com/swapper-go/swapper/internal/quote"
	"github.com/swapper-go/swapper/internal/swap"
	"github.com/swapper-go/swapper/internal/tokenlist"
	"github.com/swapper-go/swapper/storage"
)

// Client creates and tracks swaps. Open one per store and process; its methods are safe
// for concurrent use. Operations work without [Client.Run], which adds the
// background work: following swaps, listening to the chains, deleting old
// quotes. Clients of several processes on one store, which must then be a
// [storage.Leaser], share that work, and take it over from one that dies.
type Client struct {
	config   Config
	chains   []chains.Chain // in the caller's order
	byID     map[string]chains.Chain
	registry *tokenlist.Registry
	parser   *address.Parser
	lnurl    *lnurl.Client
	lps      *lphttp.Client
	offers   *discovery.Directory
	reader   *chainio.Reader
	engine   *engine.Engine
	fleet    *fleet.Fleet // nil: the store is this process's alone
	quoter   *quote.Quoter
	worths   worths
	ours     []io.Closer // opened here, so closed here
	stored   storeReady

	life    life
	running atomic.Bool // a Run
	closed  sync.Once
}

var _ Service = (*Client)(nil)

// Open connects to the chains and returns a client. It takes as long as the
// slowest chain. A chain whose nodes are not responding is opened all the same:
// its swaps pause, [Client.Ready] names it, and it catches up when a node is
// back. Open fails if a chain does not match its configuration, because a node
// serves another network or the contracts are not there: a client that silently
// lacked a chain would strand its swaps.
func Open(ctx context.Context, c Config) (*Client, error) {
	ownBackend, ownMessenger := c.Bitcoin == nil, c.Messenger == nil
	c, err := c.fill()
	if err != nil {
		return nil, fmt.Errorf("configuration: %w", err)
	}
	client := &Client{config: c, byID: map[string]chains.Chain{}, stored: storeReady{ask: make(chan struct{}, 1)}, lnurl: c.LNURL.client(c.Network, c.Now)}
	if closer, ok := c.Bitcoin.(io.Closer); ok && ownBackend {
		client.ours = append(client.ours, closer)
	}
	if closer, ok := c.Messenger.(io.Closer); ok && ownMessenger {
		client.ours = append(client.ours, closer)
	}
	if err := client.open(ctx); err != nil {
		return nil, errors.Join(err, client.Close())
	}
	return client, nil
}

// openChains opens the chains beside each other; those that were opened are the client's, even if
// one could not be.
func (c *Client) openChains(ctx context.Context) error {
	opened := make([]chains.Chain, len(c.config.Chains))
	g, gctx := errgroup.WithContext(ctx)
	for i, f := range c.config.Chains {
		g.Go(func() (err error) {
			if opened[i], err = f.Open(gctx, c.env(f.ID())); err != nil {
				return fmt.Errorf("chain %s: %w", f.ID(), err)
			}
			return nil
		})
	}
	err := g.Wait()
	for _, ch := range opened {
		if ch == nil {
			continue
		}
		c.chains = append(c.chains, ch)
		if closer, ok := ch.(io.Closer); ok {
			c.ours = append(c.ours, closer)
		}
	}
	return err
}

func (c *Client) open(ctx context.Context) error {
	err := c.openChains(ctx)
	if err != nil {
		return err
	}
	var lists []tokenlist.Chain
	var forms []address.Chain
	for _, ch := range c.chains {
		info := ch.Info()
		if c.byID[info.ID] != nil {
			return fault.Invalid("chains", "%s is configured twice", info.ID)
		}
		c.byID[info.ID] = ch
		if hasOneNode(ch) {
			c.config.Logger.Warn("the chain has one node, whose lie can cost the whole amount of a swap: configure several, of different operators", "chain", info.ID)
		}
		lists = append(lists, tokenlist.Chain{ID: info.ID, Tokens: info.Tokens, TokenAddress: ch.TokenAddress})
		forms = append(forms, addressForm{ch})
	}
	if c.registry, err = tokenlist.New(lists...); err != nil {
		return err
	}
	if c.parser, err = address.New(address.Config{Network: c.config.Network, Chains: forms, LNURL: c.lnurl}); err != nil {
		return err
	}
	auth, err := c.config.LPs.auth()
	if err != nil {
		return err
	}
	c.lps = lphttp.NewClient(lphttp.Options{Transport: c.config.LPs.Transport, AllowHTTP: c.config.LPs.AllowHTTP, AllowLocal: c.config.LPs.AllowLocal, Auth: auth, Now: c.config.Now, Rand: c.config.Rand,
		Heard: func(url string) { c.engine.Heard(url) }})
	verifiers := make([]discovery.Chain, len(c.chains))
	for i, ch := range c.chains {
		verifiers[i] = ch
	}
	c.offers = discovery.NewDirectory(discovery.Setup{Client: c.lps, Chains: verifiers, Tokens: c.registry, URLs: c.config.LPs.URLs, Registry: c.config.LPs.Registry,
		Notes: bounds.NotesOf(c.config.Store, "lp/"), Now: c.config.Now, Log: c.config.Logger})
	leaser, shared := c.config.Store.(storage.Leaser)
	c.fleet = fleet.New(fleet.Options{Leaser: leaser, Log: c.config.Logger})
	c.reader = chainio.New(c.byID, c.config.Bitcoin, c.lps)
	c.reader.MaxMinerFeePPM = c.config.Policy.MaxMinerFeePPM
	if _, err := single.Index(c.config.Bitcoin); err != nil {
		c.config.Logger.Warn("swaps that are paid to an address on Bitcoin are refused", "types", []SwapType{SwapFromBTC, SwapTrustedFromBTC}, "error", err)
	}
	if _, ok := c.config.Bitcoin.(bitcoin.MempoolReader); !ok {
		c.config.Logger.Warn("fees of unconfirmed parents are not made up for, and waits for a first confirmation not estimated: the Bitcoin backend does not know the mempool (bitcoin.MempoolReader)")
	}
	flows := swap.Flows()
	if c.config.Claimer != nil {
		swap.Claimed(flows)
	}
	var fresh time.Duration
	if c.config.Network == bitcoin.Regtest {
		fresh = engine.LocalFresh
	}
	c.engine = engine.New(engine.Config{
		Fresh: fresh, Store: c.config.Store, Reader: c.reader, Now: c.config.Now, Log: c.config.Logger, KeepExpired: c.config.KeepExpired, LPAt: c.offers.At, Punish: c.offers.Punish, Probe: c.lps.Probe,
		Executor: &chainio.Executor{Chains: c.byID, LPs: c.lps, LNURL: c.lnurl, Bitcoin: c.config.Bitcoin, Messenger: c.config.Messenger, Claimer: c.config.Claimer},
		Flows:    flows,
		Fleet:    c.fleet,
	})
	c.quoter = &quote.Quoter{Engine: c.engine, Reader: c.reader, Offers: c.offers, LPs: c.lps, Prices: c.config.Prices, LNURL: c.lnurl, Graph: c.config.Graph,
		Policy: verify.Policy(c.config.Policy), Rand: c.config.Rand}
	return c.remember(ctx, shared)
}

// remember reads which providers are in the penalty box, and keeps that up to date until the
// client is closed. Without the store's answer it begins with nothing, and is tried again.
func (c *Client) remember(ctx context.Context, shared bool) error {
	if err := c.offers.Recall(ctx); err != nil {
		if ctx.Err() != nil {
			return err
		}
		c.config.Logger.Warn("reading what is stored of liquidity providers failed", "err", err)
	}
	ctx, end, err := c.life.begin(context.WithoutCancel(ctx))
	if err != nil {
		return err
	}
	go func() {
		defer end(new(error))
		c.offers.Keep(ctx, shared)
	}()
	return nil
}

func (c *Client) env(id string) chains.Env {
	return chains.Env{
		Network: c.config.Network, Bitcoin: c.config.Bitcoin, Now: c.config.Now, Rand: c.config.Rand, HTTP: c.config.HTTP,
		Log: c.config.Logger.With("chain", id), AllNodes: c.config.AllNodes, Notes: bounds.NotesOf(c.config.Store, "chain/"+id+"/"),
	}
}

// addressForm is a chain as the address parser asks for it.
type addressForm struct{ chains.Chain }

func (f addressForm) ID() string { return f.Info().ID }

// Close interrupts everything in progress, Run included, and waits for it to
// end, except for deliveries of Subscribe, which may call Close themselves.
// Interrupted and later calls return [ErrClosed]. Nothing is lost: interrupted
// work resumes when a client is opened on the same store. The store stays open.
func (c *Client) Close() error {
	var err error
	c.closed.Do(func() {
		c.life.close()
		if c.engine != nil {
			c.engine.Close()
			c.reader.Close()
		}
		for _, closer := range c.ours {
			err = errors.Join(err, closer.Close())
		}
	})
	return err
}

// Run does the background work until ctx ends, and returns its cause: it
// follows every swap that is not settled, listens to the chains, and deletes
// quotes that expired unused. A failure of one chain or swap is logged and
// retried; it does not end Run. Only one Run of a client may be active at a time:
// another is refused with [fault.InvalidState].
func (c *Client) Run(ctx context.Context) (err error) {
	ctx, end, err := c.life.begin(ctx)
	if err != nil {
		return err
	}
	defer end(&err)
	if !c.running.CompareAndSwap(false, true) {
		return fault.New(fault.InvalidState, "Run is active already; a client has one at a time")
	}
	defer c.running.Store(false)
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return c.fleet.Run(ctx) })
	g.Go(func() error { return c.engine.Run(ctx) })
	g.Go(func() error { return c.reload(ctx) })
	if b, ok := c.config.Bitcoin.(bitcoin.Listener); ok {
		g.Go(func() error { return c.follow(ctx, b) })
	}
	for _, ch := range c.chains {
		g.Go(func() error {
			c.fleet.Job(ctx, "events/"+ch.Info().ID, func(ctx context.Context) { c.listen(ctx, ch) })
			return ctx.Err()
		})
	}
	return g.Wait()
}

// reloadEvery is how often the liquidity providers are looked at anew (protocol:
// swap-flows-escrow.md §11).
const reloadEvery = 300 * time.Second

func (c *Client) reload(ctx context.Context) error {
	for {
		if err := c.offers.Reload(ctx); err != nil && ctx.Err() == nil {
			c.config.Logger.Warn("loading the liquidity providers failed", "err", err)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(reloadEvery):
		}
	}
}

// follow looks at the swaps whose Bitcoin transactions were confirmed. Each process does so for
// the transactions that it asked for.
func (c *Client) follow(ctx context.Context, b bitcoin.Listener) error {
	return b.Follow(ctx, func(confirmed []bitcoin.Hash) {
		hints := make([]chains.Hint, len(confirmed))
		for i, id := range confirmed {
			hints[i].BitcoinTx = id
		}
		for id := range c.byID {
			if err := c.engine.Look(ctx, id, hints...); err != nil && ctx.Err() == nil {
				c.config.Logger.Warn("checking swaps after a Bitcoin block failed", "chain", id, "err", err)
			}
		}
	})
}

// listen looks at the swaps that a chain's events are about. The place to
// continue from is stored only after that, so that an event may come twice, but
// is never lost. One process of those on a store does so.
func (c *Client) listen(ctx context.Context, ch chains.Chain) {
	id := ch.Info().ID
	log := c.config.Logger.With("chain", id)
	own := bounds.NotesOf(c.config.Store, "chain/"+id+"/")
	for {
		cursor, version, err := own.Note(ctx, "events")
		if err == nil {
			err = ch.Hints(ctx, cursor, func(hints []chains.Hint, next chains.Cursor) error {
				if err := c.engine.Look(ctx, id, hints...); err != nil {
					return err
				}
				if string(next) == string(cursor) {
					return nil
				}
				if err := own.SetNote(ctx, "events", next, version); err != nil {
					return err
				}
				cursor, version = next, version+1
				return nil
			})
		}
		if ctx.Err() != nil {
			return
		}
		log.Warn("chain event stream ended; restarting", "err", err)
		select {
		case <-ctx.Done():
			return
		case <-time.After(5 * time.Second):
		}
	}
}
