//go:build unix

package e2e

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"math/big"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/ethclient"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/devnet"
	devbitcoin "github.com/swapper-go/swapper/internal/devnet/bitcoin"
	"github.com/swapper-go/swapper/internal/devnet/control"
	devevm "github.com/swapper-go/swapper/internal/devnet/evm"
	"github.com/swapper-go/swapper/internal/devnet/lightning"
	"github.com/swapper-go/swapper/internal/devnet/lp"
	"github.com/swapper-go/swapper/internal/trial"
)

// What each user begins with: base units of WBTC, and sats on Bitcoin and over
// Lightning each.
const (
	startTokens int64 = 1_000_000
	startSats   int64 = 1_000_000
)

// startWei is what each user begins with to pay the chain's fees.
var startWei = devevm.Coins(1)

// stage is a network on which many lives of one flow take place at once, each of a
// user with accounts of its own, so that what each one pays and gets can be
// counted. Other flows have other networks: each block of the EVM chain is at
// least a second after the one before, so that very many of them in a short time
// carry the chain's time away from everybody's clock.
type stage struct {
	net  *devnet.Net
	land land
	flow flow
	dir  string
	lps  chan *lp.LP // as many times as each may be used at once

	others int64 // msat of those who take no part

	mu     sync.Mutex
	people []*person
}

// person is a user, and those whom the user pays.
type person struct {
	control.Wallet
	shop   *lightning.Node
	payee  *devbitcoin.Wallet
	coin   bitcoin.OutPoint // the only one of the Bitcoin wallet
	link   string           // LNURL-withdraw, to be handed in when the invoice is to be paid
	closer []func() error
}

// slots bound how many processes are up at once.
var slots = make(chan struct{}, 12)

// vaults is how many LPs there are for a flow in which each LP can serve only one
// user at a time: who withdraws from a vault leaves nothing for the quotes of others.
const vaults = 3

// newStage starts a network for a flow, with the version of LPs that the test's name picks.
func newStage(t *testing.T, f flow) *stage {
	t.Helper()
	o, each := devnet.Options{Watchtower: !f.noTower, Version: devnet.VersionOf(t)}, cap(slots)
	on(f.on, &o)
	if f.vault {
		o.LPs, each = vaults, 1
	}
	s := &stage{dir: t.TempDir(), flow: f, lps: make(chan *lp.LP, vaults*cap(slots))}
	s.net = trial.Must(devnet.Start(t.Context(), o))(t)
	t.Cleanup(func() { s.net.Close() })
	s.land = landOf(f.on, s.net)
	s.others = s.hanging()
	for _, l := range s.net.LPs {
		l.Misbehave(f.fault)
		for range each {
			s.lps <- l
		}
	}
	synced := 40 // after so many blocks the relay has them, however slow the users are
	if f.on == starknetName {
		synced = 10
	}
	ended, mined := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(mined)
		for blocks := 1; ; blocks++ {
			select {
			case <-ended:
				return
			case <-time.After(200 * time.Millisecond):
				if f.blocks {
					s.net.Mine(1)
				}
				if f.on != "" && blocks%synced == 0 { // who settles brings the rest, which costs more than a swap if it is very much
					s.net.SyncRelays(t.Context())
				}
			}
		}
	}()
	t.Cleanup(func() { close(ended); <-mined })
	return s
}

// mortal is what a process on the stage is told.
func (s *stage) mortal(store string, providers []string) mortal {
	m := mortal{Store: store, REST: s.net.Bitcoin.URL(), Relay: s.net.Nostr.URL(), LPs: providers, Ahead: time.Until(s.net.Clock.Now())}
	s.land.tell(&m)
	return m
}

// born makes the life of a user who has one swap.
func (s *stage) born(ctx context.Context) (*life, error) {
	p, err := s.person(ctx)
	if err != nil {
		return nil, err
	}
	l := &life{stage: s, person: p, store: filepath.Join(s.dir, rand.Text())}
	return l, s.flow.prepare(ctx, l)
}

// person makes a user with money on every side.
func (s *stage) person(ctx context.Context) (p *person, err error) {
	p = &person{}
	n := s.net
	if err := s.land.equip(ctx, p); err != nil {
		return nil, err
	}
	name := rand.Text()
	if p.Lightning, err = n.Lightning.NewNode("payer "+name, startSats); err != nil {
		return nil, err
	}
	if p.shop, err = n.Lightning.NewNode("shop "+name, 0); err != nil {
		return nil, err
	}
	if p.Bitcoin, err = n.Bitcoin.NewWallet(bitcoin.P2WPKH); err != nil {
		return nil, err
	}
	if p.payee, err = n.Bitcoin.NewWallet(bitcoin.P2WPKH); err != nil {
		return nil, err
	}
	if p.coin, err = n.Bitcoin.Fund(p.Bitcoin.Address, startSats); err != nil {
		return nil, err
	}
	s.mu.Lock()
	s.people = append(s.people, p)
	s.mu.Unlock()
	return p, nil
}

// serve starts LNURL services on a node of the user's.
func (l *life) serve(node *lightning.Node) (*lightning.LNURLServer, error) {
	service, err := lightning.StartLNURL(lightning.LNURLOptions{Node: node, Now: l.net.Clock.Now})
	if err == nil {
		l.closer = append(l.closer, service.Close)
	}
	return service, err
}

// wbtc is the token's identifier on the flow's chain.
func (s *stage) wbtc() string { return s.land.chain() + "-WBTC" }

// address is the user's on the flow's chain.
func (l *life) address() string { return l.land.address(l.person) }

// balanceAt returns what the user has of the chain's coin.
func (l *life) balanceAt(ctx context.Context) (*big.Int, error) {
	node, err := ethclient.DialContext(ctx, l.net.EVM.URL())
	if err != nil {
		return nil, err
	}
	defer node.Close()
	return node.BalanceAt(ctx, l.EVM.Address, nil)
}

// play brings lives through one phase, many at once, and reports what is wrong.
func (s *stage) play(t *testing.T, lives []*life, phase int) {
	t.Helper()
	var all sync.WaitGroup
	for _, l := range lives {
		all.Go(func() {
			if err := s.perform(t.Context(), l, phase); err != nil {
				t.Errorf("%s: %v", l.name(), err)
				l.failed = true
			}
		})
	}
	all.Wait()
}

// perform brings one life through a phase when there is a place for it.
func (s *stage) perform(ctx context.Context, l *life, phase int) error {
	provider := <-s.lps
	defer func() { s.lps <- provider }()
	slots <- struct{}{}
	defer func() { <-slots }()
	ctx, cancel := context.WithTimeoutCause(ctx, 2*time.Minute, errors.New("the swap is stuck"))
	defer cancel()
	if l.urls == nil {
		l.urls = []string{provider.URL()}
	}
	err := l.live(ctx, phase)
	if l.process != nil { // it failed
		l.process.cmd.Process.Kill()
		<-l.process.ended
		if err != nil {
			err = fmt.Errorf("%w; the LP's problems: %v\n%s", err, provider.Problems(), l.process.log.Bytes())
		}
	}
	return err
}
