package solana

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	sol "github.com/gagliardetto/solana-go"

	btc "github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/devnet/bitcoin"
	"github.com/swapper-go/swapper/internal/devnet/loopback"
	"github.com/swapper-go/swapper/internal/devnet/solana/bank"
	"github.com/swapper-go/swapper/internal/solana/wire"
)

// Options of a network. The zero value is good for tests.
type Options struct {
	Now      func() time.Time // the network's clock; nil: time.Now
	Bitcoin  *bitcoin.Net     // that the relays follow; nil: one is started, with the same clock, and closed with the network
	Programs []wire.Programs  // what is deployed; nil: both versions at the addresses of Solana's devnet
	DataV2   wire.DataLayout  // how v2 lays data accounts out: the zero value is what its source says
	Manual   bool             // blocks are made on demand only
	SlotTime time.Duration    // a block is made at least this often; 0: only for transactions

	// How many blocks below the head the newest confirmed and the newest finalized
	// block are.
	ConfirmedLag, FinalizedLag int
	Address                    string            // listen address of the first JSON-RPC server; "": a free port of 127.0.0.1
	Network                    *loopback.Network // where the servers listen; nil: loopback sockets
}

// Net is a running network. Its methods are safe for concurrent use.
type Net struct {
	// Accounts with 10 000 SOL and 10^15 base units of each token. The LP has put
	// nothing into the programs yet.
	LP, User, Watchtower *Account

	options    Options
	ownBitcoin bool
	bank       *bank.Bank
	faucet     *Account
	first      *NodeServer
	headers    bitcoin.Stored[wire.StoredHeader]
	relaying   loopback.Mutex // held while the relays are brought up to date
	closing    sync.Once

	mu       sync.Mutex
	manual   bool
	paced    int // tickers that make blocks
	accounts uint64
	servers  []*NodeServer
}

// Start starts a network with all programs and one JSON-RPC server in front of it.
func Start(o Options) (*Net, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Programs == nil {
		devnet, _ := wire.NetworkFor(btc.Testnet3)
		o.Programs = devnet.Programs
	}
	n := &Net{options: o, manual: o.Manual}
	if err := n.start(); err != nil {
		return nil, errors.Join(err, n.Close())
	}
	return n, nil
}

func (n *Net) start() (err error) {
	o := &n.options
	if o.Bitcoin == nil {
		if o.Bitcoin, err = bitcoin.Start(bitcoin.Options{Now: o.Now}); err != nil {
			return err
		}
		n.ownBitcoin = true
	}
	deployed := map[bank.Key]bank.Program{}
	for _, p := range o.Programs {
		deployed[p.Swap], deployed[p.Relay] = bank.Swap(p, n.DataLayout(p.Version)), bank.Relay(p, bank.Rules{LongerWins: true})
	}
	n.bank, err = bank.New(bank.Options{Now: o.Now, Programs: deployed, Accounts: n.wealth(), Manual: o.Manual, SlotTime: o.SlotTime,
		ConfirmedLag: o.ConfirmedLag, FinalizedLag: o.FinalizedLag})
	if err != nil {
		return fmt.Errorf("start the bank: %w", err)
	}
	if err := n.startRelays(context.Background()); err != nil {
		return fmt.Errorf("start the relays: %w", err)
	}
	n.bank.Elapse(time.Minute) // what there is from the start is final, and clients can look back
	n.first, err = n.Serve(o.Address)
	return err
}

// Close stops the servers and the bank, and the Bitcoin network if it is the
// network's own. It may be called more than once.
func (n *Net) Close() error {
	var err error
	n.closing.Do(func() {
		n.mu.Lock()
		servers := n.servers
		n.mu.Unlock()
		for _, s := range servers {
			err = errors.Join(err, s.Close())
		}
		if n.bank != nil {
			err = errors.Join(err, n.bank.Close())
		}
		if n.ownBitcoin {
			err = errors.Join(err, n.options.Bitcoin.Close())
		}
	})
	return err
}

// Serve starts another JSON-RPC server; address is host:port, "" for a free port
// of 127.0.0.1. Closing the network closes it too.
func (n *Net) Serve(address string) (*NodeServer, error) {
	s, err := Serve(NodeOptions{Bank: n.bank, Address: address, Network: n.options.Network, Airdrop: func(to wire.Key, lamports uint64) (wire.Signature, error) {
		return n.faucet.submit(wire.Transfer(n.faucet.Address, to, lamports))
	}})
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

// Bank returns what executes the transactions.
func (n *Net) Bank() *bank.Bank { return n.bank }

// Bitcoin returns the Bitcoin network that the relays follow.
func (n *Net) Bitcoin() *bitcoin.Net { return n.options.Bitcoin }

// Programs returns what is deployed, the oldest version first.
func (n *Net) Programs() []wire.Programs { return n.options.Programs }

// DataLayout returns how a version of the swap program lays data accounts out.
func (n *Net) DataLayout(version string) wire.DataLayout {
	if version == wire.V1 {
		return wire.DataPlain
	}
	return n.options.DataV2
}

// Network returns what the parties of the swaps need to know of the network.
func (n *Net) Network() wire.Network {
	return wire.Network{Bitcoin: n.Bitcoin().Network(), Cluster: "local", Programs: n.options.Programs}
}

// Genesis returns the genesis hash. It is the same in every run.
func (n *Net) Genesis() wire.Hash { return n.bank.Genesis() }

// SOL is a number of whole SOL in lamports.
func SOL(n uint64) uint64 { return n * sol.LAMPORTS_PER_SOL }

// The network's tokens, with the mints that they have on the public clusters.
var (
	WBTC = mintOf("WBTC") // 8 decimals
	USDC = mintOf("USDC") // 6
)

func mintOf(ticker string) wire.Key { return tokenOf(ticker).Mint }

func tokenOf(ticker string) (t wire.Token) {
	for _, known := range wire.Tokens() {
		if known.Ticker == ticker {
			t = known
		}
	}
	return t
}

const (
	tokenWealth  = 1_000_000_000_000_000 // base units of each token
	solWealth    = 10_000
	faucetWealth = 1_000_000_000

	// The user has as much as a person may have: SOL, and base units of the tokens.
	userSOL  = 5_000
	userWBTC = 21_00_000_000
	userUSDC = 2_000_000_000_000
)

// wealth is what exists from the start.
func (n *Net) wealth() map[bank.Key]bank.Account {
	all := map[bank.Key]bank.Account{}
	n.faucet = n.account("faucet")
	all[n.faucet.Address] = bank.Account{Lamports: SOL(faucetWealth)}
	supply := map[wire.Key]uint64{}
	for _, a := range []struct {
		account **Account
		name    string
	}{{&n.LP, "lp"}, {&n.User, "user"}, {&n.Watchtower, "watchtower"}} {
		*a.account = n.account(a.name)
		owner := (*a.account).Address
		sol, has := uint64(solWealth), map[wire.Key]uint64{WBTC: tokenWealth, USDC: tokenWealth}
		if a.account == &n.User {
			sol, has = userSOL, map[wire.Key]uint64{WBTC: userWBTC, USDC: userUSDC}
		}
		all[owner] = bank.Account{Lamports: SOL(sol)}
		for mint, amount := range has {
			all[wire.ATA(owner, mint)] = bank.TokenAccount(mint, owner, amount)
			supply[mint] += amount
		}
	}
	for _, ticker := range []string{"WBTC", "USDC"} {
		t := tokenOf(ticker)
		all[t.Mint] = bank.MintAccount(uint8(t.Decimals), supply[t.Mint], &n.faucet.Address)
	}
	return all
}

// Lamports returns an account's lamports in the newest block.
func (n *Net) Lamports(of wire.Key) (lamports uint64) {
	n.bank.Read(bank.Processed, 0, func(v *bank.View) {
		a, _ := v.Account(of)
		lamports = a.Lamports
	})
	return lamports
}

// Tokens returns what an account has of a token in its associated account in the
// newest block.
func (n *Net) Tokens(mint, owner wire.Key) (amount uint64) {
	n.bank.Read(bank.Processed, 0, func(v *bank.View) {
		t, _ := v.Token(wire.ATA(owner, mint))
		amount = t.Amount
	})
	return amount
}

// Fund gives lamports to an address.
func (n *Net) Fund(ctx context.Context, to wire.Key, lamports uint64) error {
	_, err := n.faucet.Send(ctx, wire.Transfer(n.faucet.Address, to, lamports))
	return err
}

// Mint gives base units of one of the network's tokens to an address, with a token
// account if it has none; [wire.WSOL] is wrapped SOL.
func (n *Net) Mint(ctx context.Context, mint, to wire.Key, amount uint64) error {
	at := wire.ATA(to, mint)
	give := []wire.Instruction{bank.MintTo(mint, at, n.faucet.Address, amount)}
	if mint == wire.WSOL {
		give = []wire.Instruction{wire.Transfer(n.faucet.Address, at, amount), wire.SyncNative(at)}
	}
	_, err := n.faucet.Send(ctx, append([]wire.Instruction{wire.EnsureATA(n.faucet.Address, to, mint)}, give...)...)
	return err
}

// Deposit puts base units of a token into an account's balance in the swap program
// of a version, out of which an LP pays escrows. SOL is wrapped.
func (n *Net) Deposit(ctx context.Context, version string, lp *Account, mint wire.Key, amount uint64) error {
	p, err := n.Network().Version(version)
	if err != nil {
		return err
	}
	var wrapped *uint64
	n.bank.Read(bank.Processed, 0, func(v *bank.View) {
		if t, ok := v.Token(wire.ATA(lp.Address, wire.WSOL)); ok {
			wrapped = &t.Amount
		}
	})
	tx, err := p.DepositTx(lp.Address, mint, amount, wire.FeeRate{}, wrapped)
	if err != nil {
		return err
	}
	_, err = lp.SendTx(ctx, tx)
	return err
}
