package simulate

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math/big"
	"net/http"
	"strings"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	chainevm "github.com/swapper-go/swapper/chains/evm"
	"github.com/swapper-go/swapper/internal/devnet"
	"github.com/swapper-go/swapper/internal/devnet/control"
	devevm "github.com/swapper-go/swapper/internal/devnet/evm"
	"github.com/swapper-go/swapper/internal/devnet/lp"
	evmwire "github.com/swapper-go/swapper/internal/evm/wire"
)

// land is a smart chain of a world.
type land interface {
	chain() string // its identifier
	factory() chains.Factory
	drop() (amount *big.Int, sats int64) // what a gas swap brings, and what it is worth

	equip(ctx context.Context, of *control.Wallet) error // gives a wallet an account with money
	address(of *control.Wallet) string                   // the account's
	native(address string) (*big.Int, error)             // coins that gas is paid with
	lp(l *lp.LP) string                                  // an LP's account
	token() string                                       // WBTC's address
	balance(address string) (*big.Int, error)            // WBTC in base units
	// holdings are what the contracts hold, which is everybody's and no account's, what
	// there is of WBTC, and the accounts of others than users.
	holdings() (contracts, supply *big.Int, others []string, err error)

	// escrow returns how the chain has an escrow, and how long until it expires.
	escrow(e chains.Escrow) (chains.EscrowState, time.Duration, error)
	vault(id chains.VaultID) (chains.Vault, error) // how the chain has it: whether it is open, its output and its balances
	// tells returns a message to a node with what is written in it otherwise than in
	// hexadecimal digits.
	tells(body []byte) []byte

	// pace makes blocks by the clock; quiet makes them for what waits and else rarely.
	// Each lasts until stop is called.
	pace() (stop func())
	quiet() (stop func())
	undo(blocks int) error // replaces the newest blocks, none of which is final
	// unsettle replaces more blocks than that, final ones too. What was in them may come again, or is lost.
	unsettle(blocks int, lost bool) error
	dropWaiting()
	fault(n int)
	heal()
	hints(n int)     // what is wrong with the node that tells of events; 0: nothing
	hosts() []string // of the nodes
	// part lets one of the two nodes tell a story of its own from now on.
	part(node int) (*story, error)
}

// kindsOf are the kinds of swaps that a chain has.
func kindsOf(chain string) []string {
	legacy := []string{"FROM_BTCLN", "FROM_BTCLN own hash", "FROM_BTCLN voucher", "FROM_BTC"}
	auto := []string{"FROM_BTCLN_AUTO", "FROM_BTCLN_AUTO own hash", "FROM_BTCLN_AUTO voucher"}
	all := []string{"TO_BTC", "TO_BTCLN", "TO_BTCLN link"}
	switch chain {
	case solanaV1:
		all = append(all, legacy...)
	case solanaV2:
		all = append(append(all, auto...), "FROM_BTC")
	default:
		all = append(append(all, auto...), "SPV_VAULT_FROM_BTC")
	}
	return append(all, "TRUSTED_FROM_BTCLN", "TRUSTED_FROM_BTC")
}

// The chains of a world. A world has Solana once, with one version of its program for new swaps.
const (
	citrea   = "CITREA"
	solanaV1 = "SOLANA v1"
	solanaV2 = "SOLANA v2"
	starknet = "STARKNET"
)

// newLand takes a chain of the network into the world, with another node if there are two of each.
func (w *world) newLand(name string) (land, error) {
	switch n := w.net; name {
	case solanaV1, solanaV2:
		nodes, tellers, err := nodes(n.Solana.Server(), n.Solana.Serve, w.plan)
		return solanaLand{n, nodes, tellers, strings.TrimPrefix(name, "SOLANA ")}, err
	case starknet:
		nodes, tellers, err := nodes(n.Starknet.Server(), n.Starknet.Serve, w.plan)
		return starknetLand{n, nodes, tellers}, err
	default:
		nodes, tellers, err := nodes(n.EVM.Server(), n.EVM.Serve, w.plan)
		return evmLand{n, nodes, tellers}, err
	}
}

// nodes are one or two of a chain, and the one that tells of events, if there is any.
func nodes[S any](first S, serve func(address string) (S, error), p plan) (all, tellers []S, err error) {
	all = []S{first}
	if p.twins {
		second, err := serve("")
		if err != nil {
			return nil, nil, err
		}
		all = append(all, second)
	}
	if p.told {
		teller, err := serve("")
		if err != nil {
			return nil, nil, err
		}
		tellers = append(tellers, teller)
	}
	return all, tellers, nil
}

// sockets are the URLs at which nodes tell of events.
func sockets[S interface{ SocketURL() string }](of []S) (all []string) {
	for _, s := range of {
		all = append(all, s.SocketURL())
	}
	return all
}

// node chooses which node is hit.
func node[S any](all []S, n int) S { return all[n>>10%len(all)] }

func urls[S interface{ URL() string }](of []S) (all []string) {
	for _, s := range of {
		all = append(all, s.URL())
	}
	return all
}

// nothing is a result of the same shape that says that nothing is there.
func nothing(result json.RawMessage) json.RawMessage {
	for i, c := range result {
		if at := result[:i]; (c >= '1' && c <= '9' || c >= 'a' && c <= 'f') && bytes.Contains(at, []byte("0x")) {
			result[i] = '0'
		}
	}
	return result
}

// every calls something by the clock until stop is called.
func every(d time.Duration, do func()) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			if sleep(ctx, d); ctx.Err() != nil {
				return
			}
			do()
		}
	}()
	return func() {
		cancel()
		<-done
	}
}

type evmLand struct {
	net     *devnet.Net
	nodes   []*devevm.Server
	tellers []*devevm.Server
}

const evmBlockTime = 15 * time.Second

func (g evmLand) chain() string                     { return g.net.EVM.Network().Chain }
func (g evmLand) drop() (*big.Int, int64)           { return big.NewInt(1e14), 10_000 }
func (g evmLand) address(of *control.Wallet) string { return of.EVM.Address.Hex() }
func (g evmLand) token() string                     { return g.net.EVM.Contracts().Token.Hex() }
func (g evmLand) lp(l *lp.LP) string                { return l.Account().Address.Hex() }

func (g evmLand) native(of string) (*big.Int, error) {
	return g.net.EVM.Balance(context.Background(), devevm.Native, common.HexToAddress(of))
}

func (g evmLand) tells(body []byte) []byte {
	return body // hexadecimal digits
}

func (g evmLand) equip(ctx context.Context, of *control.Wallet) (err error) {
	n := g.net.EVM
	if of.EVM, err = n.NewAccount(); err != nil {
		return err
	}
	return errors.Join(n.Fund(ctx, of.EVM.Address, devevm.Coins(1)), n.Mint(ctx, n.Contracts().Token, of.EVM.Address, big.NewInt(startTokens)))
}

func (g evmLand) balance(of string) (*big.Int, error) {
	return g.net.EVM.Balance(context.Background(), g.net.EVM.Contracts().Token, common.HexToAddress(of))
}

func (g evmLand) holdings() (contracts, supply *big.Int, others []string, err error) {
	n := g.net.EVM
	c := n.Contracts()
	contracts = new(big.Int)
	for _, at := range []common.Address{c.EscrowManager.Address, c.VaultManager.Address} {
		has, err := g.balance(at.Hex())
		if err != nil {
			return nil, nil, nil, err
		}
		contracts.Add(contracts, has)
	}
	call, err := devevm.CallOf("TestToken", c.Token, "totalSupply")
	if err != nil {
		return nil, nil, nil, err
	}
	raw, err := n.Read(context.Background(), c.Token, call)
	others = []string{n.Watchtower.Address.Hex(), n.User.Address.Hex()}
	for _, l := range g.net.LPs {
		others = append(others, l.Account().Address.Hex())
	}
	return contracts, new(big.Int).SetBytes(raw), others, err
}

func (g evmLand) escrow(e chains.Escrow) (chains.EscrowState, time.Duration, error) {
	s, err := evmwire.SwapDataOf(e)
	if err != nil {
		return chains.EscrowNone, 0, err
	}
	hash, err := s.EscrowHash()
	if err != nil {
		return chains.EscrowNone, 0, err
	}
	data, err := evmwire.StateCall([]common.Hash{hash})
	if err != nil {
		return chains.EscrowNone, 0, err
	}
	n := g.net.EVM
	answer, err := n.Read(context.Background(), n.User.Address, evmwire.Call{To: n.Contracts().EscrowManager.Address, Data: data})
	if err != nil {
		return chains.EscrowNone, 0, err
	}
	states, err := evmwire.DecodeStates(answer, 1)
	if err != nil {
		return chains.EscrowNone, 0, err
	}
	return chains.EscrowState(states[0].State), time.Unix(s.Expiry(), 0).Sub(n.Time()), nil
}

func (g evmLand) vault(id chains.VaultID) (v chains.Vault, err error) {
	data, err := evmwire.VaultCall(evmwire.VaultRef{Owner: common.HexToAddress(id.Owner), ID: id.ID})
	if err != nil {
		return v, err
	}
	n := g.net.EVM
	answer, err := n.Read(context.Background(), n.User.Address, evmwire.Call{To: n.Contracts().VaultManager.Address, Data: data})
	if err != nil {
		return v, err
	}
	s, err := evmwire.DecodeVaultState(answer)
	v.Open, v.Raw, v.UTXO = s.Open(), [2]uint64{s.Token0Amount, s.Token1Amount}, bitcoin.OutPoint{Hash: bitcoin.Hash(s.UtxoTxHash), Index: s.UtxoVout}
	return v, err
}

func (g evmLand) hosts() []string { return hosts(urls(g.nodes)) }

func (g evmLand) part(node int) (*story, error) {
	p, err := g.net.EVM.Split(g.nodes[node])
	if err != nil {
		return nil, err
	}
	n := p.Net()
	told := g.net.Told(n, nil, nil)
	return &story{land: evmLand{told, nil, nil}, net: told, of: func(l *lp.LP) lp.Story { return lp.Story{EVM: n, Account: n.AccountOf(l.Account().Key)} },
		end: p.Rejoin, loses: func(node int, on bool) { g.nodes[node].Misbehave(devevm.Fault{LoseTransaction: on}) }}, nil
}

func (g evmLand) factory() chains.Factory {
	network := g.net.EVM.Config()
	return chainevm.Custom(chainevm.Options{RPC: urls(g.nodes), WebSocket: sockets(g.tellers), Network: &network, Tokens: g.net.Tokens()})
}

func (g evmLand) heal() {
	for _, s := range g.nodes {
		s.Misbehave(devevm.Fault{})
	}
}

func (g evmLand) hints(n int) {
	all := []devevm.Fault{{}, {Down: true}, {NoSockets: true}, {Silent: true}, {Delay: 3 * time.Second}, {Behind: 40}, {Rewrite: func(_ string, _ []json.RawMessage, result json.RawMessage) json.RawMessage {
		return nothing(bytes.Clone(result))
	}}}
	for _, s := range g.tellers {
		s.Misbehave(all[n%len(all)])
	}
}

func (g evmLand) pace() (stop func())   { return g.net.EVM.Pace(evmBlockTime) }
func (g evmLand) quiet() (stop func())  { return g.net.EVM.Pace(time.Hour) }
func (g evmLand) undo(blocks int) error { return g.net.EVM.Reorg(uint64(blocks)) }

// unsettle brings the node of the network to a branch; what was lost is dropped before it is mined again.
func (g evmLand) unsettle(blocks int, lost bool) error {
	err := g.net.EVM.Reorg(uint64(6 + blocks))
	if lost {
		g.net.EVM.DropPending()
	}
	return err
}

func (g evmLand) dropWaiting() { g.net.EVM.DropPending() }

func (g evmLand) fault(n int) {
	all := []devevm.Fault{{Down: true}, {Status: http.StatusBadGateway}, {Status: http.StatusTooManyRequests, RetryAfter: "7"}, {Delay: 3 * time.Second}, {Delay: 40 * time.Second}, {Garbage: true}, {LoseAnswer: true},
		{Behind: 1}, {Behind: 5}, {Behind: 40}, {LogRange: 10}, {MaxBatch: 1}, {Fail: []string{"eth_getLogs"}}, {Fail: []string{"eth_call"}}, {Refuse: []string{"debug_traceTransaction"}}}
	if len(g.nodes) > 1 {
		lie := devevm.Fault{Rewrite: func(method string, _ []json.RawMessage, result json.RawMessage) json.RawMessage {
			switch method {
			case "eth_call":
				return nothing(bytes.Clone(result))
			case "eth_getLogs":
				return json.RawMessage("[]")
			case "eth_getTransactionReceipt", "eth_getTransactionByHash":
				return nil
			}
			return result
		}}
		all = append(all, lie, lie, lie, lie)
	}
	node(g.nodes, n).Misbehave(all[n%len(all)])
}

// books compares what there is of WBTC with what everybody has.
func (w *world) books(g land) {
	contracts, missing, owners, err := g.holdings()
	if err != nil {
		w.broken("holdings on %s: %v", g.chain(), err)
		return
	}
	for _, u := range w.users {
		if u.land.chain() == g.chain() {
			owners = append(owners, g.address(&u.Wallet))
		}
	}
	owners = append(owners, g.address(&w.stranger.Wallet))
	if w.operator != nil {
		owners = append(owners, g.address(&w.operator.Wallet))
	}
	missing.Sub(missing, contracts)
	for _, a := range owners {
		has, err := g.balance(a)
		if err != nil {
			w.broken("balance on %s: %v", g.chain(), err)
			return
		}
		missing.Sub(missing, has)
	}
	if missing.Sign() != 0 {
		w.broken("%d tokens on %s are nobody's", missing, g.chain())
	}
}
