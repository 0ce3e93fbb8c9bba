package scale

import (
	"cmp"
	"slices"
	"testing"
	"time"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/internal/devnet/lp"
)

// stale is after how long no answer of the library is from memory.
const stale = 2500 * time.Millisecond

// trips reports how many sequential trips do takes: the time of the best of the
// runs over that of one trip, and returns it. before is not measured.
func (b *bed) trips(t *testing.B, before, do func()) float64 {
	t.Helper()
	return b.tripsOf(t, 0, before, do)
}

// tripsOf is trips of the run that so many others were faster than.
func (b *bed) tripsOf(t *testing.B, faster int, before, do func()) float64 {
	t.Helper()
	type run struct {
		took     time.Duration
		requests int64
	}
	var runs []run
	for range max(t.N, 3) {
		before()
		b.far.slow.Store(true)
		n, began := b.far.requests.Load(), time.Now()
		do()
		runs = append(runs, run{time.Since(began), b.far.requests.Load() - n})
		b.far.slow.Store(false)
	}
	slices.SortFunc(runs, func(x, y run) int { return cmp.Compare(x.took, y.took) })
	of := runs[faster]
	trips := float64(of.took) / float64(trip)
	t.ReportMetric(0, "ns/op")
	t.ReportMetric(trips, "trips")
	t.ReportMetric(float64(of.requests), "requests")
	return trips
}

// Cold: the first swap of a process that is ready. Warm: another one, later than
// what is kept for a moment.
func BenchmarkTripsCreate(t *testing.B) { start(t).tripsCreate(t, types) }

func (b *bed) tripsCreate(t *testing.B, types []swapper.SwapType) {
	for _, typ := range types {
		t.Run(string(typ)+"/cold", func(t *testing.B) {
			b.trips(t, func() {
				b.close()
				b.open()
				if b.hears {
					b.follow()
					b.listens()
				}
				if _, err := b.client.Ready(t.Context()); err != nil {
					t.Fatal(err)
				}
			}, func() { b.create(typ) })
		})
		t.Run(string(typ)+"/warm", func(t *testing.B) {
			most := 1
			if b.version == onStarknet && (typ == swapper.SwapToBTC || typ == swapper.SwapToBTCLN) {
				most = 2 // the provider's account says whether it has signed
			}
			if trips := b.trips(t, func() { b.create(typ); time.Sleep(stale) }, func() { b.create(typ) }); trips >= float64(most+1) {
				t.Errorf("a later swap took %.2f trips, want %d", trips, most)
			}
		})
	}
}

func (b *bed) status(id string) *swapper.GetSwapStatusOutput {
	b.tb.Helper()
	s, err := b.client.GetSwapStatus(b.tb.Context(), b.ask(id))
	if err != nil {
		b.tb.Fatal(err)
	}
	return s
}

func BenchmarkTripsWaiting(t *testing.B) { start(t).tripsWaiting(t, types) }

func (b *bed) tripsWaiting(t *testing.B, types []swapper.SwapType) {
	for _, typ := range types {
		t.Run(string(typ), func(t *testing.B) {
			id := b.create(typ)
			b.trips(t, func() { time.Sleep(stale) }, func() {
				if s := b.status(id); s.CurrentAction == nil {
					t.Fatalf("%s: %+v", s.State.Name, s.ActionError)
				}
			})
		})
	}
}

// underWay brings a swap to where it waits for others.
func (b *bed) underWay(typ swapper.SwapType, state string) string {
	b.tb.Helper()
	id := b.create(typ)
	s, err := b.user.Finish(b.tb.Context(), id, func(s *swapper.GetSwapStatusOutput) bool { return s.State.Name == state })
	if err != nil {
		b.tb.Fatalf("%v; %+v", err, s)
	}
	return id
}

// underWay is a state in which the user has done everything.
type underWay struct {
	typ   swapper.SwapType
	state string
}

// askedSeldom waits until what happened last is two minutes ago: the provider is asked every six
// seconds then.
func (b *bed) askedSeldom(id string) {
	for began := time.Now(); time.Since(began) < 2*time.Minute; time.Sleep(stale) {
		b.status(id)
	}
}

var underWays = []underWay{{swapper.SwapToBTC, "COMMITED"}, {swapper.SwapToBTCLN, "COMMITED"}, {swapper.SwapFromBTCLNAuto, "CLAIM_COMMITED"}, {swapper.SwapSPVVaultFromBTC, "BROADCASTED"}}

func BenchmarkTripsUnderWay(t *testing.B) { start(t).tripsUnderWay(t, underWays) }

func (b *bed) tripsUnderWay(t *testing.B, underWays []underWay) {
	b.net.LPs[0].Misbehave(lp.Fault{NeverPay: true, NeverSettle: true})
	for _, c := range underWays {
		t.Run(string(c.typ)+"/"+c.state, func(t *testing.B) {
			id := b.underWay(c.typ, c.state)
			faster := 0
			if b.hears {
				faster = 1 // what it asks by itself may leave one run without a trip
			}
			if b.hears && c.typ == swapper.SwapToBTC {
				b.askedSeldom(id)
			}
			took := b.tripsOf(t, faster, func() { time.Sleep(stale) }, func() { b.status(id) })
			if none := c.typ == swapper.SwapToBTC || c.typ == swapper.SwapSPVVaultFromBTC; b.hears && none && took >= 1 {
				t.Errorf("the status of a swap to which nothing happens took %.2f trips, want none", took)
			}
		})
	}
}

func BenchmarkTripsBalance(t *testing.B) { start(t).tripsBalance(t) }

func (b *bed) tripsBalance(t *testing.B) {
	for name, in := range map[string]swapper.GetSpendableBalanceInput{
		"bitcoin": {Wallet: b.net.Wallet.Address.String(), Token: "BITCOIN-BTC", TargetChain: b.on()},
		"native":  {Wallet: b.address(), Token: b.native()},
		"token":   {Wallet: b.address(), Token: b.on() + "-WBTC"},
	} {
		t.Run(name, func(t *testing.B) {
			b.trips(t, func() { time.Sleep(stale) }, func() {
				if _, err := b.client.GetSpendableBalance(t.Context(), in); err != nil {
					t.Fatal(err)
				}
			})
		})
	}
}

// Warm: what the providers say of their bounds is known, and all else that is
// kept for a moment is stale.
func BenchmarkTripsLimits(t *testing.B) { start(t).tripsLimits(t) }

func (b *bed) tripsLimits(t *testing.B) {
	for _, in := range []swapper.GetSwapLimitsInput{
		{SrcToken: b.native(), DstToken: "BITCOIN-BTC"},
		{SrcToken: b.native(), DstToken: "LIGHTNING-BTC"},
		{SrcToken: "BITCOIN-BTC", DstToken: b.on() + "-WBTC"},
		{SrcToken: "LIGHTNING-BTC", DstToken: b.on() + "-WBTC"},
	} {
		t.Run(in.SrcToken+" to "+in.DstToken, func(t *testing.B) {
			ask := func() {
				if _, err := b.client.GetSwapLimits(t.Context(), in); err != nil {
					t.Fatal(err)
				}
			}
			if trips := b.trips(t, func() { ask(); time.Sleep(stale) }, ask); trips >= 1 {
				t.Errorf("limits took %.2f trips, want none", trips)
			}
		})
	}
}

// The same on Solana.
func BenchmarkTripsSolana(t *testing.B) {
	for version, types := range map[string][]swapper.SwapType{
		"v1": {swapper.SwapToBTC, swapper.SwapToBTCLN, swapper.SwapFromBTC, swapper.SwapFromBTCLN},
		"v2": {swapper.SwapFromBTCLNAuto},
	} {
		t.Run(version, func(t *testing.B) {
			b := startOn(t, version)
			t.Run("create", func(t *testing.B) { b.tripsCreate(t, types) })
			t.Run("waiting", func(t *testing.B) { b.tripsWaiting(t, types) })
			t.Run("limits", b.tripsLimits)
			if version == "v1" {
				t.Run("balance", b.tripsBalance)
				t.Run("under way", func(t *testing.B) {
					b.tripsUnderWay(t, []underWay{{swapper.SwapToBTC, "COMMITED"}, {swapper.SwapToBTCLN, "COMMITED"}})
				})
			}
		})
	}
}

// The same on Starknet.
func BenchmarkTripsStarknet(t *testing.B) {
	b := startOn(t, onStarknet)
	t.Run("create", func(t *testing.B) { b.tripsCreate(t, types) })
	t.Run("waiting", func(t *testing.B) { b.tripsWaiting(t, types) })
	t.Run("limits", b.tripsLimits)
	t.Run("balance", b.tripsBalance)
	t.Run("under way", func(t *testing.B) { b.tripsUnderWay(t, underWays) })
}

// The same of a client that follows its swaps and hears of blocks and logs. A block comes every five seconds.
func BenchmarkHearingOperations(t *testing.B) {
	both := []underWay{{swapper.SwapToBTC, "COMMITED"}, {swapper.SwapToBTCLN, "COMMITED"}}
	onSolana := []swapper.SwapType{swapper.SwapToBTC, swapper.SwapToBTCLN, swapper.SwapFromBTC, swapper.SwapFromBTCLN}
	for _, on := range []struct {
		name, version string
		types         []swapper.SwapType
		underWays     []underWay
	}{{"EVM", "", types, underWays}, {"Solana", "v1", onSolana, both}, {"Solana v2", "v2", []swapper.SwapType{swapper.SwapFromBTCLNAuto}, nil}, {onStarknet, onStarknet, types, underWays}} {
		t.Run(on.name, func(t *testing.B) {
			b := startFollowing(t, on.version, true, 5*time.Second)
			b.listens()
			t.Run("create", func(t *testing.B) { b.tripsCreate(t, on.types) })
			t.Run("waiting", func(t *testing.B) { b.tripsWaiting(t, on.types) })
			t.Run("limits", b.tripsLimits)
			t.Run("balance", b.tripsBalance)
			t.Run("under way", func(t *testing.B) { b.tripsUnderWay(t, on.underWays) })
		})
	}
}
