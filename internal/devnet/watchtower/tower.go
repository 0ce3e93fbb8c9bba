package watchtower

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/ethclient"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/chains/bitcoin/mempoolspace"
	"github.com/swapper-go/swapper/internal/devnet/evm"
	"github.com/swapper-go/swapper/internal/nostr"
)

// Options of a watchtower.
type Options struct {
	EVM     *evm.Net
	Relays  []string      // Nostr relays; empty: no escrows are claimed
	Account *evm.Account  // that pays for claims and earns; nil: the network's Watchtower
	Every   time.Duration // how often it looks; 0: 50 ms
	Log     *slog.Logger  // nil: silence
}

// Behaviour is what a watchtower leaves undone. The zero value is a good one.
type Behaviour struct {
	Deaf      bool          // messages are lost
	NoEscrows bool          // escrows are remembered, but not claimed
	NoVaults  bool          // withdrawals are not claimed
	Delay     time.Duration // between seeing that something can be claimed and claiming it
}

// Claim is one claim that was sent.
type Claim struct {
	Escrow     common.Hash  // of an escrow; zero for a withdrawal
	Withdrawal bitcoin.Hash // the Bitcoin transaction; zero for an escrow
	Tx         common.Hash  // that claims
}

// Tower is a running watchtower. Its methods are safe for concurrent use.
type Tower struct {
	options Options
	node    *ethclient.Client
	bitcoin bitcoin.Backend
	close   []func()
	cancel  context.CancelFunc
	working sync.WaitGroup
	once    sync.Once

	mu        sync.Mutex
	behaviour Behaviour
	escrows   map[common.Hash]*escrow // that a good message told of
	claims    []Claim

	// Used by the working goroutine alone.
	vaults *vaults
	due    map[any]time.Time         // since when something can be claimed
	sent   map[any]common.Hash       // the claim that was sent for it
	gone   map[common.Hash]time.Time // since when the node does not know a claim
}

// Start starts a watchtower and returns once it is subscribed to a relay, if
// there are any.
func Start(ctx context.Context, o Options) (*Tower, error) {
	if o.Account == nil {
		o.Account = o.EVM.Watchtower
	}
	o.Every = cmp.Or(o.Every, 50*time.Millisecond)
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	t := &Tower{options: o, escrows: map[common.Hash]*escrow{}, due: map[any]time.Time{}, sent: map[any]common.Hash{}, gone: map[common.Hash]time.Time{}, vaults: &vaults{}}
	if err := t.start(ctx); err != nil {
		return nil, errors.Join(err, t.Close())
	}
	return t, nil
}

func (t *Tower) start(ctx context.Context) error {
	// Servers of its own: those of the network can be told to misbehave.
	chain, err := t.options.EVM.Serve("")
	if err != nil {
		return err
	}
	t.close = append(t.close, func() { _ = chain.Close() })
	if t.node, err = ethclient.DialContext(ctx, chain.URL()); err != nil {
		return err
	}
	t.close = append(t.close, t.node.Close)
	rest, err := t.options.EVM.Bitcoin().Serve("")
	if err != nil {
		return err
	}
	t.close = append(t.close, func() { _ = rest.Close() })
	backend, err := mempoolspace.New(mempoolspace.Options{Network: bitcoin.Regtest, URLs: []string{rest.URL()}, TipAge: -1})
	if err != nil {
		return err
	}
	t.bitcoin = backend
	t.close = append(t.close, func() { _ = backend.Close() })

	running, cancel := context.WithCancel(context.Background())
	t.cancel = cancel
	if err := t.listen(ctx, running); err != nil {
		return err
	}
	t.working.Go(func() { t.work(running) })
	return nil
}

// listen subscribes to the relays and waits for the first.
func (t *Tower) listen(ctx, running context.Context) error {
	if len(t.options.Relays) == 0 {
		return nil
	}
	subscribed := make(chan struct{}, 1)
	receiver, err := nostr.NewReceiver(nostr.ReceiverOptions{
		Network: t.options.EVM.Network().Bitcoin, Relays: t.options.Relays, Pause: 100 * time.Millisecond,
		Types: map[string]func(json.RawMessage) error{"evm": func(data json.RawMessage) error {
			_, err := t.parse(data)
			return err
		}},
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
		for _, round := range []struct {
			off  bool
			name string
			do   func(context.Context, Behaviour) error
		}{{b.NoEscrows, "escrows", t.claimEscrows}, {b.NoVaults, "vaults", t.claimVaults}} {
			if round.off {
				continue
			}
			if err := round.do(ctx, b); err != nil && ctx.Err() == nil {
				t.options.Log.Warn("the watchtower tries again", "what", round.name, "err", err)
			}
		}
	}
}
