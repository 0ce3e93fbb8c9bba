package swap_test

import (
	"crypto/rand"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/chains/evm"
	"github.com/swapper-go/swapper/chains/solana"
	"github.com/swapper-go/swapper/chains/starknet"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/flowtest"
	"github.com/swapper-go/swapper/internal/swap"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/internal/vectors"
	"github.com/swapper-go/swapper/tokens"
)

// constants returns what is constant about the chains of the catalogue, as the
// network deploys them.
func constants(chain string) (chains.Info, bool) {
	v := chains.Version{Name: "v1", LPInit: true, Vaults: true}
	switch chain {
	case "SOLANA":
		v.LPInit, v.Vaults = false, false
	case "STARKNET", "BOTANIX", "CITREA", "ALPEN", "GOAT":
	default:
		return chains.Info{}, false
	}
	return chains.Info{ID: chain, Default: "v1", Versions: []chains.Version{v}}, true
}

func TestVectorsRouting(t *testing.T) {
	registry := flowtest.Tokens(t, flowtest.Chains...)
	vectors.Each(t, "swap-flows-spv-and-core", "routing", func(t *testing.T, c *vectors.Case) {
		var in struct{ Network, SrcToken, DstToken string }
		var want struct {
			SwapType                                                   string
			RequiresInputWallet, RequiresOutputWallet, SupportsGasDrop bool
		}
		c.Input(t, &in)
		c.Expected(t, &want)
		src, _ := registry.Resolve(in.SrcToken)
		dst := trial.Must(registry.Resolve(in.DstToken))(t)
		got, err := swap.Route(src, dst, constants)
		if want.SwapType == "" {
			if refused, ok := errors.AsType[*fault.Error](err); !ok || refused.Code != fault.Unsupported || refused.Field != "dstToken" {
				t.Errorf("type %v, %v, want a refusal", got, err)
			}
			return
		}
		if err != nil || got.String() != want.SwapType || got.NeedsSourceWallet() != want.RequiresInputWallet ||
			got.NeedsDestinationWallet() != want.RequiresOutputWallet || got.DropsGas() != want.SupportsGasDrop {
			t.Errorf("type %v, %v, want %+v", got, err, want)
		}
	})
}

func TestVectorsSwapTypeInfo(t *testing.T) {
	vectors.Each(t, "utilities", "swap_type_info", func(t *testing.T, c *vectors.Case) {
		var in struct {
			Number   swap.Type
			SwapType string
		}
		var want struct{ RequiresInputWallet, RequiresOutputWallet, SupportsGasDrop bool }
		c.Input(t, &in)
		c.Expected(t, &want)
		if got := in.Number; got.String() != in.SwapType || got.NeedsSourceWallet() != want.RequiresInputWallet ||
			got.NeedsDestinationWallet() != want.RequiresOutputWallet || got.DropsGas() != want.SupportsGasDrop {
			t.Errorf("%v: %v %v %v, want %+v", got, got.NeedsSourceWallet(), got.NeedsDestinationWallet(), got.DropsGas(), want)
		}
	})
}

func TestRouteNeedsAChain(t *testing.T) {
	other := tokens.Token{Chain: "ELSEWHERE", Ticker: "X"}
	for field, pair := range map[string][2]tokens.Token{"dstToken": {tokens.BTC(), other}, "srcToken": {other, tokens.LightningBTC()}} {
		_, err := swap.Route(pair[0], pair[1], constants)
		if refused, ok := errors.AsType[*fault.Error](err); !ok || refused.Code != fault.Unsupported || refused.Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
	// With contracts that an LP can open alone, but no vaults, only Lightning takes the new way.
	v2 := func(string) (chains.Info, bool) {
		return chains.Info{ID: "SOLANA", Default: "v2", Versions: []chains.Version{{Name: "v1"}, {Name: "v2", LPInit: true}}}, true
	}
	sol, _ := tokens.Native("SOLANA")
	if got, err := swap.Route(tokens.LightningBTC(), sol, v2); err != nil || got != swap.FromBTCLNAuto {
		t.Errorf("Lightning: %v, %v", got, err)
	}
	if got, err := swap.Route(tokens.BTC(), sol, v2); err != nil || got != swap.FromBTC {
		t.Errorf("Bitcoin: %v, %v", got, err)
	}
}

// What the vectors take for constant is what the chains say of themselves, as they are
// deployed on the main network; a node is not needed for it.
func TestRoutesAreThoseOfTheChains(t *testing.T) {
	dead := []string{"http://127.0.0.1:1"}
	env := chains.Env{Network: bitcoin.Mainnet, Now: time.Now, Rand: rand.Reader, HTTP: http.DefaultTransport, Log: slog.New(slog.DiscardHandler)}
	for _, f := range []chains.Factory{starknet.Mainnet(starknet.Options{RPC: dead}), solana.Mainnet(solana.Options{RPC: dead}), evm.Botanix(evm.Options{RPC: dead}), evm.Citrea(evm.Options{RPC: dead})} {
		c := trial.Must(f.Open(t.Context(), env))(t)
		info := c.Info()
		want, _ := constants(f.ID())
		at := slices.IndexFunc(info.Versions, func(v chains.Version) bool { return v.Name == info.Default })
		if at < 0 || info.ID != want.ID || info.Default != want.Default || info.Versions[at].LPInit != want.Versions[0].LPInit || info.Versions[at].Vaults != want.Versions[0].Vaults {
			t.Errorf("%s: %+v, want %+v", f.ID(), info.Versions, want.Versions)
		}
		if diff := cmp.Diff(tokens.Known(f.ID()), info.Tokens); diff != "" {
			t.Errorf("%s: tokens (-catalogue +chain):\n%s", f.ID(), diff)
		}
		if err := c.(io.Closer).Close(); err != nil {
			t.Error(err)
		}
	}
}
