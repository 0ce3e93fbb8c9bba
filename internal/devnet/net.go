package devnet

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"sync"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"github.com/swapper-go/swapper/chains"
	btc "github.com/swapper-go/swapper/chains/bitcoin"
	chainevm "github.com/swapper-go/swapper/chains/evm"
	"github.com/swapper-go/swapper/internal/devnet/bitcoin"
	"github.com/swapper-go/swapper/internal/devnet/evm"
	"github.com/swapper-go/swapper/internal/devnet/lightning"
	"github.com/swapper-go/swapper/internal/devnet/loopback"
	"github.com/swapper-go/swapper/internal/devnet/lp"
	"github.com/swapper-go/swapper/internal/devnet/solana"
	"github.com/swapper-go/swapper/internal/devnet/starknet"
	"github.com/swapper-go/swapper/internal/devnet/watchtower"
	"github.com/swapper-go/swapper/tokens"
)

// Options of a network. The zero value is good for tests.
type Options struct {
	LPs        int           // liquidity providers; 0: one
	Version    Version       // of the LPs
	Watchtower bool          // somebody claims for users who are not there
	TowerEvery time.Duration // how often the watchtower looks; 0: its own default

	// PayoutBlock is how long a payout of an LP waits for the next Bitcoin block until
	// the network mines that block by itself, in the system's time; 0: it waits for Mine.
	PayoutBlock time.Duration

	// Network is where all servers listen; nil: loopback sockets.
	Network *loopback.Network

	// Solana adds a Solana network, which the LPs and the watchtower serve beside the
	// EVM chain. The version is that of the swap program that the LPs use; "" is none.
	Solana string

	// Starknet adds a Starknet network, which the LPs and the watchtower serve too.
	Starknet bool

	// Hear has the chains for the library's configuration hear of blocks and events over WebSocket.
	Hear bool

	// Changes to the options of the parts, made before they start; nil: none.
	Bitcoin    func(*bitcoin.Options)
	EVM        func(*evm.Options)
	OnSolana   func(*solana.Options)
	OnStarknet func(*starknet.Options)
	LP         func(i int, o *lp.Options)

	// Services are further parts, started in order once all else runs and closed in
	// the opposite order before it.
	Services []func(context.Context, *Net) (Service, error)
}

// Service is a part that can be closed.
type Service interface{ Close() error }

// Net is a running network. Its methods are safe for concurrent use, its members
// are not changed.
type Net struct {
	Clock     *Clock
	Bitcoin   *bitcoin.Net
	EVM       *evm.Net
	Solana    *solana.Net   // nil without Options.Solana
	Starknet  *starknet.Net // nil without Options.Starknet
	Lightning *lightning.Net
	LPs       []*lp.LP
	Prices    *Server
	Nostr     *watchtower.Relay
	Tower     *watchtower.Tower // nil without Options.Watchtower

	// LNURL are links of a shop: Alice is paid by one, the voucher pays once.
	LNURL   *lightning.LNURLServer
	Alice   lightning.Links
	Voucher lightning.Links

	// Users. On the EVM chain there is EVM.User, on Solana Solana.User, on Starknet
	// Starknet.User.
	Payer     *lightning.Node // a Lightning wallet with 10 000 000 sats
	Recipient *lightning.Node // a Lightning wallet with nothing in it
	Wallet    *bitcoin.Wallet // P2WPKH, four confirmed coins of 10 000 000 sats
	Taproot   *bitcoin.Wallet // P2TR, the same

	version string    // of the swap program on Solana
	hear    bool      // see Options.Hear
	closers []Service // in the order of their start
	closing sync.Once
}

// Start starts a network. It ends with Close.
func Start(ctx context.Context, o Options) (*Net, error) {
	n := &Net{Clock: new(Clock)}
	if err := n.start(ctx, o); err != nil {
		return nil, errors.Join(fmt.Errorf("start the local network: %w", err), n.Close())
	}
	return n, nil
}

func (n *Net) start(ctx context.Context, o Options) (err error) {
	if err := n.startChains(o); err != nil {
		return err
	}
	n.Lightning = lightning.New(lightning.Options{Now: n.Clock.Now, Height: func() uint32 { height, _ := n.Bitcoin.Tip(); return height }})
	if n.Payer, err = n.Lightning.NewNode("payer", 10_000_000); err != nil {
		return err
	}
	if n.Recipient, err = n.Lightning.NewNode("recipient", 0); err != nil {
		return err
	}
	if n.Prices, err = startPricesOn(o.Network, ""); err != nil {
		return err
	}
	n.closers = append(n.closers, n.Prices)
	if n.Nostr, err = watchtower.StartRelayOn(o.Network, ""); err != nil {
		return err
	}
	n.closers = append(n.closers, n.Nostr)
	if err := n.startLNURL(o.Network); err != nil {
		return err
	}
	for i := range max(o.LPs, 1) {
		if err := n.startLP(ctx, i, o); err != nil {
			return err
		}
	}
	if err := n.SyncRelays(ctx); err != nil {
		return err
	}
	if o.Watchtower {
		if n.Tower, err = n.Watch(ctx, watchtower.Options{Relays: []string{n.Nostr.URL()}, Network: o.Network, Every: o.TowerEvery}); err != nil {
			return err
		}
		n.closers = append(n.closers, n.Tower)
	}
	if o.PayoutBlock > 0 {
		n.closers = append(n.closers, n.confirmPayouts(o.PayoutBlock))
	}
	for _, start := range o.Services {
		s, err := start(ctx, n)
		if err != nil {
			return err
		}
		n.closers = append(n.closers, s)
	}
	return nil
}

// startChains starts Bitcoin first: the relays of the other chains begin at its tip.
func (n *Net) startChains(o Options) (err error) {
	onBitcoin := bitcoin.Options{Now: n.Clock.Now, Network: o.Network}
	if o.Bitcoin != nil {
		o.Bitcoin(&onBitcoin)
	}
	if n.Bitcoin, err = bitcoin.Start(onBitcoin); err != nil {
		return err
	}
	n.closers = append(n.closers, n.Bitcoin)
	if err := n.fundBitcoin(); err != nil {
		return err
	}
	onEVM := evm.Options{Now: n.Clock.Now, Bitcoin: n.Bitcoin, Network: o.Network}
	if o.EVM != nil {
		o.EVM(&onEVM)
	}
	if n.EVM, err = evm.Start(onEVM); err != nil {
		return err
	}
	n.closers = append(n.closers, n.EVM)
	n.hear = o.Hear
	if n.version = o.Solana; n.version != "" {
		onSolana := solana.Options{Now: n.Clock.Now, Bitcoin: n.Bitcoin, Network: o.Network}
		if o.OnSolana != nil {
			o.OnSolana(&onSolana)
		}
		if n.Solana, err = solana.Start(onSolana); err != nil {
			return err
		}
		n.closers = append(n.closers, n.Solana)
	}
	if o.Starknet {
		onStarknet := starknet.Options{Now: n.Clock.Now, Bitcoin: n.Bitcoin, Network: o.Network}
		if o.OnStarknet != nil {
			o.OnStarknet(&onStarknet)
		}
		if n.Starknet, err = starknet.Start(onStarknet); err != nil {
			return err
		}
		n.closers = append(n.closers, n.Starknet)
	}
	return nil
}

// fundBitcoin gives the users bitcoin. It goes before the relay, which starts at
// the tip.
func (n *Net) fundBitcoin() (err error) {
	for wallet, kind := range map[**bitcoin.Wallet]btc.AddressType{&n.Wallet: btc.P2WPKH, &n.Taproot: btc.P2TR} {
		name := fmt.Sprintf("local network user %s", kind)
		if *wallet, err = n.Bitcoin.WalletOf(seed(name), kind); err != nil {
			return err
		}
		for range 4 {
			if _, err := n.Bitcoin.Faucet((*wallet).Address, 10_000_000); err != nil {
				return err
			}
		}
	}
	_, err = n.Bitcoin.Mine(1)
	return err
}

// startLNURL opens a shop that has 10 000 000 sats.
func (n *Net) startLNURL(network *loopback.Network) error {
	shop, err := n.Lightning.NewNode("shop", 10_000_000)
	if err != nil {
		return err
	}
	if n.LNURL, err = lightning.StartLNURL(lightning.LNURLOptions{Node: shop, Now: n.Clock.Now, Network: network}); err != nil {
		return err
	}
	n.closers = append(n.closers, n.LNURL)
	n.Alice, err = n.LNURL.AddPay(lightning.Pay{Name: "alice", MinMsat: 1000, MaxMsat: 1_000_000_000, Comment: 100,
		Action: &lightning.Action{Tag: "message", Text: "thank you"}})
	if err != nil {
		return err
	}
	n.Voucher, err = n.RenewVoucher()
	return err
}

// RenewVoucher makes the withdraw link good for one more payment, of 1000 to
// 1 000 000 sats.
func (n *Net) RenewVoucher() (lightning.Links, error) {
	return n.LNURL.AddWithdraw(lightning.Withdraw{Name: "voucher", MinMsat: 1_000_000, MaxMsat: 1_000_000_000})
}

// startLP starts the i-th LP with an account and a node of its own.
func (n *Net) startLP(ctx context.Context, i int, net Options) error {
	node, err := n.Lightning.NewNode(fmt.Sprintf("lp %d", i), 100_000_000)
	if err != nil {
		return err
	}
	n.Bitcoin.SetLightningNode(btc.NodeLiquidity{PublicKey: node.ID(), Capacity: 200_000_000, Channels: 8})
	o := lp.Options{EVM: n.EVM, Network: net.Network, Lightning: node, Now: n.Clock.Now, Next: net.Version == Newer}
	if i > 0 {
		if o.Account, err = n.newRich(ctx); err != nil {
			return err
		}
	}
	if o.Solana, err = n.lpOnSolana(ctx, i); err != nil {
		return err
	}
	if o.Starknet, err = n.lpOnStarknet(ctx, i); err != nil {
		return err
	}
	if net.LP != nil {
		net.LP(i, &o)
	}
	l, err := lp.Start(ctx, o)
	if err != nil {
		return err
	}
	n.LPs = append(n.LPs, l)
	n.closers = append(n.closers, l)
	return nil
}

// newRich makes an account that owns as much as the LP of the EVM network.
func (n *Net) newRich(ctx context.Context) (*evm.Account, error) {
	a, err := n.EVM.NewAccount()
	if err != nil {
		return nil, err
	}
	if err := n.EVM.Fund(ctx, a.Address, evm.Coins(10_000)); err != nil {
		return nil, err
	}
	rich := new(big.Int).Exp(big.NewInt(10), big.NewInt(30), nil)
	for _, token := range []common.Address{n.EVM.Contracts().Token, n.EVM.Contracts().Dollar} {
		if err := n.EVM.Mint(ctx, token, a.Address, rich); err != nil {
			return nil, err
		}
	}
	return a, nil
}

// Close stops everything, last started first. It may be called more than once.
func (n *Net) Close() (err error) {
	n.closing.Do(func() {
		for i := len(n.closers) - 1; i >= 0; i-- {
			err = errors.Join(err, n.closers[i].Close())
		}
	})
	return err
}

// Mine mines Bitcoin blocks. What has timed out by height does so.
func (n *Net) Mine(count int) error {
	_, err := n.Bitcoin.Mine(count)
	n.Lightning.Tick()
	return err
}

// Advance moves all clocks ahead and makes a block on the smart chains, so that their
// time follows. Bitcoin's time moves with the next block that is mined.
func (n *Net) Advance(d time.Duration) error {
	n.Clock.Add(d)
	n.Lightning.Tick()
	if n.Solana != nil {
		n.Solana.Elapse(d)
	}
	if n.Starknet != nil {
		n.Starknet.Elapse()
	}
	return n.EVM.Mine(1)
}

// SyncRelays brings the smart chains' Bitcoin relays to the tip.
func (n *Net) SyncRelays(ctx context.Context) error {
	err := n.EVM.SyncRelay(ctx)
	if n.Solana != nil {
		err = errors.Join(err, n.Solana.SyncRelay(ctx))
	}
	if n.Starknet != nil {
		err = errors.Join(err, n.Starknet.SyncRelay(ctx))
	}
	return err
}

// LPURLs returns the base URLs of the LPs.
func (n *Net) LPURLs() []string {
	urls := make([]string, len(n.LPs))
	for i, l := range n.LPs {
		urls[i] = l.URL()
	}
	return urls
}

// Tokens are the EVM chain's, the native coin first.
func (n *Net) Tokens() []tokens.Token {
	chain, c := n.EVM.Network().Chain, n.EVM.Contracts()
	return []tokens.Token{
		{Chain: chain, Ticker: "CBTC", Name: "Citrea BTC", Decimals: 18, DisplayDecimals: 8, Address: evm.Native.Hex()},
		{Chain: chain, Ticker: "WBTC", Name: "Wrapped BTC (WBTC)", Decimals: 8, DisplayDecimals: 8, Address: c.Token.Hex()},
		{Chain: chain, Ticker: "USDC", Name: "USD Circle", Decimals: 6, DisplayDecimals: 6, Address: c.Dollar.Hex()},
	}
}

// sockets are the WebSocket URLs of a chain's configuration.
func (n *Net) sockets(url string) []string {
	if !n.hear {
		return nil
	}
	return []string{url}
}

// Chain returns the EVM chain for the library's configuration.
func (n *Net) Chain() chains.Factory {
	return n.evmChain(n.EVM.URL(), n.sockets(n.EVM.Server().SocketURL()))
}

func (n *Net) evmChain(url string, sockets []string) chains.Factory {
	network := n.EVM.Config()
	return chainevm.Custom(chainevm.Options{RPC: []string{url}, WebSocket: sockets, Network: &network, Tokens: n.Tokens()})
}
