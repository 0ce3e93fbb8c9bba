package bitcoin

import (
	"testing"

	"github.com/btcsuite/btcd/wire"

	"github.com/swapper-go/swapper/chains/bitcoin"
)

// Playground lets the conformance suite of Bitcoin backends play on a local network: it is a
// backendtest.Chain.
type Playground struct {
	Net     *Net
	Before  func(t *testing.T) // called before every change, to bring the network up to date
	After   func(t *testing.T) // called after every change, to pass it on
	wallets map[bitcoin.Address]*Wallet
}

// NewPlayground returns a playground on n.
func NewPlayground(n *Net) *Playground {
	return &Playground{Net: n, Before: func(*testing.T) {}, After: func(*testing.T) {}, wallets: make(map[bitcoin.Address]*Wallet)}
}

// Tip returns the height and the hash of the best block.
func (c *Playground) Tip(*testing.T) (uint32, bitcoin.Hash) { return c.Net.Tip() }

// Header returns a header of the best chain.
func (c *Playground) Header(t *testing.T, height uint32) bitcoin.Header {
	t.Helper()
	h, err := c.Net.Header(height)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// Mine mines blocks.
func (c *Playground) Mine(t *testing.T, count int) {
	t.Helper()
	c.Before(t)
	if _, err := c.Net.Mine(count); err != nil {
		t.Fatal(err)
	}
	c.After(t)
}

// Reorg replaces the last blocks.
func (c *Playground) Reorg(t *testing.T, depth int, txs ...*wire.MsgTx) {
	t.Helper()
	c.Before(t)
	if err := c.Net.Reorg(depth, txs...); err != nil {
		t.Fatal(err)
	}
	c.After(t)
}

// Address returns the address of a new wallet.
func (c *Playground) Address(t *testing.T, kind bitcoin.AddressType) bitcoin.Address {
	t.Helper()
	w, err := c.Net.NewWallet(kind)
	if err != nil {
		t.Fatal(err)
	}
	c.wallets[w.Address] = w
	return w.Address
}

// Pay sends sats from the faucet.
func (c *Playground) Pay(t *testing.T, to bitcoin.Address, sats int64) bitcoin.OutPoint {
	t.Helper()
	c.Before(t)
	op, err := c.Net.Faucet(to, sats)
	if err != nil {
		t.Fatal(err)
	}
	c.After(t)
	return op
}

// Spend signs a transaction of one of the wallets.
func (c *Playground) Spend(t *testing.T, from bitcoin.Address, ops []bitcoin.OutPoint, feeRate int64, outs ...*wire.TxOut) *wire.MsgTx {
	t.Helper()
	c.Before(t)
	w, ok := c.wallets[from]
	if !ok {
		t.Fatalf("no wallet has address %s", from)
	}
	tx, err := w.Spend(feeRate, ops, outs...)
	if err != nil {
		t.Fatal(err)
	}
	return tx
}
