package rawtx

import (
	"bytes"
	"testing"

	"github.com/btcsuite/btcd/blockchain"
	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/wire"

	"github.com/swapper-go/swapper/internal/vectors"
)

// drawTx is a transaction with inputs, outputs and witnesses of all sizes.
func drawTx(f *vectors.Drawn) *wire.MsgTx {
	tx := wire.NewMsgTx(int32(f.Uint64()))
	tx.LockTime = uint32(f.Uint64())
	for range f.Int(4) {
		in := &wire.TxIn{PreviousOutPoint: wire.OutPoint{Hash: [32]byte(f.Bytes(32)), Index: uint32(f.Uint64())}, SignatureScript: f.Some(300), Sequence: uint32(f.Uint64())}
		for range f.Int(4) {
			in.Witness = append(in.Witness, f.Some(600))
		}
		tx.AddTxIn(in)
	}
	for range f.Int(4) {
		tx.AddTxOut(&wire.TxOut{Value: int64(f.Uint64()), PkScript: f.Some(300)})
	}
	return tx
}

// FuzzTransactions compares what is read with btcd's reading of whole transactions and
// of bent ones: whatever is accepted is what btcd reads, with its id and its weight, and
// whatever btcd reads whole with possible amounts is accepted.
func FuzzTransactions(f *testing.F) {
	f.Add([]byte{2, 1, 1}, []byte{})
	f.Add(bytes.Repeat([]byte{1}, 200), []byte{1, 0, 0, 3})
	f.Fuzz(func(t *testing.T, fields, bends []byte) {
		var b bytes.Buffer
		if err := drawTx(vectors.Draw(fields)).Serialize(&b); err != nil {
			t.Skip("btcd does not write what was drawn: ", err)
		}
		raw := vectors.Draw(bends).Bent(b.Bytes())
		tx, err := Decode(raw)
		var theirs wire.MsgTx
		r := bytes.NewReader(raw)
		known := theirs.Deserialize(r) == nil && r.Len() == 0
		if err == nil && (!known || tx.TxHash() != theirs.TxHash() || tx.WitnessHash() != theirs.WitnessHash()) {
			t.Fatalf("%x is read, and by btcd differently: %v", raw, known)
		}
		if err == nil {
			if w := blockchain.GetTransactionWeight(btcutil.NewTx(&theirs)); int64(Weight(tx)) != w {
				t.Fatalf("%x: weight %d, btcd says %d", raw, Weight(tx), w)
			}
		} else if known && CheckAmounts(&theirs) == nil {
			var again bytes.Buffer // one of two encodings, or with a witness that is empty
			if theirs.Serialize(&again) == nil && bytes.Equal(again.Bytes(), raw) && len(theirs.TxIn) > 0 && len(theirs.TxOut) > 0 {
				t.Fatalf("%x is refused: %v", raw, err)
			}
		}
	})
}
