package nostr_test

import (
	"context"
	"encoding/json"
	"sync"
	"testing"
	"time"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/devnet/watchtower"
	"github.com/swapper-go/swapper/internal/nostr"
	"github.com/swapper-go/swapper/internal/trial"
)

func anything(json.RawMessage) error { return nil }

// listen starts a receiver and returns what it delivers, once it is subscribed to
// all relays, and what waits until it is subscribed to one again.
func listen(t *testing.T, o nostr.ReceiverOptions) (delivered <-chan nostr.Message, again func()) {
	t.Helper()
	got := make(chan nostr.Message, 100)
	ready := make(chan struct{}, 100)
	o.Network = bitcoin.Regtest
	o.Status = func(_ string, err error) {
		if err == nil {
			ready <- struct{}{}
		}
	}
	r := trial.Must(nostr.NewReceiver(o))(t)
	ctx, cancel := context.WithCancel(context.Background())
	var done sync.WaitGroup
	done.Go(func() { _ = r.Listen(ctx, func(m nostr.Message) { got <- m }) })
	t.Cleanup(func() {
		cancel()
		done.Wait()
	})
	subscribed := func() {
		t.Helper()
		select {
		case <-ready:
		case <-time.After(time.Minute):
			t.Fatal("not subscribed")
		}
	}
	for range o.Relays {
		subscribed()
	}
	return got, subscribed
}

func TestReceiverDeliversOnce(t *testing.T) {
	t.Parallel()
	a, b := relay(t, watchtower.RelayFault{Repeat: 2}), relay(t, watchtower.RelayFault{})
	urls := []string{a.URL(), b.URL()}
	got, _ := listen(t, nostr.ReceiverOptions{Relays: urls, Types: map[string]func(json.RawMessage) error{"evm": anything}})
	m := messenger(t, nostr.Options{Relays: urls})
	foreign := message()
	foreign.SwapData = json.RawMessage(`{"type":"other"}`)
	trial.Do(t, m.Publish(t.Context(), foreign))
	trial.Do(t, m.Publish(t.Context(), message()))
	trial.Do(t, m.Close())
	select {
	case one := <-got:
		if one.Preimage != preimage {
			t.Error("another preimage")
		}
	case <-time.After(time.Minute):
		t.Fatal("nothing came")
	}
	select {
	case <-got:
		t.Error("a second time")
	case <-time.After(200 * time.Millisecond):
	}
}

// A relay that forges must not keep the true event, from another relay, out.
func TestForgedEventsAreDropped(t *testing.T) {
	t.Parallel()
	liar, honest := relay(t, watchtower.RelayFault{Forge: true}), relay(t, watchtower.RelayFault{})
	got, _ := listen(t, nostr.ReceiverOptions{Relays: []string{liar.URL(), honest.URL()}, Types: map[string]func(json.RawMessage) error{"evm": anything}})
	now := time.Unix(1_800_000_000, 0)
	key := zeroReader{} // so that both messengers make the same event
	first := messenger(t, nostr.Options{Relays: []string{liar.URL()}, Now: func() time.Time { return now }, Rand: key})
	trial.Do(t, first.Publish(t.Context(), message()))
	select {
	case <-got:
		t.Fatal("a forged event was delivered")
	case <-time.After(200 * time.Millisecond):
	}
	second := messenger(t, nostr.Options{Relays: []string{honest.URL()}, Now: func() time.Time { return now }, Rand: key})
	trial.Do(t, second.Publish(t.Context(), message()))
	if liar.Events()[0].ID != honest.Events()[0].ID {
		t.Fatal("two events")
	}
	select {
	case <-got:
	case <-time.After(time.Minute):
		t.Fatal("the true event was not delivered")
	}
}

// zeroReader gives the same bytes over and over.
type zeroReader struct{}

func (zeroReader) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 1
	}
	return len(p), nil
}

func TestReceiverConnectsAgain(t *testing.T) {
	r := relay(t, watchtower.RelayFault{})
	got, again := listen(t, nostr.ReceiverOptions{Relays: []string{r.URL()}, Pause: 10 * time.Millisecond, Types: map[string]func(json.RawMessage) error{"evm": anything}})
	r.DropClients()
	again()
	m := messenger(t, nostr.Options{Relays: []string{r.URL()}})
	trial.Do(t, m.Publish(t.Context(), message()))
	select {
	case <-got:
	case <-time.After(time.Minute):
		t.Fatal("nothing came")
	}
}
