package bank

import (
	"bytes"
	"testing"

	btcd "github.com/btcsuite/btcd/wire"
	"pgregory.net/rapid"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/btc/rawtx"
)

// Of every transaction the program reads what Bitcoin's own code writes: id, output,
// and the nonce that the client puts into it.
func TestPaymentsAreReadAsWritten(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		tx := btcd.NewMsgTx(rapid.Int32().Draw(r, "version"))
		tx.LockTime = rapid.OneOf(rapid.Uint32(), rapid.Uint32Range(499_999_999, 500_001_000)).Draw(r, "lock time")
		flags := rapid.SampledFrom([]uint32{0xf0000000, 0xfe000000, 0xe0000000, 0}).Draw(r, "flags")
		low := rapid.Uint32Range(0, sequenceNonce).Draw(r, "sequence")
		for range rapid.SampledFrom([]int{1, 2, 3, 253}).Draw(r, "inputs") {
			sequence := flags | low
			if rapid.IntRange(0, 300).Draw(r, "another") == 0 {
				sequence ^= 1
			}
			tx.AddTxIn(&btcd.TxIn{PreviousOutPoint: btcd.OutPoint{Hash: bitcoin.Hash{9}}, Sequence: sequence,
				SignatureScript: rapid.SliceOfN(rapid.Byte(), 0, 5).Draw(r, "script")})
		}
		for range rapid.SampledFrom([]int{1, 2, 260}).Draw(r, "outputs") {
			size := rapid.SampledFrom([]int{0, 1, 22, 34, 252, 253, 600}).Draw(r, "size")
			tx.AddTxOut(btcd.NewTxOut(rapid.Int64Range(0, 1000).Draw(r, "value"), bytes.Repeat([]byte{byte(size)}, size)))
		}
		raw, err := rawtx.Strip(tx)
		if err != nil {
			return // 64 bytes
		}
		vout := rapid.IntRange(0, len(tx.TxOut)).Draw(r, "output")
		p, err := readPayment(raw, uint32(vout), false)
		if err != nil {
			r.Fatal(err)
		}
		if p.id != tx.TxHash() || p.lockTime != tx.LockTime || p.found != (vout < len(tx.TxOut)) {
			r.Fatalf("read %+v of %s", p, tx.TxHash())
		}
		if p.found && (p.value != uint64(tx.TxOut[vout].Value) || !bytes.Equal(p.script, tx.TxOut[vout].PkScript)) {
			r.Fatalf("output %d is %d, %x", vout, p.value, p.script)
		}
		nonce, want := rawtx.TxNonce(tx, true)
		p, err = readPayment(raw, 0, true)
		if tx.LockTime < lockTimeBase {
			return // looked at where the nonce is compared
		}
		if (err == nil) != (want == nil) {
			r.Fatalf("the program: %v, the client: %v", err, want)
		}
		if err == nil && uint64(p.lockTime-lockTimeBase)<<24|uint64(p.sequence) != nonce {
			r.Fatalf("nonce %d, %d", p.lockTime, p.sequence)
		}
	})
}
