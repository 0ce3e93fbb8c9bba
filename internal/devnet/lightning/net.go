package lightning

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/btcsuite/btcd/btcec/v2"
	"github.com/btcsuite/btcd/chaincfg"
)

// Options of a network. The zero value is good for tests.
type Options struct {
	Now     func() time.Time // the network's clock; nil: time.Now
	Height  func() uint32    // Bitcoin height, by which HTLCs time out; nil: 110 for ever
	Bitcoin *chaincfg.Params // whose invoices are made; nil: regtest
}

// Net is a Lightning network. Its methods are safe for concurrent use.
type Net struct {
	options Options

	mu      sync.Mutex
	nodes   map[[33]byte]*Node
	order   []*Node
	changed chan struct{} // closed, and replaced, whenever an HTLC moves
	earned  int64         // msat of routing fees
}

// New returns a network without nodes.
func New(o Options) *Net {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Height == nil {
		o.Height = func() uint32 { return 110 }
	}
	if o.Bitcoin == nil {
		o.Bitcoin = &chaincfg.RegressionNetParams
	}
	return &Net{options: o, nodes: make(map[[33]byte]*Node), changed: make(chan struct{})}
}

// NewNode adds a node that owns sats. A name has the same key in every run and is
// used once.
func (n *Net) NewNode(name string, sats int64) (*Node, error) {
	if sats < 0 {
		return nil, errors.New("a node cannot owe")
	}
	seed := sha256.Sum256([]byte("local lightning node: " + name))
	key, pub := btcec.PrivKeyFromBytes(seed[:])
	d := &Node{net: n, key: key, Key: [33]byte(pub.SerializeCompressed()), balance: sats * 1000,
		invoices: make(map[[32]byte]*invoice), payments: make(map[[32]byte]*htlc)}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.nodes[d.Key] != nil {
		return nil, fmt.Errorf("there is a node %q already", name)
	}
	n.nodes[d.Key] = d
	n.order = append(n.order, d)
	return d, nil
}

// TotalMsat returns all that the nodes own, what is on its way, and what routes
// have earned. No payment changes it.
func (n *Net) TotalMsat() int64 {
	n.mu.Lock()
	defer n.mu.Unlock()
	sum := n.earned
	for _, d := range n.order {
		sum += d.balance
		for _, h := range d.payments {
			if h.state == Pending {
				sum += h.amount + h.fee
			}
		}
	}
	return sum
}

// Tick lets what has timed out by the clock and the Bitcoin height time out.
func (n *Net) Tick() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.expire()
}

// expire returns the HTLCs whose height has come.
func (n *Net) expire() {
	height := n.options.Height()
	for _, d := range n.order {
		for _, h := range d.payments {
			if h.state == Pending && height >= h.expiry {
				if h.at != nil {
					h.at.state = Canceled
				}
				n.fail(h, "the HTLC timed out")
			}
		}
	}
}

func (n *Net) settle(h *htlc, preimage [32]byte) {
	h.state, h.preimage = Succeeded, preimage
	h.to.balance += h.amount
	n.earned += h.fee
	n.announce()
}

func (n *Net) fail(h *htlc, reason string) {
	h.state, h.reason = Failed, reason
	h.from.balance += h.amount + h.fee
	n.announce()
}

func (n *Net) announce() {
	close(n.changed)
	n.changed = make(chan struct{})
}
