package lp

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"sync/atomic"
	"time"

	"github.com/swapper-go/swapper/chains"
	btc "github.com/swapper-go/swapper/chains/bitcoin"
	devnet "github.com/swapper-go/swapper/internal/devnet/evm"
	"github.com/swapper-go/swapper/internal/devnet/solana"
	"github.com/swapper-go/swapper/internal/devnet/starknet/contracts"
)

// Story is one smart chain as one of two nodes tells it, with the LP's account there.
type Story struct {
	EVM      *devnet.Net
	Account  *devnet.Account // on EVM
	Solana   *solana.Party
	Starknet *contracts.Party
}

func (s Story) ledger() (ledger, error) {
	switch {
	case s.EVM != nil:
		return newEVMLedger(s.EVM, s.Account)
	case s.Solana != nil:
		return newSolanaLedger(s.Solana), nil
	case s.Starknet != nil:
		return newStarknetLedger(s.Starknet), nil
	}
	return nil, errors.New("a story needs a smart chain")
}

// Collude lets the LP live in a story that a node tells for it: it looks there alone, and
// opens, claims, takes back and fills there alone, until stop is called. From then on it
// lives in the network's chain, and does there what is not done yet.
func (l *LP) Collude(s Story) (stop func(context.Context) error, err error) {
	g, err := s.ledger()
	if err != nil {
		return nil, err
	}
	for _, s := range l.sides {
		if s.chain() == g.chain() {
			l.turn(s, g)
			return func(ctx context.Context) error { return l.repent(ctx, s) }, nil
		}
	}
	return nil, errors.Join(fmt.Errorf("the LP does not serve %s", g.chain()), g.close())
}

// turn changes what the LP takes for a chain, between two looks at it.
func (l *LP) turn(s *side, to ledger) {
	l.passing.Lock()
	defer l.passing.Unlock()
	if to == nil {
		s.story.Store(nil)
		return
	}
	s.story.Store(&to)
}

// repent ends a story. Withdrawals that were claimed in it alone are to be claimed again.
func (l *LP) repent(ctx context.Context, s *side) error {
	told := s.now()
	l.turn(s, nil)
	err := told.close()
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, v := range l.vaults {
		if v.side != s {
			continue
		}
		now, readErr := s.vaults().readVault(ctx, v.onchain)
		if readErr != nil {
			err = errors.Join(err, readErr)
			continue
		}
		v.onchain, v.pending, v.told = now, append(v.told, v.pending...), nil
	}
	return err
}

// faced is a chain as the LP takes it to be: the network's, or what a story tells.
type faced struct {
	ledger
	story atomic.Pointer[ledger] // nil: none
}

func (f *faced) now() ledger {
	if g := f.story.Load(); g != nil {
		return *g
	}
	return f.ledger
}

// vaults is nil if the LP has none there.
func (f *faced) vaults() vaulted {
	v, _ := f.now().(vaulted)
	return v
}

func (f *faced) colluding() bool { return f.story.Load() != nil }

func (f *faced) prefetch(ctx context.Context) (any, error) { return f.now().prefetch(ctx) }
func (f *faced) authorizeInit(ctx context.Context, e chains.Escrow, feeRate string, until int64, stranger bool) (chains.Auth, error) {
	return f.now().authorizeInit(ctx, e, feeRate, until, stranger)
}
func (f *faced) head() chains.Block { return f.now().head() }
func (f *faced) facts(ctx context.Context, of []chains.Escrow, at chains.Block) (map[string]chains.EscrowFact, error) {
	return f.now().facts(ctx, of, at)
}
func (f *faced) funds(ctx context.Context, token string) (*big.Int, error) {
	return f.now().funds(ctx, token)
}
func (f *faced) gas(ctx context.Context) (*big.Int, error) { return f.now().gas(ctx) }
func (f *faced) deposit(ctx context.Context, token string, amount *big.Int) error {
	return f.now().deposit(ctx, token, amount)
}
func (f *faced) pay(ctx context.Context, to string, amount *big.Int) (string, error) {
	return f.now().pay(ctx, to, amount)
}
func (f *faced) open(ctx context.Context, e chains.Escrow, until int64) error {
	return f.now().open(ctx, e, until)
}
func (f *faced) claimSecret(ctx context.Context, e chains.Escrow, secret [32]byte) error {
	return f.now().claimSecret(ctx, e, secret)
}
func (f *faced) claimBitcoin(ctx context.Context, e chains.Escrow, id btc.Hash, vout, confirmations uint32) error {
	return f.now().claimBitcoin(ctx, e, id, vout, confirmations)
}
func (f *faced) refund(ctx context.Context, e chains.Escrow, at time.Time) error {
	return f.now().refund(ctx, e, at)
}
