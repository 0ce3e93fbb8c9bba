//go:build unix

package scale

import (
	"context"
	"math/big"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"github.com/swapper-go/swapper/chains/evm"
	chainsolana "github.com/swapper-go/swapper/chains/solana"
	chainstarknet "github.com/swapper-go/swapper/chains/starknet"
	"github.com/swapper-go/swapper/internal/devnet"
	devbitcoin "github.com/swapper-go/swapper/internal/devnet/bitcoin"
	"github.com/swapper-go/swapper/internal/devnet/control"
	devevm "github.com/swapper-go/swapper/internal/devnet/evm"
	"github.com/swapper-go/swapper/internal/devnet/lightning"
	"github.com/swapper-go/swapper/internal/devnet/lp"
	"github.com/swapper-go/swapper/internal/devnet/solana"
	"github.com/swapper-go/swapper/internal/devnet/starknet"
	"github.com/swapper-go/swapper/internal/devnet/watchtower"
	solwire "github.com/swapper-go/swapper/internal/solana/wire"
	starkwire "github.com/swapper-go/swapper/internal/starknet/wire"
	"github.com/swapper-go/swapper/internal/trial"
)

// What each account begins with, in base units of WBTC, and those who pay over Lightning, in sats.
const (
	startTokens int64 = 1_000_000_000_000
	startSats   int64 = 100_000_000_000
)

// ground is the local network of the chaos, and those who swap on it.
type ground struct {
	*devnet.Net
	counter *counter
	lps     []string // behind the counter
	link    string   // of the LNURL services, behind the counter
	till    string   // the link by which the payer of withdrawals is paid
	shop    *lightning.LNURLServer

	payer   *lightning.Node // pays the invoices of swaps from Lightning
	voucher *lightning.Node // pays them for LNURL-withdraw
	payee   *lightning.Node // is paid by swaps to Lightning
	lands   []land

	tellsBitcoin, tellsEVM []string // WebSocket URLs
}

// land is a smart chain, and what a test does on it.
type land struct {
	chain   string
	open    func(ctx context.Context) (*control.Wallet, string, error) // an account with money
	balance func(ctx context.Context, address string) (*big.Int, error)
	opens   bool // users open the escrows that the LPs pay out

	gasWorth *big.Int                                                    // of the chain's own coin, worth some 10,000 sats
	newcomer func() (string, error)                                      // an address that has nothing
	gas      func(ctx context.Context, address string) (*big.Int, error) // of the chain's own coin
}

func (l land) wbtc() string { return l.chain + "-WBTC" }

// newGround starts the network with a number of LPs, and the other chains if all is set.
// Swaps are held up until release.
func newGround(t testing.TB, providers, vaults int, all, paced bool, delay time.Duration) *ground {
	t.Helper()
	g := &ground{counter: &counter{delay: delay}}
	o := devnet.Options{LPs: providers, Watchtower: true, LP: func(_ int, o *lp.Options) {
		o.Poll = 200 * time.Millisecond
		o.Limits.Inflight = 1 << 20
		o.Vaults, o.Unclaimed = vaults, 1<<20 // which the watchtower claims
		o.Deposit = 500_000_000
	}}
	// The first blocks come faster than one a second, which their times cannot: their
	// clock is behind, so that the chain is not ahead of everybody once it is there.
	var behind atomic.Int64
	behind.Store(int64(time.Hour))
	o.EVM = func(o *devevm.Options) {
		now := o.Now
		o.Now = func() time.Time { return now().Add(-time.Duration(behind.Load())) }
	}
	if all {
		o.Solana, o.Starknet = solwire.V1, true // of which users open the escrows that the LPs pay out
	}
	g.Net = trial.Must(devnet.Start(t.Context(), o))(t)
	t.Cleanup(func() { _ = g.Close() })
	behind.Store(0)
	if paced {
		t.Cleanup(g.EVM.Pace(time.Second))
	}
	for _, u := range g.LPURLs() {
		g.lps = append(g.lps, g.counter.before(t, u))
	}
	for name, of := range map[string]**lightning.Node{"scale payer": &g.payer, "scale voucher": &g.voucher, "scale payee": &g.payee} {
		sats := startSats
		if of == &g.payee {
			sats = 0
		}
		*of = trial.Must(g.Lightning.NewNode(name, sats))(t)
	}
	g.shop = trial.Must(lightning.StartLNURL(lightning.LNURLOptions{Node: g.voucher, Now: g.Clock.Now}))(t)
	t.Cleanup(func() { _ = g.shop.Close() })
	links := trial.Must(g.shop.AddPay(lightning.Pay{Name: "scale", MinMsat: 1000, MaxMsat: 1_000_000_000}))(t)
	g.till = links.LNURL
	g.link = g.counter.before(t, g.shop.URL())
	g.listen(t)
	g.lands = append(g.lands, g.onEVM())
	if all {
		g.lands = append(g.lands, g.onSolana(), g.onStarknet())
	}
	return g
}

// hold keeps swaps from their ends, so that they are all under way at once.
func (g *ground) hold() {
	for _, l := range g.LPs {
		l.Misbehave(lp.Fault{NeverPay: true})
	}
	g.Tower.Behave(watchtower.Behaviour{NoEscrows: true, NoVaults: true, NoProofs: true})
}

func (g *ground) release() {
	for _, l := range g.LPs {
		l.Misbehave(lp.Fault{})
	}
	g.Tower.Behave(watchtower.Behaviour{})
}

// mine makes Bitcoin blocks until stop is called.
func (g *ground) mine(every time.Duration) (stop func()) {
	return again(every, func() { _ = g.Mine(1) }) // the next one tries again
}

// tick makes a block of Solana every second until stop is called: else its time stands still
// when nobody sends anything.
func (g *ground) tick() (stop func()) {
	if g.Solana == nil {
		return func() {}
	}
	return again(time.Second, func() { g.Solana.Mine(1) })
}

// again does something now and then until stop is called.
func again(every time.Duration, do func()) (stop func()) {
	ended := make(chan struct{})
	var done sync.WaitGroup
	done.Go(func() {
		for {
			select {
			case <-ended:
				return
			case <-time.After(every):
				do()
			}
		}
	})
	return sync.OnceFunc(func() { close(ended); done.Wait() })
}

// listen starts servers of their own that tell of blocks and logs, if -hear is given. They
// are well, lie, stop and flood in turn until the test ends.
func (g *ground) listen(t testing.TB) {
	t.Helper()
	if !*hearing {
		return
	}
	evm := trial.Must(g.EVM.Serve(""))(t)
	bitcoin := trial.Must(g.Bitcoin.Serve(""))(t)
	g.tellsEVM, g.tellsBitcoin = []string{evm.SocketURL()}, []string{bitcoin.SocketURL()}
	n := 0
	ofEVM := []devevm.Fault{{}, {NoSockets: true}, {}, {Silent: true}, {Behind: 40}, {}, {Down: true}, {Delay: 3 * time.Second}}
	ofBitcoin := []devbitcoin.Fault{{}, {Flood: true}, {}, {Mute: true}, {NoSockets: true}, {Silent: true}, {}, {WrongNetwork: true}, {Behind: 2}}
	stop := again(7*time.Second, func() {
		n++
		evm.Misbehave(ofEVM[n%len(ofEVM)])
		bitcoin.Misbehave(ofBitcoin[n%len(ofBitcoin)])
	})
	t.Cleanup(func() { stop(); _ = evm.Close(); _ = bitcoin.Close() })
}

// tell is what a process needs to know of the network.
func (g *ground) tell() child {
	c := child{REST: g.Bitcoin.URL(), Relay: g.Nostr.URL(), LPs: g.lps, EVM: node[evm.Network]{g.EVM.URL(), g.EVM.Config(), g.Tokens()}}
	c.Tellers.Bitcoin, c.Tellers.EVM = g.tellsBitcoin, g.tellsEVM
	if g.Solana != nil {
		c.Solana, c.SolanaVersion = &node[chainsolana.Network]{g.Solana.URL(), g.SolanaConfig(), g.SolanaTokens()}, solwire.V1
	}
	if g.Starknet != nil {
		c.Starknet = &node[chainstarknet.Network]{g.Starknet.URL(), g.StarknetConfig(), g.StarknetTokens()}
	}
	return c
}

func (g *ground) onEVM() land {
	return land{chain: g.EVM.Network().Chain, gasWorth: big.NewInt(1e14), newcomer: func() (string, error) {
		a, err := g.EVM.NewAccount()
		if err != nil {
			return "", err
		}
		return a.Address.Hex(), nil
	}, gas: func(ctx context.Context, address string) (*big.Int, error) {
		return g.EVM.Balance(ctx, devevm.Native, common.HexToAddress(address))
	}, open: func(ctx context.Context) (*control.Wallet, string, error) {
		a, err := g.EVM.NewAccount()
		if err != nil {
			return nil, "", err
		}
		if err := g.EVM.Fund(ctx, a.Address, devevm.Coins(100)); err != nil {
			return nil, "", err
		}
		return &control.Wallet{EVM: a}, a.Address.Hex(), g.EVM.Mint(ctx, g.EVM.Contracts().Token, a.Address, big.NewInt(startTokens))
	}, balance: func(ctx context.Context, address string) (*big.Int, error) {
		return g.EVM.Balance(ctx, g.EVM.Contracts().Token, common.HexToAddress(address))
	}}
}

func (g *ground) onSolana() land {
	return land{chain: "SOLANA", opens: true, gasWorth: big.NewInt(62_500_000), newcomer: func() (string, error) {
		return g.Solana.NewAccount().Address.String(), nil
	}, gas: func(_ context.Context, address string) (*big.Int, error) {
		owner, err := solwire.ParseKey(address)
		return new(big.Int).SetUint64(g.Solana.Lamports(owner)), err
	}, open: func(ctx context.Context) (*control.Wallet, string, error) {
		a := g.Solana.NewAccount()
		if err := g.Solana.Fund(ctx, a.Address, solana.SOL(1000)); err != nil {
			return nil, "", err
		}
		return &control.Wallet{Solana: a}, a.Address.String(), g.Solana.Mint(ctx, solana.WBTC, a.Address, uint64(startTokens))
	}, balance: func(_ context.Context, address string) (*big.Int, error) {
		owner, err := solwire.ParseKey(address)
		return new(big.Int).SetUint64(g.Solana.Tokens(solana.WBTC, owner)), err
	}}
}

func (g *ground) onStarknet() land {
	return land{chain: "STARKNET", gasWorth: starknet.STRK(100), newcomer: func() (string, error) {
		return starkwire.Hex64(g.Starknet.NewAccount().Address), nil
	}, gas: func(_ context.Context, address string) (*big.Int, error) {
		at, err := starkwire.ParseAddress(address)
		if err != nil {
			return nil, err
		}
		return g.Starknet.Balance(starkwire.STRK, at)
	}, open: func(ctx context.Context) (*control.Wallet, string, error) {
		a := g.Starknet.NewAccount()
		if err := g.Starknet.Fund(ctx, a.Address, starknet.STRK(1000)); err != nil {
			return nil, "", err
		}
		return &control.Wallet{Starknet: &a.Key}, starkwire.Hex64(a.Address), g.Starknet.Mint(ctx, starknet.WBTC, a.Address, big.NewInt(startTokens))
	}, balance: func(_ context.Context, address string) (*big.Int, error) {
		at, err := starkwire.ParseAddress(address)
		if err != nil {
			return nil, err
		}
		return g.Starknet.Balance(starknet.WBTC, at)
	}}
}
