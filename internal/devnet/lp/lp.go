package lp

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"net/http"
	"sync"
	"time"

	btc "github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/devnet/bitcoin"
	devnet "github.com/swapper-go/swapper/internal/devnet/evm"
	"github.com/swapper-go/swapper/internal/devnet/lightning"
	"github.com/swapper-go/swapper/internal/devnet/loopback"
	"github.com/swapper-go/swapper/internal/devnet/solana"
	"github.com/swapper-go/swapper/internal/devnet/starknet/contracts"
	solwire "github.com/swapper-go/swapper/internal/solana/wire"
	"github.com/swapper-go/swapper/tokens"
)

// Token is a token that an LP deals in.
type Token struct {
	Address string // as the chain writes it
	Price   Price
}

// Options of an LP. A smart chain is needed; the rest has defaults.
type Options struct {
	EVM       *devnet.Net
	Solana    *solana.Party    // the LP's own on Solana, with funds of every token; nil: it does not serve that chain
	Starknet  *contracts.Party // the same on Starknet
	Bitcoin   *bitcoin.Net     // nil: that of a smart chain
	Lightning *lightning.Node  // the LP's own; nil: no services that need one
	Account   *devnet.Account  // the LP's own, with funds of every token; nil: EVM.LP
	Now       func() time.Time // the network's clock; nil: time.Now

	Tokens  []Token          // on EVM; nil: DefaultTokens
	Terms   map[string]Terms // of services by their names in /info; the others have the network's defaults
	GasMax  *big.Int         // the most gas that is sold with a swap on EVM, in wei; nil: 10^16
	FeeRate float64          // sat/vB that the LP's wallet takes for right; 0: 2
	Limits  Limits

	SolanaTokens []Token  // nil: SolanaTokens
	SolanaGasMax *big.Int // as GasMax, in lamports; nil: 5*10^7

	StarknetTokens []Token  // nil: StarknetTokens
	StarknetGasMax *big.Int // as GasMax, in fri; nil: 5*10^18

	// Next makes it the next version of the network's LPs (protocol: lp-next.md).
	Next bool
	// Legacy makes it announce FROM_BTC and FROM_BTCLN also where there are vaults.
	Legacy bool

	// Deposit is how many sats' worth of each token the LP puts into the escrow
	// contract and into a vault each; 0: 5 000 000 000. Of the native coin it puts half
	// of what it has into the contract at most.
	Deposit int64
	// Unclaimed is how many withdrawals of a vault may wait for watchtowers until the
	// LP claims them itself; 0: 5.
	Unclaimed          int
	VaultConfirmations int64 // that withdrawals need; 0: 2
	// Vaults is how many vaults the LP opens for each token; 0: one. Of several it offers
	// the one that it has offered least recently, not the one with the least that is enough.
	Vaults int
	// VaultUnit is what vaults count a token in, base units; nil: 1, and 10^10 for
	// tokens of 18 decimals. The token is as its chain writes it.
	VaultUnit func(token string) int64

	Address string            // listen address; "": a free port of 127.0.0.1
	Network *loopback.Network // where it listens; nil: loopback sockets
	Poll    time.Duration     // how often the LP looks at the chains; 0: 20 ms
}

// DefaultTokens are the tokens of a network: native coin and Token are worth a
// bitcoin each, a hundred thousand Dollars are another.
func DefaultTokens(c devnet.Contracts) []Token {
	return []Token{
		{devnet.Native.Hex(), Price{18, big.NewInt(1e14)}},
		{c.Token.Hex(), Price{8, big.NewInt(1e14)}},
		{c.Dollar.Hex(), Price{6, big.NewInt(1e9)}},
	}
}

// SolanaTokens are the tokens of Solana that the local network has, at its market's
// prices: 625 SOL are a bitcoin.
func SolanaTokens() []Token {
	price := map[string]int64{"SOL": 16e10, "WBTC": 1e14, "USDC": 1e9}
	var all []Token
	for _, t := range solwire.Tokens() {
		if p, ok := price[t.Ticker]; ok {
			all = append(all, Token{t.Mint.String(), Price{t.Decimals, big.NewInt(p)}})
		}
	}
	return all
}

// StarknetTokens are the tokens of Starknet that the local network has, at its market's
// prices: a STRK is 130 sats.
func StarknetTokens() []Token {
	price := map[string]int64{"STRK": 13e7, "WBTC": 1e14, "USDC": 1e9}
	var all []Token
	for _, t := range tokens.Known(starknetChain) {
		if p, ok := price[t.Ticker]; ok {
			all = append(all, Token{t.Address, Price{t.Decimals, big.NewInt(p)}})
		}
	}
	return all
}

// defaultTerms are the network's (protocol: lp-protocol.md §8.1).
var defaultTerms = map[string]Terms{
	"TO_BTC": {150, 3000, 10_000, 5_000_000}, "FROM_BTC_SPV": {150, 3000, 3000, 5_000_000},
	"TO_BTCLN": {10, 3000, 1000, 1_000_000}, "FROM_BTCLN_AUTO": {10, 3000, 1000, 1_000_000},
	"FROM_BTC": {150, 3000, 10_000, 5_000_000}, "FROM_BTCLN": {10, 3000, 1000, 1_000_000},
	"FROM_BTCLN_TRUSTED": {10, 10_000, 100, 100_000}, "FROM_BTC_TRUSTED": {10, 10_000, 1000, 100_000},
}

// LP is a running liquidity provider. Its methods are safe for concurrent use.
type LP struct {
	o        Options
	sides    []*side // the chains that it serves
	btc      *bitcoin.Net
	node     *lightning.Node
	hot      *bitcoin.Wallet // pays bitcoin, and receives it
	vaultKey *bitcoin.Wallet // signs for the vaults
	server   *http.Server
	url      string
	closing  sync.Once
	closed   chan struct{}
	stop     context.CancelFunc
	running  context.Context // until stop
	stopped  sync.WaitGroup

	passing loopback.Mutex // held while the LP looks at the chains and does what is to be done

	mu       sync.Mutex
	fault    Fault
	feeRate  float64
	deals    map[string]deal // by the keys that clients ask with
	live     []deal
	prepared map[string]prepared
	vaults   []*vault
	quotes   map[string]*spvQuote
	offers   uint64            // of vaults, so far
	purses   []*bitcoin.Wallet // that single swaps were paid to
	problems []error           // of the last pass
}

// Start starts an LP: it puts its funds into the contracts, opens a vault for each
// token, and listens. It ends with Close.
func Start(ctx context.Context, o Options) (*LP, error) {
	if o.EVM == nil && o.Solana == nil && o.Starknet == nil {
		return nil, errors.New("an LP needs a smart chain")
	}
	if o.EVM != nil && o.Account == nil {
		o.Account = o.EVM.LP
	}
	if o.Bitcoin == nil {
		switch {
		case o.EVM != nil:
			o.Bitcoin = o.EVM.Bitcoin()
		case o.Solana != nil:
			o.Bitcoin = o.Solana.Net.Bitcoin()
		default:
			o.Bitcoin = o.Starknet.Net.Bitcoin()
		}
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Tokens == nil && o.EVM != nil {
		o.Tokens = DefaultTokens(o.EVM.Contracts())
	}
	if o.SolanaTokens == nil {
		o.SolanaTokens = SolanaTokens()
	}
	if o.SolanaGasMax == nil {
		o.SolanaGasMax = big.NewInt(5e7)
	}
	if o.StarknetTokens == nil {
		o.StarknetTokens = StarknetTokens()
	}
	if o.StarknetGasMax == nil {
		o.StarknetGasMax = big.NewInt(5e18)
	}
	if o.GasMax == nil {
		o.GasMax = big.NewInt(1e16)
	}
	if o.FeeRate == 0 {
		o.FeeRate = 2
	}
	if o.Deposit == 0 {
		o.Deposit = 5_000_000_000
	}
	if o.Unclaimed == 0 {
		o.Unclaimed = 5
	}
	if o.VaultConfirmations == 0 {
		o.VaultConfirmations = 2
	}
	if o.Poll == 0 {
		o.Poll = 20 * time.Millisecond
	}
	l := &LP{o: o, btc: o.Bitcoin, node: o.Lightning, closed: make(chan struct{}), feeRate: o.FeeRate,
		deals: make(map[string]deal), prepared: make(map[string]prepared), quotes: make(map[string]*spvQuote)}
	if err := l.start(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("start the LP: %w", err), l.Close())
	}
	return l, nil
}

func (l *LP) start(ctx context.Context) (err error) {
	if l.hot, err = l.btc.NewWallet(btc.P2WPKH); err != nil {
		return err
	}
	if l.vaultKey, err = l.btc.NewWallet(btc.P2TR); err != nil {
		return err
	}
	if l.o.EVM != nil {
		g, err := newEVMLedger(l.o.EVM, l.o.Account)
		if err != nil {
			return err
		}
		l.sides = append(l.sides, newSide(g, l.o.Tokens, l.o.GasMax))
	}
	if l.o.Solana != nil {
		l.sides = append(l.sides, newSide(newSolanaLedger(l.o.Solana), l.o.SolanaTokens, l.o.SolanaGasMax))
	}
	if l.o.Starknet != nil {
		l.sides = append(l.sides, newSide(newStarknetLedger(l.o.Starknet), l.o.StarknetTokens, l.o.StarknetGasMax))
	}
	if err := l.stock(ctx); err != nil {
		return err
	}
	if err := l.listen(); err != nil {
		return err
	}
	running, cancel := context.WithCancel(context.WithoutCancel(ctx))
	l.running, l.stop = running, cancel
	l.stopped.Go(func() { l.follow(running) })
	return nil
}

// stock puts the LP's funds where they are needed.
func (l *LP) stock(ctx context.Context) error {
	for range 3 {
		if _, err := l.btc.Faucet(l.hot.Address, 100_000_000); err != nil {
			return err
		}
	}
	for _, s := range l.sides {
		for _, t := range s.tokens {
			amount := t.Price.fromBTC(big.NewInt(l.o.Deposit), false)
			if t.Address == s.native() {
				have, err := s.gas(ctx)
				if err != nil {
					return err
				}
				if half := have.Rsh(have, 1); amount.Cmp(half) > 0 {
					amount = half // the rest is for gas
				}
			}
			if err := s.deposit(ctx, t.Address, amount); err != nil {
				return fmt.Errorf("deposit on %s: %w", s.chain(), err)
			}
		}
	}
	return l.openVaults(ctx)
}

// URL returns the LP's base URL.
func (l *LP) URL() string { return l.url }

// Account returns the LP's account on the EVM network; nil if it serves none.
func (l *LP) Account() *devnet.Account { return l.o.Account }

// Solana returns the LP as a party of Solana; nil if it does not serve that chain.
func (l *LP) Solana() *solana.Party { return l.o.Solana }

// Starknet returns the LP as a party of Starknet; nil if it does not serve that chain.
func (l *LP) Starknet() *contracts.Party { return l.o.Starknet }

// Node returns the LP's Lightning node; nil if it has none.
func (l *LP) Node() *lightning.Node { return l.node }

// Wallet returns the wallet that pays and receives bitcoin.
func (l *LP) Wallet() *bitcoin.Wallet { return l.hot }

// Sats returns what the LP has on Bitcoin: in its wallet, and where swaps were paid.
func (l *LP) Sats() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	sum := l.hot.Balance()
	for _, w := range l.purses {
		sum += w.Balance()
	}
	return sum
}

// purse makes the wallet that one swap is paid to.
func (l *LP) purse() (*bitcoin.Wallet, error) {
	w, err := l.btc.NewWallet(btc.P2WPKH)
	if err == nil {
		l.mu.Lock()
		l.purses = append(l.purses, w)
		l.mu.Unlock()
	}
	return w, err
}

// Funds returns what the LP has of a token, as its chain writes it, in the contract out of
// which it pays escrows, in base units.
func (l *LP) Funds(ctx context.Context, chain, token string) (*big.Int, error) {
	for _, s := range l.sides {
		if s.chain() == chain {
			return s.funds(ctx, token)
		}
	}
	return nil, fmt.Errorf("the LP does not serve %s", chain)
}

// SetFeeRate changes what the LP's wallet takes for the right fee rate, in sat/vB.
func (l *LP) SetFeeRate(rate float64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.feeRate = rate
}

// Problems returns what went wrong in the LP's last look at the chains.
func (l *LP) Problems() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return errors.Join(l.problems...)
}

// Close stops the LP. It may be called more than once.
func (l *LP) Close() (err error) {
	l.closing.Do(func() {
		close(l.closed)
		if l.stop != nil {
			l.stop()
		}
		if l.server != nil {
			err = l.server.Close()
		}
		l.stopped.Wait()
		for _, s := range l.sides {
			err = errors.Join(err, s.close())
		}
	})
	return err
}

func (l *LP) now() time.Time { return l.o.Now() }

func (l *LP) terms(name string) Terms {
	if t, ok := l.o.Terms[name]; ok {
		return t
	}
	return defaultTerms[name]
}

func bigInt(n int64) *big.Int { return big.NewInt(n) }
