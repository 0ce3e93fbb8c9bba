//go:build unix

package e2e

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"syscall"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/chains/bitcoin/mempoolspace"
	"github.com/swapper-go/swapper/storage"
	"github.com/swapper-go/swapper/watchtower"
)

// points are the moments before and after whatever a process does that lasts:
// writes to its store and effects on the world. They are named by what is done
// and how often it was done before, as in "update 2 after". The process says each
// one on its standard output, and kills itself at one of them.
type points struct {
	dieAt    string // "": nowhere
	dieAfter int    // the point of this number, whatever it is; 0: none

	mu    sync.Mutex
	count map[string]int
	all   int
}

// around passes the point before something and returns what passes the one after.
func (p *points) around(what string) (after func()) {
	p.mu.Lock()
	p.count[what]++
	name := fmt.Sprintf("%s %d", what, p.count[what])
	p.mu.Unlock()
	p.pass(name + " before")
	return func() { p.pass(name + " after") }
}

func (p *points) pass(point string) {
	p.mu.Lock()
	p.all++
	last := p.all == p.dieAfter || point == p.dieAt
	p.mu.Unlock()
	fmt.Println(sayPoint + point)
	if last {
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {} // the signal takes a moment, in which nothing goes on here
	}
}

// mortalStore passes a point before and after each write.
type mortalStore struct {
	storage.Store
	*points
}

func (s mortalStore) Create(ctx context.Context, e storage.Entry) error {
	defer s.around("create")()
	return s.Store.Create(ctx, e)
}

func (s mortalStore) Update(ctx context.Context, e storage.Entry) error {
	defer s.around("update")()
	return s.Store.Update(ctx, e)
}

func (s mortalStore) Delete(ctx context.Context, id string, version uint64) error {
	defer s.around("delete")()
	return s.Store.Delete(ctx, id, version)
}

func (s mortalStore) SetNote(ctx context.Context, name string, data []byte, version uint64) error {
	defer s.around("note")()
	return s.Store.SetNote(ctx, name, data, version)
}

// mortalFactory opens a chain that passes a point before and after each sending.
type mortalFactory struct {
	chains.Factory
	*points
}

func (f mortalFactory) Open(ctx context.Context, env chains.Env) (chains.Chain, error) {
	c, err := f.Factory.Open(ctx, env)
	if err != nil {
		return nil, err
	}
	return mortalChain{c, f.points}, nil
}

type mortalChain struct {
	chains.Chain
	*points
}

func (c mortalChain) Send(ctx context.Context, tx chains.Signed) error {
	defer c.around("send")()
	return c.Chain.Send(ctx, tx)
}

func (c mortalChain) Close() error { return c.Chain.(io.Closer).Close() }

// mortalBitcoin passes a point before and after each broadcast.
type mortalBitcoin struct {
	*mempoolspace.Client
	*points
}

func (b mortalBitcoin) Broadcast(ctx context.Context, raw []byte) (bitcoin.Hash, error) {
	defer b.around("broadcast")()
	return b.Client.Broadcast(ctx, raw)
}

// mortalMessenger passes a point before and after each publication.
type mortalMessenger struct {
	watchtower.Messenger
	*points
}

func (m mortalMessenger) Publish(ctx context.Context, w watchtower.Message) error {
	defer m.around("publish")()
	return m.Messenger.Publish(ctx, w)
}

// mortalTransport passes a point before each request that changes something on
// the other side, and after its answer was read or given up.
type mortalTransport struct {
	http.RoundTripper
	*points
}

// effects are the requests that make an LP or an LNURL service do or hold
// something, by the ends of their paths.
var effects = []string{"/payInvoice", "/payInvoiceExactIn", "/createInvoice", "/frombtc/getAddress", "/getQuote", "/postQuote", "/invoice", "/pay"}

func (t mortalTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	for _, end := range effects {
		if strings.HasSuffix(r.URL.Path, end) {
			after := sync.OnceFunc(t.around(strings.TrimPrefix(end, "/")))
			answer, err := t.RoundTripper.RoundTrip(r)
			if err != nil {
				after()
				return nil, err
			}
			answer.Body = &lastWord{answer.Body, after}
			return answer, nil
		}
	}
	return t.RoundTripper.RoundTrip(r)
}

// lastWord notices the end of an answer.
type lastWord struct {
	io.ReadCloser
	after func()
}

func (l *lastWord) Read(b []byte) (int, error) {
	n, err := l.ReadCloser.Read(b)
	if err != nil {
		l.after()
	}
	return n, err
}

func (l *lastWord) Close() error {
	l.after()
	return l.ReadCloser.Close()
}
