package quote

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/devnet/lightning"
	bolt11 "github.com/swapper-go/swapper/internal/lightning"
	"github.com/swapper-go/swapper/internal/lp"
	"github.com/swapper-go/swapper/internal/lp/verify"
	"github.com/swapper-go/swapper/internal/trial"
)

// graph is a Bitcoin backend that knows nothing but Lightning nodes.
type graph struct {
	bitcoin.Backend
	mu    sync.Mutex
	asked []string
	nodes map[string]int64 // capacity
	err   error
}

func (g *graph) NodeLiquidity(_ context.Context, key string) (*bitcoin.NodeLiquidity, error) {
	g.mu.Lock()
	g.asked = append(g.asked, key)
	g.mu.Unlock()
	if capacity, ok := g.nodes[key]; ok {
		return &bitcoin.NodeLiquidity{PublicKey: key, Capacity: capacity}, nil
	}
	if g.err != nil {
		return nil, g.err
	}
	return nil, bitcoin.ErrNotFound
}

func TestLightningNodes(t *testing.T) {
	network := lightning.New(lightning.Options{})
	node := trial.Must(network.NewNode("lp", 0))(t)
	preimage, _ := lightning.Preimage(t.Name())
	invoice := trial.Must(node.NewInvoice(lightning.InvoiceOptions{Preimage: preimage, AmountMsat: 100_000_000}))(t)
	inv := trial.Must(bolt11.Decode(invoice))(t)
	own, other := node.ID(), "02"+strings.Repeat("ab", 32)
	rich := map[string]int64{own: 200_000, other: 900_000}
	down := errors.New("no connection")
	for _, c := range []struct {
		name   string
		named  []string // by the LP's attempts
		nodes  map[string]int64
		err    error
		asked  []string // nil: not looked at, since nobody waits for the answer
		refuse lp.Check // "": accepted, or nobody's fault if err is set
	}{
		{name: "not named", nodes: rich, asked: []string{own}},
		{name: "named", named: []string{own}, nodes: rich, asked: []string{own}},
		{name: "named in capitals, twice", named: []string{strings.ToUpper(own), own}, nodes: rich, asked: []string{own}},
		{name: "named another", named: []string{other}, nodes: rich, refuse: lp.CheckNode},
		{name: "named another that nobody knows", named: []string{other}, refuse: lp.CheckNode},
		{name: "named rightly at last", named: []string{other, own}, nodes: rich},
		{name: "named a path", named: []string{"../../x", "", own[:64]}, nodes: rich, asked: []string{own}},
		{name: "unknown", named: []string{own}, asked: []string{own}, refuse: lp.CheckNode},
		{name: "small", nodes: map[string]int64{own: 99_999}, asked: []string{own}, refuse: lp.CheckNode},
		{name: "graph down", named: []string{own}, err: down, asked: []string{own}},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := &graph{nodes: c.nodes, err: c.err}
			o := &order{Quoter: &Quoter{Graph: g}}
			early, fact := o.node(t.Context())
			for _, key := range c.named {
				early.NodeKey(key)
			}
			f := fact(invoice)
			err := verify.Node(inv, f, verify.Policy{})
			e, blamed := errors.AsType[*lp.LPError](err)
			switch {
			case c.refuse != "" && (!blamed || e.Check != c.refuse):
				t.Errorf("got %v, want the check %s", err, c.refuse)
			case c.refuse == "" && c.err == nil && err != nil:
				t.Errorf("refused: %v", err)
			case c.err != nil && !errors.Is(err, c.err):
				t.Errorf("got %v, want %v", err, c.err)
			}
			if c.asked != nil && strings.Join(g.asked, " ") != strings.Join(c.asked, " ") {
				t.Errorf("asked for %v, want %v", g.asked, c.asked)
			}
		})
	}
	early, fact := (&order{Quoter: &Quoter{Graph: &graph{}, Policy: verify.Policy{AnyNode: true}}}).node(t.Context())
	if early.NodeKey != nil || fact(invoice).Node != nil {
		t.Error("asked, although any node will do")
	}
}
