package main

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/examples/testnet4/console"
	"github.com/swapper-go/swapper/httpapi"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/swappertest"
)

// place is a user's machine: a local network, and the folder that is kept between runs.
type place struct {
	Network *swappertest.Network
	Program console.Program
	Dir     string
	Stop    string // a run is interrupted, as by Ctrl-C, when it shows this state

	local  console.Network // nil: the flags name it
	flags  []string        // of every run
	faulty bool            // a run was interrupted, and the network waits for the next one
}

// newPlace returns a machine on which nothing was run.
func newPlace(t *testing.T, p console.Program) *place {
	n := swappertest.Start(t, swappertest.Options{Solana: swappertest.SolanaOptions{Version: "v1"}, Starknet: swappertest.StarknetOptions{On: true}, Listen: swappertest.Listen{Control: "127.0.0.1:0"}})
	return &place{Network: n, Program: p, Dir: t.TempDir(), local: console.Local(n)}
}

// Run runs the program with flags and what the user types, and returns what it wrote.
func (p *place) Run(t *testing.T, typed string, flags ...string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	out := &output{interrupt: cancel}
	if p.Stop != "" {
		out.stop = "  " + p.Stop + ": "
	}
	if p.faulty { // whoever could end the swap does so only once it is gone on with
		out.stop, out.interrupt, p.faulty = "has not ended", func() { p.Network.Misbehave() }, false
	}
	err := console.Run(ctx, console.Command{Name: t.Name(), Args: slices.Concat([]string{"-dir", p.Dir}, p.flags, flags), In: strings.NewReader(typed), Out: out,
		Getenv: func(string) string { return "" }, Network: p.local}, p.Program)
	t.Logf("%s\n%s%v", strings.Join(flags, " "), out, err)
	return out.String(), err
}

// settles has the program swap on a chain, at full depth on each, then interrupts one in the
// first of the given states, at full depth in each, and has another run go on with it.
func settles(t *testing.T, program console.Program, interrupts ...string) {
	for _, chain := range trial.Of(1, []string{"CITREA", "SOLANA", "STARKNET"}) {
		t.Run(chain, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t, program)
			out, err := p.Run(t, "", "-yes", "-chain", chain)
			if err != nil || !strings.Contains(out, "\nDone: ") {
				t.Fatalf("the swap did not settle: %v", err)
			}
			for _, part := range []string{"pay  ", "receive  ", "for the provider", "transaction on "} {
				if !strings.Contains(out, part) {
					t.Errorf("%q is not shown", part)
				}
			}
		})
	}
	t.Run("on a network of another process", func(t *testing.T) {
		t.Parallel()
		p := newPlace(t, program)
		p.elsewhere(t)
		p.interrupt(t, interrupts[0])
		out, err := p.Run(t, "y\n")
		if err != nil || !strings.Contains(out, "has not ended") || !strings.Contains(out, "\nDone: ") {
			t.Errorf("another run did not go on: %v", err)
		}
		if trial.Full() {
			for _, chain := range []string{"SOLANA", "STARKNET"} {
				if out, err := p.Run(t, "", "-yes", "-chain", chain, "-sats", "100000"); err != nil || !strings.Contains(out, "\nDone: ") {
					t.Errorf("%s: the swap did not settle: %v", chain, err)
				}
			}
		}
	})
	for _, at := range trial.Of(1, interrupts) {
		t.Run("interrupted in "+at, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t, program)
			p.interrupt(t, at)
			out, err := p.Run(t, "y\n")
			if err != nil || !strings.Contains(out, "has not ended") || !strings.Contains(out, "\nDone: ") {
				t.Errorf("another run did not go on: %v", err)
			}
		})
	}
}

// varied runs the program with another token, through a service, and without consent.
func varied(t *testing.T, program console.Program) {
	t.Run("with another token", func(t *testing.T) {
		t.Parallel()
		out, err := newPlace(t, program).Run(t, "", "-yes", "-chain", "citrea", "-token", "usdc")
		if err != nil || !strings.Contains(out, "\nDone: ") || !strings.Contains(out, "USDC") {
			t.Errorf("the swap did not settle: %v", err)
		}
	})
	t.Run("through a service", func(t *testing.T) {
		t.Parallel()
		p := newPlace(t, program)
		out, err := p.Run(t, "", "-yes", "-service", p.serve(t))
		if err != nil || !strings.Contains(out, "\nDone: ") || !strings.Contains(out, "By the wallet's own") {
			t.Errorf("the swap did not settle: %v", err)
		}
	})
	t.Run("declined", func(t *testing.T) {
		t.Parallel()
		out, err := newPlace(t, program).Run(t, "n\n")
		if err != nil || !strings.HasSuffix(out, "Proceed? [y/N] Nothing was done.\n") {
			t.Errorf("went on without consent, or did not say so: %v", err)
		}
	})
}

// elsewhere has the program use the network as that of another process.
func (p *place) elsewhere(t *testing.T) {
	t.Helper()
	var text strings.Builder
	if err := p.Network.Describe(&text); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "local.json")
	if err := os.WriteFile(file, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	p.local, p.flags = nil, []string{"-running", file}
}

// serve runs somebody's service on the network, and returns its base URL.
func (p *place) serve(t *testing.T) string {
	t.Helper()
	client, err := swapper.Open(t.Context(), p.Network.Config())
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { defer close(ended); _ = client.Run(ctx) }()
	server := httptest.NewServer(httpapi.New(client, httpapi.Options{}))
	t.Cleanup(func() { server.Close(); stop(); client.Close(); <-ended })
	return server.URL
}

// interrupt runs the program and interrupts it in a state, which the provider and the
// watchtower do not leave before.
func (p *place) interrupt(t *testing.T, state string) {
	t.Helper()
	p.Network.Misbehave(swappertest.LPFault{NeverPay: true}, swappertest.WatchtowerFault{Off: true})
	p.reach(t, state)
	p.faulty = true
}

// reach runs the program until a swap is in a state.
func (p *place) reach(t *testing.T, state string) {
	t.Helper()
	p.Stop = state
	if _, err := p.Run(t, "y\n"); !errors.Is(err, console.ErrStopped) {
		t.Fatalf("interrupted: %v", err)
	}
	p.Stop = ""
}

// comesBack interrupts a payment out of the smart chain that the provider then cannot
// make, and gets the money back with -refund: after the store was lost, and from what it
// keeps, on a network of this process and of another, and through somebody's service.
func comesBack(t *testing.T, program console.Program) {
	for _, test := range trial.Of(1, []struct{ lost, elsewhere, service bool }{{true, true, false}, {true, false, false}, {false, true, false}, {false, false, false}, {false, false, true}}) {
		t.Run(fmt.Sprintf("refunded, store lost %v, network of another process %v, through a service %v", test.lost, test.elsewhere, test.service), func(t *testing.T) {
			t.Parallel()
			p := newPlace(t, program)
			if test.elsewhere {
				p.elsewhere(t)
			}
			if test.service {
				p.flags = []string{"-service", p.serve(t)}
			}
			p.interrupt(t, "COMMITED")
			p.faulty = false
			p.Network.Misbehave(swappertest.LPFault{NotPayable: true})
			if test.lost {
				if err := os.Remove(filepath.Join(p.Dir, "swaps.db")); err != nil {
					t.Fatal(err)
				}
				out, err := p.Run(t, "", "-recover")
				if err != nil || !strings.Contains(out, "\n1 swaps were found") {
					t.Fatalf("not found on the chain: %v", err)
				}
			}
			p.reach(t, "REFUNDABLE") // the provider has said that it cannot pay
			out, err := p.Run(t, "", "-refund", "-yes")
			if err != nil || !strings.Contains(out, "The swap has ended as REFUNDED") {
				t.Errorf("not refunded: %v", err)
			}
		})
	}
}

// settlesByHand swaps to the smart chain while no watchtower is there: after a while the
// program claims by itself, with gas that it got for it.
func settlesByHand(t *testing.T, program console.Program) {
	t.Parallel()
	p := newPlace(t, program)
	p.Network.Misbehave(swappertest.WatchtowerFault{Off: true, Deaf: true})
	ended := make(chan struct{})
	defer close(ended)
	go func() {
		for {
			select {
			case <-ended:
				return
			case <-time.After(500 * time.Millisecond): // in which a minute passes
				_ = p.Network.Advance(30 * time.Second)
			}
		}
	}()
	out, err := p.Run(t, "", "-yes")
	if err != nil || !strings.Contains(out, "tokens were sent") || !strings.Contains(out, "\nDone: ") {
		t.Errorf("the swap did not settle: %v", err)
	}
}

// output is what a program wrote, safe to be read while it writes.
type output struct {
	mu        sync.Mutex
	text      strings.Builder
	stop      string
	interrupt func()
}

func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.text.Write(b)
	if o.stop != "" && strings.Contains(o.text.String(), o.stop) {
		o.interrupt()
	}
	return len(b), nil
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}
