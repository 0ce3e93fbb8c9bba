package bitcoin

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"sort"

	"github.com/btcsuite/btcd/btcec/v2"
	"github.com/btcsuite/btcd/btcec/v2/schnorr"
	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/txscript"
	"github.com/btcsuite/btcd/wire"

	"github.com/swapper-go/swapper/chains/bitcoin"
)

// Wallet is a user's wallet with one address and its key. It is safe for
// concurrent use.
type Wallet struct {
	Address bitcoin.Address
	net     *Net
	key     *btcec.PrivateKey
}

// NewWallet makes a wallet with an address of one of the types that a single
// key can sign for: P2PKH, P2SH (P2SH-P2WPKH), P2WPKH, P2TR. The n-th wallet of
// a network has the same key in every run.
func (n *Net) NewWallet(t bitcoin.AddressType) (*Wallet, error) {
	n.mu.Lock()
	n.wallets++
	seed := binary.BigEndian.AppendUint64([]byte("regtest wallet "), n.wallets)
	n.mu.Unlock()
	digest := sha256.Sum256(seed)
	key, _ := btcec.PrivKeyFromBytes(digest[:])
	return n.wallet(key, t)
}

// WalletOf makes a wallet from a private key of 32 bytes; see [Net.NewWallet].
func (n *Net) WalletOf(key []byte, t bitcoin.AddressType) (*Wallet, error) {
	if len(key) != btcec.PrivKeyBytesLen {
		return nil, fmt.Errorf("private key has %d bytes", len(key))
	}
	k, _ := btcec.PrivKeyFromBytes(key)
	return n.wallet(k, t)
}

func (n *Net) wallet(key *btcec.PrivateKey, t bitcoin.AddressType) (*Wallet, error) {
	w := &Wallet{net: n, key: key}
	pub := key.PubKey().SerializeCompressed()
	var program []byte
	switch t {
	case bitcoin.P2PKH, bitcoin.P2WPKH:
		program = btcutil.Hash160(pub)
	case bitcoin.P2SH:
		program = btcutil.Hash160(w.redeemScript())
	case bitcoin.P2TR:
		program = schnorr.SerializePubKey(txscript.ComputeTaprootKeyNoScript(key.PubKey()))
	default:
		return nil, fmt.Errorf("a wallet cannot sign for %s", t)
	}
	var err error
	w.Address, err = bitcoin.NewAddress(t, program, bitcoin.Regtest)
	return w, err
}

// PublicKey returns the public key in hex as wallets give it beside their
// address: 33 bytes, for taproot the 32 of the internal key.
func (w *Wallet) PublicKey() string {
	if w.Address.Type() == bitcoin.P2TR {
		return hex.EncodeToString(schnorr.SerializePubKey(w.key.PubKey()))
	}
	return hex.EncodeToString(w.key.PubKey().SerializeCompressed())
}

// Coins returns the spendable outputs, confirmed ones and the largest first;
// rewards that are not mature are not among them.
func (w *Wallet) Coins() []bitcoin.UTXO {
	w.net.mu.RLock()
	defer w.net.mu.RUnlock()
	return w.coins()
}

func (w *Wallet) coins() []bitcoin.UTXO {
	var coins []bitcoin.UTXO
	v := view{w.net, w.net.ledger.tip().height}
	for _, c := range v.unspent(w.Address.Script()) {
		if e, ok := w.net.find(c.Hash); ok && e.pos == 0 && e.block != nil && v.limit+1-c.Height < uint32(w.net.params.CoinbaseMaturity) {
			continue
		}
		coins = append(coins, c)
	}
	sort.SliceStable(coins, func(i, j int) bool {
		a, b := coins[i], coins[j]
		if (a.Height > 0) != (b.Height > 0) {
			return a.Height > 0
		}
		return a.Value > b.Value
	})
	return coins
}

// Balance returns the sum of [Wallet.Coins] in sats.
func (w *Wallet) Balance() int64 {
	var sum int64
	for _, c := range w.Coins() {
		sum += c.Value
	}
	return sum
}

// Pay builds, signs and sends a transaction with the given outputs at a fee rate
// in sat/vB; change returns to the wallet. It signals replaceability.
func (w *Wallet) Pay(feeRate int64, outs ...*wire.TxOut) (*wire.MsgTx, error) {
	w.net.mu.Lock()
	defer w.net.mu.Unlock()
	tx, err := w.build(feeRate, w.coins(), outs)
	if err != nil {
		return nil, err
	}
	_, err = w.net.send(tx)
	return tx, err
}

// Spend is like [Wallet.Pay] with the coins to spend, all of them, and does not
// send: for replacements and double spends.
func (w *Wallet) Spend(feeRate int64, coins []bitcoin.OutPoint, outs ...*wire.TxOut) (*wire.MsgTx, error) {
	w.net.mu.RLock()
	defer w.net.mu.RUnlock()
	var all []bitcoin.UTXO
	var pay []*wire.TxOut
	var in int64
	for _, op := range coins {
		out, ok := w.net.output(op)
		if !ok {
			return nil, fmt.Errorf("no output %s", op)
		}
		all = append(all, bitcoin.UTXO{OutPoint: op, Value: out.Value})
		in += out.Value
	}
	for _, out := range outs {
		pay = append(pay, wire.NewTxOut(out.Value, out.PkScript))
		in -= out.Value
	}
	tx := newTx(all, append(pay, wire.NewTxOut(0, w.Address.Script())))
	rest := in - feeRate*vbytes(tx, w.Address.Type())
	if rest >= w.Address.Type().DustLimit() {
		tx.TxOut[len(outs)].Value = rest
	} else {
		tx.TxOut = tx.TxOut[:len(outs)]
	}
	if rest < 0 && in < feeRate*vbytes(tx, w.Address.Type()) {
		return nil, errors.New("not enough money")
	}
	return tx, w.sign(tx)
}

func (w *Wallet) build(feeRate int64, coins []bitcoin.UTXO, outs []*wire.TxOut) (*wire.MsgTx, error) {
	var want, have int64
	for _, out := range outs {
		want += out.Value
	}
	for i, c := range coins {
		have += c.Value
		tx := newTx(coins[:i+1], append(append([]*wire.TxOut(nil), outs...), wire.NewTxOut(0, w.Address.Script())))
		rest := have - want - feeRate*vbytes(tx, w.Address.Type())
		if rest < w.Address.Type().DustLimit() {
			continue
		}
		tx.TxOut[len(outs)].Value = rest
		return tx, w.sign(tx)
	}
	return nil, fmt.Errorf("%s has %d sats, not enough for %d and fees", w.Address, have, want)
}

func newTx(coins []bitcoin.UTXO, outs []*wire.TxOut) *wire.MsgTx {
	tx := wire.NewMsgTx(2)
	for _, c := range coins {
		in := wire.NewTxIn(&c.OutPoint, nil, nil)
		in.Sequence = wire.MaxTxInSequenceNum - 2 // replaceable
		tx.AddTxIn(in)
	}
	for _, out := range outs {
		tx.AddTxOut(out)
	}
	return tx
}

// vbytes is the size of tx once its inputs of type t are signed, rounded up.
func vbytes(tx *wire.MsgTx, t bitcoin.AddressType) int64 {
	perInput := map[bitcoin.AddressType]int64{bitcoin.P2PKH: 108, bitcoin.P2SH: 51, bitcoin.P2WPKH: 28, bitcoin.P2TR: 17}[t]
	return int64(tx.SerializeSizeStripped()) + 1 + perInput*int64(len(tx.TxIn))
}

// Faucet pays sats to an address and leaves the transaction in the mempool.
func (n *Net) Faucet(to bitcoin.Address, sats int64) (bitcoin.OutPoint, error) {
	tx, err := n.faucet.Pay(2, wire.NewTxOut(sats, to.Script()))
	if err != nil {
		return bitcoin.OutPoint{}, fmt.Errorf("faucet: %w", err)
	}
	return bitcoin.OutPoint{Hash: tx.TxHash(), Index: 0}, nil
}

// Fund pays sats to an address and mines a block.
func (n *Net) Fund(to bitcoin.Address, sats int64) (bitcoin.OutPoint, error) {
	op, err := n.Faucet(to, sats)
	if err != nil {
		return op, err
	}
	_, err = n.Mine(1)
	return op, err
}

// Unspent returns an output that neither a block nor the mempool spends; false if
// there is none.
func (n *Net) Unspent(op bitcoin.OutPoint) (*wire.TxOut, bool) {
	n.mu.RLock()
	defer n.mu.RUnlock()
	out, ok := n.output(op)
	if !ok {
		return nil, false
	}
	if _, spent := (view{n, n.ledger.tip().height}).spender(op); spent {
		return nil, false
	}
	return wire.NewTxOut(out.Value, out.PkScript), true
}
