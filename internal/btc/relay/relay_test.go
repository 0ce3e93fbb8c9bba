package relay

import (
	"context"
	"errors"
	"math/big"
	"slices"
	"testing"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/btc/rawtx"
	"github.com/swapper-go/swapper/internal/vectors"
)

// testRelay answers with fixed headers.
type testRelay struct{ tip, known *Header }

func (r testRelay) Tip(context.Context) (Header, error)         { return answer(r.tip) }
func (r testRelay) LatestKnown(context.Context) (Header, error) { return answer(r.known) }

func answer(h *Header) (Header, error) {
	if h == nil {
		return Header{}, bitcoin.ErrNotFound
	}
	return *h, nil
}

// testSource is Bitcoin's best chain above some height, in pages of any size.
type testSource struct {
	headers []bitcoin.Header
	page    int // longest page it gives; 0: any
	asked   int
}

func (s *testSource) HeadersFrom(_ context.Context, from uint32, max int) ([]bitcoin.Header, error) {
	s.asked++
	if s.page > 0 {
		max = min(max, s.page)
	}
	for i, h := range s.headers {
		if h.Height == from {
			return s.headers[i:min(i+max, len(s.headers))], nil
		}
	}
	return nil, nil
}

func regtestBase(height uint32) bitcoin.Header {
	return bitcoin.Header{Height: height, Version: 2, Time: 1_700_000_000, Bits: 0x207fffff}
}

func workAt(h bitcoin.Header) *big.Int {
	return new(big.Int).Mul(big.NewInt(int64(h.Height)), rawtx.Work(h.Bits))
}

func TestVectorsRelaySync(t *testing.T) {
	type call struct {
		Call    string   `json:"call"`
		Heights []uint32 `json:"heights"`
		OnTopOf uint32   `json:"onTopOf"`
		ForkID  *int     `json:"forkId,omitempty"`
	}
	const forkID = 7 // what the relay of the vectors calls a new fork
	names := map[Op]string{SaveMain: "saveMainHeaders", SaveNewFork: "saveNewForkHeaders", SaveFork: "saveForkHeaders"}
	vectors.Each(t, "bitcoin", "relay_sync", func(t *testing.T, c *vectors.Case) {
		var in struct {
			RelayTipHeight, LatestKnownHeight    *uint32
			BitcoinTipHeight                     uint32
			MaxHeadersPerTx, MaxForkHeadersPerTx int
		}
		c.Input(t, &in)
		var relay testRelay
		src := &testSource{page: 15}
		if in.LatestKnownHeight != nil {
			known := regtestBase(*in.LatestKnownHeight)
			relay.known = &Header{known, workAt(known)}
			if in.BitcoinTipHeight > known.Height {
				src.headers = mine(t, known, int(in.BitcoinTipHeight-known.Height), 1)
			}
			if in.RelayTipHeight != nil && *in.RelayTipHeight == known.Height {
				relay.tip = relay.known
			}
		}
		if in.RelayTipHeight != nil && relay.tip == nil {
			stale := regtestBase(*in.RelayTipHeight)
			stale.MerkleRoot[0] = 9
			relay.tip = &Header{stale, workAt(stale)}
		}
		rules := Rules{Main: in.MaxHeadersPerTx, Fork: in.MaxForkHeadersPerTx, Work: rawtx.Work}
		plan, err := syncUp(t.Context(), relay, src, bitcoin.Regtest, rules, 0)
		if vectors.Refused(c.Want(t)) {
			if err == nil {
				t.Fatal("made a plan")
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		var want struct {
			Transactions                    int
			TargetHeight                    uint32
			CommittedHeights, HeaderHeights []uint32
			StartForkID                     *int
			LatestBlockHeaderHeight         uint32
			Calls                           []call
		}
		c.Expected(t, &want)
		calls, heights := []call{}, []uint32{plan.Base.Header.Height}
		var startFork *int
		for _, b := range plan.Batches {
			got := call{Call: names[b.Op], OnTopOf: b.Base.Header.Height}
			for _, h := range b.Headers {
				got.Heights = append(got.Heights, h.Height)
			}
			id := forkID
			if b.Op == SaveFork {
				got.ForkID = &id
			}
			if b.Op == SaveNewFork && !b.Wins {
				startFork = &id
			}
			calls, heights = append(calls, got), append(heights, got.Heights...)
		}
		top := plan.Top.Header.Height
		if len(plan.Batches) != want.Transactions || top != want.TargetHeight || !slices.Equal(heights, want.CommittedHeights) ||
			!slices.Equal(heights, want.HeaderHeights) || (startFork == nil) != (want.StartForkID == nil) {
			t.Errorf("got %d batches up to %d: %v", len(plan.Batches), top, heights)
		}
		vectors.SameJSON(t, vectors.JSON(t, want.Calls), calls)
		if got := plan.Base.Header.Height; got != want.LatestBlockHeaderHeight {
			t.Errorf("plan goes on from %d, want %d", got, want.LatestBlockHeaderHeight)
		}
	})
}

var evmRules = Rules{Main: 100, Fork: 50, ShortFork: 100, Work: rawtx.Work}

func ops(p plan) (names []string, sizes []int) {
	for _, b := range p.Batches {
		names, sizes = append(names, b.Op.String()), append(sizes, len(b.Headers))
	}
	return names, sizes
}

func TestPlanRelayForks(t *testing.T) {
	known := regtestBase(1000)
	base := Header{known, workAt(known)}
	chain := mine(t, known, 260, 1)
	stale := func(n int) Header {
		branch := mine(t, known, n, 2)
		top := Batch{Base: base, Headers: branch}.top(evmRules)
		return top
	}
	noShort := evmRules
	noShort.ShortFork = 0
	for name, c := range map[string]struct {
		tip   Header
		rules Rules
		until uint32
		ops   []string
		sizes []int
		win   int // index of the batch that wins, -1 for none
	}{
		"behind":                   {base, evmRules, 0, []string{"main", "main", "main"}, []int{100, 100, 60}, -1},
		"behind, height is enough": {base, evmRules, 1150, []string{"main", "main"}, []int{100, 50}, -1},
		"behind, one header":       {base, evmRules, 1001, []string{"main"}, []int{1}, -1},
		"fork that wins at once":   {stale(2), evmRules, 0, []string{"short fork", "main", "main"}, []int{100, 100, 60}, 0},
		"without short forks":      {stale(2), noShort, 0, []string{"new fork", "main", "main", "main"}, []int{50, 100, 100, 10}, 0},
		"fork that wins later":     {stale(120), evmRules, 0, []string{"new fork", "fork", "fork", "main", "main"}, []int{50, 50, 50, 100, 10}, 2},
		"equal work does not win":  {stale(100), evmRules, 0, []string{"new fork", "fork", "fork", "main", "main"}, []int{50, 50, 50, 100, 10}, 2},
		"one more than the tip":    {stale(99), evmRules, 0, []string{"short fork", "main", "main"}, []int{100, 100, 60}, 0},
		"fork needs more than asked for": {stale(120), evmRules, 1010, []string{"new fork", "fork", "fork"},
			[]int{50, 50, 50}, 2},
	} {
		plan, err := makePlan(bitcoin.Regtest, c.tip, base, chain, c.rules, c.until)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		gotOps, gotSizes := ops(plan)
		if !slices.Equal(gotOps, c.ops) || !slices.Equal(gotSizes, c.sizes) {
			t.Errorf("%s: %v %v", name, gotOps, gotSizes)
		}
		under := base
		for i, b := range plan.Batches {
			if b.Wins != (i == c.win) {
				t.Errorf("%s: batch %d wins: %v", name, i, b.Wins)
			}
			if b.Base.Header != under.Header || b.Base.Work.Cmp(under.Work) != 0 {
				t.Errorf("%s: batch %d is built on %d", name, i, b.Base.Header.Height)
			}
			under = b.top(c.rules)
		}
		if plan.Top.Work.Cmp(workAt(plan.Top.Header)) != 0 {
			t.Errorf("%s: work %s at %d", name, plan.Top.Work, plan.Top.Header.Height)
		}
	}
	for name, plan := range map[string]func() (plan, error){
		"less work than the relay": func() (plan, error) { return makePlan(bitcoin.Regtest, stale(300), base, chain, evmRules, 0) },
		"equal work in the end":    func() (plan, error) { return makePlan(bitcoin.Regtest, stale(260), base, chain, evmRules, 0) },
		"height not reached":       func() (plan, error) { return makePlan(bitcoin.Regtest, base, base, chain, evmRules, 1261) },
		"a hole in the headers":    func() (plan, error) { return makePlan(bitcoin.Regtest, base, base, chain[1:], evmRules, 0) },
		"rules without limits":     func() (plan, error) { return makePlan(bitcoin.Regtest, base, base, chain, Rules{Work: rawtx.Work}, 0) },
		"rules without measure": func() (plan, error) {
			return makePlan(bitcoin.Regtest, base, base, chain, Rules{Main: 1, Fork: 1}, 0)
		},
		"a tip lighter than known": func() (plan, error) {
			tip := stale(1)
			tip.Work = base.Work
			return makePlan(bitcoin.Regtest, tip, base, chain, evmRules, 0)
		},
		"a relay without work":     func() (plan, error) { return makePlan(bitcoin.Regtest, Header{}, base, chain, evmRules, 0) },
		"headers without any work": func() (plan, error) { return makePlan(bitcoin.Mainnet, base, base, chain, evmRules, 0) },
		"another chain of the same": func() (plan, error) {
			return makePlan(bitcoin.Regtest, base, Header{chain[0], base.Work}, chain, evmRules, 0)
		},
	} {
		if p, err := plan(); err == nil {
			t.Errorf("planned with %s: %+v", name, p)
		}
	}
}

// On testnets one block of real difficulty outweighs many of the minimum.
func TestPlanRelayGoesByWork(t *testing.T) {
	rules := evmRules
	rules.Work = func(bits uint32) *big.Int { return big.NewInt(1) }
	known := regtestBase(1000)
	base := Header{known, big.NewInt(1000)}
	chain := mine(t, known, 10, 1)
	high := Header{mine(t, known, 200, 2)[199], big.NewInt(1003)} // 200 blocks of little work
	plan, err := makePlan(bitcoin.Regtest, high, base, chain, rules, 0)
	if err != nil || len(plan.Batches) != 1 || plan.Batches[0].Op != SaveShortFork || !plan.Batches[0].Wins {
		t.Errorf("fork against a higher tip of less work: %+v, %v", plan, err)
	}
	low := Header{mine(t, known, 2, 2)[1], big.NewInt(2000)} // 2 blocks of much work
	if _, err := makePlan(bitcoin.Regtest, low, base, chain, rules, 0); err == nil {
		t.Error("ten light blocks won against two heavy ones")
	}
}

// Blocks of a local network are too easy to count in difficulty: there the longer
// chain wins.
func TestPlanRelayGoesByLength(t *testing.T) {
	rules := evmRules
	rules.Work, rules.LongerWins = rawtx.Difficulty, true
	known := regtestBase(1000)
	base := Header{known, big.NewInt(7)}
	chain := mine(t, known, 12, 1)
	tip := Header{mine(t, known, 10, 2)[9], big.NewInt(7)}
	plan, err := makePlan(bitcoin.Regtest, tip, base, chain, rules, 0)
	if err != nil || !plan.Batches[0].Wins || plan.Top.Header != chain[11] {
		t.Errorf("a longer fork: %+v, %v", plan, err)
	}
	if _, err := makePlan(bitcoin.Regtest, tip, base, chain[:10], rules, 0); err == nil {
		t.Error("a fork that is as long as the main chain won")
	}
	rules.LongerWins = false
	if _, err := makePlan(bitcoin.Regtest, tip, base, chain, rules, 0); err == nil {
		t.Error("a fork without more work won")
	}
	rules.LongerWins = true
	heavy := Header{tip.Header, big.NewInt(8)}
	if _, err := makePlan(bitcoin.Regtest, heavy, base, chain, rules, 0); err == nil {
		t.Error("a longer fork won against more work")
	}
}

func TestHeadersAbove(t *testing.T) {
	base := regtestBase(500)
	chain := mine(t, base, 400, 1)
	for name, c := range map[string]struct {
		page  int
		until uint32
		want  int
	}{
		"to the tip":              {0, 0, 400},
		"short pages":             {10, 0, 400},
		"pages of one":            {1, 0, 400},
		"to a height":             {0, 700, 200},
		"to the base":             {0, 500, 0},
		"to a height not reached": {0, 2000, 400},
	} {
		got, err := headersAbove(t.Context(), &testSource{headers: chain, page: c.page}, bitcoin.Regtest, base, c.until)
		if err != nil || len(got) != c.want || c.want > 0 && got[c.want-1] != chain[c.want-1] {
			t.Errorf("%s: %d headers, %v", name, len(got), err)
		}
	}
	holed := append(slices.Clone(chain[:200]), chain[201:]...)
	other := append(slices.Clone(chain[:200]), mine(t, base, 400, 3)[200:]...)
	for name, headers := range map[string][]bitcoin.Header{"a hole": holed, "a reorganisation between pages": other} {
		if _, err := headersAbove(t.Context(), &testSource{headers: headers, page: 100}, bitcoin.Regtest, base, 0); err == nil && name != "a hole" {
			t.Errorf("accepted %s", name)
		}
		if got, err := headersAbove(t.Context(), &testSource{headers: headers, page: 150}, bitcoin.Regtest, base, 0); err == nil && len(got) > 200 {
			t.Errorf("%s: %d headers", name, len(got))
		}
	}
	if _, err := headersAbove(t.Context(), greedySource{chain}, bitcoin.Regtest, base, 510); err == nil {
		t.Error("accepted more headers than asked for")
	}
}

// greedySource gives all it has.
type greedySource struct{ headers []bitcoin.Header }

func (s greedySource) HeadersFrom(context.Context, uint32, int) ([]bitcoin.Header, error) {
	return s.headers, nil
}

type failingSource struct{ err error }

func (s failingSource) HeadersFrom(context.Context, uint32, int) ([]bitcoin.Header, error) {
	return nil, s.err
}

func TestSyncRelay(t *testing.T) {
	known := regtestBase(1000)
	base := Header{known, workAt(known)}
	src := &testSource{headers: mine(t, known, 50, 1)}
	behind := testRelay{&base, &base}
	plan, err := syncUp(t.Context(), behind, src, bitcoin.Regtest, evmRules, 1020)
	if err != nil || plan.Top.Header.Height != 1020 {
		t.Errorf("plan up to %d, %v", plan.Top.Header.Height, err)
	}
	if _, err := syncUp(t.Context(), behind, src, bitcoin.Regtest, evmRules, 1051); err == nil {
		t.Error("planned beyond Bitcoin's tip")
	}
	src.asked = 0
	for _, until := range []uint32{1000, 990} {
		if plan, err := syncUp(t.Context(), behind, src, bitcoin.Regtest, evmRules, until); err != nil || len(plan.Batches) != 0 || src.asked != 0 {
			t.Errorf("until %d: %d batches, %d questions, %v", until, len(plan.Batches), src.asked, err)
		}
	}
	if _, err := syncUp(t.Context(), testRelay{nil, &base}, src, bitcoin.Regtest, evmRules, 0); !errors.Is(err, bitcoin.ErrNotFound) {
		t.Errorf("relay that was never initialised: %v", err)
	}
	down := errors.New("down")
	if _, err := syncUp(t.Context(), behind, failingSource{down}, bitcoin.Regtest, evmRules, 0); !errors.Is(err, down) {
		t.Errorf("backend down: %v", err)
	}
}

func BenchmarkPlanRelay(b *testing.B) {
	known := regtestBase(2016 * 400)
	base := Header{known, workAt(known)}
	headers := mine(b, known, 10_000, 1)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := makePlan(bitcoin.Regtest, base, base, headers, evmRules, 0); err != nil {
			b.Fatal(err)
		}
	}
}
