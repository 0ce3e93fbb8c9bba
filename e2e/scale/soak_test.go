//go:build unix

package scale

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/big"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/internal/devnet"
	"github.com/swapper-go/swapper/internal/devnet/control"
	"github.com/swapper-go/swapper/internal/devnet/lightning"
	"github.com/swapper-go/swapper/internal/devnet/lp"
	"github.com/swapper-go/swapper/internal/pgtest"
	"github.com/swapper-go/swapper/internal/swap"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/storage"
	"github.com/swapper-go/swapper/storage/bolt"
	"github.com/swapper-go/swapper/storage/postgres"
)

// One process follows very many swaps under way, made within the last day, while nodes
// and liquidity providers fail a third of the time. Its memory stays where it is once all
// are loaded, and each swap is looked at in its rhythm: what counts is when a node has
// answered how its escrow or its Bitcoin transaction stands.
func TestSoak(t *testing.T) {
	beside(t)
	t.Run("bolt", func(t *testing.T) {
		beside(t)
		path := filepath.Join(t.TempDir(), "swaps.db")
		soak(t, child{Bolt: path}, func() (storage.Store, func() error) {
			s := trial.Must(bolt.Open(t.Context(), path, bolt.Options{}))(t)
			return s, s.Close
		})
	})
	t.Run("postgres", func(t *testing.T) {
		beside(t)
		dsn := pgtest.DSN(t)
		schema := pgtest.Schema(t, dsn)
		soak(t, child{DSN: dsn, Schema: schema}, func() (storage.Store, func() error) {
			s := trial.Must(postgres.Open(t.Context(), dsn, postgres.Options{Schema: schema}))(t)
			return s, s.Close
		})
	})
}

func soak(t *testing.T, told child, open func() (storage.Store, func() error)) {
	n, lasts := swapsOf(t, 400, 100_000), timeOf(t, 2*time.Second, time.Hour)
	b := newBench(t)
	store, closeStore := open()
	began := time.Now()
	made := b.fill(t, store, n, sized(t, time.Minute, 24*time.Hour))
	trial.Do(t, closeStore())
	t.Logf("%d swaps are stored after %s", n, time.Since(began).Round(time.Millisecond))

	told.Name, told.REST, told.Relay, told.LPs = "soak", b.bitcoinURL, b.net.Nostr.URL(), b.lpURLs
	told.EVM = node[evmNetwork]{b.evmURL, b.net.EVM.Config(), b.net.Tokens()}
	if *hearing {
		told.Tellers.Bitcoin, told.Tellers.EVM = []string{b.net.Bitcoin.Server().SocketURL()}, []string{b.net.EVM.Server().SocketURL()}
		t.Cleanup(b.net.EVM.Pace(5 * time.Second)) // whose blocks show that it lives
	}
	began = time.Now()
	w := newWatch(made)
	b.bitcoin.told, b.evm.told = w.looked, w.looked
	b.failing.Store(true)
	p := trial.Must(spawn(t.Context(), told, func(string) { w.passes.Add(1) }, w.remembered))(t)
	defer func() {
		if err := p.stop(); err != nil {
			t.Error(err)
		}
	}()
	rounds := w.rounds(lasts)
	for end := began.Add(lasts); time.Now().Before(end) && !p.isGone(); time.Sleep(100 * time.Millisecond) {
		if w.warm == (tally{}) && time.Since(began) > rounds {
			w.warm = b.asked()
		}
	}
	if *scale == "small" { // some are looked at, however slow the machine is
		for patience := time.Now().Add(2 * time.Minute); w.seen() < n/4 && time.Now().Before(patience); time.Sleep(100 * time.Millisecond) {
		}
	}
	if p.isGone() {
		t.Fatalf("the process ended: %s", p.log)
	}
	b.failing.Store(false)
	if moved := strings.Count(p.log.String(), "swap moved"); moved > 0 {
		t.Errorf("%d swaps moved, though nothing happened to them:\n%s", moved, p.log)
	}
	if w.seen() < n/4 {
		t.Errorf("only %d of %d swaps were looked at", w.seen(), n)
	}
	w.report(t, b, n, began)
}

// bench is a local network with a few real swaps under way, of which very many are made.
type bench struct {
	net        *devnet.Net
	failing    atomic.Bool
	bitcoin    stand
	evm        stand
	providers  []*stand
	bitcoinURL string
	evmURL     string
	lpURLs     []string
	models     []*model
}

// model is a real swap under way.
type model struct {
	entry storage.Entry
	row   swap.StateRow
	twins []*twin
}

func newBench(t *testing.T) *bench {
	t.Helper()
	b := &bench{}
	var err error
	b.net = trial.Must(devnet.Start(t.Context(), devnet.Options{}))(t)
	t.Cleanup(func() { _ = b.net.Close() })
	path := filepath.Join(t.TempDir(), "models.db")
	store := trial.Must(bolt.Open(t.Context(), path, bolt.Options{}))(t)
	defer store.Close()
	o := child{Name: "models", Quiet: true, REST: b.net.Bitcoin.URL(), Relay: b.net.Nostr.URL(), LPs: b.net.LPURLs(),
		EVM: node[evmNetwork]{b.net.EVM.URL(), b.net.EVM.Config(), b.net.Tokens()}}
	client, closeAll, err := o.client(t.Context(), store)
	if err != nil {
		t.Fatal(err)
	}
	defer closeAll()
	b.net.LPs[0].Misbehave(lp.Fault{NeverPay: true})
	user := &control.Wallet{Swaps: client, EVM: b.net.EVM.User, Bitcoin: b.net.Wallet, Lightning: b.net.Payer, Poll: 50 * time.Millisecond}
	preimage, _ := lightning.Preimage(rand.Text())
	invoice := trial.Must(b.net.Recipient.NewInvoice(lightning.InvoiceOptions{Preimage: preimage, AmountMsat: 50_000_000, Expiry: 24 * time.Hour}))(t)
	me := b.net.EVM.User.Address.Hex()
	for _, c := range []struct {
		state string
		in    swapper.CreateSwapInput
	}{
		{"COMMITED", swapper.CreateSwapInput{SrcToken: "CITREA-WBTC", DstToken: "LIGHTNING-BTC", Amount: big.NewInt(50_000), AmountType: swapper.ExactOut, SrcAddress: me, DstAddress: invoice}},
		{"COMMITED", swapper.CreateSwapInput{SrcToken: "CITREA-WBTC", DstToken: "BITCOIN-BTC", Amount: big.NewInt(50_000), AmountType: swapper.ExactOut, SrcAddress: me, DstAddress: b.net.Taproot.Address.String()}},
		{"BROADCASTED", swapper.CreateSwapInput{SrcToken: "BITCOIN-BTC", DstToken: "CITREA-WBTC", Amount: big.NewInt(100_000), AmountType: swapper.ExactIn, DstAddress: me}},
	} {
		s, err := client.CreateSwap(t.Context(), c.in)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
		_, err = user.Finish(ctx, s.SwapID, func(s *swapper.GetSwapStatusOutput) bool { return s.State.Name == c.state })
		cancel()
		if err != nil {
			t.Fatalf("%s: %v", c.in.DstToken, err)
		}
		m := &model{}
		m.entry = trial.Must(store.Get(t.Context(), s.SwapID))(t)
		b.models = append(b.models, m)
	}
	for _, m := range b.models {
		r := trial.Must(swap.Decode(m.entry.ID, m.entry.Version, m.entry.Body))(t)
		m.row = rowOf(t, r)
		if r.Type == swap.SPVFromBTC {
			tx, ok := b.net.Bitcoin.Tx(r.Bitcoin.TxID)
			if !ok {
				t.Fatal("the model's transaction is not on Bitcoin")
			}
			m.twins = append(m.twins, &twin{hash: r.Bitcoin.TxID.String(), tx: tx, ids: map[string]uint32{}})
			continue
		}
		m.twins = append(m.twins, &twin{hash: hexOf(r.Escrow.Real.Hash)})
		if r.Type == swap.ToBTCLN { // what the provider is asked about
			m.twins = append(m.twins, &twin{hash: r.Lightning.Hash})
		} else {
			m.twins = append(m.twins, &twin{hash: hexOf(r.Escrow.Real.ClaimHash)})
		}
	}
	return b
}

func rowOf(t testing.TB, r *swap.Record) swap.StateRow {
	t.Helper()
	for _, f := range swap.Flows() {
		if f.Type == r.Type {
			if row, ok := f.State(r.State); ok {
				return row
			}
		}
	}
	t.Fatalf("no type has state %d", r.State)
	return swap.StateRow{}
}

// made is a swap of the soak, as far as its rhythm depends on it, and how it was followed.
type made struct {
	every   time.Duration
	told    time.Duration // what nodes say is unchanged is asked for so much later, or as late as it is old
	created time.Time
	last    time.Time     // when a node answered last how it stands
	late    time.Duration // the worst: by how much an answer came after its rhythm
}

// note takes note of how long the swap was followed without an answer, if it has one now.
func (m *made) note(began, now time.Time) {
	since := m.last
	if since.IsZero() {
		since = began
	}
	told := time.Duration(0)
	if m.told > 0 && !m.last.IsZero() {
		told = max(m.told, min(6*time.Hour, since.Sub(m.created)))
	}
	m.late = max(m.late, now.Sub(since)-told-rhythm(m.every, since.Sub(m.created)))
}

// fill stores swaps like the models, made one after the other within a time up to now,
// and puts the stands before the network.
func (b *bench) fill(t *testing.T, store storage.Store, n int, within time.Duration) []made {
	t.Helper()
	all := make([]made, 0, n)
	var twins []twin
	for range 4 {
		s := &stand{failing: &b.failing}
		b.providers = append(b.providers, s)
		b.lpURLs = append(b.lpURLs, s.before(t, b.net.LPURLs()[0]))
	}
	entries := make(chan storage.Entry, 64)
	var writers sync.WaitGroup
	for range 64 {
		writers.Go(func() {
			for e := range entries {
				if err := store.Create(t.Context(), e); err != nil {
					t.Error(err)
				}
			}
		})
	}
	now := time.Now()
	for i := range n {
		m := b.models[i%len(b.models)]
		created := now.Add(-time.Duration(float64(within) * float64(i) / float64(n)))
		e := b.copy(t, m, i, created)
		swap := made{every: m.row.Every, created: created}
		if *hearing {
			swap.told = time.Minute
			if m.twins[0].tx != nil {
				swap.told = time.Hour
			}
		}
		all = append(all, swap)
		entries <- e
	}
	close(entries)
	writers.Wait()
	for _, m := range b.models {
		for _, x := range m.twins {
			twins = append(twins, *x)
		}
	}
	for _, s := range append([]*stand{&b.bitcoin, &b.evm}, b.providers...) {
		s.models, s.failing = twins, &b.failing
	}
	b.bitcoinURL, b.evmURL = b.bitcoin.before(t, b.net.Bitcoin.URL()), b.evm.before(t, b.net.EVM.URL())
	if t.Failed() {
		t.FailNow()
	}
	return all
}

// copy is the i-th swap like a model.
func (b *bench) copy(t testing.TB, m *model, i int, created time.Time) storage.Entry {
	t.Helper()
	id := fmt.Sprintf("%0*x", len(m.entry.ID), i+1)
	r, err := swap.Decode(id, 0, bytes.ReplaceAll(m.entry.Body, []byte(m.entry.ID), []byte(id)))
	if err != nil {
		t.Fatal(err)
	}
	age := swap.At(created) - r.CreatedAt // else the deadlines of all come in one moment
	r.Expiry += age
	r.CreatedAt, r.Changed, r.LP.URL = swap.At(created), swap.At(created), b.lpURLs[i%len(b.lpURLs)]
	switch {
	case r.Type == swap.SPVFromBTC:
		r.Bitcoin.TxID = m.twins[0].copyTx(i)
		r.Vault.Deadline += age
	default:
		real := *r.Escrow.Real
		real.Hash = copyOf(real.Hash, i)
		if r.Type == swap.ToBTC {
			real.ClaimHash = copyOf(real.ClaimHash, i)
		}
		r.Escrow.Real = &real
		if r.Type == swap.ToBTCLN {
			raw := trial.Must(hex.DecodeString(r.Lightning.Hash))(t)
			r.Lightning.Hash = hexOf(copyOf(raw, i))
			if r.Lightning.EndsAt != 0 {
				r.Lightning.EndsAt += age
			}
		}
	}
	r.Due = r.NextMoment(time.Now())
	e := storage.Entry{ID: id}
	e.Body = trial.Must(r.Encode())(t)
	for _, k := range r.Keys(m.row) {
		e.Keys = append(e.Keys, storage.Key(k))
	}
	return e
}

// tally is how many requests there were until a moment.
type tally struct {
	at                        time.Time
	chain, bitcoin, providers int64
}

func (b *bench) asked() tally {
	a := tally{at: time.Now(), chain: b.evm.requests.Load(), bitcoin: b.bitcoin.requests.Load()}
	for _, p := range b.providers {
		a.providers += p.requests.Load()
	}
	return a
}

// watch hears when each swap is looked at, and what the process has in memory.
type watch struct {
	passes atomic.Int64
	warm   tally // after the first rounds

	mu     sync.Mutex
	made   []made
	began  time.Time
	known  int // swaps of which anything was answered
	looks  int
	memory []memory
}

// memory is what a process says of itself.
type memory struct {
	At         time.Time
	Live, Heap uint64 // bytes: reachable at the last collection; taken for objects
	Resident   uint64
	Goroutines int
}

func newWatch(all []made) *watch { return &watch{made: all, began: time.Now()} }

// rounds is after how long each swap was looked at once: the first look comes within its
// rhythm after the start; and twice, if there is time, since what failed in the first round is
// asked in the second. Of a test that is shorter than that it is a quarter of the time.
func (w *watch) rounds(lasts time.Duration) (longest time.Duration) {
	for _, m := range w.made {
		longest = max(longest, rhythm(m.every, w.began.Sub(m.created)))
	}
	longest += 30 * time.Second
	for _, n := range []time.Duration{2, 1} {
		if n*longest <= lasts*4/5 {
			return n * longest
		}
	}
	return lasts / 4
}

func (w *watch) looked(copies []int) {
	now := time.Now()
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, i := range copies {
		if i < 0 || i >= len(w.made) {
			continue
		}
		m := &w.made[i]
		if m.last.IsZero() {
			w.known++
		}
		w.looks++
		m.note(w.began, now)
		m.last = now
	}
}

func (w *watch) remembered(text string) {
	var m memory
	if json.Unmarshal([]byte(text), &m) != nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.memory = append(w.memory, m)
}

func (w *watch) seen() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.known
}

// report says what was measured, and fails if the memory grows or swaps are neglected.
func (w *watch) report(t *testing.T, b *bench, n int, began time.Time) {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	took := time.Since(began)
	var late []time.Duration
	now := time.Now()
	for i := range w.made { // also those that nobody looks at any more
		m := &w.made[i]
		m.note(w.began, now)
		late = append(late, m.late)
	}
	slices.Sort(late)
	at := func(part float64) time.Duration {
		return late[int(part*float64(len(late)-1))].Round(10 * time.Millisecond)
	}
	inTime := sort.Search(len(late), func(i int) bool { return late[i] > 0 })
	t.Logf("%d swaps for %s: %d passes, %d answers about swaps (%.0f per second); %d of the swaps were never known less well than their rhythm says; the worst of each was after it by: median %s, 99 of 100 %s, 999 of 1000 %s, at most %s",
		n, took.Round(time.Second), w.passes.Load(), w.looks, float64(w.looks)/took.Seconds(), inTime, at(0.5), at(0.99), at(0.999), at(1))
	perHour := func(requests int64) string {
		return fmt.Sprintf("%d requests (%.2f per swap and hour)", requests, float64(requests)/float64(n)/took.Hours())
	}
	var asked, failed int64
	for _, p := range b.providers {
		asked, failed = asked+p.requests.Load(), failed+p.failed.Load()
	}
	t.Logf("chain: %s, %d items, %d failed; bitcoin: %s, %d failed; liquidity providers: %s, %d failed", perHour(b.evm.requests.Load()), b.evm.items.Load(), b.evm.failed.Load(),
		perHour(b.bitcoin.requests.Load()), b.bitcoin.failed.Load(), perHour(asked), failed)
	if warm, now := w.warm, b.asked(); warm != (tally{}) {
		hours := now.at.Sub(warm.at).Hours()
		rate := func(before, after int64) float64 { return float64(after-before) / float64(n) / hours }
		chain, bitcoin, providers := rate(warm.chain, now.chain), rate(warm.bitcoin, now.bitcoin), rate(warm.providers, now.providers)
		t.Logf("after the first rounds, in the last %s, for each swap and hour: %.3f requests: chain %.3f, bitcoin %.3f, providers %.3f", now.at.Sub(warm.at).Round(time.Second),
			chain+bitcoin+providers, chain, bitcoin, providers)
	}
	held := "the rhythm was HELD"
	if at(0.99) > time.Minute {
		held = "the rhythm was NOT held"
	}
	t.Logf("%s: 99 of 100 swaps were looked at within %s of it (a minute at most)", held, at(0.99))
	const mb = 1 << 20
	var lines []string
	for i, m := range w.memory {
		if i%max(1, len(w.memory)/12) == 0 || i == len(w.memory)-1 {
			lines = append(lines, fmt.Sprintf("%s: live %d MB, heap %d MB, resident %d MB, %d goroutines", m.At.Sub(began).Round(time.Second), m.Live/mb, m.Heap/mb, m.Resident/mb, m.Goroutines))
		}
	}
	t.Logf("memory:\n%s", strings.Join(lines, "\n"))
	if *scale != "full" || len(w.memory) < 12 {
		return
	}
	third := len(w.memory) / 3
	most := func(some []memory) (most uint64) {
		for _, m := range some {
			most = max(most, m.Live)
		}
		return most
	}
	before, after := most(w.memory[third:2*third]), most(w.memory[2*third:])
	t.Logf("live memory per swap: %d bytes", after/uint64(n))
	if after > before+before/10+10*mb {
		t.Errorf("live memory grows: %d MB in the second third of the time, %d MB in the last", before/mb, after/mb)
	}
	if at(0.99) > time.Minute {
		t.Errorf("99 of 100 swaps should be looked at within a minute of their rhythm, but it is %s", at(0.99))
	}
}
