package verify

import (
	"encoding/json"
	"errors"
	"math"
	"math/big"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/bigs"
	"github.com/swapper-go/swapper/internal/btc/rawtx"
	"github.com/swapper-go/swapper/internal/lightning"
	"github.com/swapper-go/swapper/internal/lp"
)

// edge is a limit: at is an answer that just keeps it, beyond one that just does not.
type edge[T any] struct {
	check      lp.Check // see [spares]
	at, beyond func(*T)
}

func edges[T any](t *testing.T, honest func() T, verify func(T) error, table map[string]edge[T]) {
	t.Helper()
	for name, e := range table {
		t.Run(name, func(t *testing.T) {
			v := honest()
			e.at(&v)
			if err := verify(v); err != nil {
				t.Errorf("at the limit: %v", err)
			}
			v = honest()
			e.beyond(&v)
			lied(t, e.check, verify(v))
		})
	}
}

// unjudged demands that a missing fact is neither accepted nor blamed on the LP.
func unjudged[T any](t *testing.T, honest func() T, verify func(T) error, table map[string]func(*T)) {
	t.Helper()
	for name, spoil := range table {
		v := honest()
		spoil(&v)
		if err := verify(v); outcome(err) != unknown {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Amounts in sats go from 1 to all that there can be, whatever type a swap has.
func TestAmountsAreBitcoin(t *testing.T) {
	wrapped := bigs.Add(new(big.Int).Lsh(n(1), 64), n(100_000)) // 100 000 in its low 64 bits
	id := strings.Repeat("ab", 32)
	for name, x := range map[string]struct {
		check   lp.Check
		numbers func(amount *big.Int) error
	}{
		"to bitcoin": {lp.CheckNumbers, func(v *big.Int) error {
			return (&toBTC{got: lp.ToBTCQuote{Amount: v, SatsPerVB: n(1), NetworkFee: n(0), SwapFee: n(0), TotalFee: n(0), Total: n(1)}}).numbers()
		}},
		"from bitcoin": {lp.CheckNumbers, func(v *big.Int) error {
			return (&fromBTC{got: lp.FromBTCQuote{Amount: v, SwapFee: n(0), Total: n(1)}}).numbers()
		}},
		"vault": {lp.CheckNumbers, func(v *big.Int) error {
			q := spv{got: honestSPV(t).got}
			q.got.BTCAmount = v
			return q.numbers()
		}},
		"prepared": {lp.CheckPrepared, func(v *big.Int) error { return PreparedToBTCLN(lp.PreparedToBTCLN{Amount: v, ReqID: id}) }},
	} {
		t.Run(name, func(t *testing.T) {
			for _, v := range []*big.Int{n(1), n(rawtx.MaxMoney)} {
				if err := x.numbers(v); err != nil {
					t.Errorf("%s sats: %v", v, err)
				}
			}
			for _, v := range []*big.Int{n(0), n(rawtx.MaxMoney + 1), wrapped} {
				lied(t, x.check, x.numbers(v))
			}
			lied(t, lp.CheckNumbers, x.numbers(n(-1)))
			lied(t, lp.CheckNumbers, x.numbers(nil))
		})
	}
	lied(t, lp.CheckPrepared, PreparedToBTCLN(lp.PreparedToBTCLN{Amount: n(1), ReqID: id[2:]}))
	lied(t, lp.CheckPrepared, PreparedToBTCLN(lp.PreparedToBTCLN{Amount: n(1), ReqID: id + "ab"}))
	lied(t, lp.CheckPrepared, PreparedToBTCLN(lp.PreparedToBTCLN{Amount: n(1), ReqID: "/x" + id[2:]}))
	lied(t, lp.CheckNumbers, (&fromBTC{got: lp.FromBTCQuote{Amount: n(1), SwapFee: n(0), Total: n(0)}}).numbers())
	trusted := func(v *big.Int) error {
		_, err := TrustedBTC(agreed(n(1), false), bitcoin.Regtest, lp.TrustedBTCQuote{SwapFee: n(0), SwapFeeSats: n(0), Total: n(1), AmountSats: v, Sequence: n(0)})
		return err
	}
	lied(t, lp.CheckAddress, trusted(n(rawtx.MaxMoney))) // what comes next
	lied(t, lp.CheckNumbers, trusted(n(rawtx.MaxMoney+1)))
	lied(t, lp.CheckNumbers, trusted(wrapped))
}

func TestEdgesToBTC(t *testing.T) {
	fee := func(swap, network int64) func(*toBTCTest) {
		return func(v *toBTCTest) {
			v.got.SwapFee, v.got.NetworkFee, v.got.TotalFee, v.got.Total = n(swap), n(network), n(swap+network), n(100_000+swap+network)
			v.data.Amount = v.got.Total.String()
		}
	}
	ends := func(left int64) func(*toBTCTest) {
		return func(v *toBTCTest) { v.data.Expiry = noon.Unix() + left }
	}
	all := func(changes ...func(*toBTCTest)) func(*toBTCTest) {
		return func(v *toBTCTest) {
			for _, c := range changes {
				c(v)
			}
		}
	}
	rate := func(r float64) func(*toBTCTest) { return func(v *toBTCTest) { v.rate(r) } }
	size := func(vsize int64) func(*toBTCTest) {
		return func(v *toBTCTest) { v.want.Policy.PayoutVSize = vsize }
	}
	dear := func(v *toBTCTest) { v.want.FeeRate = 10_000; v.rate(1000) } // whoever says so
	lax := func(v *toBTCTest) { v.want.Policy.MaxMinerFeePPM = 1_500_000 }
	dearer := func(network int64) func(*toBTCTest) { // by 0.9 %
		return func(v *toBTCTest) {
			fee(310, network)(v)
			v.got.Total = bigs.Add(v.got.Total, n(900))
			v.data.Amount = v.got.Total.String()
		}
	}
	table := map[string]edge[toBTCTest]{
		"latest end":          {spares(lp.CheckExpiry), ends(40_800), ends(40_801)},
		"earliest end":        {spares(lp.CheckExpiry), ends(1), ends(0)},
		"swap fee":            {spares(lp.CheckFee), fee(315, 400), fee(316, 400)},
		"network fee":         {spares(lp.CheckNetworkFee), fee(310, 808), fee(310, 809)},
		"network fee, by us":  {spares(lp.CheckNetworkFee), all(size(300), fee(310, 606)), all(size(300), fee(310, 607))},
		"size below zero":     {spares(lp.CheckNetworkFee), all(size(-1), fee(310, 808)), all(size(-1), fee(310, 809))},
		"fraction rounded up": {spares(lp.CheckNetworkFee), all(size(3), rate(1.5), fee(310, 5)), all(size(3), rate(1.5), fee(310, 6))},
		"rate":                {spares(lp.CheckNetworkFee), rate(12.25), rate(12.26)},
		"in sats":             {spares(lp.CheckNetworkFee), all(dear, fee(310, 100_000)), all(dear, fee(310, 100_001))},
		"in sats, policy":     {spares(lp.CheckNetworkFee), all(dear, lax, fee(310, 150_000)), all(dear, lax, fee(310, 150_001))},
		"no rate":             {spares(lp.CheckNetworkFee), all(rate(0), fee(310, 0)), all(rate(0), fee(310, 1))},
		"network fee at the market's price, not the quote's": {spares(lp.CheckNetworkFee), dearer(808), dearer(809)},
		"missing rate":  {lp.CheckNumbers, func(*toBTCTest) {}, func(v *toBTCTest) { v.got.SatsPerVB = nil }},
		"negative rate": {lp.CheckNumbers, func(*toBTCTest) {}, func(v *toBTCTest) { v.got.SatsPerVB = n(-1) }},
		"authorisation": {spares(lp.CheckAuth), func(v *toBTCTest) { v.auth.Until = noon.Add(time.Millisecond) },
			func(v *toBTCTest) { v.auth.Until = noon }},
	}
	whole := func() toBTCTest { // decimals 0 are decimals too
		v := honestToBTC()
		v.want.Token.Decimals, v.want.Price = 0, n(1_000_000)
		return v
	}
	edges(t, honestToBTC, toBTCTest.verify, table)
	edges(t, whole, toBTCTest.verify, table)
	missing := map[string]func(*toBTCTest){
		"no price":           func(v *toBTCTest) { v.want.Price = nil },
		"a price of nothing": func(v *toBTCTest) { v.want.Price = n(0) },
	}
	unjudged(t, honestToBTC, toBTCTest.verify, missing)
	unjudged(t, whole, toBTCTest.verify, missing)
	for _, v := range []toBTCTest{honestToBTC(), whole()} { // the rate first: it is what decides about the network fee
		v.want.Price = nil
		v.got.Escrow, _ = json.Marshal(v.data)
		q := &toBTC{ToBTCExpected: v.want, got: v.got}
		if err := errors.Join(q.data(), q.networkFee()); outcome(err) != unknown {
			t.Errorf("network fee without a price: %v", err)
		}
		v.want.Token.Decimals = -1
		v.got.NetworkFee = n(808)
		v.got.TotalFee, v.got.Total, v.data.Amount = n(1118), n(101_118), "101118"
		if err := v.verify(); err != nil {
			t.Errorf("not priced: %v", err)
		}
	}
	for _, x := range []struct{ a, b, up int64 }{{5, 2, 3}, {4, 2, 2}, {1, 3, 1}, {0, 1, 0}} {
		if got := ceil(big.NewRat(x.a, x.b)); got.Int64() != x.up {
			t.Errorf("%d/%d is up to %s", x.a, x.b, got)
		}
	}
}

func TestEdgesToBTCLN(t *testing.T) {
	honest := func() toBTCLNTest { return honestToBTCLN(t) }
	whole := func() toBTCLNTest {
		v := honest()
		v.want.Token.Decimals, v.want.Price = 0, n(1_000_000)
		return v
	}
	exactIn := func() toBTCLNTest {
		v := honest()
		v.want.ExactIn, v.want.Amount, v.want.PreparedSats, v.want.MaxRoutingUnits = true, n(50_260), n(50_000), n(100)
		return v
	}
	fee := func(swap, units, sats int64) func(*toBTCLNTest) {
		return func(v *toBTCLNTest) {
			v.got.SwapFee, v.got.MaxFee, v.got.RoutingFeeSats, v.got.Total = n(swap), n(units), n(sats), n(50_000+swap+units)
			v.data.Amount = v.got.Total.String()
		}
	}
	sure := func(p float64) func(*toBTCLNTest) { return func(v *toBTCLNTest) { v.got.Confidence = p } }
	table := map[string]edge[toBTCLNTest]{
		"swap fee":                  {spares(lp.CheckFee), fee(165, 100, 100), fee(166, 100, 100)},
		"routing sats":              {lp.CheckRoutingFee, fee(160, 110, 110), fee(160, 110, 111)},
		"routing units, 1 % and 1":  {lp.CheckRoutingFee, fee(160, 112, 110), fee(160, 113, 110)},
		"as good as sure":           {lp.CheckConfidence, sure(1), sure(math.Nextafter(1, 2))},
		"as good as impossible":     {lp.CheckConfidence, sure(0), sure(-math.SmallestNonzeroFloat64)},
		"the fees and one unit net": {lp.CheckNumbers, func(*toBTCLNTest) {}, func(v *toBTCLNTest) { v.got.SwapFee = n(50_160) }},
	}
	edges(t, honest, toBTCLNTest.verify, table)
	edges(t, whole, toBTCLNTest.verify, table)
	missing := map[string]func(*toBTCLNTest){
		"no invoice":           func(v *toBTCLNTest) { v.want.Invoice = nil },
		"no amount":            func(v *toBTCLNTest) { v.want.Invoice = &lightning.Invoice{} },
		"an amount of nothing": func(v *toBTCLNTest) { v.want.Invoice = &lightning.Invoice{AmountMsat: new(int64)} },
		"no cap":               func(v *toBTCLNTest) { v.want.MaxRoutingSats = nil },
		"no price":             func(v *toBTCLNTest) { v.want.Price = nil },
		"a price of nothing":   func(v *toBTCLNTest) { v.want.Price = n(0) },
	}
	unjudged(t, honest, toBTCLNTest.verify, missing)
	unjudged(t, whole, toBTCLNTest.verify, missing)
	v := honest()
	v.want.Token.Decimals, v.want.Price = -1, nil
	if err := v.verify(); err != nil {
		t.Errorf("not priced: %v", err)
	}
	v = honest() // no amount is requested of an exact output but the invoice's
	v.want.Amount = nil
	if err := v.verify(); err != nil {
		t.Errorf("exact output: %v", err)
	}
	edges(t, exactIn, toBTCLNTest.verify, map[string]edge[toBTCLNTest]{
		"routing units": {lp.CheckRoutingFee, func(*toBTCLNTest) {}, func(v *toBTCLNTest) { v.want.MaxRoutingUnits = n(99) }},
		"prepared sats": {lp.CheckPrepared, func(*toBTCLNTest) {}, func(v *toBTCLNTest) { v.want.PreparedSats = n(49_999) }},
		"prepared sats beyond 64 bits": {lp.CheckPrepared, func(*toBTCLNTest) {},
			func(v *toBTCLNTest) { v.want.PreparedSats = bigs.Add(new(big.Int).Lsh(n(1), 64), n(50_000)) }},
		"nothing prepared": {lp.CheckPrepared, func(*toBTCLNTest) {}, func(v *toBTCLNTest) { v.want.PreparedSats = nil }},
	})
	unjudged(t, exactIn, toBTCLNTest.verify, map[string]func(*toBTCLNTest){"no cap in units": func(v *toBTCLNTest) { v.want.MaxRoutingUnits = nil }})
}

func TestEdgesFromBTC(t *testing.T) {
	honest := func() fromBTCTest { return honestFromBTC(t) }
	ends := func(left int64) func(*fromBTCTest) {
		return func(v *fromBTCTest) {
			v.data.Expiry = noon.Unix() + left
			v.data.ClaimerBounty = testBounty.At(v.data.Expiry).String()
		}
	}
	bounty := func(sats int64) func(*fromBTCTest) { // of which 20 sats are for each of 36 blocks, or 66
		return func(v *fromBTCTest) {
			v.want.Policy.TolerancePPM = 100_000
			v.want.Bounty = lp.Bounty{FeePerBlock: wei(20), SafetyFactor: n(1), StartTimestamp: noon.Unix(), AddBlock: n(0), AddFee: wei(sats - 66*20)}
			ends(40_000)(v)
			v.data.ClaimerBounty = v.want.Bounty.At(v.data.Expiry).String()
		}
	}
	fee := func(sats int64) func(*fromBTCTest) {
		return func(v *fromBTCTest) {
			v.got.SwapFee, v.got.Total, v.data.Amount = n(sats), n(100_000-sats), strconv.FormatInt(100_000-sats, 10)
		}
	}
	auth := func(err error) func(*fromBTCTest) { return func(v *fromBTCTest) { v.auth.Err = err } }
	waits := func(blocks int64) func(*fromBTCTest) {
		return func(v *fromBTCTest) {
			v.got.Confirmations = blocks
			to, _ := bitcoin.ParseAddress(v.got.BTCAddress, bitcoin.Regtest)
			v.data.ClaimHash = hexed(standIn{}.hash(chains.Condition{Kind: chains.Onchain, Script: to.Script(), Sats: 100_000, Confirmations: uint16(blocks)}))
			ends(40_000)(v)
		}
	}
	edges(t, honest, fromBTCTest.verify, map[string]edge[fromBTCTest]{
		"time to pay":           {lp.CheckSendWindow, ends(16_800 + 1800), ends(16_800 + 1799)},
		"over before it began":  {lp.CheckSendWindow, ends(40_000), func(v *fromBTCTest) { v.data.Expiry, v.data.ClaimerBounty = noon.Unix()-1, "0" }},
		"ends never":            {lp.CheckSendWindow, ends(40_000), func(v *fromBTCTest) { v.data.Expiry, v.data.ClaimerBounty = math.MinInt64/2, "0" }},
		"most confirmations":    {lp.CheckConfirmations, waits(6), waits(7)},
		"fewest confirmations":  {lp.CheckConfirmations, waits(1), waits(0)},
		"ends":                  {spares(lp.CheckExpiry), ends(43_200), ends(43_201)},
		"bounty":                {lp.CheckBounty, bounty(5000), bounty(5001)},
		"swap fee":              {spares(lp.CheckFee), fee(315), fee(316)},
		"deposit":               {lp.CheckDeposit, func(v *fromBTCTest) { v.data.SecurityDeposit = wei(7000).String() }, func(v *fromBTCTest) { v.data.SecurityDeposit = wei(7001).String() }},
		"authorisation":         {lp.CheckAuth, auth(nil), auth(&chains.AuthError{Reason: "forged"})},
		"late authorisation":    {spares(lp.CheckAuth), auth(nil), auth(&chains.AuthError{Reason: "late", Late: true})},
		"nothing to be paid":    {lp.CheckNumbers, func(*fromBTCTest) {}, func(v *fromBTCTest) { v.got.Amount, v.want.Amount = n(0), n(0) }},
		"funds":                 {spares(lp.CheckFunds), func(v *fromBTCTest) { v.funds = n(99_690) }, func(v *fromBTCTest) { v.funds = n(99_689) }},
		"missing":               {lp.CheckNumbers, func(*fromBTCTest) {}, func(v *fromBTCTest) { v.got.SwapFee = nil }},
		"data that are no data": {lp.CheckEscrow, func(*fromBTCTest) {}, func(v *fromBTCTest) { v.data.Amount = "x" }},
	})
	unjudged(t, honest, fromBTCTest.verify, map[string]func(*fromBTCTest){
		"funds":              func(v *fromBTCTest) { v.funds = nil },
		"price":              func(v *fromBTCTest) { v.want.Price = nil },
		"price and much pay": func(v *fromBTCTest) { bounty(5000)(v); v.want.Price = nil },
		"native price":       func(v *fromBTCTest) { v.want.NativePrice = nil },
		"price for bounty":   func(v *fromBTCTest) { v.data.SecurityDeposit, v.want.NativePrice = "0", nil },
		"authorisation":      func(v *fromBTCTest) { v.auth.Err = errors.New("no connection") },
	})
	q := &fromBTC{FromBTCExpected: FromBTCExpected{Bounty: testBounty}}
	start := testBounty.StartTimestamp
	for at, want := range map[int64]*big.Int{math.MinInt64: n(0), start - 1: n(0), start: n(520), start + 600: n(530), math.MaxInt64 / 2: testBounty.At(math.MaxInt64 / 2), math.MaxInt64/2 + 1: n(0), math.MaxInt64: n(0)} {
		if got := q.bounty(at); got.Cmp(want) != 0 {
			t.Errorf("the bounty until %d is %s, want %s", at, got, want)
		}
	}
}

// clocked moves the clock to so long before an invoice of an hour ends.
func clocked(left time.Duration) time.Time { return noon.Add(time.Hour - left) }

func TestEdgesFromLightning(t *testing.T) {
	legacy := func(v lightningTest) error { _, err := FromBTCLN(v.want, v.got, v.funds, v.node); return err }
	edges(t, func() lightningTest { return honestFromBTCLN(t) }, legacy, map[string]edge[lightningTest]{
		"end":              {spares(lp.CheckQuoteExpiry), func(v *lightningTest) { v.want.Now = clocked(time.Second) }, func(v *lightningTest) { v.want.Now = clocked(0) }},
		"deposit":          {lp.CheckDeposit, func(v *lightningTest) { v.got.SecurityDeposit = wei(100) }, func(v *lightningTest) { v.got.SecurityDeposit = wei(7001) }},
		"funds":            {spares(lp.CheckFunds), func(v *lightningTest) { v.funds = n(99_690) }, func(v *lightningTest) { v.funds = n(99_689) }},
		"missing fee":      {lp.CheckNumbers, func(*lightningTest) {}, func(v *lightningTest) { v.got.SwapFee = nil }},
		"negative fee":     {lp.CheckNumbers, func(v *lightningTest) { v.got.SwapFee = n(0) }, func(v *lightningTest) { v.got.SwapFee = n(-1) }},
		"negative deposit": {lp.CheckNumbers, func(*lightningTest) {}, func(v *lightningTest) { v.got.SecurityDeposit = n(-1) }},
		"capacity":         {spares(lp.CheckNode), func(v *lightningTest) { v.node = ownNode(200_001) }, func(v *lightningTest) { v.node = ownNode(199_999) }},
		"swap fee":         {spares(lp.CheckFee), func(v *lightningTest) { v.got.SwapFee, v.got.Total = n(315), n(99_685) }, func(v *lightningTest) { v.got.SwapFee, v.got.Total = n(316), n(99_684) }},
	})
	unjudged(t, func() lightningTest { return honestFromBTCLN(t) }, legacy, map[string]func(*lightningTest){
		"funds":        func(v *lightningTest) { v.funds = nil },
		"price":        func(v *lightningTest) { v.want.Price = nil },
		"native price": func(v *lightningTest) { v.want.NativePrice = nil },
		"graph":        func(v *lightningTest) { v.node.Err = errors.New("no connection") },
		"graph alone":  func(v *lightningTest) { v.node = NodeFact{Err: errors.New("no connection")} },
	})
	auto := func(v autoTest) error { _, err := FromBTCLNAuto(v.want, v.got, v.funds, v.node); return err }
	gasFee := func(sats int64) func(*autoTest) {
		return func(v *autoTest) { v.got.GasSwapFeeBTC, v.got.TotalFeeBTC = n(sats), n(295+sats) }
	}
	bounty := func(sats int64) func(*autoTest) {
		return func(v *autoTest) {
			v.want.GasAmount, v.got.TotalGas, v.want.Bounty, v.got.ClaimerBounty = nil, n(0), wei(sats), wei(sats)
		}
	}
	edges(t, func() autoTest { return honestAuto(t) }, auto, map[string]edge[autoTest]{
		"end":     {spares(lp.CheckQuoteExpiry), func(v *autoTest) { v.want.Now = clocked(time.Second) }, func(v *autoTest) { v.want.Now = clocked(0) }},
		"gas fee": {spares(lp.CheckGasFee), gasFee(18), gasFee(19)},
		"funds":   {spares(lp.CheckFunds), func(v *autoTest) { v.funds = n(94_705) }, func(v *autoTest) { v.funds = n(94_704) }},
		"payee":   {lp.CheckNode, func(*autoTest) {}, func(v *autoTest) { v.node.Node.PublicKey = strings.Repeat("02", 33) }},
	})
	for sats, want := range map[int64]string{5000: accepted, 5001: tooSmall} {
		v := honestAuto(t)
		if bounty(sats)(&v); outcome(auto(v)) != want {
			t.Errorf("a bounty of %d sats: %v", sats, auto(v))
		}
	}
	unjudged(t, func() autoTest { return honestAuto(t) }, auto, map[string]func(*autoTest){
		"funds":        func(v *autoTest) { v.funds = nil },
		"price":        func(v *autoTest) { v.want.Price = nil },
		"native price": func(v *autoTest) { v.want.NativePrice = nil },
		"graph":        func(v *autoTest) { v.node.Err = errors.New("no connection") },
	})
	own, ownAuto, ownPayIn, ownPayOut := honestFromBTCLN(t), honestAuto(t), honestToBTC(), honestFromBTC(t)
	own.want.User, ownAuto.want.User, ownPayIn.want.User, ownPayOut.want.User = lpKey, lpKey, lpKey, lpKey
	ownPayIn.data.Offerer, ownPayOut.data.Claimer = lpKey, lpKey
	for i, err := range []error{legacy(own), auto(ownAuto), ownPayOut.verify(), ownPayIn.verify()} {
		field := "dstAddress"
		if i == 3 {
			field = "srcAddress"
		}
		if e, ok := errors.AsType[*fault.Error](err); !ok || e.Field != field || e.Code != fault.InvalidInput {
			t.Errorf("%d: an LP that swaps with itself: %v", i, err)
		}
	}
}

// The invoice is the one that was asked for, each part of it.
func TestInvoiceParts(t *testing.T) {
	text, other, hash := "swap", "other", [32]byte{0xAB}
	sat := int64(1)
	tests := []struct {
		name  string
		want  InvoiceExpected
		inv   lightning.Invoice
		check lp.Check
	}{
		{"any", InvoiceExpected{}, lightning.Invoice{}, ""},
		{"text", InvoiceExpected{Description: text}, lightning.Invoice{Description: &text}, ""},
		{"other text", InvoiceExpected{Description: text}, lightning.Invoice{Description: &other}, lp.CheckDescription},
		{"hash, not text", InvoiceExpected{Description: text}, lightning.Invoice{DescriptionHash: &hash}, lp.CheckDescription},
		{"hash, upper case", InvoiceExpected{DescriptionHash: strings.ToUpper(hexed(hash[:]))}, lightning.Invoice{DescriptionHash: &hash}, ""},
		{"other hash", InvoiceExpected{DescriptionHash: strings.Repeat("00", 32)}, lightning.Invoice{DescriptionHash: &hash}, lp.CheckDescription},
		{"text, not hash", InvoiceExpected{DescriptionHash: hexed(hash[:])}, lightning.Invoice{Description: &text}, lp.CheckDescription},
		{"payment hash", InvoiceExpected{PaymentHash: hash}, lightning.Invoice{PaymentHash: hash}, ""},
		{"other payment hash", InvoiceExpected{PaymentHash: hash}, lightning.Invoice{}, lp.CheckPaymentHash},
	}
	for _, x := range tests {
		t.Run(x.name, func(t *testing.T) {
			x.inv.AmountMsat, x.inv.HasExpiry = &sat, true // rounded up
			if err := x.want.check(&x.inv); x.check != "" {
				lied(t, x.check, err)
			} else if err != nil {
				t.Error(err)
			}
		})
	}
	zero, less := int64(0), int64(-1000)
	lied(t, lp.CheckInvoice, InvoiceExpected{}.check(&lightning.Invoice{AmountMsat: &sat}))
	for _, msat := range []*int64{nil, &zero, &less} {
		lied(t, lp.CheckInvoice, InvoiceExpected{}.check(&lightning.Invoice{AmountMsat: msat, HasExpiry: true}))
	}
}
