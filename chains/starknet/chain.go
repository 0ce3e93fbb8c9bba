package starknet

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math/big"
	"slices"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/settle"
	"github.com/swapper-go/swapper/internal/starknet/read"
	"github.com/swapper-go/swapper/internal/starknet/rpc"
	"github.com/swapper-go/swapper/internal/starknet/wire"
	"github.com/swapper-go/swapper/internal/subscribe"
	"github.com/swapper-go/swapper/tokens"
)

// Options configures the chain.
type Options struct {
	RPC []string // JSON-RPC URLs, http or https, in order of preference; required

	// WebSocket are ws or wss URLs of nodes that tell of new blocks and events. Each is listened
	// to. What they say is asked of the nodes of RPC before anything is done, so that they
	// need not be trusted; while one of them responds, events are asked for once a minute and
	// after each of its messages, instead of every five seconds. They speak version 0.8
	// of the interface or a later one.
	WebSocket []string

	// Network replaces the preset: other contracts, or a network of your own.
	Network *Network
	// Tokens replaces the built-in tokens. One must be STRK, in which fees are paid.
	Tokens []tokens.Token
}

// Mainnet returns a factory for Starknet's main network, which goes with Bitcoin's.
func Mainnet(o Options) chains.Factory { return factory{o, wire.Mainnet} }

// Sepolia returns a factory for Starknet's test network, which goes with Bitcoin's
// testnets.
func Sepolia(o Options) chains.Factory { return factory{o, wire.Sepolia} }

// Custom returns a factory for the network that o.Network describes.
func Custom(o Options) chains.Factory { return factory{o, ""} }

type factory struct {
	o  Options
	on string // chain id; "": that of o.Network
}

func (f factory) ID() string { return ChainID }

// network returns the network that is to be opened.
func (f factory) network(on bitcoin.Network) (Network, error) {
	if f.o.Network != nil {
		n := *f.o.Network
		if n.Bitcoin != on {
			return Network{}, fault.Invalid("network", "%s is configured for Bitcoin %s instead of %s", ChainID, n.Bitcoin, on)
		}
		return n, nil
	}
	if f.on == "" {
		return Network{}, fault.Invalid("network", "is required for a network that has no preset")
	}
	n, err := Preset(on)
	if err == nil && n.ChainID != f.on {
		return Network{}, fault.New(fault.Unsupported, "no swap contracts are known on Starknet's %s for Bitcoin's %s", f.on, on)
	}
	return n, err
}

// Open implements [chains.Factory]. It takes one round trip, which checks the chain id
// and whether the contracts are there. Nodes that do not answer now are checked with the
// first request that they answer.
func (f factory) Open(ctx context.Context, env chains.Env) (chains.Chain, error) {
	n, err := f.network(env.Network)
	if err != nil {
		return nil, err
	}
	net, err := n.wire()
	if err != nil {
		return nil, err
	}
	known, native, err := settle.Tokens(ChainID, f.o.Tokens, func(at string) bool {
		felt, err := wire.ParseAddress(at)
		return err == nil && felt == wire.STRK
	}, "the address of STRK, "+wire.Hex64(wire.STRK))
	if err != nil {
		return nil, err
	}
	nodes, err := rpc.Dial(net.CheckChainID, f.o.RPC, env.HTTP, env.Now)
	if err != nil {
		return nil, err
	}
	c := &chain{net: net, nodes: nodes, ledger: read.NewLedger(nodes, env.Now, env.Log), env: env, tokens: known, native: native, sent: settle.NewSentTxs[*wire.Transaction](), eventPoll: eventPoll}
	c.ledger.AllNodes = env.AllNodes
	for _, d := range net.Deployments {
		r := read.New(d, c.ledger)
		c.contracts, c.readers = append(c.contracts, &contract{chain: c, Deployment: d, reader: r}), append(c.readers, r)
	}
	var events []wire.Felt
	for _, k := range c.contracts {
		events = append(events, k.EscrowManager.Address, k.VaultManager.Address)
	}
	if c.subscribed, err = rpc.Subscribe(net.CheckChainID, f.o.WebSocket, events, env.HTTP, env.Now, env.Log); err == nil {
		err = c.greet(ctx)
	}
	if err != nil {
		nodes.Close()
		return nil, fmt.Errorf("open %s: %w", ChainID, err)
	}
	return c, nil
}

// greet asks the nodes once, see [rpc.Nodes.Greet], and demands that the contracts are there.
func (c *chain) greet(ctx context.Context) error {
	var at []wire.Felt
	for _, k := range c.contracts {
		at = append(at, k.EscrowManager.Address, k.VaultManager.Address, k.BtcRelay.Address)
	}
	requests := []rpc.Request{rpc.HeadRequest(new(rpc.Head))} // so that one that is behind is noticed
	for _, a := range at {
		requests = append(requests, rpc.ClassHashRequest(a, rpc.Latest, new(rpc.ClassHash)))
	}
	if answered, err := c.nodes.Greet(ctx, requests, c.env.Log); !answered {
		return err
	}
	for i, a := range at {
		if rpc.IsNoContract(requests[1+i].Err) {
			return fault.Invalid("deployments", "no contract is deployed at %s: check the address, and that the node is of this network", wire.Hex64(a))
		}
	}
	return nil
}

// chain is a [chains.Chain].
type chain struct {
	net        wire.Network
	nodes      *rpc.Nodes
	ledger     *read.Ledger
	env        chains.Env
	tokens     []tokens.Token
	native     tokens.Token
	contracts  []*contract
	readers    []*read.Reader   // theirs
	subscribed *subscribe.Nodes // nil: to none
	eventPoll  time.Duration    // how often new events are asked for
	sent       *sentTxs
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
	info := chains.Info{ID: ChainID, Tokens: c.tokens, Native: c.native, Default: c.contracts[0].Version()}
	for _, k := range c.contracts {
		info.Versions = append(info.Versions, chains.Version{Name: k.Version(), LPInit: true, Vaults: true})
	}
	for _, a := range c.net.Contracts() {
		info.Contracts = append(info.Contracts, wire.Hex64(a))
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

func (c *chain) TokenAddress(s string) (string, error) { return c.Address(s) }

// RandomAddress implements [chains.RandomAddresser].
func (c *chain) RandomAddress(rand io.Reader) (string, error) { return wire.RandomAddress(rand) }

func (c *chain) CheckFeeRate(s string) error { return wire.CheckFeeRate(s) }

func (c *chain) Contract(version string) (chains.Contract, bool) {
	version = cmp.Or(version, wire.DefaultVersion)
	i := slices.IndexFunc(c.contracts, func(k *contract) bool { return k.Version() == version })
	if i < 0 {
		return nil, false
	}
	return c.contracts[i], true
}

// VerifyData takes one round trip: the account is asked.
func (c *chain) VerifyData(ctx context.Context, signer string, data []byte, signature string) error {
	who, err := account("signer", signer)
	if err != nil {
		return &chains.AuthError{Reason: "the signer is not a valid address", Err: err}
	}
	question, err := c.net.CheckData(who, data, signature)
	if err != nil {
		return err
	}
	return c.ledger.Signed(ctx, question)
}

// Heads takes one round trip. What is in an accepted block counts as final.
func (c *chain) Heads(ctx context.Context) (chains.Heads, error) { return c.ledger.Heads(ctx) }

// Balance takes one round trip.
func (c *chain) Balance(ctx context.Context, owner, token string) (*big.Int, error) {
	who, err := account("wallet", owner)
	if err != nil {
		return nil, err
	}
	of, err := account("token", token)
	if err != nil {
		return nil, err
	}
	return c.ledger.Balance(ctx, who, of)
}

// Status takes one round trip, and a second one, to all nodes, for transactions that look
// replaced. What is only in the block that is being made is pending: it can vanish.
func (c *chain) Status(ctx context.Context, txs []chains.Signed) ([]chains.TxStatus, error) {
	return c.ledger.Status(ctx, txs)
}

// Paid implements [chains.Payouts]. It takes one round trip, to all nodes. What is paid is what the
// token's own events say, whoever made the transfer.
func (c *chain) Paid(ctx context.Context, txID, to string) (chains.Payout, error) {
	id, err := wire.ParseFelt(txID)
	if err != nil {
		return chains.Payout{Amount: new(big.Int)}, nil
	}
	who, err := account("address", to)
	if err != nil {
		return chains.Payout{}, err
	}
	return c.ledger.Paid(ctx, id, who)
}
