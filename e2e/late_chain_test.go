package e2e

import (
	"errors"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/swapper-go/swapper"
	chainevm "github.com/swapper-go/swapper/chains/evm"
	"github.com/swapper-go/swapper/internal/devnet/evm"
	"github.com/swapper-go/swapper/internal/trial"
)

// missing is what a client says it cannot use.
func (w *world) missing() []string {
	w.t.Helper()
	_, err := w.client.Ready(w.within(20 * time.Second))
	if err == nil {
		return nil
	}
	e, ok := errors.AsType[*swapper.NotReady](err)
	if !ok {
		w.t.Fatalf("%T %v", err, err)
	}
	return slices.Sorted(maps.Keys(e.Parts))
}

// A client starts while a chain's nodes are down, says so of that chain, does what
// the others allow, and catches up with what happened when the nodes are back.
func TestStartsWithoutOneChain(t *testing.T) {
	trial.OnlyFull(t)
	t.Parallel()
	w := start(t, options{slow: true}) // a client opens while a chain is silent, and no quote ends meanwhile
	w.close()
	// Another chain, by a node of its own that is down.
	node := trial.Must(w.net.EVM.Serve(""))(t)
	node.Misbehave(evm.Fault{Down: true})
	network, list := w.net.EVM.Config(), w.net.Tokens()
	network.Chain = "BOTANIX"
	for i := range list {
		list[i].Chain = network.Chain
	}
	w.config = func(c *swapper.Config) {
		c.Chains = append(c.Chains, chainevm.Custom(chainevm.Options{RPC: []string{node.URL()}, Network: &network, Tokens: list}))
	}
	w.open()
	if got := w.missing(); !slices.Equal(got, []string{"BOTANIX"}) {
		t.Errorf("missing: %v", got)
	}
	w.finish(w.create(w.incoming()[swapper.SwapFromBTCLNAuto]()).SwapID)

	// The swap is paid, and opened by the LP, while its own chain cannot be seen.
	paid := w.create(w.incoming()[swapper.SwapFromBTCLNAuto]())
	w.net.EVM.Server().Misbehave(evm.Fault{Delay: time.Hour})
	w.close()
	w.open()
	if got := w.missing(); !slices.Equal(got, []string{"BOTANIX", "CITREA"}) {
		t.Errorf("missing: %v", got)
	}
	w.act(paid.SwapID)
	if list, err := w.client.ListPendingSwaps(t.Context(), swapper.ListSwapsInput{Signer: w.address()}); err != nil || len(list) == 0 {
		t.Errorf("%d pending swaps, %v", len(list), err)
	}
	w.net.EVM.Server().Misbehave(evm.Fault{})
	w.reached(paid.SwapID, "CLAIM_CLAIMED")
	node.Misbehave(evm.Fault{})
	if got := w.missing(); got != nil {
		t.Errorf("missing: %v", got)
	}
}
