package swapper_test

import (
	"math/big"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/httpapi"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/swappertest"
)

// Pages of any size, put together, are the list: over several chains, of pending swaps
// too, and over HTTP.
func TestPagesAreTheList(t *testing.T) {
	t.Parallel()
	n := swappertest.Start(t, swappertest.Options{})
	other := swappertest.Start(t, swappertest.Options{EVM: swappertest.EVMOptions{Chain: "GOAT"}})
	c := n.Config()
	c.Chains = append(c.Chains, other.Config().Chains...)
	c.LPs.URLs = append(c.LPs.URLs, other.Config().LPs.URLs...)
	client := trial.Must(swapper.Open(t.Context(), c))(t)
	defer client.Close()
	server := httptest.NewServer(httpapi.New(client, httpapi.Options{}))
	defer server.Close()
	remote := trial.Must(httpapi.NewClient(server.URL, httpapi.ClientOptions{}))(t)

	signer := n.User.Address("CITREA")
	if other.User.Address("GOAT") != signer {
		t.Fatal("the user has the same key on both chains")
	}
	for i, token := range []string{"CITREA-WBTC", "GOAT-WBTC", "CITREA-USDC", "GOAT-WBTC", "CITREA-WBTC"} {
		sats := int64(10_000 + i)
		swap := trial.Must(client.CreateSwap(t.Context(), swapper.CreateSwapInput{SrcToken: token, DstToken: "LIGHTNING-BTC", Amount: big.NewInt(sats),
			AmountType: swapper.ExactOut, SrcAddress: signer, DstAddress: n.Invoice(sats)}))(t)
		if i == 2 { // is not pending any more
			trial.Must(n.User.Finish(t.Context(), client, swap.SwapID))(t)
		}
	}
	for _, of := range []struct {
		name string
		list func(swapper.ListSwapsInput) ([]swapper.ListSwapOutput, error)
		want int
	}{
		{"all", func(in swapper.ListSwapsInput) ([]swapper.ListSwapOutput, error) {
			return client.ListSwaps(t.Context(), in)
		}, 5},
		{"pending", func(in swapper.ListSwapsInput) ([]swapper.ListSwapOutput, error) {
			return client.ListPendingSwaps(t.Context(), in)
		}, 4},
		{"over HTTP", func(in swapper.ListSwapsInput) ([]swapper.ListSwapOutput, error) {
			return remote.ListSwaps(t.Context(), in)
		}, 5},
	} {
		whole := ids(t, of.list, swapper.ListSwapsInput{Signer: signer})
		if len(whole) != of.want {
			t.Fatalf("%s: %d swaps", of.name, len(whole))
		}
		for limit := 1; limit <= len(whole)+1; limit++ {
			var pages []string
			for in := (swapper.ListSwapsInput{Signer: signer, Limit: limit}); ; in.After = pages[len(pages)-1] {
				page := ids(t, of.list, in)
				if len(page) > limit {
					t.Fatalf("%s: %d swaps, at most %d were asked for", of.name, len(page), limit)
				}
				if pages = append(pages, page...); len(page) == 0 {
					break
				}
			}
			if diff := cmp.Diff(whole, pages); diff != "" {
				t.Errorf("%s, by %d: %s", of.name, limit, diff)
			}
		}
		for name, in := range map[string]swapper.ListSwapsInput{
			"limit":   {Signer: signer, Limit: -1},
			"unknown": {Signer: signer, After: "unknown"},
			"chain":   {Signer: signer, ChainID: "GOAT", After: whole[0]},
			"signer":  {Signer: "0x000000000000000000000000000000000000dEaD", After: whole[0]},
		} {
			if _, err := of.list(in); fault.CodeOf(err) != fault.InvalidInput {
				t.Errorf("%s, %s: %v", of.name, name, err)
			}
		}
	}
}

func ids(t *testing.T, list func(swapper.ListSwapsInput) ([]swapper.ListSwapOutput, error), in swapper.ListSwapsInput) []string {
	t.Helper()
	swaps, err := list(in)
	if err != nil {
		t.Fatalf("%+v: %v", in, err)
	}
	var out []string
	for _, s := range swaps {
		out = append(out, s.SwapID)
	}
	return out
}
