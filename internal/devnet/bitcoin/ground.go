package bitcoin

import (
	"errors"
	"testing"
	"time"

	"github.com/btcsuite/btcd/wire"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/btc/rawtx"
)

// Ground is the Bitcoin side of a smart chain's local network, as the conformance suite of smart
// chains plays on it: part of a chaintest.Net.
type Ground struct {
	t      *testing.T
	net    *Net
	now    func() time.Time
	Wallet *Wallet // of users
	Vaults *Wallet // of vaults
}

// NewGround returns the ground on n; now is the time by which users number their payments.
func NewGround(t *testing.T, n *Net, now func() time.Time) *Ground {
	t.Helper()
	g := &Ground{t: t, net: n, now: now}
	var err error
	g.Wallet, err = n.NewWallet(bitcoin.P2WPKH)
	g.must(err)
	g.Vaults, err = n.NewWallet(bitcoin.P2TR)
	g.must(err)
	return g
}

func (g *Ground) must(err error) {
	g.t.Helper()
	if err != nil {
		g.t.Fatal(err)
	}
}

// MineBitcoin mines blocks.
func (g *Ground) MineBitcoin(_ *testing.T, blocks int) {
	g.t.Helper()
	_, err := g.net.Mine(blocks)
	g.must(err)
}

// ReorgBitcoin replaces the last blocks.
func (g *Ground) ReorgBitcoin(_ *testing.T, blocks int) {
	g.t.Helper()
	g.must(g.net.Reorg(blocks))
}

// PayBitcoin pays a script from the users' wallet, and mines a block.
func (g *Ground) PayBitcoin(t *testing.T, script []byte, sats int64, nonce uint64, further ...*wire.TxOut) bitcoin.OutPoint {
	t.Helper()
	total := sats + 20_000
	for _, out := range further {
		total += out.Value
	}
	coin, err := g.net.Fund(g.Wallet.Address, total)
	g.must(err)
	tx := wire.NewMsgTx(2)
	in := wire.NewTxIn(&coin, nil, nil)
	in.Sequence = 0xFFFFFFFD
	if nonce != 0 {
		tx.LockTime, in.Sequence, err = rawtx.NonceFields(nonce, g.now())
		g.must(err)
	}
	tx.AddTxIn(in)
	tx.AddTxOut(wire.NewTxOut(sats, script))
	for _, out := range further {
		tx.AddTxOut(out)
	}
	tx.AddTxOut(wire.NewTxOut(5_000, g.Wallet.Address.Script()))
	g.must(g.Wallet.Sign(tx))
	id, err := g.net.Send(tx)
	g.must(err)
	g.MineBitcoin(t, 1)
	return bitcoin.OutPoint{Hash: id}
}

// VaultOutput pays the output that a vault is opened on.
func (g *Ground) VaultOutput() bitcoin.OutPoint {
	g.t.Helper()
	utxo, err := g.net.Fund(g.Vaults.Address, 1000)
	g.must(err)
	return utxo
}

// WithdrawVault sends a withdrawal that spends a vault's output.
func (g *Ground) WithdrawVault(utxo bitcoin.OutPoint, lockTime uint32, data []byte, shares bitcoin.FeeShares) bitcoin.Hash {
	g.t.Helper()
	paid, err := g.net.Faucet(g.Wallet.Address, 50_000)
	g.must(err)
	script, err := rawtx.OpReturn(data)
	g.must(err)
	first, second, err := shares.Sequences()
	g.must(err)
	tx := wire.NewMsgTx(2)
	tx.LockTime = lockTime
	tx.AddTxIn(&wire.TxIn{PreviousOutPoint: utxo, Sequence: first})
	tx.AddTxIn(&wire.TxIn{PreviousOutPoint: paid, Sequence: second})
	tx.AddTxOut(wire.NewTxOut(1000, g.Vaults.Address.Script()))
	tx.AddTxOut(wire.NewTxOut(0, script))
	tx.AddTxOut(wire.NewTxOut(45_000, g.Vaults.Address.Script()))
	g.must(errors.Join(g.Vaults.Sign(tx), g.Wallet.Sign(tx)))
	hash, err := g.net.Send(tx)
	g.must(err)
	return hash
}
