package scale

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/devnet/lp"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/storage"
	"github.com/swapper-go/swapper/verify"
)

// late is how long a slow service takes to answer: longer than what a wallet asks meanwhile.
const late = 8 * trip

// lateService answers late while the network is slow.
type lateService struct {
	swapper.Service
	far *distance
}

func (s lateService) wait() {
	if s.far.slow.Load() {
		time.Sleep(late)
	}
}

func (s lateService) CreateSwap(ctx context.Context, in swapper.CreateSwapInput) (*swapper.CreateSwapOutput, error) {
	defer s.wait()
	return s.Service.CreateSwap(ctx, in)
}

func (s lateService) GetSwapStatus(ctx context.Context, in swapper.GetSwapStatusInput) (*swapper.GetSwapStatusOutput, error) {
	defer s.wait()
	return s.Service.GetSwapStatus(ctx, in)
}

func (s lateService) ListSwaps(ctx context.Context, in swapper.ListSwapsInput) ([]swapper.ListSwapOutput, error) {
	defer s.wait()
	return s.Service.ListSwaps(ctx, in)
}

// verified is a wallet that verifies, with nodes of its own that are far away, before a
// service that has near ones.
type verified struct {
	*bed
	wallet swapper.Service
}

func startVerified(tb testing.TB, version string) *verified {
	tb.Helper()
	b := &bed{tb: tb, far: new(distance), version: version}
	b.startNet()
	b.reach(func(url string) string { return url })
	b.keep()
	b.reach(func(url string) string { return b.far.before(tb, url) })
	backend, chain := b.nodes()
	w := trial.Must(verify.Wrap(lateService{b.client, b.far}, verify.Config{Network: bitcoin.Regtest, Chains: []chains.Factory{chain}, Store: new(storage.Memory), Bitcoin: backend, Prices: prices, Now: b.net.Clock.Now}))(tb)
	b.user.Swaps = w
	return &verified{b, w}
}

func (v *verified) create(t *testing.B, typ swapper.SwapType) string {
	t.Helper()
	s, err := v.wallet.CreateSwap(t.Context(), v.request(typ))
	if err != nil {
		t.Fatalf("createSwap %s: %v", typ, err)
	}
	return s.SwapID
}

func (v *verified) status(t *testing.B, id string) *swapper.GetSwapStatusOutput {
	t.Helper()
	return trial.Must(v.wallet.GetSwapStatus(t.Context(), v.ask(id)))(t)
}

// delivered returns a swap from Lightning whose secret the service waits for.
func (v *verified) delivered(t *testing.B) string {
	t.Helper()
	id := v.create(t, swapper.SwapFromBTCLNAuto)
	trial.Do(t, v.user.Do(t.Context(), id, v.status(t, id).CurrentAction))
	for {
		s := trial.Must(v.client.GetSwapStatus(t.Context(), v.ask(id)))(t)
		if s.RequiresSecretReveal != nil && *s.RequiresSecretReveal {
			return id
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// What verification costs: of the trips, those of a late service are eight, and what is more comes
// after its answer. The balance is asked of own nodes alone.
func BenchmarkTripsVerified(t *testing.B) {
	for _, on := range []struct {
		name, version string
		types         []swapper.SwapType
		under         []underWay
	}{
		{"EVM", "", types, underWays},
		{"Starknet", onStarknet, types, underWays},
		{"Solana v1", "v1", []swapper.SwapType{swapper.SwapToBTC, swapper.SwapToBTCLN, swapper.SwapFromBTC, swapper.SwapFromBTCLN}, []underWay{{swapper.SwapToBTC, "COMMITED"}}},
	} {
		t.Run(on.name, func(t *testing.B) { startVerified(t, on.version).measure(t, on.types, on.under) })
	}
}

func (v *verified) measure(t *testing.B, types []swapper.SwapType, under []underWay) {
	sleep := func() { time.Sleep(stale) }
	for _, typ := range types {
		v.create(t, typ) // opens the chains
		t.Run("create/"+string(typ), func(t *testing.B) { v.trips(t, sleep, func() { v.create(t, typ) }) })
		t.Run("action/"+string(typ), func(t *testing.B) {
			id := v.create(t, typ)
			v.trips(t, sleep, func() {
				if s := v.status(t, id); s.CurrentAction == nil {
					t.Fatalf("%+v", s)
				}
			})
		})
	}
	if slices.Contains(types, swapper.SwapFromBTCLNAuto) {
		t.Run("reveal/"+string(swapper.SwapFromBTCLNAuto), func(t *testing.B) { // 16 trips are the service's: it is asked, and then told
			var id string
			v.trips(t, func() { id = v.delivered(t) }, func() {
				s := v.status(t, id)
				if a, ok := s.CurrentAction.(*swapper.Wait); !ok || a.Name != "Automatic settlement" {
					t.Fatalf("%+v", s)
				}
			})
		})
	}
	v.net.LPs[0].Misbehave(lp.Fault{NeverPay: true, NeverSettle: true})
	for _, c := range under {
		t.Run("under way/"+string(c.typ), func(t *testing.B) {
			id := v.create(t, c.typ)
			if s, err := v.user.Finish(t.Context(), id, func(s *swapper.GetSwapStatusOutput) bool { return s.State.Name == c.state }); err != nil {
				t.Fatalf("%v; %+v", err, s)
			}
			v.trips(t, sleep, func() { v.status(t, id) })
		})
	}
	t.Run("list", func(t *testing.B) {
		v.trips(t, sleep, func() {
			all, err := v.wallet.ListSwaps(t.Context(), swapper.ListSwapsInput{Signer: v.address()})
			if err != nil || len(all) == 0 {
				t.Fatalf("%d swaps, %v", len(all), err)
			}
		})
	})
	t.Run("balance", func(t *testing.B) {
		v.trips(t, sleep, func() {
			if _, err := v.wallet.GetSpendableBalance(t.Context(), swapper.GetSpendableBalanceInput{Wallet: v.address(), Token: v.native()}); err != nil {
				t.Fatal(err)
			}
		})
	})
}
