package starknet

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"sync"
	"time"

	"github.com/swapper-go/swapper/chains"
	btc "github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/devnet/bitcoin"
	"github.com/swapper-go/swapper/internal/devnet/loopback"
	"github.com/swapper-go/swapper/internal/devnet/starknet/contracts"
	"github.com/swapper-go/swapper/internal/starknet/wire"
	"github.com/swapper-go/swapper/tokens"
)

// Options of a network. The zero value is good for tests.
type Options struct {
	Now       func() time.Time // the network's clock; nil: time.Now
	Bitcoin   *bitcoin.Net     // that the relay follows; nil: one is started, with the same clock, and closed with the network
	Manual    bool             // blocks are closed on demand only: until then transactions are pre-confirmed
	BlockTime time.Duration    // blocks are closed this often, and not for each transaction; 0: for each transaction
	L1Lag     int              // how many blocks below the head the newest block is that is accepted on L1; 0: two, -1: none
	Prices    contracts.Prices // of gas; zero: as low as public networks' are
	HeaderGas uint64           // l2 gas for a header that the relay stores, beside its hash; 0: about what it takes on public networks

	ChainID    string           // "": SN_SEPOLIA
	Deployment *wire.Deployment // where the contracts stand; nil: where they do on Sepolia, with the relay of Bitcoin's Testnet4

	Address string            // listen address of the first JSON-RPC server; "": a free port of 127.0.0.1
	Network *loopback.Network // where the servers listen; nil: loopback sockets
	Version NodeVersion       // of the node interface's specification that servers speak; 0: 0.9.0
}

// Net is a running network. Its methods are safe for concurrent use.
type Net struct {
	// Accounts with STRK and 10^15 base units of each other token: the LP with 10^9 STRK,
	// the others with 10^6. The LP has put nothing into the contracts yet.
	LP, User, Watchtower *Account

	options    Options
	ownBitcoin bool
	network    wire.Network
	chain      *contracts.Chain
	faucet     *Account
	headers    bitcoin.Stored[wire.StoredHeader]
	relaying   loopback.Mutex // held while the relay is brought up to date
	first      *NodeServer
	closing    sync.Once

	mu       sync.Mutex
	manual   bool
	paced    int // tickers that close blocks
	accounts uint64
	servers  []*NodeServer
}

var _ contracts.Net = (*Net)(nil)

// Tokens of the network, at the addresses that they have on the public ones.
var (
	ETH  = tokenOf("ETH")  // 18 decimals
	WBTC = tokenOf("WBTC") // 8
	USDC = tokenOf("USDC") // 6
)

func tokenOf(ticker string) wire.Felt {
	for _, t := range tokens.Known("STARKNET") {
		if t.Ticker == ticker {
			return wire.MustFelt(t.Address)
		}
	}
	panic("the token list has no " + ticker + " on Starknet") // at start-up, and the list is ours
}

// STRK is a number of whole STRK in fri.
func STRK(n int64) *big.Int { return new(big.Int).Mul(big.NewInt(n), big.NewInt(1e18)) }

const (
	tokenWealth  = 1_000_000_000_000_000 // base units of each token but STRK
	lpWealth     = 1_000_000_000         // STRK
	userWealth   = 1_000_000
	userWBTC     = 21_00_000_000 // as much as a person may have
	userUSDC     = 2_000_000_000_000
	faucetWealth = 1_000_000_000_000
)

// Start starts a network with all contracts and one JSON-RPC server in front of it.
func Start(o Options) (*Net, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	switch o.L1Lag {
	case 0:
		o.L1Lag = 2
	case -1:
		o.L1Lag = 0
	}
	n := &Net{options: o, manual: o.Manual || o.BlockTime > 0}
	if err := n.start(context.Background()); err != nil {
		return nil, errors.Join(fmt.Errorf("start the Starknet network: %w", err), n.Close())
	}
	return n, nil
}

func (n *Net) start(ctx context.Context) (err error) {
	o := &n.options
	if o.Bitcoin == nil {
		if o.Bitcoin, err = bitcoin.Start(bitcoin.Options{Now: o.Now}); err != nil {
			return err
		}
		n.ownBitcoin = true
	}
	n.network = o.network()
	n.chain, err = contracts.New(contracts.Options{Now: o.Now, ChainID: n.network.ChainIDFelt(), Classes: contracts.Classes(contracts.Rules{HeaderGas: o.HeaderGas}),
		Prices: o.Prices, Manual: o.Manual, BlockTime: o.BlockTime, L1Lag: o.L1Lag})
	if err != nil {
		return err
	}
	if err := n.deploy(); err != nil {
		return err
	}
	n.chain.Produce(o.L1Lag + 1) // what there is from the start is final
	if err := n.enrich(ctx); err != nil {
		return err
	}
	n.first, err = n.Serve(o.Address)
	return err
}

// network is what the parties of the swaps need to know. Events begin with the first
// block.
func (o *Options) network() wire.Network {
	n, _ := wire.NetworkFor(btc.Testnet4)
	n.Bitcoin = o.Bitcoin.Network()
	if o.ChainID != "" {
		n.ChainID = o.ChainID
	}
	if o.Deployment != nil {
		n.Deployments = []wire.Deployment{*o.Deployment}
	}
	d := &n.Deployments[0]
	d.EscrowManager.Height, d.VaultManager.Height, d.BtcRelay.Height = 0, 0, 0
	return n
}

// deploy puts all contracts where they stand from the first block on.
func (n *Net) deploy() (err error) {
	if err = n.followBitcoin(); err != nil {
		return err
	}
	d := n.network.Deployments[0]
	if err := contracts.Install(n.chain, d, n.headers.First); err != nil {
		return err
	}
	n.faucet = n.account("faucet")
	for _, t := range tokens.Known("STARKNET") {
		if at := wire.MustFelt(t.Address); slices.Contains([]wire.Felt{wire.STRK, ETH, WBTC, USDC}, at) {
			args := contracts.TokenArgs(t.Name, t.Ticker, uint8(t.Decimals), n.faucet.Address)
			if err := n.chain.Place(at, contracts.Token().Hash, args...); err != nil {
				return fmt.Errorf("deploy %s: %w", t.Ticker, err)
			}
		}
	}
	n.LP, n.User, n.Watchtower = n.account("lp"), n.account("user"), n.account("watchtower")
	for _, a := range []*Account{n.faucet, n.LP, n.User, n.Watchtower} {
		if err := n.chain.PlaceAccount(a.Key.Deploy()); err != nil {
			return fmt.Errorf("deploy an account: %w", err)
		}
	}
	low, high := contracts.Split(STRK(faucetWealth))
	_, err = n.chain.Impersonate(n.faucet.Address, wire.STRK, wire.Selector(entryMint), n.faucet.Address, low, high)
	return err
}

// enrich gives the accounts what they begin with.
func (n *Net) enrich(ctx context.Context) error {
	var calls []wire.Call
	for _, a := range []*Account{n.LP, n.User, n.Watchtower} {
		strk, wbtc, usdc := STRK(userWealth), big.NewInt(tokenWealth), big.NewInt(tokenWealth)
		switch a {
		case n.LP:
			strk = STRK(lpWealth)
		case n.User:
			wbtc, usdc = big.NewInt(userWBTC), big.NewInt(userUSDC)
		}
		for token, amount := range map[wire.Felt]*big.Int{wire.STRK: strk, ETH: big.NewInt(tokenWealth), WBTC: wbtc, USDC: usdc} {
			calls = append(calls, mintCall(token, a.Address, amount))
		}
	}
	_, err := n.faucet.Send(ctx, calls...)
	return err
}

// Close stops the network, and the Bitcoin network if it is the network's own. It may
// be called more than once.
func (n *Net) Close() (err error) {
	n.closing.Do(func() {
		n.mu.Lock()
		servers := n.servers
		n.mu.Unlock()
		for _, s := range servers {
			err = errors.Join(err, s.Close())
		}
		if n.chain != nil {
			err = errors.Join(err, n.chain.Close())
		}
		if n.ownBitcoin {
			err = errors.Join(err, n.options.Bitcoin.Close())
		}
	})
	return err
}

// Serve starts another JSON-RPC server; address is host:port, "" for a free port of
// 127.0.0.1. Closing the network closes it too.
func (n *Net) Serve(address string) (*NodeServer, error) {
	s, err := Serve(NodeOptions{Chain: n.chain, Address: address, Network: n.options.Network, Version: n.options.Version})
	if err != nil {
		return nil, err
	}
	n.mu.Lock()
	n.servers = append(n.servers, s)
	n.mu.Unlock()
	return s, nil
}

// URL returns the URL of the first JSON-RPC server.
func (n *Net) URL() string { return n.first.URL() }

// Server returns the first JSON-RPC server.
func (n *Net) Server() *NodeServer { return n.first }

// Chain returns the ledger and what extends it.
func (n *Net) Chain() *contracts.Chain { return n.chain }

// Bitcoin returns the Bitcoin network that the relay follows.
func (n *Net) Bitcoin() *bitcoin.Net { return n.options.Bitcoin }

// Network returns what the parties of the swaps need to know of the network.
func (n *Net) Network() wire.Network { return n.network }

// Deployment returns the contracts.
func (n *Net) Deployment() wire.Deployment {
	return n.network.Deployments[0]
}

// Head is the newest accepted block.
func (n *Net) Head() (head chains.Block) {
	n.chain.Read(0, func(v *contracts.View) { head = blockOf(v.Head()) })
	return head
}

func blockOf(b *contracts.Block) chains.Block {
	return chains.Block{Height: b.Number, Hash: wire.Hex(b.Hash), Time: int64(b.Time)}
}

// Call asks a contract in the newest accepted block.
func (n *Net) Call(to wire.Felt, entry string, calldata ...wire.Felt) (answer []wire.Felt, err error) {
	n.chain.Read(0, func(v *contracts.View) {
		i := v.Call(to, wire.Selector(entry), calldata, v.Head())
		if answer = i.Result; i.Failed != nil {
			err = fmt.Errorf("%s of %s: %w", entry, wire.Hex64(to), i.Failed)
		}
	})
	return answer, err
}

// Logs are the events of a contract in the accepted blocks from a height on, oldest
// first.
func (n *Net) Logs(of wire.Felt, from uint64) (logs []contracts.Log) {
	n.chain.Read(0, func(v *contracts.View) {
		for e := range v.Events(from, v.Head().Number) {
			if e.From == of {
				logs = append(logs, contracts.Log{Log: wire.Log{From: e.From, Keys: e.Keys, Data: e.Data}, Block: blockOf(e.Tx.Block), Tx: e.Tx.Hash})
			}
		}
	})
	return logs
}

// Balance returns what an address has of a token in the newest accepted block.
func (n *Net) Balance(token, of wire.Felt) (*big.Int, error) {
	answer, err := n.Call(token, wire.EntryBalanceOf, of)
	if err != nil {
		return nil, err
	}
	return wire.ReadU256(answer)
}

// Party is an account as a party of swaps.
func (n *Net) Party(a *Account) *contracts.Party {
	return &contracts.Party{Net: n, Account: a, Key: a.Key}
}

const entryMint = "permissioned_mint"

func mintCall(token, to wire.Felt, amount *big.Int) wire.Call {
	low, high := contracts.Split(amount)
	return wire.Call{To: token, Entry: entryMint, Calldata: []wire.Felt{to, low, high}}
}

// Fund gives STRK to an address, in fri.
func (n *Net) Fund(ctx context.Context, to wire.Felt, fri *big.Int) error {
	return n.Mint(ctx, wire.STRK, to, fri)
}

// Mint gives base units of one of the network's tokens to an address.
func (n *Net) Mint(ctx context.Context, token, to wire.Felt, amount *big.Int) error {
	_, err := n.faucet.Send(ctx, mintCall(token, to, amount))
	return err
}

// Deposit puts base units of a token into an account's balance in the escrow contract,
// out of which an LP pays escrows.
func (n *Net) Deposit(ctx context.Context, lp *Account, token wire.Felt, amount *big.Int) error {
	return n.Party(lp).Deposit(ctx, token, amount)
}
