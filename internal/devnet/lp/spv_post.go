package lp

import (
	"bytes"
	"encoding/hex"
	"errors"
	"math"
	"net/http"

	"github.com/btcsuite/btcd/btcutil/psbt"
	"github.com/btcsuite/btcd/wire"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/btc/rawtx"
)

// maxVSize is the largest withdrawal in virtual bytes, of the older version.
const maxVSize = 16384

// postSPV takes the PSBT of a quote, signs for the vault and broadcasts (protocol:
// lp-protocol.md §8.4).
func (l *LP) postSPV(r *reader, _ func(object) error) (any, error) {
	id, psbtHex := r.str("quoteId"), r.str("psbtHex")
	if r.err != nil {
		return nil, r.err
	}
	f := l.faults()
	if f.BusyPost {
		return nil, refuse(20517, "Bitcoin transaction submission already in progress, please retry later!")
	}
	if f.DenyPost != 0 {
		return nil, refuse(f.DenyPost, "Transaction refused")
	}
	if err := l.tooMany(l.withdrawing()); err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	q := l.quotes[id]
	if q == nil || q.used || q.expiry < l.o.Now().Unix() {
		return nil, refuse(20505, "Invalid quote id or quote expired")
	}
	if q.vault.spent && !f.DoubleSpend {
		return nil, refuse(20506, "Vault not found or not ready")
	}
	tx, w, err := l.readPSBT(q, psbtHex)
	if err != nil {
		return nil, err
	}
	answer := object{{"txId", w.TxID.String()}}
	q.used = true
	switch {
	case f.Withhold:
		return answer, nil
	case f.DoubleSpend:
		q.vault.replace = !q.vault.spent
		return answer, l.spend(q.vault)
	}
	if err := l.vaultKey.Sign(tx); err != nil {
		return nil, err
	}
	if f.UnknownPost {
		q.vault.pending = append(q.vault.pending, pendingWithdrawal{tx, w})
		return nil, &refusal{Code: 20001, Msg: "Transaction status unknown", Data: answer, HTTP: 200}
	}
	if _, err := l.btc.Send(tx); err != nil {
		return nil, refuse(20512, "Broadcast failed: "+err.Error())
	}
	q.vault.pending = append(q.vault.pending, pendingWithdrawal{tx, w})
	switch {
	case f.LosePost:
		panic(http.ErrAbortHandler)
	case f.RefusePost:
		return nil, refuse(20511, "Fee rate too low")
	}
	return answer, nil
}

// readPSBT reads a posted PSBT and compares it with its quote.
func (l *LP) readPSBT(q *spvQuote, text string) (*wire.MsgTx, chains.Withdrawal, error) {
	fail := func(code int, msg string) (*wire.MsgTx, chains.Withdrawal, error) {
		return nil, chains.Withdrawal{}, refuse(code, msg)
	}
	raw, err := hex.DecodeString(text)
	if err != nil {
		return fail(20507, "Error parsing PSBT hex")
	}
	p, err := psbt.NewFromRawBytes(bytes.NewReader(raw), false)
	if err != nil {
		return fail(20507, "Error parsing PSBT hex")
	}
	tx := p.UnsignedTx.Copy()
	for i, in := range p.Inputs {
		switch {
		case i == 0:
		case in.FinalScriptWitness == nil && in.FinalScriptSig != nil:
			return fail(20514, "Legacy inputs are not allowed")
		case in.FinalScriptWitness == nil:
			return fail(20513, "One of the inputs is not finalized")
		default:
			tx.TxIn[i].SignatureScript = in.FinalScriptSig
			if tx.TxIn[i].Witness, err = readWitness(in.FinalScriptWitness); err != nil {
				return fail(20507, "Error parsing PSBT hex")
			}
		}
	}
	w, err := q.vault.side.vaults().parseWithdrawal(tx)
	if err != nil {
		return fail(20508, "Transaction is not a withdrawal: "+err.Error())
	}
	now := l.o.Now().Unix()
	next := tx.TxOut[0]
	switch {
	case w.Recipient != q.recipient, w.Raw != q.raw, w.Shares != q.shares, w.Vault != q.utxo, w.Execution != nil,
		next.Value != vaultSats, !bytes.Equal(next.PkScript, l.vaultKey.Address.Script()),
		len(tx.TxOut) < 3 || tx.TxOut[2].Value != q.sats || !bytes.Equal(tx.TxOut[2].PkScript, l.hot.Address.Script()),
		tx.LockTime != 0 && tx.LockTime < 500_000_000, int64(tx.LockTime) > now-1_000_000:
		return fail(20509, "PSBT does not match the quote")
	case q.vault.utxo() != q.utxo:
		return fail(20510, "Vault UTXO already spent, please re-quote")
	}
	size, fee, err := l.cost(tx)
	switch {
	case err != nil:
		return fail(20515, "One of the inputs is spent or unknown")
	case math.Round(float64(fee)/size*100)/100 < q.rate || float64(fee) < size:
		return fail(20511, "Fee rate too low")
	case size > maxVSize, l.o.Next && size > newerMaxVSize:
		return fail(20516, "Transaction too large")
	}
	if _, err := q.vault.after(w); err != nil {
		return fail(20506, "Vault not ready")
	}
	return tx, w, nil
}

// cost is the virtual size of a withdrawal once the vault's input is signed, and
// its fee.
func (l *LP) cost(tx *wire.MsgTx) (size float64, fee int64, err error) {
	for _, in := range tx.TxIn {
		out, ok := l.btc.Unspent(in.PreviousOutPoint)
		if !ok {
			return 0, 0, errors.New("an input is spent or unknown")
		}
		fee += out.Value
	}
	for _, out := range tx.TxOut {
		fee -= out.Value
	}
	// A taproot signature is a witness of 66 bytes.
	return math.Ceil(float64(rawtx.Weight(tx)+66) / 4), fee, nil
}

func readWitness(raw []byte) (w wire.TxWitness, err error) {
	r := bytes.NewReader(raw)
	n, err := wire.ReadVarInt(r, 0)
	if err != nil || n > uint64(len(raw)) {
		return nil, errors.New("not a witness")
	}
	for range n {
		item, err := wire.ReadVarBytes(r, 0, uint32(len(raw)), "witness")
		if err != nil {
			return nil, err
		}
		w = append(w, item)
	}
	return w, nil
}
