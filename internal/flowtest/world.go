// Package flowtest is the outside world of a swap, as a test case describes it:
// chains whose escrows stand as the case says, a Bitcoin backend, and an LP that
// gives one answer. Only tests import it.
//
// Escrow data is read by the packages of the chains' wire formats.
//
// It also runs LPs on real sockets for tests: honest ones, and ones that misbehave
// in every way.
package flowtest

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
)

// World is what the chains, the Bitcoin backend and the LP of a case answer. Set
// its fields before anything asks; Set changes them later.
type World struct {
	mu sync.Mutex

	Time time.Time
	// Escrow answers for every escrow; nil: no chain answers.
	Escrow func(q chains.EscrowQuery) (chains.EscrowFact, error)
	// LP is the body that the LP answers to every status call; nil: it answers 404.
	LP json.RawMessage
	// InitUntil is until when, Unix milliseconds, an authorisation to open that is
	// asked about can be used; InitErr is why it does not verify.
	InitUntil int64
	InitErr   error
	// RefundErr is why a refund authorisation does not verify; nil: it does.
	RefundErr error
	// BuildErr is why no transaction can be built.
	BuildErr error
	// Txs are known transactions by id; Spends what spends outputs.
	Txs    map[bitcoin.Hash]*bitcoin.Tx
	Spends map[bitcoin.OutPoint]bitcoin.Spend
	Coins  []bitcoin.UTXO
	Rates  bitcoin.FeeRates
	Delay  []bitcoin.ProjectedBlock
	CPFP   map[bitcoin.Hash]bitcoin.CPFP
	// BitcoinErr is why the Bitcoin backend gives no answer at all.
	BitcoinErr error

	Vault      *chains.Vault
	Withdrawal chains.WithdrawalFact
	ParseErr   error // of the contract's dry run

	// OnSend changes the world when a smart-chain transaction is broadcast.
	OnSend func(w *World)

	posts []Post

	broadcast [][]byte
	sent      []string
	calls     []string
	state     chains.TxState
}

// Set changes the world while somebody may be asking.
func (w *World) Set(change func(w *World)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	change(w)
}

// Now is the case's clock.
func (w *World) Now() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.Time
}

// Calls are the LP's endpoints that were asked, in order.
func (w *World) Calls() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]string(nil), w.calls...)
}

// Sent are the ids of the smart-chain transactions that were broadcast.
func (w *World) Sent() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]string(nil), w.sent...)
}

// Broadcast are the Bitcoin transactions that were broadcast, in order.
func (w *World) Broadcast() [][]byte {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([][]byte(nil), w.broadcast...)
}

// Post is something that was posted to the LP.
type Post struct {
	URL  string
	Body []byte
}

// Posts are what was posted to the LP, in order.
func (w *World) Posts() []Post {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]Post(nil), w.posts...)
}

// Head is the block at which the world is read.
func (w *World) Head() chains.Block {
	return chains.Block{Height: 1000, Hash: "head", Time: w.Time.Unix()}
}

var errNoAnswer = fault.New(fault.Upstream, "nothing responds")

// RoundTrip implements [http.RoundTripper] as the LP.
func (w *World) RoundTrip(req *http.Request) (*http.Response, error) {
	var posted []byte
	if req.Body != nil {
		posted, _ = io.ReadAll(req.Body)
		_ = req.Body.Close()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(posted) > 0 {
		w.posts = append(w.posts, Post{URL: req.URL.String(), Body: posted})
	}
	path := req.URL.Path
	w.calls = append(w.calls, path[strings.LastIndexByte(path, '/')+1:])
	status, body := http.StatusOK, string(w.LP)
	if w.LP == nil {
		status, body = http.StatusNotFound, `{"msg":"no answer"}`
	}
	return &http.Response{StatusCode: status, Status: http.StatusText(status), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(body)), ContentLength: int64(len(body)), Request: req}, nil
}
