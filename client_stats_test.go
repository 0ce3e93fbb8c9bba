package swapper_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/storage"
	"github.com/swapper-go/swapper/swappertest"
)

// Stats counts what is followed, tells quotes from money under way, and says what
// does not respond.
func TestStats(t *testing.T) {
	t.Parallel()
	net := swappertest.Start(t, swappertest.Options{})
	client, err := swapper.Open(t.Context(), net.Config())
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ran := make(chan error, 1)
	go func() { ran <- client.Run(ctx) }()
	defer func() {
		stop()
		<-ran
		if err := client.Close(); err != nil {
			t.Error(err)
		}
	}()
	stats := func() *swapper.Stats {
		t.Helper()
		return trial.Must(client.Stats(t.Context()))(t)
	}
	first := stats()
	for _, part := range []string{"CITREA", "bitcoin", "liquidity providers", "store"} {
		if p, ok := first.Parts[part]; !ok || p.Err != nil || (part == "CITREA" || part == "bitcoin") && p.Height == 0 || (part == "CITREA") != (p.Relay > 0) {
			t.Errorf("%s: %+v", part, p)
		}
	}
	if first.Instances != 1 || client.Instances() != 1 || first.Shards != 64 { // of a file
		t.Errorf("%d instances, %d shards", first.Instances, first.Shards)
	}
	if len(first.Swaps) != 0 || len(first.UnderWay) != 0 || len(first.Providers) == 0 || !first.Providers[0].Loaded || first.Providers[0].Answered == 0 {
		t.Errorf("%+v", first)
	}

	me := net.User.Address("CITREA")
	quote := trial.Must(client.CreateSwap(t.Context(), swapper.CreateSwapInput{SrcToken: "LIGHTNING-BTC", DstToken: "CITREA-WBTC", Amount: big.NewInt(100_000), AmountType: swapper.ExactIn, DstAddress: me}))(t)
	out := net.Invoice(20_000)
	sent := trial.Must(client.CreateSwap(t.Context(), swapper.CreateSwapInput{SrcToken: "CITREA-WBTC", DstToken: "LIGHTNING-BTC", Amount: big.NewInt(20_000), AmountType: swapper.ExactOut, SrcAddress: me, DstAddress: out}))(t)
	waitFor(t, "two quotes", func() bool {
		s := stats()
		return len(s.Swaps) == 2 && len(s.UnderWay) == 0
	})
	net.Misbehave(swappertest.LightningFault{Hang: true}) // so that the payment does not end
	if _, err := net.User.FinishUntil(t.Context(), client, sent.SwapID, func(s *swapper.GetSwapStatusOutput) bool { return s.State.Number >= 1 }); err != nil {
		t.Fatal(err)
	}
	var last *swapper.Stats
	waitFor(t, "money under way", func() bool { last = stats(); return len(last.UnderWay) == 1 })
	if sum := last.UnderWay[0]; sum.Token != "CITREA-WBTC" || sum.Decimals != 8 || sum.Amount.Cmp(big.NewInt(20_000)) < 0 || sum.Amount.Cmp(big.NewInt(25_000)) > 0 {
		t.Errorf("%+v", sum)
	}
	if !slices.ContainsFunc(last.Swaps, func(s swapper.SwapCount) bool {
		return string(s.Type) == string(quote.SwapType) && s.Chain == "CITREA" && s.Count == 1 && s.Name != ""
	}) {
		t.Errorf("%+v lacks the quote of %s", last.Swaps, quote.SwapType)
	}

	net.Misbehave(swappertest.NodeFault{Chain: "CITREA", Down: true})
	soon, cancel := context.WithTimeout(t.Context(), time.Second) // it would be asked for eight seconds
	defer cancel()
	if last, err = client.Stats(soon); err != nil || last.Parts["CITREA"].Err == nil {
		t.Errorf("a chain that is down: %+v, %v", last, err)
	}
}

func waitFor(t *testing.T, what string, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !done(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("never: %s", what)
		}
	}
}

// A chain with one node is told of when the client is opened, in the log, when it
// is asked whether it is ready, and in its statistics, and chains are told whether all nodes have to agree.
func TestHowManyNodesDecide(t *testing.T) {
	t.Parallel()
	net := swappertest.Start(t, swappertest.Options{})
	for _, all := range []bool{false, true} {
		config := net.Config()
		var log bytes.Buffer
		config.Logger, config.AllNodes = slog.New(slog.NewTextHandler(&log, nil)), all
		var opened []*toldFactory
		for i, f := range config.Chains {
			opened = append(opened, &toldFactory{Factory: f})
			config.Chains[i] = opened[i]
		}
		client := trial.Must(swapper.Open(t.Context(), config))(t)
		stats := trial.Must(client.Stats(t.Context()))(t)
		ready, err := client.Ready(t.Context())
		if err != nil {
			t.Errorf("one node is no reason not to be ready: %v", err)
		}
		if err := client.Close(); err != nil {
			t.Error(err)
		}
		for _, f := range opened {
			if !slices.Contains(ready.OneNode, f.ID()) || len(ready.OneNode) != len(opened) {
				t.Errorf("Ready tells of one node on %q, want %s among %d", ready.OneNode, f.ID(), len(opened))
			}
			if f.told.AllNodes != all {
				t.Errorf("%s: all nodes have to agree: %t, want %t", f.ID(), f.told.AllNodes, all)
			}
			if got := stats.Parts[f.ID()].Contradictions; !slices.Equal(got, []uint64{0}) {
				t.Errorf("%s: contradictions %v, want none of one node", f.ID(), got)
			}
		}
		if got := strings.Count(log.String(), "has one node"); got != len(opened) {
			t.Errorf("the log tells of one node %d times, want %d:\n%s", got, len(opened), log.String())
		}
	}
}

// toldFactory keeps what a chain was opened with.
type toldFactory struct {
	chains.Factory
	told chains.Env
}

func (f *toldFactory) Open(ctx context.Context, env chains.Env) (chains.Chain, error) {
	f.told = env
	return f.Factory.Open(ctx, env)
}

// A client without its store is not ready, however well everything else responds.
func TestReadyWithoutTheStore(t *testing.T) {
	t.Parallel()
	net := swappertest.Start(t, swappertest.Options{})
	config := net.Config()
	config.Store = awayStore{config.Store}
	client, err := swapper.Open(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	_, err = client.Ready(t.Context())
	missing, ok := errors.AsType[*swapper.NotReady](err)
	if !ok || !errors.Is(missing.Parts["store"], errAway) || len(missing.Parts) != 1 {
		t.Errorf("%v", missing)
	}
}

var errAway = errors.New("no database")

// awayStore is one that cannot be read.
type awayStore struct{ storage.Store }

func (awayStore) Note(context.Context, string) ([]byte, uint64, error) { return nil, 0, errAway }
