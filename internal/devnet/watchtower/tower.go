package watchtower

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/ethclient"
	"github.com/ethereum/go-ethereum/rpc"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/chains/bitcoin/mempoolspace"
	devbitcoin "github.com/swapper-go/swapper/internal/devnet/bitcoin"
	"github.com/swapper-go/swapper/internal/devnet/evm"
	"github.com/swapper-go/swapper/internal/devnet/loopback"
	"github.com/swapper-go/swapper/internal/devnet/solana/party"
	starkparty "github.com/swapper-go/swapper/internal/devnet/starknet/party"
	"github.com/swapper-go/swapper/internal/nostr"
	"github.com/swapper-go/swapper/internal/starknet/wire"
)

// Options of a watchtower.
type Options struct {
	EVM      *evm.Net          // nil: nothing is claimed there
	Solana   *party.Party      // the watchtower's own on Solana; nil: nothing is claimed there
	Starknet *starkparty.Party // the same on Starknet
	Relays   []string          // Nostr relays; empty: no escrows are claimed for their preimage
	Account  *evm.Account      // that pays for claims on EVM and earns; nil: the network's Watchtower
	Every    time.Duration     // how often it looks; 0: 50 ms
	Log      *slog.Logger      // nil: silence
	Network  *loopback.Network // that leads to the servers and the relays; nil: loopback sockets
}

// Behaviour is what a watchtower leaves undone. The zero value is a good one.
type Behaviour struct {
	Deaf      bool          // messages are lost
	NoEscrows bool          // escrows are remembered, but not claimed
	NoVaults  bool          // withdrawals are not claimed
	NoProofs  bool          // escrows that wait for a Bitcoin payment are not claimed
	Delay     time.Duration // between seeing that something can be claimed and claiming it
}

// Claim is one claim that was sent.
type Claim struct {
	Escrow     [32]byte     // hash of an escrow; zero for a withdrawal
	Withdrawal bitcoin.Hash // the Bitcoin transaction; zero for an escrow
	Tx         string       // id of the transaction that claims
}

// Tower is a running watchtower. Its methods are safe for concurrent use.
type Tower struct {
	options   Options
	node      *ethclient.Client
	bitcoin   bitcoin.Backend
	transport *http.Transport
	close     []func()
	cancel    context.CancelFunc
	working   sync.WaitGroup
	once      sync.Once

	mu        sync.Mutex
	behaviour Behaviour
	escrows   map[common.Hash]*escrow // that a good message told of
	claims    []Claim

	// Used by the working goroutine alone.
	solana   *solana   // nil: it does not watch that chain
	starknet *starknet // the same
	vaults   *vaults
	due      map[any]time.Time         // since when something can be claimed
	sent     map[any]common.Hash       // the claim that was sent for it
	gone     map[common.Hash]time.Time // since when the node does not know a claim
}

// Start starts a watchtower and returns once it is subscribed to a relay, if
// there are any.
func Start(ctx context.Context, o Options) (*Tower, error) {
	if o.Account == nil && o.EVM != nil {
		o.Account = o.EVM.Watchtower
	}
	o.Every = cmp.Or(o.Every, 50*time.Millisecond)
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	t := &Tower{options: o, escrows: map[common.Hash]*escrow{}, due: map[any]time.Time{}, transport: o.Network.Transport(), sent: map[any]common.Hash{}, gone: map[common.Hash]time.Time{}, vaults: &vaults{}}
	if o.Solana != nil {
		t.solana = newSolana(o.Solana)
	}
	if o.Starknet != nil {
		t.starknet = &starknet{Party: o.Starknet, secrets: map[wire.Felt]*starknetSecret{}}
	}
	if err := t.start(ctx); err != nil {
		return nil, errors.Join(err, t.Close())
	}
	return t, nil
}

func (t *Tower) start(ctx context.Context) error {
	if err := t.dial(ctx); err != nil {
		return err
	}
	running, cancel := context.WithCancel(context.Background())
	t.cancel = cancel
	if err := t.listen(ctx, running); err != nil {
		return err
	}
	t.working.Go(func() { t.work(running) })
	return nil
}

// dial connects to the EVM chain and to Bitcoin, by servers of its own: those of the
// network can be told to misbehave.
func (t *Tower) dial(ctx context.Context) error {
	var coins *devbitcoin.Net
	if t.starknet != nil {
		coins = t.starknet.Net.Bitcoin()
	}
	if t.options.EVM != nil {
		coins = t.options.EVM.Bitcoin()
		chain, err := t.options.EVM.Serve("")
		if err != nil {
			return err
		}
		t.close = append(t.close, func() { _ = chain.Close() })
		if t.node, err = dialEVM(ctx, chain.URL(), t.transport); err != nil {
			return err
		}
		t.close = append(t.close, t.node.Close)
	}
	if coins == nil {
		return nil // no vaults to watch
	}
	rest, err := coins.Serve("")
	if err != nil {
		return err
	}
	t.close = append(t.close, func() { _ = rest.Close() })
	backend, err := mempoolspace.New(mempoolspace.Options{Network: bitcoin.Regtest, URLs: []string{rest.URL()}, TipAge: -1, HTTP: &http.Client{Transport: t.transport}})
	if err != nil {
		return err
	}
	t.bitcoin = backend
	t.close = append(t.close, func() { _ = backend.Close() })
	return nil
}

func dialEVM(ctx context.Context, url string, transport http.RoundTripper) (*ethclient.Client, error) {
	client, err := rpc.DialOptions(ctx, url, rpc.WithHTTPClient(&http.Client{Transport: transport}))
	if err != nil {
		return nil, err
	}
	return ethclient.NewClient(client), nil
}

// listen subscribes to the relays and waits for the first.
func (t *Tower) listen(ctx, running context.Context) error {
	if len(t.options.Relays) == 0 {
		return nil
	}
	subscribed := make(chan struct{}, 1)
	types := map[string]func(json.RawMessage) error{}
	if t.options.EVM != nil {
		types["evm"] = func(data json.RawMessage) error {
			_, err := t.parse(data)
			return err
		}
	}
	if t.solana != nil {
		types["sol"] = func(data json.RawMessage) error {
			_, err := t.solana.parse(data)
			return err
		}
	}
	if t.starknet != nil {
		types["strk"] = func(data json.RawMessage) error {
			_, err := t.starknet.parse(data)
			return err
		}
	}
	receiver, err := nostr.NewReceiver(nostr.ReceiverOptions{
		Network: bitcoin.Regtest, Relays: t.options.Relays, Pause: 100 * time.Millisecond, Types: types, HTTP: t.transport,
		Status: func(_ string, err error) {
			if err == nil {
				select {
				case subscribed <- struct{}{}:
				default:
				}
			}
		},
	})
	if err != nil {
		return err
	}
	t.working.Go(func() { _ = receiver.Listen(running, t.take) })
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	select {
	case <-subscribed:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("no relay could be subscribed to: %w", ctx.Err())
	}
}

// Behave changes what the watchtower leaves undone.
func (t *Tower) Behave(b Behaviour) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.behaviour = b
}

// Claims returns the claims sent so far, in order.
func (t *Tower) Claims() []Claim {
	t.mu.Lock()
	defer t.mu.Unlock()
	return append([]Claim(nil), t.claims...)
}

// Close ends the watchtower. It may be called more than once.
func (t *Tower) Close() error {
	t.once.Do(func() {
		if t.cancel != nil {
			t.cancel()
		}
		t.working.Wait()
		for i := len(t.close) - 1; i >= 0; i-- {
			t.close[i]()
		}
		t.transport.CloseIdleConnections()
	})
	return nil
}

func (t *Tower) work(ctx context.Context) {
	tick := time.NewTicker(t.options.Every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		t.mu.Lock()
		b := t.behaviour
		t.mu.Unlock()
		for _, round := range t.rounds(b) {
			if round.off {
				continue
			}
			if err := round.do(ctx, b); err != nil && ctx.Err() == nil {
				t.options.Log.Warn("the watchtower tries again", "what", round.name, "err", err)
			}
		}
	}
}

// perRound is how many claims that are waited for a round makes at most: other chains'
// wait for its end.
const perRound = 8

// round is a part of what a watchtower does.
type round struct {
	off  bool
	name string
	do   func(context.Context, Behaviour) error
}

func (t *Tower) rounds(b Behaviour) (all []round) {
	if t.options.EVM != nil {
		all = append(all, round{b.NoEscrows, "escrows", t.claimEscrows}, round{b.NoVaults, "vaults", t.claimVaults})
	}
	if t.solana != nil {
		all = append(all, round{b.NoEscrows, "escrows on Solana", t.claimSecrets}, round{b.NoProofs, "payments", t.claimPayments})
	}
	if t.starknet != nil {
		all = append(all, round{b.NoEscrows, "escrows on Starknet", t.claimStarknetSecrets}, round{b.NoVaults, "vaults on Starknet", t.claimStarknetVaults})
	}
	return all
}

// done notes a claim that was sent.
func (t *Tower) done(c Claim) {
	t.mu.Lock()
	t.claims = append(t.claims, c)
	t.mu.Unlock()
	t.options.Log.Info("the watchtower claims", "escrow", common.Hash(c.Escrow), "withdrawal", c.Withdrawal, "tx", c.Tx)
}
