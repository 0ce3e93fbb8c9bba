package swapper_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/httpapi"
	"github.com/swapper-go/swapper/httpapi/events"
	"github.com/swapper-go/swapper/internal/flowtest"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/storage"
	"github.com/swapper-go/swapper/tokens"
	"github.com/swapper-go/swapper/watchtower"
)

// silence is a messenger that takes everything.
type silence struct{}

func (silence) Publish(context.Context, watchtower.Message) error { return nil }

// stage is a client in a world, and the operations in front of it.
type stage struct {
	*swapper.Client
	store storage.Store
	http  http.Handler
	now   time.Time
}

// worlds are what chains and providers say while everybody asks.
var worlds = map[string]func(now time.Time) func(chains.EscrowQuery) (chains.EscrowFact, error){
	"nothing answers": func(time.Time) func(chains.EscrowQuery) (chains.EscrowFact, error) { return nil },
	"there is no escrow": func(time.Time) func(chains.EscrowQuery) (chains.EscrowFact, error) {
		return func(chains.EscrowQuery) (chains.EscrowFact, error) {
			return chains.EscrowFact{State: chains.EscrowNone, Auth: chains.AuthGood}, nil
		}
	},
	"the escrow is open": func(time.Time) func(chains.EscrowQuery) (chains.EscrowFact, error) {
		return func(chains.EscrowQuery) (chains.EscrowFact, error) {
			return chains.EscrowFact{State: chains.EscrowOpen, InitTx: "0xi", Opened: chains.Block{Height: 999}}, nil
		}
	},
	"the escrow is open and final": func(time.Time) func(chains.EscrowQuery) (chains.EscrowFact, error) {
		return func(chains.EscrowQuery) (chains.EscrowFact, error) {
			return chains.EscrowFact{State: chains.EscrowOpen, Final: true, InitTx: "0xi", Opened: chains.Block{Height: 999}}, nil
		}
	},
}

func newStage(t *testing.T, now time.Time, escrow func(chains.EscrowQuery) (chains.EscrowFact, error)) *stage {
	t.Helper()
	world := &flowtest.World{Time: now, Txs: map[bitcoin.Hash]*bitcoin.Tx{}, Rates: bitcoin.FeeRates{Fastest: 10, Minimum: 1}, Escrow: escrow}
	var all []chains.Factory
	for _, id := range []string{"SOLANA", "CITREA"} {
		native, _ := tokens.Native(id)
		all = append(all, flowtest.NewChain(world, id, []tokens.Token{native}, flowtest.Contracts{}))
	}
	store := new(storage.Memory)
	c := trial.Must(swapper.Open(t.Context(), swapper.Config{Network: bitcoin.Mainnet, Policy: swapper.Policy{AnyNode: true}, Store: store, Chains: all,
		LPs: swapper.LPs{URLs: []string{"https://lp.example.com:24000"}, Transport: world}, Bitcoin: world.Bitcoin(bitcoin.Mainnet), HTTP: world, Messenger: silence{}, Now: world.Now}))(t)
	t.Cleanup(func() { c.Close() })
	streams := events.New(c, events.Options{Now: world.Now})
	t.Cleanup(streams.Close)
	return &stage{c, store, httpapi.New(c, httpapi.Options{Operations: []httpapi.Operation{streams.Operation()}, Caller: func(r *http.Request) string { return r.Header.Get("X-Account") },
		Deadlines: httpapi.Deadlines{SettleWithLnurl: 50 * time.Millisecond}}), now}
}

// ask sends a request of a caller.
func (s *stage) ask(p person, method, target, body string) (int, string) {
	r := httptest.NewRequest(method, target, strings.NewReader(body))
	r.RemoteAddr = p.remote
	r.Header.Set("Content-Type", "application/json")
	for name, value := range map[string]string{"X-Account": p.account, "Swap-Key": p.key} {
		if value != "" {
			r.Header.Set(name, value)
		}
	}
	w := httptest.NewRecorder()
	s.http.ServeHTTP(w, r)
	return w.Code, w.Body.String()
}
