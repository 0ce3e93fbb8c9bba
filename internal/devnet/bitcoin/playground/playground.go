// Package playground lets the conformance suite of Bitcoin backends play on the
// local network.
package playground

import (
	"testing"

	"github.com/btcsuite/btcd/wire"

	"github.com/swapper-go/swapper/chains/bitcoin"
	devnet "github.com/swapper-go/swapper/internal/devnet/bitcoin"
)

// Chain is a backendtest.Chain on a local network.
type Chain struct {
	Net     *devnet.Net
	Before  func(t *testing.T) // called before every change, to bring the network up to date
	After   func(t *testing.T) // called after every change, to pass it on
	wallets map[bitcoin.Address]*devnet.Wallet
}

// New returns a chain on n.
func New(n *devnet.Net) *Chain {
	return &Chain{Net: n, Before: func(*testing.T) {}, After: func(*testing.T) {}, wallets: make(map[bitcoin.Address]*devnet.Wallet)}
}

// Tip returns the height and the hash of the best block.
func (c *Chain) Tip(*testing.T) (uint32, bitcoin.Hash) { return c.Net.Tip() }

// Header returns a header of the best chain.
func (c *Chain) Header(t *testing.T, height uint32) bitcoin.Header {
	t.Helper()
	h, err := c.Net.Header(height)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// Mine mines blocks.
func (c *Chain) Mine(t *testing.T, count int) {
	t.Helper()
	c.Before(t)
	if _, err := c.Net.Mine(count); err != nil {
		t.Fatal(err)
	}
	c.After(t)
}

// Reorg replaces the last blocks.
func (c *Chain) Reorg(t *testing.T, depth int, txs ...*wire.MsgTx) {
	t.Helper()
	c.Before(t)
	if err := c.Net.Reorg(depth, txs...); err != nil {
		t.Fatal(err)
	}
	c.After(t)
}

// Address returns the address of a new wallet.
func (c *Chain) Address(t *testing.T, kind bitcoin.AddressType) bitcoin.Address {
	t.Helper()
	w, err := c.Net.NewWallet(kind)
	if err != nil {
		t.Fatal(err)
	}
	c.wallets[w.Address] = w
	return w.Address
}

// Pay sends sats from the faucet.
func (c *Chain) Pay(t *testing.T, to bitcoin.Address, sats int64) bitcoin.OutPoint {
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
func (c *Chain) Spend(t *testing.T, from bitcoin.Address, ops []bitcoin.OutPoint, feeRate int64, outs ...*wire.TxOut) *wire.MsgTx {
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
