package watchtower

import (
	"cmp"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/chains/bitcoin/mempoolspace"
	devbitcoin "github.com/swapper-go/swapper/internal/devnet/bitcoin"
	"github.com/swapper-go/swapper/internal/devnet/loopback"
	"github.com/swapper-go/swapper/internal/nostr"
	"github.com/swapper-go/swapper/storage"
	"github.com/swapper-go/swapper/watchtower"
)

// Options of a watchtower.
type Options struct {
	Chains  []watchtower.Account // where it claims; policies are its own
	Servers []io.Closer          // of those chains, closed with the watchtower
	Bitcoin *devbitcoin.Net
	Relays  []string          // Nostr relays; empty: no escrows are claimed for their preimage
	Every   time.Duration     // how often it looks; 0: 50 ms
	Now     func() time.Time  // nil: the system's clock
	Log     *slog.Logger      // nil: silence
	Network *loopback.Network // that leads to the servers and the relays; nil: loopback sockets
}

// Behaviour is what a watchtower leaves undone. The zero value is a good one.
type Behaviour struct {
	Deaf      bool          // messages are lost
	NoEscrows bool          // escrows are remembered, but not claimed
	NoVaults  bool          // withdrawals are not claimed
	NoProofs  bool          // escrows that wait for a Bitcoin payment are not claimed
	Delay     time.Duration // between seeing that something can be claimed and claiming it
}

// Tower is a running watchtower. Its methods are safe for concurrent use.
type Tower struct {
	options   Options
	transport *http.Transport
	tower     *watchtower.Tower
	close     []io.Closer
	cancel    context.CancelFunc
	working   sync.WaitGroup
	once      sync.Once

	mu        sync.Mutex
	behaviour Behaviour
	since     map[string]time.Time // when something could be claimed first
	claims    []watchtower.Claim
	heard     int
}

// Start starts a watchtower and returns once it is subscribed to a relay, if
// there are any. It closes the servers even if it fails.
func Start(ctx context.Context, o Options) (*Tower, error) {
	o.Every = cmp.Or(o.Every, 50*time.Millisecond)
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	t := &Tower{options: o, transport: o.Network.Transport(), close: o.Servers, since: map[string]time.Time{}}
	if err := t.start(ctx); err != nil {
		return nil, errors.Join(err, t.Close())
	}
	return t, nil
}

func (t *Tower) start(ctx context.Context) error {
	rest, err := t.options.Bitcoin.Serve("")
	if err != nil {
		return err
	}
	t.close = append(t.close, rest)
	backend, err := mempoolspace.New(mempoolspace.Options{Network: bitcoin.Regtest, URLs: []string{rest.URL()}, TipAge: -1, HTTP: &http.Client{Transport: t.transport}})
	if err != nil {
		return err
	}
	t.close = append(t.close, backend)
	for i, a := range t.options.Chains {
		t.options.Chains[i].Chain, t.options.Chains[i].Policy.Allowance = lavish{a.Chain}, plenty
	}
	t.tower, err = watchtower.Open(ctx, watchtower.Config{
		Network: bitcoin.Regtest, Bitcoin: backend, Store: &storage.Memory{}, Chains: t.options.Chains, Vaults: true, Payments: true, Prices: generous{},
		Approve: t.approve, Every: t.options.Every, HTTP: t.transport, Now: t.options.Now, Log: t.options.Log,
	})
	if err != nil {
		return err
	}
	t.close = append(t.close, t.tower)
	running, cancel := context.WithCancel(context.Background())
	t.cancel = cancel
	if err := t.listen(ctx, running); err != nil {
		return err
	}
	t.working.Go(func() { _ = t.tower.Run(running) })
	return nil
}

// listen subscribes to the relays and waits for the first.
func (t *Tower) listen(ctx, running context.Context) error {
	if len(t.options.Relays) == 0 {
		return nil
	}
	subscribed := make(chan struct{}, 1)
	any := func(json.RawMessage) error { return nil } // the watchtower judges
	receiver, err := nostr.NewReceiver(nostr.ReceiverOptions{
		Network: bitcoin.Regtest, Relays: t.options.Relays, Pause: 100 * time.Millisecond, HTTP: t.transport,
		Types: map[string]func(json.RawMessage) error{"evm": any, "sol": any, "strk": any},
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
	t.working.Go(func() { _ = receiver.Listen(running, func(m nostr.Message) { t.hear(running, m) }) })
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	select {
	case <-subscribed:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("no relay could be subscribed to: %w", ctx.Err())
	}
}

// hear takes a message for that of an own user.
func (t *Tower) hear(ctx context.Context, m nostr.Message) {
	preimage, err := hex.DecodeString(m.Preimage)
	if deaf := t.hears(); err != nil || len(preimage) != len(chains.Preimage{}) || deaf {
		return
	}
	if err := t.tower.Publish(ctx, watchtower.Message{Chain: m.ChainID, Escrow: m.SwapData, Preimage: chains.Preimage(preimage)}); err != nil {
		t.options.Log.Info("a message is not for the watchtower", "err", err)
	}
}

// approve lets the watchtower claim, unless it is to be lazy.
func (t *Tower) approve(c watchtower.Claim) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	since, seen := t.since[c.ID]
	if !seen {
		since = time.Now()
		t.since[c.ID] = since
	}
	b := t.behaviour
	off := map[chains.StepKind]bool{chains.StepClaimSecret: b.NoEscrows, chains.StepVaultClaim: b.NoVaults, chains.StepClaimBitcoin: b.NoProofs}[c.Kind]
	if off || time.Since(since) < b.Delay {
		return false
	}
	t.claims = append(t.claims, c)
	return true
}

// Behave changes what the watchtower leaves undone.
func (t *Tower) Behave(b Behaviour) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.behaviour = b
}

// hears counts a message, and reports whether it is lost.
func (t *Tower) hears() (deaf bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.heard++
	return t.behaviour.Deaf
}

// Heard returns how many messages came so far, with those that were lost on it.
func (t *Tower) Heard() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.heard
}

// Claims returns the claims that were signed so far, in order.
func (t *Tower) Claims() []watchtower.Claim {
	t.mu.Lock()
	defer t.mu.Unlock()
	return append([]watchtower.Claim(nil), t.claims...)
}

// Close ends the watchtower. It may be called more than once.
func (t *Tower) Close() (err error) {
	t.once.Do(func() {
		if t.cancel != nil {
			t.cancel()
		}
		t.working.Wait()
		for i := len(t.close) - 1; i >= 0; i-- {
			err = errors.Join(err, t.close[i].Close())
		}
		t.transport.CloseIdleConnections()
	})
	return err
}
