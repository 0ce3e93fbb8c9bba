package solana

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/async"
	"github.com/swapper-go/swapper/internal/bounds"
	"github.com/swapper-go/swapper/internal/settle"
	"github.com/swapper-go/swapper/internal/solana/read"
	"github.com/swapper-go/swapper/internal/solana/rpc"
	"github.com/swapper-go/swapper/internal/solana/wire"
	"github.com/swapper-go/swapper/internal/subscribe"
	"github.com/swapper-go/swapper/tokens"
)

// Options configures the chain.
type Options struct {
	RPC []string // JSON-RPC URLs, http or https, in order of preference; required

	// WebSocket are ws or wss URLs of nodes that tell of new slots and logs. Each is listened
	// to. What they say is asked of the nodes of RPC before anything is done, so that they
	// need not be trusted; while one of them responds, events are asked for once a minute and
	// after each of its messages, instead of every five seconds.
	WebSocket []string

	// Version is the version of the swap program that new swaps use: v1 if it is
	// empty, the network's default with a Network. All deployed versions are served.
	Version string
	// Network replaces the preset: other programs, or a cluster of your own.
	Network *Network
	// Tokens replaces the built-in tokens. One must be SOL, by the address of its
	// wrapped form.
	Tokens []tokens.Token
}

// Mainnet returns a factory for Solana's main cluster, which goes with Bitcoin's main
// network.
func Mainnet(o Options) chains.Factory { return factory{o, wire.MainnetBeta} }

// Devnet returns a factory for Solana's devnet, which goes with Bitcoin's testnets.
func Devnet(o Options) chains.Factory { return factory{o, wire.Devnet} }

// Custom returns a factory for the cluster that o.Network describes.
func Custom(o Options) chains.Factory { return factory{o, ""} }

type factory struct {
	o       Options
	cluster wire.Cluster // "": that of o.Network
}

func (f factory) ID() string { return ChainID }

// network returns the network that is to be opened.
func (f factory) network(on bitcoin.Network) (Network, error) {
	var n Network
	if f.o.Network != nil {
		n = *f.o.Network
		if n.Bitcoin != on {
			return Network{}, fault.Invalid("network", "%s is configured for Bitcoin %s instead of %s", ChainID, n.Bitcoin, on)
		}
	} else {
		w, ok := wire.NetworkFor(on)
		switch {
		case f.cluster == "":
			return Network{}, fault.Invalid("network", "is required for a cluster that has no preset")
		case !ok || w.Cluster != f.cluster:
			return Network{}, fault.New(fault.Unsupported, "no swap programs are known on Solana's %s for Bitcoin's %s", f.cluster, on)
		}
		n = described(w.Bitcoin, w.Cluster, w.Programs)
	}
	if err := n.Validate(); err != nil || f.o.Version == "" {
		return n, err
	}
	return n.preferring(f.o.Version)
}

// Open implements [chains.Factory]. It takes one round trip, which checks the genesis
// hash and whether the programs are there. Nodes that do not answer now are checked
// with the first request that they answer.
func (f factory) Open(ctx context.Context, env chains.Env) (chains.Chain, error) {
	n, err := f.network(env.Network)
	if err != nil {
		return nil, err
	}
	programs, err := n.programs()
	if err != nil {
		return nil, err
	}
	known, native, err := settle.Tokens(ChainID, f.o.Tokens, func(at string) bool { return at == wire.WSOL.String() }, "the address of wrapped SOL, "+wire.WSOL.String())
	if err != nil {
		return nil, err
	}
	check := func(hash string) error { return wire.CheckGenesis(n.Genesis, hash) }
	nodes, err := rpc.Dial(check, f.o.RPC, env.HTTP, env.Now)
	if err != nil {
		return nil, err
	}
	c := &chain{net: n, node: nodes, nodes: nodes, most: len(f.o.RPC)/2 + 1, env: env, tokens: known, native: native,
		ledger: read.NewLedger(nodes, env.Now, env.Log), hashes: newHashes(), signed: bounds.NewCache[uint64, rpc.Block](1024), eventPoll: eventPoll}
	for _, p := range programs {
		r := read.New(p, c.ledger)
		c.contracts, c.readers = append(c.contracts, &contract{chain: c, Programs: p, reader: r}), append(c.readers, r)
	}
	programsOf := make([]wire.Key, len(c.contracts))
	for i, k := range c.contracts {
		programsOf[i] = k.Swap
	}
	if c.subscribed, err = rpc.Subscribe(check, f.o.WebSocket, programsOf, func() (uint64, bool) { return c.latest.get(env.Now()) }, env.HTTP, env.Log); err == nil {
		err = c.greet(ctx)
	}
	if err != nil {
		nodes.Close()
		return nil, fmt.Errorf("open %s: %w", ChainID, err)
	}
	return c, nil
}

// greet asks the nodes once, see [rpc.Nodes.Greet], and demands that the programs are there.
func (c *chain) greet(ctx context.Context) error {
	var keys []wire.Key
	for _, k := range c.contracts {
		keys = append(keys, k.Swap, k.Relay)
	}
	var p present
	requests, gather := rpc.AccountsRequests(keys, rpc.Confirmed)
	requests = append(requests, p.requests()...)
	if answered, err := c.nodes.Greet(ctx, requests, c.env.Log); !answered {
		return err
	}
	for _, r := range requests {
		if r.Err != nil {
			c.env.Log.Warn("chain opened although its nodes are not responding", "err", r.Err)
			return nil
		}
	}
	c.noteHashes(&p)
	for i, a := range gather().All {
		if a == nil || !a.Executable {
			return fault.Invalid("deployments", "names %s, which is not an executable program on this cluster", keys[i])
		}
	}
	return nil
}

// chain is a [chains.Chain].
type chain struct {
	net        Network
	node       rpc.Node
	nodes      *rpc.Nodes
	most       int // answers of so many nodes are most of them
	env        chains.Env
	tokens     []tokens.Token
	native     tokens.Token
	ledger     *read.Ledger
	contracts  []*contract
	readers    []*read.Reader   // theirs
	subscribed *subscribe.Nodes // nil: to none
	eventPoll  time.Duration    // how often new events are asked for
	hashes     *hashes
	latest     latest
	signed     *bounds.Cache[uint64, rpc.Block] // whose hashes LPs have signed, by slot

	mu       sync.Mutex
	price    uint64 // of a compute unit, in micro-lamports, as it was estimated last
	pricedAt time.Time
	pricing  async.Group // the estimate under way
	warned   time.Time   // when the clocks were last said to differ
}

var (
	_ chains.Chain           = (*chain)(nil)
	_ chains.RandomAddresser = (*chain)(nil)
	_ chains.Payouts         = (*chain)(nil)
	_ chains.Contradictions  = (*chain)(nil)
	_ chains.Subscriptions   = (*chain)(nil)
)

// Close ends the connections.
func (c *chain) Close() error { c.nodes.Close(); return nil }

// Subscriptions implements [chains.Subscriptions].
func (c *chain) Subscriptions() []bitcoin.Subscription { return c.subscribed.States() }

// Heard implements [chains.Subscriptions].
func (c *chain) Heard() uint64 { return c.subscribed.Quiet() }

// Contradictions implements [chains.Contradictions].
func (c *chain) Contradictions() []uint64 { return c.nodes.Contradictions() }

func (c *chain) Info() chains.Info {
	info := chains.Info{ID: ChainID, Tokens: c.tokens, Native: c.native, Default: c.contracts[0].Version(), GasDropNative: true}
	for _, k := range c.contracts {
		info.Versions = append(info.Versions, chains.Version{Name: k.Version(), LPInit: k.LPInit(), Streams: true})
		info.Contracts = append(info.Contracts, k.Swap.String(), k.Relay.String())
	}
	return info
}

func (c *chain) Address(s string) (string, error) {
	a, err := wire.Address(s)
	if err != nil {
		return "", fault.Invalid("", "%w", err)
	}
	return a, nil
}

func (c *chain) TokenAddress(s string) (string, error) {
	a, err := wire.TokenAddress(s)
	if err != nil {
		return "", fault.Invalid("", "%w", err)
	}
	return a, nil
}

// RandomAddress implements [chains.RandomAddresser]: a point of the curve that was
// drawn without a secret key.
func (c *chain) RandomAddress(rand io.Reader) (string, error) {
	for {
		var k wire.Key
		if _, err := io.ReadFull(rand, k[:]); err != nil {
			return "", err
		}
		if wire.OnCurve(k) {
			return c.Address(k.String())
		}
	}
}

func (c *chain) Contract(version string) (chains.Contract, bool) {
	version = cmp.Or(version, defaultVersion)
	i := slices.IndexFunc(c.contracts, func(k *contract) bool { return k.Version() == version })
	if i < 0 {
		return nil, false
	}
	return c.contracts[i], true
}

// VerifyData takes no round trip.
func (c *chain) VerifyData(_ context.Context, signer string, data []byte, signature string) error {
	key, err := wire.ParseKey(signer)
	if err != nil {
		return &chains.AuthError{Reason: "invalid address", Err: err}
	}
	return wire.VerifyData(key, data, signature)
}
