package evm

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math/big"
	"slices"
	"sync"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/async"
	"github.com/swapper-go/swapper/internal/bounds"
	"github.com/swapper-go/swapper/internal/evm/read"
	"github.com/swapper-go/swapper/internal/evm/rpc"
	"github.com/swapper-go/swapper/internal/evm/wire"
	"github.com/swapper-go/swapper/internal/settle"
	"github.com/swapper-go/swapper/internal/subscribe"
	"github.com/swapper-go/swapper/tokens"
)

// Options configures an EVM chain.
type Options struct {
	RPC []string // JSON-RPC URLs, http or https, in order of preference; required

	// WebSocket are ws or wss URLs of nodes that tell of new blocks and logs. Each is listened
	// to. What they say is asked of the nodes of RPC before anything is done, so that they
	// need not be trusted; while one of them responds, the contracts' logs are asked for once
	// a minute and after each of its messages, instead of every five seconds.
	WebSocket []string

	// Network replaces the preset. Set it for a chain that has no preset, or to
	// use another deployment of the same contracts.
	Network *Network
	// Tokens replaces the chain's built-in tokens. It is required for a chain that has no preset.
	Tokens []tokens.Token
}

// Citrea returns a factory for the chain CITREA.
func Citrea(o Options) chains.Factory { return factory{wire.ChainCitrea, o} }

// Botanix returns a factory for the chain BOTANIX.
func Botanix(o Options) chains.Factory { return factory{wire.ChainBotanix, o} }

// Alpen returns a factory for the chain ALPEN.
func Alpen(o Options) chains.Factory { return factory{wire.ChainAlpen, o} }

// Goat returns a factory for the chain GOAT.
func Goat(o Options) chains.Factory { return factory{wire.ChainGoat, o} }

// Custom returns a factory for the chain that o.Network and o.Tokens describe.
func Custom(o Options) chains.Factory {
	id := ""
	if o.Network != nil {
		id = o.Network.Chain
	}
	return factory{id, o}
}

type factory struct {
	id string
	o  Options
}

func (f factory) ID() string { return f.id }

// Open implements [chains.Factory]. It takes one round trip, which checks the
// chain id. Nodes that do not answer now are checked with the first request that
// they answer.
func (f factory) Open(ctx context.Context, env chains.Env) (chains.Chain, error) {
	n, err := f.network(env.Network)
	if err != nil {
		return nil, err
	}
	known, native, err := settle.Tokens(f.id, f.o.Tokens, func(at string) bool { return common.HexToAddress(at) == wire.Native }, "the zero address")
	if err != nil {
		return nil, err
	}
	node, err := rpc.Dial(n.ChainID, f.o.RPC, env.HTTP, env.Now)
	if err != nil {
		return nil, err
	}
	c := &chain{net: n, node: node, closeNode: node.Close, env: env, tokens: known, native: native, nonces: settle.NewSentTxs[*wire.Transaction](), gas: bounds.NewCache[gasKey, measured](4096), eventPoll: eventPoll}
	for _, d := range n.Deployments {
		c.contracts = append(c.contracts, &contracts{chain: c, Contracts: read.Contracts{Deployment: d}, memory: newMemory()})
	}
	if c.subscribed, err = rpc.Subscribe(n.ChainID, f.o.WebSocket, c.addresses(), env.HTTP, env.Now, env.Log); err == nil {
		err = c.greet(ctx, node)
	}
	if err != nil {
		node.Close()
		return nil, fmt.Errorf("open %s: %w", f.id, err)
	}
	return c, nil
}

// greet asks the nodes once: see [rpc.Nodes.Greet].
func (c *chain) greet(ctx context.Context, node *rpc.Nodes) error {
	var h headsRequest
	answered, err := node.Greet(ctx, h.requests(c.net), c.env.Log)
	if answered {
		c.noteHead(h.latest)
	}
	return err
}

func (f factory) network(on bitcoin.Network) (wire.Network, error) {
	if f.o.Network == nil {
		return wire.Preset(f.id, on)
	}
	n := f.o.Network.wire()
	if n.Bitcoin != on {
		return wire.Network{}, fault.Invalid("network", "%s is configured for Bitcoin %s instead of %s", f.id, n.Bitcoin, on)
	}
	return n, n.Validate()
}

// chain is a [chains.Chain].
type chain struct {
	net        wire.Network
	node       rpc.Node
	closeNode  func()
	env        chains.Env
	tokens     []tokens.Token
	native     tokens.Token
	contracts  []*contracts
	subscribed *subscribe.Nodes // nil: to none
	eventPoll  time.Duration    // how often new events are asked for
	ahead      settle.Ahead     // of the chain: the cursor of events
	nonces     *sentTxs
	gas        *bounds.Cache[gasKey, measured]
	latest     settle.Latest // block
	sharing    async.Group

	described sync.Once
	info      chains.Info
}

var (
	_ chains.Chain          = (*chain)(nil)
	_ chains.Contradictions = (*chain)(nil)
	_ chains.Subscriptions  = (*chain)(nil)
)

// Close ends the connections.
func (c *chain) Close() error { c.closeNode(); return nil }

// Subscriptions implements [chains.Subscriptions].
func (c *chain) Subscriptions() []bitcoin.Subscription { return c.subscribed.States() }

// Heard implements [chains.Subscriptions].
func (c *chain) Heard() uint64 { return c.subscribed.Quiet() }

// Contradictions implements [chains.Contradictions].
func (c *chain) Contradictions() []uint64 {
	if n, ok := c.node.(*rpc.Nodes); ok {
		return n.Contradictions()
	}
	return nil
}

func (c *chain) Info() chains.Info {
	c.described.Do(func() { c.info = c.describe() })
	info := c.info
	info.Versions, info.Contracts = slices.Clone(info.Versions), slices.Clone(info.Contracts)
	return info
}

func (c *chain) describe() chains.Info {
	info := chains.Info{ID: c.net.Chain, Tokens: c.tokens, Native: c.native, Default: c.contracts[0].Version()}
	for _, k := range c.contracts {
		info.Versions = append(info.Versions, chains.Version{Name: k.Version(), LPInit: true, Vaults: true})
	}
	for _, a := range c.net.Contracts() {
		info.Contracts = append(info.Contracts, a.Hex())
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

// RandomAddress implements [chains.RandomAddresser].
func (c *chain) RandomAddress(rand io.Reader) (string, error) {
	var a common.Address
	if _, err := io.ReadFull(rand, a[:]); err != nil {
		return "", err
	}
	return c.Address(a.Hex())
}

func (c *chain) TokenAddress(s string) (string, error) { return wire.TokenAddress(s) }

func (c *chain) CheckFeeRate(s string) error {
	_, err := wire.ParseFeeRate(s)
	return err
}

func (c *chain) Contract(version string) (chains.Contract, bool) {
	version = cmp.Or(version, wire.DefaultVersion)
	i := slices.IndexFunc(c.contracts, func(k *contracts) bool { return k.Version() == version })
	if i < 0 {
		return nil, false
	}
	return c.contracts[i], true
}

// VerifyData takes no round trip.
func (c *chain) VerifyData(_ context.Context, signer string, data []byte, signature string) error {
	who, err := account("signer", signer)
	if err != nil {
		return &chains.AuthError{Reason: "the signer is not a valid address", Err: err}
	}
	return c.net.VerifyData(who, data, signature)
}

// Balance takes one round trip.
func (c *chain) Balance(ctx context.Context, owner, token string) (*big.Int, error) {
	who, err := account("wallet", owner)
	if err != nil {
		return nil, err
	}
	of, err := coin("token", token)
	if err != nil {
		return nil, err
	}
	if of == wire.Native {
		var balance hexutil.Big
		if err := rpc.AskAll(ctx, c.node, []rpc.Request{{Method: "eth_getBalance", Params: []any{who, "latest"}, Result: &balance}}); err != nil {
			return nil, err
		}
		return balance.ToInt(), nil
	}
	data, err := wire.BalanceCall(who)
	if err != nil {
		return nil, err
	}
	var answer hexutil.Bytes
	if err := rpc.AskAll(ctx, c.node, []rpc.Request{rpc.CallRequest(of, data, "latest", &answer)}); err != nil {
		return nil, err
	}
	return wire.DecodeAmount(answer)
}
