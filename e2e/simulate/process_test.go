package simulate

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/chains/bitcoin/mempoolspace"
	"github.com/swapper-go/swapper/watchtower"
)

// place is where processes run, one after the other.
type place struct {
	number int
	now    atomic.Pointer[process] // nil while nobody runs
	wire   atomic.Int64            // trouble in percent, for whoever runs
	disk   atomic.Int64
	ahead  atomic.Int64 // nanoseconds that the clock is off
	leap   atomic.Int64 // and those for a while
	deadly atomic.Int64 // the process dies after so many more points; 0: it does not
	down   atomic.Bool  // nobody is to be started
}

// process is one run of a client.
type process struct {
	*place
	w         *world
	client    *swapper.Client
	transport *http.Transport
	nostr     *watchtower.Nostr
	tower     *watchtower.Tower // nil: there is none of its own
	ctx       context.Context
	cancel    context.CancelFunc
	opened    chan struct{} // closed once client is set, or never will be
	died      chan struct{}
	dying     sync.Once

	wireTrouble, diskTrouble *atomic.Int64
}

// time is what the clock at the place says.
func (at *place) time() time.Time {
	return time.Now().Add(time.Duration(at.ahead.Load() + at.leap.Load()))
}

func (p *process) dead() bool {
	select {
	case <-p.died:
		return true
	default:
		return false
	}
}

// die ends the process at once: what it does from now on has no effect.
func (p *process) die(where string) {
	p.dying.Do(func() {
		close(p.died)
		p.cancel()
		p.now.CompareAndSwap(p, nil)
		p.w.note("process %d dies: %s", p.number, where)
		p.w.burying.Go(p.bury)
	})
}

func (p *process) bury() {
	if <-p.opened; p.client != nil {
		_ = p.client.Close()
		_ = p.nostr.Close()
	}
	p.transport.CloseIdleConnections()
}

// point is a place at which the process may die.
func (p *process) point(where string) {
	if n := p.deadly.Load(); n > 0 && p.deadly.Add(-1) == 0 {
		p.die(where)
	}
}

// rest lets time pass and reports whether the process and the caller are still there.
func (p *process) rest(req *http.Request, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return !p.dead()
	case <-p.died:
	case <-req.Context().Done():
	}
	return false
}

// run starts a process at a place.
func (w *world) run(at *place) (*process, error) {
	p := &process{place: at, w: w, transport: w.network.Transport(), opened: make(chan struct{}), died: make(chan struct{}), wireTrouble: &at.wire, diskTrouble: &at.disk}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	via := func(to string) http.RoundTripper { return wire{p, p.transport, to} }
	log := io.Discard
	if *verbose {
		log = os.Stderr
	}
	backend, err := mempoolspace.New(mempoolspace.Options{Network: bitcoin.Regtest, URLs: urls(w.bitcoins), WebSocket: sockets(w.tellers), TipAge: -1, HTTP: &http.Client{Transport: via("bitcoin")}, Logger: slog.New(slog.NewTextHandler(log, nil))})
	if err != nil {
		return nil, err
	}
	nostr, err := watchtower.NewNostr(watchtower.NostrOptions{Relays: []string{w.net.Nostr.URL()}, Network: bitcoin.Regtest, HTTP: via("nostr")})
	if err != nil {
		return nil, err
	}
	config := swapper.Config{
		Network: bitcoin.Regtest, Store: handle{w.disk, p}, Bitcoin: backend, Chains: w.factories(), HTTP: via("chain"),
		LPs:    swapper.LPs{URLs: w.net.LPURLs(), AllowHTTP: true, AllowLocal: true, Transport: via("LP")},
		Prices: prices, LNURL: swapper.LNURLOptions{AllowLocal: true, Transport: via("lnurl")}, Messenger: messenger{nostr, p},
		Now: at.time, AllNodes: w.plan.collusion != nil && w.plan.collusion.all,
		Logger: slog.New(slog.NewTextHandler(log, nil)).With("process", at.number),
	}
	if w.plan.shared {
		config.Store = sharedHandle{handle{w.disk, p}}
	}
	if w.operator != nil {
		if p.tower, err = w.operator.tower(p, config, via); err != nil {
			close(p.opened)
			p.cancel()
			p.transport.CloseIdleConnections()
			return nil, errors.Join(err, nostr.Close())
		}
		config.Claimer = claimer{p.tower, p}
		w.burying.Go(func() {
			_ = p.tower.Run(p.ctx)
			_ = p.tower.Close()
		})
	}
	client, err := swapper.Open(p.ctx, config)
	p.client, p.nostr = client, nostr
	close(p.opened)
	if err != nil || p.dead() {
		p.cancel()
		p.transport.CloseIdleConnections()
		return nil, errors.Join(err, nostr.Close())
	}
	at.now.Store(p)
	if p.dead() {
		at.now.CompareAndSwap(p, nil)
	}
	w.burying.Go(func() {
		err := client.Run(p.ctx)
		if p.ctx.Err() == nil {
			w.broken("process %d: Run ended by itself: %v", at.number, err)
		}
	})
	return p, nil
}

func (w *world) factories() (all []chains.Factory) {
	for _, g := range w.lands {
		all = append(all, g.factory())
	}
	return all
}

// keep runs processes at a place, a new one whenever none runs.
func (w *world) keep(ctx context.Context, at *place) {
	for ctx.Err() == nil {
		if at.now.Load() == nil && !at.down.Load() {
			if _, err := w.run(at); err != nil {
				w.note("process %d does not start: %v", at.number, err)
			}
		}
		sleep(ctx, time.Second)
	}
}

// stop ends the process at a place as its operator would.
func (w *world) stop(at *place) {
	p := at.now.Swap(nil)
	if p == nil || p.client == nil {
		return
	}
	p.cancel()
	p.dying.Do(func() {
		if err := p.client.Close(); err != nil {
			w.note("process %d is closed: %v", at.number, err)
		}
		close(p.died)
		_ = p.nostr.Close()
		p.transport.CloseIdleConnections()
	})
}

// any returns a client that runs.
func (w *world) any(n int) (*process, error) {
	for i := range w.places {
		if p := w.places[(n+i)%len(w.places)].now.Load(); p != nil && p.client != nil {
			return p, nil
		}
	}
	return nil, errDead
}

func sleep(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}
