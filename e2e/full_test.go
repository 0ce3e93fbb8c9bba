//go:build unix

package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/chains/bitcoin/mempoolspace"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/lp/lphttp"
	"github.com/swapper-go/swapper/internal/swap"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/storage"
	"github.com/swapper-go/swapper/watchtower"
)

// crampedStore is a store on a disk that is full again and again: after each write that
// it takes, the next few are refused. It knows what it has taken of each swap.
type crampedStore struct {
	storage.Store
	each int // writes that are refused after one that was taken

	mu      sync.Mutex
	left    int // of those
	refused int
	taken   map[string]*swap.Record
	astray  []string // effects of which the store knows nothing
}

func (s *crampedStore) write(do func() error, e storage.Entry) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.left > 0 {
		s.left--
		s.refused++
		return fmt.Errorf("write the store: %w", syscall.ENOSPC)
	}
	err := do()
	if err == nil {
		s.left = s.each
		if r, err := swap.Decode(e.ID, e.Version+1, e.Body); err == nil {
			s.taken[e.ID] = r
		}
	}
	return err
}

func (s *crampedStore) Create(ctx context.Context, e storage.Entry) error {
	return s.write(func() error { return s.Store.Create(ctx, e) }, e)
}

func (s *crampedStore) Update(ctx context.Context, e storage.Entry) error {
	return s.write(func() error { return s.Store.Update(ctx, e) }, e)
}

func (s *crampedStore) Delete(ctx context.Context, id string, version uint64) error {
	return s.write(func() error { return s.Store.Delete(ctx, id, version) }, storage.Entry{ID: id})
}

func (s *crampedStore) SetNote(ctx context.Context, name string, data []byte, version uint64) error {
	return s.write(func() error { return s.Store.SetNote(ctx, name, data, version) }, storage.Entry{})
}

// known notes an effect that nothing in the store speaks of.
func (s *crampedStore) known(effect string, by func(*swap.Record) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.taken {
		if by(r) {
			return
		}
	}
	s.astray = append(s.astray, effect)
}

// witness has every effect of a client compared with what its store has taken.
func (s *crampedStore) witness(c *swapper.Config) {
	c.Store = s
	for i, f := range c.Chains {
		c.Chains[i] = seenFactory{f, s}
	}
	c.Bitcoin = seenBitcoin{c.Bitcoin.(*mempoolspace.Client), s}
	c.Messenger = seenMessenger{c.Messenger, s}
	c.LPs.Transport = seenTransport{lphttp.NewTransport(lphttp.TransportOptions{AllowLocal: true}), s}
}

type seenFactory struct {
	chains.Factory
	s *crampedStore
}

func (f seenFactory) Open(ctx context.Context, env chains.Env) (chains.Chain, error) {
	c, err := f.Factory.Open(ctx, env)
	if err != nil {
		return nil, err
	}
	return seenChain{c, f.s}, nil
}

type seenChain struct {
	chains.Chain
	s *crampedStore
}

func (c seenChain) Send(ctx context.Context, tx chains.Signed) error {
	c.s.known("a transaction of the chain", func(r *swap.Record) bool {
		if r.Submission != nil {
			for _, own := range r.Submission.Txs {
				if own.ID == tx.ID {
					return true
				}
			}
		}
		return false
	})
	return c.Chain.Send(ctx, tx)
}

func (c seenChain) Close() error { return c.Chain.(io.Closer).Close() }

type seenBitcoin struct {
	*mempoolspace.Client
	s *crampedStore
}

func (b seenBitcoin) Broadcast(ctx context.Context, raw []byte) (bitcoin.Hash, error) {
	b.s.known("a Bitcoin transaction", func(r *swap.Record) bool { return r.Bitcoin != nil && string(r.Bitcoin.Tx) == string(raw) })
	return b.Client.Broadcast(ctx, raw)
}

type seenMessenger struct {
	watchtower.Messenger
	s *crampedStore
}

func (m seenMessenger) Publish(ctx context.Context, w watchtower.Message) error {
	m.s.known("a preimage", func(r *swap.Record) bool { return r.Lightning != nil && r.Lightning.Revealed != 0 })
	return m.Messenger.Publish(ctx, w)
}

type seenTransport struct {
	http.RoundTripper
	s *crampedStore
}

func (t seenTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	if strings.HasSuffix(r.URL.Path, "/postQuote") {
		t.s.known("a PSBT", func(r *swap.Record) bool {
			return r.Bitcoin != nil && len(r.Bitcoin.PSBT) > 0 && r.Tried[string(swap.PostPSBT)].Started != 0
		})
	}
	return t.RoundTripper.RoundTrip(r)
}

// On a disk that is full most of the time, swaps of every kind still come to their ends
// by themselves: what cannot be stored is not done, what was refused is asked for again,
// and nothing is done twice. The user gets an error that says so, and tries again.
func TestFullDisk(t *testing.T) {
	trial.OnlyFull(t)
	t.Parallel()
	for _, each := range []int{1, 2} {
		t.Run(fmt.Sprintf("%d writes of %d are refused", each, each+1), func(t *testing.T) {
			t.Parallel()
			s := &crampedStore{each: each, taken: map[string]*swap.Record{}}
			w := start(t, options{config: func(c *swapper.Config) {
				s.Store = c.Store
				s.witness(c)
			}})
			requests := w.outgoing()
			maps.Copy(requests, w.incoming())
			for typ, request := range requests {
				t.Run(string(typ), func(t *testing.T) {
					w := w.in(t)
					before := w.wbtc()
					end, quote := w.persist(request())
					if !end.IsSuccess {
						t.Fatalf("ended as %s", end.State.Name)
					}
					want := -raw(quote.InputAmount)
					if typ == swapper.SwapFromBTCLNAuto || typ == swapper.SwapSPVVaultFromBTC {
						want = raw(quote.OutputAmount)
					}
					w.eventually("the tokens have moved once", func() bool { return w.gained(before).Int64() == want })
				})
			}
			s.mu.Lock()
			defer s.mu.Unlock()
			for _, effect := range s.astray {
				t.Errorf("%s went out, and the store knows nothing of it", effect)
			}
			if t.Logf("%d writes were refused", s.refused); s.refused < 10 {
				t.Errorf("only %d: the test has shown little", s.refused)
			}
		})
	}
}

// persist takes a swap to its end as a user who tries again whatever is refused.
func (w *world) persist(in swapper.CreateSwapInput) (*swapper.GetSwapStatusOutput, swapper.SwapQuote) {
	w.t.Helper()
	ctx := w.within(90 * time.Second)
	again := func(err error) {
		w.t.Helper()
		if fault.CodeOf(err) != fault.Internal && fault.CodeOf(err) != fault.InvalidState && fault.CodeOf(err) != fault.Timeout {
			w.t.Fatalf("%s: %v", fault.CodeOf(err), err)
		}
		select {
		case <-ctx.Done():
			w.t.Fatalf("%v, and so to the end", err)
		case <-time.After(20 * time.Millisecond):
		}
	}
	var created *swapper.CreateSwapOutput
	for created == nil {
		s, err := w.client.CreateSwap(ctx, in)
		if err != nil {
			again(err)
			continue
		}
		created = s
	}
	var paid bool
	for {
		s, err := w.user.Look(ctx, created.SwapID)
		if err != nil {
			again(err)
			continue
		}
		if s.IsFinished {
			return s, created.Quote
		}
		pays := asksFor[*swapper.SendToAddress](s) != nil
		if a := s.CurrentAction; a != nil && (!pays || !paid) {
			if err := w.user.Do(ctx, created.SwapID, a); err != nil {
				again(err)
				continue
			}
			paid = paid || pays
		}
		select {
		case <-ctx.Done():
			text, _ := json.Marshal(s)
			w.t.Fatalf("not over in time: %s", text)
		case <-time.After(50 * time.Millisecond):
		}
	}
}
