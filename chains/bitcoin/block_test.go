package bitcoin

import (
	"bytes"
	"testing"
	"time"

	"github.com/btcsuite/btcd/wire"

	"github.com/swapper-go/swapper/internal/trial"
)

// blockOf makes a block with some transactions, and with work for regtest.
func blockOf(t testing.TB, txs ...*wire.MsgTx) (raw []byte, id Hash) {
	t.Helper()
	ids := make([]Hash, len(txs))
	for i, tx := range txs {
		ids[i] = tx.TxHash()
	}
	root := trial.Must(treeRoot(ids))(t)
	b := wire.MsgBlock{Header: wire.BlockHeader{Version: 2, PrevBlock: Hash{7}, MerkleRoot: root, Timestamp: time.Unix(1_700_000_000, 0), Bits: 0x207fffff}, Transactions: txs}
	for h := (Header{Bits: 0x207fffff}); ; b.Header.Nonce++ {
		if h.checkWork(Regtest, b.BlockHash()) == nil {
			break
		}
	}
	var w bytes.Buffer
	trial.Do(t, b.Serialize(&w))
	return w.Bytes(), b.BlockHash()
}

func txOf(n byte, witness bool) *wire.MsgTx {
	tx := wire.NewMsgTx(2)
	in := wire.NewTxIn(&wire.OutPoint{Hash: Hash{n}, Index: 1}, nil, nil)
	if witness {
		in.Witness = wire.TxWitness{{1, 2, n}}
	}
	tx.AddTxIn(in)
	tx.AddTxOut(wire.NewTxOut(int64(n)*1000, []byte{0x51, n}))
	return tx
}

func TestParseBlock(t *testing.T) {
	for count := 1; count <= 9; count++ {
		var txs []*wire.MsgTx
		for n := range count {
			txs = append(txs, txOf(byte(n+1), n%2 == 1))
		}
		raw, id := blockOf(t, txs...)
		b, err := ParseBlock(raw, id, Regtest)
		if err != nil {
			t.Fatalf("%d transactions: %v", count, err)
		}
		var again bytes.Buffer
		if err := b.Serialize(&again); err != nil || !bytes.Equal(again.Bytes(), raw) {
			t.Errorf("%d transactions: read as %x, of %x", count, again.Bytes(), raw)
		}
	}
	three := []*wire.MsgTx{txOf(1, false), txOf(2, true), txOf(3, false)}
	raw, id := blockOf(t, three...)
	changed := func(change func(b []byte) []byte) []byte { return change(bytes.Clone(raw)) }
	repeated, _ := blockOf(t, append(three, txOf(4, false))...)
	repeated = append(bytes.Clone(raw[:80]), repeated[80:]...)
	repeated = append(repeated[:len(repeated)-stripped(t, txOf(4, false))], raw[len(raw)-stripped(t, three[2]):]...)
	for name, bad := range map[string][]byte{
		"nothing":                    {},
		"a header alone":             raw[:80],
		"no transactions":            append(bytes.Clone(raw[:80]), 0),
		"cut":                        raw[:len(raw)-1],
		"longer":                     append(bytes.Clone(raw), 0),
		"another header":             changed(func(b []byte) []byte { b[0]++; return b }),
		"another transaction":        changed(func(b []byte) []byte { b[len(b)-1]++; return b }),
		"fewer transactions":         changed(func(b []byte) []byte { b[80] = 2; return b[:len(b)-stripped(t, three[2])] }),
		"more counted than it has":   changed(func(b []byte) []byte { b[80] = 0xfc; return b }),
		"its last transaction twice": repeated,
		"larger than blocks can be":  append(bytes.Clone(raw), make([]byte, 4_000_000)...),
	} {
		if b, err := ParseBlock(bad, id, Regtest); err == nil {
			t.Errorf("%s: read as %d transactions", name, len(b.Transactions))
		}
	}
	if _, err := ParseBlock(raw, Hash{1}, Regtest); err == nil {
		t.Error("it passes for another block")
	}
	if _, err := ParseBlock(raw, id, Mainnet); err == nil {
		t.Error("work for regtest passes on mainnet")
	}
}

// stripped is the length of a transaction without witness.
func stripped(t *testing.T, tx *wire.MsgTx) int {
	t.Helper()
	if tx.HasWitness() {
		t.Fatal("it has a witness")
	}
	return tx.SerializeSizeStripped()
}

// What is read hashes to what was asked for.
func FuzzParseBlock(f *testing.F) {
	raw, id := blockOf(f, txOf(1, false), txOf(2, true), txOf(3, false))
	f.Add(raw[80:])
	f.Add([]byte{1})
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, txs []byte) {
		b, err := ParseBlock(append(bytes.Clone(raw[:80]), txs...), id, Regtest)
		if err != nil {
			return
		}
		ids := make([]Hash, len(b.Transactions))
		for i, tx := range b.Transactions {
			ids[i] = tx.TxHash()
		}
		if root, err := treeRoot(ids); err != nil || root != b.Header.MerkleRoot || b.BlockHash() != id {
			t.Errorf("block %s with root %s, %v", b.BlockHash(), root, err)
		}
	})
}
