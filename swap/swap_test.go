package swap_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/swapper-go/swapper/swap"
)

// Every type has states of which one is the first and one a success, and a diagram that
// names them; a type that does not exist has none.
func TestTypes(t *testing.T) {
	if n := len(swap.Types()); n != 8 {
		t.Errorf("%d types", n)
	}
	for _, typ := range swap.Types() {
		succeeds := false
		for _, s := range typ.States() {
			succeeds = succeeds || s.Success
			if got, ok := typ.State(s.Number); !ok || got != s {
				t.Errorf("%s: state %d is %+v, %t", typ, s.Number, got, ok)
			}
			if s.Pending && s.Finished || s.Success && !s.Finished || s.Description == "" {
				t.Errorf("%s: %+v", typ, s)
			}
			if !strings.Contains(typ.Diagram(), s.Name) {
				t.Errorf("%s: the diagram lacks %s", typ, s.Name)
			}
		}
		if _, first := typ.State(0); !first || !succeeds {
			t.Errorf("%s: has a first state: %t; can succeed: %t", typ, first, succeeds)
		}
	}
	none := swap.Type("NONE")
	if _, ok := none.State(0); ok || none.States() != nil || none.Diagram() != "" {
		t.Error("a type that does not exist has states")
	}
}

// Who sends from a smart chain or signs a PSBT needs a wallet on the source side, who
// opens an escrow for himself one on the other, who only sends to an address none.
func TestWallets(t *testing.T) {
	for typ, want := range map[swap.Type][2]bool{"TO_BTC": {true, false}, "SPV_VAULT_FROM_BTC": {true, false}, "FROM_BTCLN": {false, true}, "FROM_BTCLN_AUTO": {}, "TRUSTED_FROM_BTC": {}, "NONE": {}} {
		if got := [2]bool{typ.NeedsSourceWallet(), typ.NeedsDestinationWallet()}; got != want {
			t.Errorf("%s needs a wallet on the source and the destination: %t, want %t", typ, got, want)
		}
	}
}

// A wallet's list shows what a stored state means.
func ExampleType_State() {
	if s, ok := swap.Type("TO_BTCLN").State(1); ok {
		fmt.Println(s.Name, s.Finished)
	}
	// Output: COMMITED false
}
