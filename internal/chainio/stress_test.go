package chainio

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/engine"
	"github.com/swapper-go/swapper/internal/flowtest"
	"github.com/swapper-go/swapper/internal/lp"
	"github.com/swapper-go/swapper/internal/swap"
	"github.com/swapper-go/swapper/storage"
)

var stressed = flag.Int("stressed", 60, "swaps that TestRefundsAmidLosses brings to their ends")

// wildChain is a chain of one user after the other that loses blocks and
// transactions, read through nodes of which some lag behind. Each swap has three
// transactions, named after it: to approve, to open and to refund.
type wildChain struct {
	mu    sync.Mutex
	wild  bool
	head  uint64
	mined map[string]uint64 // height by transaction; 0: waits
}

func (c *wildChain) has(id string, at uint64) bool { return c.mined[id] != 0 && c.mined[id] <= at }

// mine makes a block every two seconds, and while the chain is wild it replaces
// some of the last ones now and then, by a shorter, an equal or a longer branch.
func (c *wildChain) mine(ctx context.Context) {
	for tick := time.NewTicker(2 * time.Second); ; {
		select {
		case <-ctx.Done():
			tick.Stop()
			return
		case <-tick.C:
		}
		c.mu.Lock()
		c.head++
		if c.wild && rand.IntN(4) == 0 {
			fork := c.head - 1 - rand.Uint64N(3)
			for id, at := range c.mined {
				if at <= fork {
					continue
				}
				c.mined[id] = 0
				if rand.IntN(5) == 0 {
					delete(c.mined, id) // nodes forget it
				}
			}
			c.head = fork + rand.Uint64N(4)
		}
		for id, at := range c.mined {
			swap, step := id[:len(id)-1], id[len(id)-1]
			possible := step == 'a' || step == 'o' && c.has(swap+"a", c.head) || step == 'r' && c.has(swap+"o", c.head)
			if at == 0 && possible && rand.IntN(5) > 0 {
				c.mined[id] = max(c.head, 1)
			}
		}
		c.mu.Unlock()
	}
}

// node is the height that some node has reached. c.mu is held.
func (c *wildChain) node() uint64 {
	if c.wild && rand.IntN(5) == 0 {
		return c.head - rand.Uint64N(3)
	}
	return c.head
}

// wildReader answers for one process: what it asks of LPs is lost with it.
type wildReader struct {
	engine.Reader
	chain *wildChain
	lps   *inquiries
}

func (w *wildReader) Escrow(_ context.Context, _, _ string, q chains.EscrowQuery) (chains.EscrowFact, error) {
	w.chain.mu.Lock()
	defer w.chain.mu.Unlock()
	if w.chain.wild && rand.IntN(20) == 0 {
		return chains.EscrowFact{}, errors.New("the node is busy")
	}
	swap, at := string(q.Escrow.ClaimHash), w.chain.node()
	f := chains.EscrowFact{Head: chains.Block{Height: at, Time: time.Now().Unix()}, Auth: chains.AuthGood}
	last := uint64(0)
	if w.chain.has(swap+"o", at) {
		last = w.chain.mined[swap+"o"]
		f.State, f.InitTx, f.Opened = chains.EscrowOpen, swap+"o", chains.Block{Height: last}
		if w.chain.has(swap+"r", at) {
			last = w.chain.mined[swap+"r"]
			f.State, f.RefundTx, f.Finished = chains.EscrowRefunded, swap+"r", chains.Block{Height: last}
		}
	}
	f.Final = last != 0 && last+8 <= at
	return f, nil
}

func (w *wildReader) Txs(_ context.Context, _ string, txs []chains.Signed) ([]chains.TxStatus, error) {
	w.chain.mu.Lock()
	defer w.chain.mu.Unlock()
	at := w.chain.node()
	all := make([]chains.TxStatus, len(txs))
	for i, tx := range txs {
		height, known := w.chain.mined[tx.ID]
		switch {
		case !known:
		case w.chain.has(tx.ID, at):
			all[i] = chains.TxStatus{State: chains.TxConfirmed, Block: chains.Block{Height: height}, Final: height+8 <= at}
		default:
			all[i].State = chains.TxPending
		}
	}
	return all, nil
}

func (w *wildReader) VerifyRefund(context.Context, string, string, swap.RefundAsk) error { return nil }

func (w *wildReader) LPStatus(ctx context.Context, q lp.StatusQuery) (lp.Status, error) {
	return w.lps.ask(ctx, q)
}

// Status is the LP: it refuses to pay what is open, and says so after a moment or,
// a slow one always, after more than a pass waits.
func (c *wildChain) Status(ctx context.Context, q lp.StatusQuery) (lp.Status, error) {
	wait := time.Duration(rand.IntN(1000)) * time.Millisecond
	if strings.HasPrefix(q.URL, "https://slow") || rand.IntN(4) == 0 {
		wait += lpPatience
	}
	select {
	case <-time.After(wait):
	case <-ctx.Done():
		return lp.Status{}, context.Cause(ctx)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	name := make([]byte, len(q.ID)/2)
	if _, err := fmt.Sscanf(q.ID, "%x", &name); err != nil {
		return lp.Status{}, err
	}
	switch {
	case rand.IntN(10) == 0:
		return lp.Status{}, errors.New("502")
	case !c.has(string(name)+"o", c.head):
		return lp.Status{}, errors.New("not committed")
	case rand.IntN(10) == 0:
		return lp.Status{Code: lp.CodeProcessing}, nil
	}
	return lp.Status{Code: lp.CodeRefund, Auth: &chains.Auth{Timeout: time.Now().Add(10 * time.Minute).Unix()}}, nil
}

// lossy is a store as a process sees it that may be lost: from then on nothing of
// the process lasts.
type lossy struct {
	storage.Store
	lost atomic.Bool
}

var errLost = errors.New("the process is lost")

func (s *lossy) Update(ctx context.Context, e storage.Entry) error {
	if s.lost.Load() {
		return errLost
	}
	return s.Store.Update(ctx, e)
}

// mortal is a process: an engine that follows the swaps of a store.
type mortal struct {
	*engine.Engine
	store *lossy
	lps   *inquiries
	chain *wildChain
	stop  context.CancelFunc
	ended chan struct{}
}

func (m *mortal) Execute(ctx context.Context, r *swap.Record, e swap.Effect) swap.Outcome {
	if m.store.lost.Load() {
		return swap.Outcome{Reason: "lost"}
	}
	m.chain.mu.Lock()
	defer m.chain.mu.Unlock()
	if id := r.Submission.Txs[e.Step].ID; m.chain.mined[id] == 0 {
		m.chain.mined[id] = 0
	}
	return swap.Outcome{Done: true}
}

func begin(s storage.Store, c *wildChain) *mortal {
	ctx, stop := context.WithCancel(context.Background())
	m := &mortal{store: &lossy{Store: s}, lps: newInquiries(ctx, statusReader(c.Status)), chain: c, stop: stop, ended: make(chan struct{})}
	m.Engine = engine.New(engine.Config{Store: m.store, Reader: &wildReader{chain: c, lps: m.lps}, Executor: m, Flows: []*swap.Flow{flowtest.Flow(swap.ToBTC)}, Now: time.Now, Log: slog.New(slog.DiscardHandler)})
	go func() { defer close(m.ended); m.Run(ctx) }()
	return m
}

// lose ends the process at once: what it has under way is never known to anybody.
func (m *mortal) lose() {
	m.store.lost.Store(true)
	m.stop()
	<-m.ended
	m.Close()
	m.lps.wait()
}

// sign does what the user is asked to do.
func (m *mortal) sign(ctx context.Context, id string) {
	res, err := m.Advance(ctx, id, nil)
	if err != nil {
		return
	}
	a, ok := m.View(res).Signable().(*swap.Sign)
	if !ok {
		return
	}
	tx := func(step string) swap.SignedTx { return swap.SignedTx{Signed: chains.Signed{ID: id + step}} }
	in := swap.Submit{Action: a.For, Txs: []swap.SignedTx{tx("a"), tx("o")}}
	if a.For == swap.ActionRefund {
		in.Txs = []swap.SignedTx{tx("r")}
	}
	_, _ = m.Advance(ctx, id, in) // refused or lost: the user looks again
}

// patience is how long a swap may stay in a state that is not its last: while it is
// open the provider is asked for a refund, else the user's next step may have to
// wait until what was signed before is given up.
func patience(state int) time.Duration {
	if state == swap.OutCommitted {
		return 90 * time.Second
	}
	return 5 * time.Minute
}

// Swaps whose provider takes its time to refuse the payment end with a refund,
// and none stays as it is for long, while processes are lost, blocks are replaced
// and nodes lag behind.
func TestRefundsAmidLosses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const together, wildFor = 20, 2 * time.Minute
		chain := &wildChain{wild: true, head: 100, mined: map[string]uint64{}}
		ctx, stop := context.WithCancel(t.Context())
		go chain.mine(ctx)
		var all sync.WaitGroup
		for p := range (*stressed + together - 1) / together {
			all.Go(func() {
				mem := new(storage.Memory)
				m := begin(mem, chain)
				defer func() { m.lose() }()
				var ids []string
				for i := range together {
					id := fmt.Sprintf("%d.%d.", p, i)
					now := time.Now()
					r := &swap.Record{Head: swap.Head{ID: id, Type: swap.ToBTC, Chain: "CITREA", Signer: "0x1", LP: swap.LP{URL: fmt.Sprintf("https://%s%d", [...]string{"slow", "quick"}[p%2], p)}, CreatedAt: swap.At(now), Expiry: swap.At(now.Add(time.Hour))},
						Escrow: &swap.EscrowPart{Init: &chains.Auth{}, Real: &chains.Escrow{ClaimHash: []byte(id), Expiry: now.Add(48 * time.Hour).Unix()}}}
					if err := m.Create(ctx, r); err != nil {
						t.Error(err)
						return
					}
					ids = append(ids, id)
				}
				began := time.Now()
				next := time.Duration(rand.IntN(15_000)) * time.Millisecond
				since := map[string]time.Time{}
				states := map[string]int{}
				for open := len(ids); open > 0; {
					open = 0
					for _, id := range ids {
						m.sign(ctx, id)
						r, err := m.Load(ctx, id)
						if err != nil {
							t.Error(err)
							return
						}
						if at, ok := since[id]; !ok || states[id] != r.State {
							since[id], states[id] = time.Now(), r.State
						} else if stays := time.Since(at); !r.Settled && r.State != swap.OutRefunded && stays > patience(r.State) {
							t.Errorf("swap %s stays in state %d for %s: %+v, %+v", id, r.State, stays, r.Submission, r.Seen)
							return
						}
						if !r.Settled {
							open++
						}
					}
					time.Sleep(time.Duration(500+rand.IntN(1000)) * time.Millisecond)
					if ran := time.Since(began); ran < wildFor && ran > next {
						m.lose()
						m, next = begin(mem, chain), ran+time.Duration(rand.IntN(20_000))*time.Millisecond
					} else if ran > wildFor {
						chain.mu.Lock()
						chain.wild = false
						chain.mu.Unlock()
					}
				}
				for _, id := range ids {
					if r, err := m.Load(ctx, id); err != nil || r.State != swap.OutRefunded {
						t.Errorf("swap %s: %+v, %v", id, r, err)
					}
				}
			})
		}
		all.Wait()
		stop()
	})
}
