//go:build unix

package scale

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/devnet/lightning"
	"github.com/swapper-go/swapper/internal/fleet"
	"github.com/swapper-go/swapper/internal/pgtest"
	"github.com/swapper-go/swapper/internal/swap"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/storage/postgres"
)

// lease is how long a process's share of the swaps stays its own after it was lost.
const lease = fleet.DefaultTTL

// Three processes share the swaps of one database. Again and again one of them is
// killed, one is paused beyond its lease, one is cut off from the database, and the
// database is killed. Every swap ends as it should, everybody has what was agreed on,
// nothing outside is done twice unless what came of the first time was lost with its
// process, and no swap is left unwatched for longer than a lease and its rhythm.
func TestChaos(t *testing.T) {
	if *scale == "small" {
		trial.OnlyFull(t)
	}
	beside(t)
	server := pgtest.Start(t)
	n := swapsOf(t, 12, 11_600) // 10,000 of them are live at once
	full := *scale == "full"
	began := time.Now()
	vaults := min(max(16, n/200), 50) // each holds three payments that are not claimed yet; a provider has gas for so many
	g := newGround(t, sized(t, 1, 3), sized(t, 1, vaults), full, full, sized(t, 300*time.Millisecond, 2*time.Second))
	g.hold()
	defer g.tick()()
	c := newCluster(t, g, server, 3)
	d := newDriver(t, g, c, sized(t, 5, min(128, 4+n/10)))
	t.Logf("the network, three processes and %d accounts are there after %s", len(d.all), time.Since(began).Round(time.Second))

	ctx, cancel := context.WithTimeoutCause(t.Context(), sized(t, 8*time.Minute, 150*time.Minute), errors.New("the swaps do not come to their ends"))
	defer cancel()
	harming, calm := context.WithCancel(ctx)
	defer calm()
	var harm sync.WaitGroup
	harm.Go(func() {
		c.chaos(harming, sized(t, 2*time.Second, 2*lease), sized(t, 500*time.Millisecond, 4*time.Second), sized(t, 5, math.MaxInt))
	})
	stopped := false
	end := func() {
		if !stopped {
			calm()
			harm.Wait()
			stopped = true
		}
	}
	defer end()

	d.beginAll(ctx, t, n, sized(t, 8, 256))
	if t.Failed() {
		return
	}
	t.Logf("%d swaps are begun after %s, %d live at once", len(d.made), time.Since(began).Round(time.Second), c.tracker.live())
	wait(ctx, timeOf(t, 0, time.Minute)) // all are under way
	g.release()
	left := d.finish(ctx, t, fromInvoice, fromVoucher, gasLightning) // before blocks time their payments out
	defer g.mine(sized(t, 200*time.Millisecond, 5*time.Second))()    // Solana's relay proves the last 250 alone
	left += d.finish(ctx, t, toInvoice, toLink, toBitcoin, fromBitcoin, gasBitcoin)
	end()
	t.Logf("they are over after %s; harm done: %v", time.Since(began).Round(time.Second), c.sums())
	if left > 0 {
		t.Errorf("%d of %d swaps are not over: %v", left, len(d.made), context.Cause(ctx))
	}
	d.checkEnds(t)
	d.checkBalances(t)
	c.checkOnce(t)
	c.checkWatched(t)
	if t.Failed() {
		for _, p := range c.members {
			p.mu.Lock()
			if p.process != nil {
				t.Logf("%s: %s", p.told.Name, p.process.log)
			}
			p.mu.Unlock()
		}
	}
}

// newDriver opens accounts on every land.
func newDriver(t testing.TB, g *ground, c *cluster, accounts int) *driver {
	t.Helper()
	d := &driver{ground: g, cluster: c, tracker: c.tracker, logf: t.Logf, accounts: map[string]chan *account{}}
	d.paidTo = trial.Must(g.Bitcoin.NewWallet(bitcoin.P2WPKH))(t)
	var all sync.WaitGroup
	for i := range g.lands {
		l := &g.lands[i]
		d.accounts[l.chain] = make(chan *account, accounts)
		for range accounts {
			all.Go(func() {
				w, address, err := l.open(t.Context())
				if err != nil {
					t.Error(err)
					return
				}
				a := &account{w, l, address}
				d.accounts[l.chain] <- a
				d.mu.Lock()
				d.all = append(d.all, a)
				d.mu.Unlock()
			})
		}
	}
	all.Wait()
	if t.Failed() {
		t.FailNow()
	}
	return d
}

// How many of a hundred swaps are of a kind. Blocks time out what is paid over Lightning,
// and the escrows that LPs open for such payments last three quarters of an hour: those swaps
// begin last, when no more blocks are needed.
var (
	withBlocks        = []share{{fromBitcoin, 8}, {gasBitcoin, 2}}
	paidOnChain       = []share{{toInvoice, 30}, {toBitcoin, 8}, {toLink, 7}}
	paidOverLightning = []share{{fromInvoice, 27}, {fromVoucher, 16}, {gasLightning, 2}}
)

type share struct {
	kind    string
	percent int
}

// beginAll makes swaps of every kind on every land, some at a time.
func (d *driver) beginAll(ctx context.Context, t *testing.T, n, atOnce int) {
	defer d.tell(ctx, t)()
	few := max(1, min(24, atOnce/4)) // two who are offered one vault at once get in each other's way
	var first, second sync.WaitGroup
	first.Go(func() {
		defer d.mine(sized(t, 200*time.Millisecond, 3*time.Second))()
		d.beginSome(ctx, t, n, few, withBlocks)
	})
	second.Go(func() { d.beginSome(ctx, t, n, atOnce-few, paidOnChain) })
	first.Wait()
	d.beginSome(ctx, t, n, atOnce-few, paidOverLightning)
	second.Wait()
}

func (d *driver) beginSome(ctx context.Context, t *testing.T, n, atOnce int, shares []share) {
	work := make(chan func(), n+len(shares))
	for _, s := range shares {
		if len(d.lands) == 1 && (s.kind == gasLightning || s.kind == gasBitcoin) {
			continue // nothing tells of their payments, so that they are looked at after half a minute
		}
		for k := range max(1, n*s.percent/100) {
			l := &d.lands[k%len(d.lands)]
			work <- func() {
				if err := d.begin(ctx, s.kind, l); err != nil {
					t.Error(err)
				}
			}
		}
	}
	close(work)
	var all sync.WaitGroup
	for range atOnce {
		all.Go(func() {
			for one := range work {
				if ctx.Err() != nil || t.Failed() {
					return
				}
				one()
			}
		})
	}
	all.Wait()
}

// tell says now and then how far it is.
func (d *driver) tell(ctx context.Context, t *testing.T) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var done sync.WaitGroup
	done.Go(func() {
		for began := time.Now(); ; {
			if wait(ctx, 30*time.Second); ctx.Err() != nil {
				return
			}
			d.mu.Lock()
			made, renewed := len(d.made), d.renewed
			d.mu.Unlock()
			t.Logf("after %s: %d begun, %d live, %d made anew", time.Since(began).Round(time.Second), made, d.tracker.live(), renewed)
		}
	})
	return func() { cancel(); done.Wait() }
}

// finish waits until all swaps of some kinds are over. One that is in the same state for long is asked
// about, as its user would: what is tried again and again changes it too.
func (d *driver) finish(ctx context.Context, t *testing.T, kinds ...string) (left int) {
	type stay struct {
		state int
		since time.Time // or when it was asked about last
	}
	stays, told := map[string]stay{}, time.Now()
	for {
		left = 0
		open := map[string]int{}
		var calls []swap.Try
		for _, j := range d.made {
			r, row := d.tracker.record(j.id)
			if r != nil && row.Finished || !slices.Contains(kinds, j.kind) || d.forgone(j) {
				continue
			}
			left++
			open[fmt.Sprintf("%s on %s: %s", j.kind, j.land.chain, row.Name)]++
			if r != nil && j.kind == fromVoucher && len(calls) < 5 {
				calls = append(calls, r.Tried[string(swap.CallWithdraw)])
			}
			if r == nil || ctx.Err() != nil {
				continue
			}
			if was, ok := stays[j.id]; !ok || was.state != r.State {
				stays[j.id] = stay{r.State, time.Now()}
			} else if time.Since(was.since) > 3*time.Minute {
				stays[j.id] = stay{r.State, time.Now()}
				d.mu.Lock()
				d.nudged++
				d.mu.Unlock()
				go func() { _ = d.act(ctx, j) }() // what is left shows in the end
			}
		}
		if left == 0 || ctx.Err() != nil {
			return left
		}
		if time.Since(told) > time.Minute {
			told = time.Now()
			t.Logf("%d are not over: %v; calls of LNURL-withdraw among them: %v", left, open, calls)
		}
		time.Sleep(200 * time.Millisecond)
	}
}

// authTime is how long an LP's authorisation to open an escrow is good on Solana: that of
// a block's hash.
const authTime = time.Minute

// unasked reports whether a swap was never paid because its LNURL-withdraw service was
// not called in the 90 seconds that an invoice lasts, or the call was lost with the
// process that made it: that is not done again, and the quote expires unused. On Solana
// the user has a minute to open the escrow, in which the processes that heard of the payment
// may be harmed: then the payment goes back. The local network must know of no other payment.
func (d *driver) unasked(j *job) bool {
	r, row := d.tracker.record(j.id)
	if j.kind != fromVoucher || r == nil || r.Escrow != nil && r.Escrow.Real != nil && (!j.land.opens || r.Escrow.InitTx != "") || !row.Expired && r.State != swap.LnSoftExpired {
		return false
	}
	hash, err := hex.DecodeString(r.Lightning.Hash)
	if err != nil || len(hash) != 32 {
		return false
	}
	payment, paid := d.voucher.Payment([32]byte(hash))
	if paid && payment.State != lightning.Failed {
		return false
	}
	expiry := r.Expiry.Time()
	began := r.Tried[string(swap.CallWithdraw)].Started
	call, called := d.counter.call("withdraw", j.voucher)
	switch {
	case paid && j.land.opens && call.answered && len(d.cluster.harmed("", call.to, call.to.Add(authTime))) > 0:
		return true // the LP held it, and gave it back when its authorisation was over
	case called && call.answered: // the service took the invoice for expired, as it was
		return call.to.After(expiry)
	case called: // it did not reach the service
		return len(d.cluster.harmed(call.by, call.from, call.to.Add(time.Second))) > 0
	case began != 0:
		return len(d.cluster.harmed("", began.Time().Add(-time.Second), began.Time().Add(attemptTime+recordTime))) > 0
	default: // nobody came to it in time
		d.tracker.mu.Lock()
		taken := d.tracker.taken(j.id, j.asked, expiry)
		d.tracker.mu.Unlock()
		return expiry.Sub(j.asked) < d.cluster.unwatched(5*time.Second, j.asked, expiry, taken)
	}
}

// checkEnds: every swap was successful.
func (d *driver) checkEnds(t *testing.T) {
	t.Helper()
	ends, unasked, unposted := map[string]int{}, 0, 0
	for _, j := range d.made {
		r, row := d.tracker.record(j.id)
		if r == nil {
			t.Errorf("%s: the swap %s is not in the store", j.kind, j.id)
			continue
		}
		ends[fmt.Sprintf("%s %s", r.Type, row.Name)]++
		switch {
		case d.unasked(j):
			unasked++
		case d.unposted(j):
			unposted++
		case !row.Success:
			t.Errorf("%s on %s: the swap ended as %s (%s)", j.kind, j.land.chain, row.Name, r.Problem)
		}
	}
	t.Logf("ends: %v; %d were made anew because their quotes were over, %d of them because their PSBT was lost with the process that was to post it, %d were asked about once more; of %d the call of LNURL-withdraw was lost with its process, and of %d the PSBT, and they expired unpaid", ends, d.renewed, d.unsent, d.nudged, unasked, unposted)
}

// checkBalances: what everybody has changed by what was agreed on, once.
func (d *driver) checkBalances(t *testing.T) {
	t.Helper()
	want := map[string]*big.Int{}
	for _, a := range d.all {
		want[a.address] = big.NewInt(startTokens)
	}
	var invoices, vouchers, paidOut, byLink, onChain int64
	for _, j := range d.made {
		if d.forgone(j) {
			continue
		}
		in, out := j.quote.InputAmount.RawAmount, j.quote.OutputAmount.RawAmount
		switch j.kind {
		case toInvoice:
			want[j.by.address].Sub(want[j.by.address], in)
			paidOut += out.Int64()
		case toLink:
			want[j.by.address].Sub(want[j.by.address], in)
			byLink += out.Int64()
		case toBitcoin:
			want[j.by.address].Sub(want[j.by.address], in)
			onChain += out.Int64()
		case fromInvoice:
			want[j.by.address].Add(want[j.by.address], out)
			invoices += in.Int64()
		case fromVoucher:
			want[j.by.address].Add(want[j.by.address], out)
			vouchers += in.Int64()
		case fromBitcoin:
			want[j.by.address].Add(want[j.by.address], out)
		case gasLightning:
			invoices += in.Int64()
		}
		if j.wallet != nil {
			if spent := coinSats - j.wallet.Balance() - in.Int64(); spent < 0 || spent > 20_000 {
				t.Errorf("the user of swap %s paid %d sats of fees", j.id, spent)
			}
		}
	}
	check := func() (wrong []error) {
		for _, a := range d.all {
			if has, err := a.land.balance(t.Context(), a.address); err != nil || has.Cmp(want[a.address]) != 0 {
				wrong = append(wrong, fmt.Errorf("%s on %s has %d base units instead of %d: %w", a.address, a.land.chain, has, want[a.address], err))
			}
		}
		for _, j := range d.made {
			if j.gasTo == "" {
				continue
			}
			if has, err := j.land.gas(t.Context(), j.gasTo); err != nil || has.Cmp(j.quote.OutputAmount.RawAmount) != 0 {
				wrong = append(wrong, fmt.Errorf("who bought gas on %s has %d base units instead of %d: %w", j.land.chain, has, j.quote.OutputAmount.RawAmount, err))
			}
		}
		for name, c := range map[string][2]int64{
			"the payer of invoices has":    {d.payer.BalanceSats(), startSats - invoices},
			"the payer of withdrawals has": {d.voucher.BalanceSats(), startSats - vouchers + byLink},
			"over Lightning arrived":       {d.payee.BalanceSats(), paidOut},
			"on Bitcoin arrived":           {d.paidTo.Balance(), onChain},
		} {
			if c[0] != c[1] {
				wrong = append(wrong, fmt.Errorf("%s %d sats instead of %d", name, c[0], c[1]))
			}
		}
		return wrong
	}
	var wrong []error
	for patience := time.Now().Add(time.Minute); time.Now().Before(patience); time.Sleep(200 * time.Millisecond) {
		if wrong = check(); wrong == nil { // what the LPs have left to do takes a moment
			t.Logf("all balances are right: %d sats from invoices, %d from withdrawals, %d to invoices, %d to a link, %d to bitcoin", invoices, vouchers, paidOut, byLink, onChain)
			return
		}
	}
	t.Error(errors.Join(wrong[:min(len(wrong), 20)]...))
}

// cluster is the processes, and what is done to them.
type cluster struct {
	t       testing.TB
	server  *pgtest.Server
	counter *counter
	tracker *tracker
	members []*member

	mu    sync.Mutex
	harms []harm
}

// member is one of the processes, which is another one after it was killed.
type member struct {
	told child
	wire *cable

	mu      sync.Mutex
	process *process
	avoided time.Time // until then: it does not answer
	busy    bool      // something is done to it
}

// harm is what was done to a process, or to the database if that is "".
type harm struct {
	kind, to    string
	begin, over time.Time // over: everything is as before again
}

func newCluster(t testing.TB, g *ground, server *pgtest.Server, processes int) *cluster {
	t.Helper()
	const schema = "scale"
	store, err := postgres.Open(t.Context(), server.DSN(), postgres.Options{Schema: schema})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	c := &cluster{t: t, server: server, counter: g.counter, tracker: newTracker(store)}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); c.tracker.follow(ctx) }()
	t.Cleanup(func() { cancel(); <-done })
	for i := range processes {
		w := newCable(t, "unix", server.Socket())
		told := g.tell()
		told.Name, told.Schema = fmt.Sprintf("process %d", i), schema
		told.DSN = fmt.Sprintf("host=127.0.0.1 port=%d user=test dbname=postgres sslmode=disable connect_timeout=5", w.port())
		m := &member{told: told, wire: w}
		m.process = trial.Must(spawn(t.Context(), told, c.tracker.looked, nil))(t)
		c.members = append(c.members, m)
	}
	t.Cleanup(c.stop)
	return c
}

func (c *cluster) stop() {
	for _, m := range c.members {
		m.mu.Lock()
		if p := m.process; p != nil {
			if c.t.Failed() {
				p.kill()
			} else if err := p.stop(); err != nil {
				c.t.Error(err)
			}
		}
		m.mu.Unlock()
	}
}

// any returns one of the processes that are up, nil if none is: one that has answered
// lately, if there is such.
func (c *cluster) any() (who *member, up *process) {
	for _, i := range rand.Perm(len(c.members)) {
		m := c.members[i]
		m.mu.Lock()
		p, silent := m.process, time.Now().Before(m.avoided)
		m.mu.Unlock()
		switch {
		case p == nil || p.isGone():
		case !silent:
			return m, p
		default:
			who, up = m, p
		}
	}
	return who, up
}

// avoid notes that a process does not answer.
func (m *member) avoid() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.avoided = time.Now().Add(10 * time.Second)
}

// take picks a process to which nothing is done, as long as another one is left to which
// nothing is done either.
func (c *cluster) take() *member {
	c.mu.Lock()
	defer c.mu.Unlock()
	var free []*member
	for _, m := range c.members {
		if !m.busy {
			free = append(free, m)
		}
	}
	if len(free) < 2 {
		return nil
	}
	m := free[rand.IntN(len(free))]
	m.busy = true
	return m
}

func (c *cluster) give(m *member) {
	c.mu.Lock()
	defer c.mu.Unlock()
	m.busy = false
}

// note notes a harm, and returns what says that it is over.
func (c *cluster) note(kind, to string) (over func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := len(c.harms)
	c.harms = append(c.harms, harm{kind: kind, to: to, begin: time.Now()})
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.harms[i].over = time.Now()
	}
}

// chaos harms processes and the database until ctx ends, at most so many times: the kinds
// in turn, side by side as long as one process is left alone. away is how long a process
// is paused or cut off.
func (c *cluster) chaos(ctx context.Context, away, pause time.Duration, times int) {
	var all sync.WaitGroup
	defer all.Wait()
	kinds := []func(context.Context, *member, time.Duration){c.kill, c.hold, c.kill, c.cut, c.kill, c.kill}
	for i := 0; i < times; i++ {
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause + time.Duration(rand.Int64N(int64(pause)))):
		}
		if i%12 == 4 {
			if err := c.restart(); err != nil {
				c.t.Errorf("restart of the database: %v", err)
				return
			}
			continue
		}
		m := c.take()
		for ; m == nil && ctx.Err() == nil; m = c.take() {
			wait(ctx, pause/4)
		}
		if m == nil {
			return
		}
		do := kinds[i%len(kinds)]
		all.Go(func() {
			defer c.give(m)
			do(ctx, m, away)
		})
	}
}

func (c *cluster) kill(ctx context.Context, m *member, _ time.Duration) {
	defer c.note("killed", m.told.Name)()
	m.mu.Lock()
	m.process.kill()
	m.process = nil
	m.mu.Unlock()
	for began := time.Now(); ; {
		p, err := spawn(context.WithoutCancel(ctx), m.told, c.tracker.looked, nil)
		if err == nil {
			m.mu.Lock()
			m.process = p
			m.mu.Unlock()
			return
		}
		if time.Since(began) > 2*time.Minute { // the database may be away meanwhile
			c.t.Errorf("a killed process does not come back: %v", err)
			return
		}
	}
}

func (c *cluster) hold(ctx context.Context, m *member, away time.Duration) {
	defer c.note("paused", m.told.Name)()
	if err := m.process.pause(); err != nil {
		c.t.Error(err)
	}
	wait(ctx, away)
	if err := m.process.goOn(); err != nil {
		c.t.Error(err)
	}
}

func (c *cluster) cut(ctx context.Context, m *member, away time.Duration) {
	defer c.note("cut off", m.told.Name)()
	m.wire.cut()
	wait(ctx, away)
	m.wire.mend()
}

func (c *cluster) restart() error {
	defer c.note("database killed", "")()
	if err := c.server.Kill(); err != nil {
		return err
	}
	return c.server.Restart()
}

func wait(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// sums are how often each kind of harm was done.
func (c *cluster) sums() map[string]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := map[string]int{}
	for _, h := range c.harms {
		all[h.kind]++
	}
	return all
}

// harmed returns what was done to a process or the database within a time; process ""
// is any.
func (c *cluster) harmed(process string, from, to time.Time) (all []harm) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, h := range c.harms {
		if (process == "" || h.to == "" || h.to == process) && h.begin.Before(to) && (h.over.IsZero() || h.over.After(from)) {
			all = append(all, h)
		}
	}
	return all
}

// recordTime is how long a process may take to store what came of a call.
const recordTime = 10 * time.Second

// attemptTime is how long a call may take before that.
const attemptTime = time.Minute

// checkOnce: no PSBT was posted twice and no withdrawal called twice. A PSBT may be
// posted again only by the rule that what came of the time before was lost: its process
// was killed, paused, cut off from the database or without one around the call. A
// withdrawal may not even then.
func (c *cluster) checkOnce(t *testing.T) {
	t.Helper()
	allowed := 0
	for _, pair := range c.counter.twice() {
		before, again := pair[0], pair[1]
		lost := c.harmed(before.by, before.from, before.to.Add(recordTime))
		if before.kind == "post" && len(lost) > 0 {
			allowed++
			t.Logf("posted again %s after the first time: %s was %s", again.from.Sub(before.from).Round(time.Millisecond), before.by, lost[0].kind)
			continue
		}
		t.Errorf("%s %s: called by %s, and again by %s %s later, though nothing was done to it", before.kind, before.about[:8], before.by, again.by, again.from.Sub(before.from).Round(time.Millisecond))
	}
	t.Logf("%d PSBTs posted, %d of them again because the answer was lost; %d withdrawals called", c.counter.number("post"), allowed, c.counter.number("withdraw"))
}

// unwatched is for how long a swap may be looked at by nobody within a time in which others took
// it over so many times: another process sees that a lease is over within a third of it, and
// comes to the swap within its rhythm, unless something is done to that one before; while the
// database is away nobody can look.
func (c *cluster) unwatched(every time.Duration, from, to time.Time, taken int) time.Duration {
	most := every + time.Duration(max(1, taken))*(lease+lease/3+every) + 10*time.Second
	for _, h := range c.harmed("", from, to) {
		if h.to == "" && !h.over.IsZero() {
			most += h.over.Sub(h.begin) + 10*time.Second
		}
	}
	return most
}

// crowd is how long one process, while the two others are away, needs to come to each of so
// many swaps beside the whole network on the same processors.
func crowd(swaps int) time.Duration { return time.Duration(swaps) * 2 * time.Millisecond }

// checkWatched: a swap is looked at again within its rhythm, the lease of who had it, and
// the time in which another one takes it over and comes to it.
func (c *cluster) checkWatched(t *testing.T) {
	t.Helper()
	late := c.tracker.gaps()
	if len(late) == 0 {
		t.Error("no swap was left alone")
		return
	}
	at := func(part float64) time.Duration {
		return late[int(part*float64(len(late)-1))].Round(10 * time.Millisecond)
	}
	t.Logf("later than its rhythm a swap was looked at by: median %s, 99 of 100 %s, at most %s", at(0.5), at(0.99), at(1))
	c.tracker.mu.Lock()
	defer c.tracker.mu.Unlock()
	wrong, crowded, often := 0, 0, map[int]int{}
	for id, s := range c.tracker.swaps {
		taken := c.tracker.taken(id, s.when.Add(-s.worst), s.when)
		switch over := s.worst - c.unwatched(s.every, s.when.Add(-s.worst), s.when, taken); {
		case over > crowd(len(c.tracker.swaps)):
			if wrong++; wrong <= 10 {
				t.Errorf("swap %s… was looked at by nobody for %s, until %s; its rhythm was %s, and it was taken over %d times", id[:8], s.worst, s.when.Format(time.TimeOnly), s.every, taken)
			}
		case over > 0:
			crowded++
		}
		often[taken]++
	}
	t.Logf("%d swaps waited for others that were to be looked at as well", crowded)
	t.Logf("while it was looked at by nobody for longest, swaps were taken over so many times: %v", often)
	if wrong > 10 {
		t.Errorf("and %d others", wrong-10)
	}
}
