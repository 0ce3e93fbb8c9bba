package rawtx

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"runtime"
	"testing"

	"github.com/btcsuite/btcd/wire"
	"github.com/google/go-cmp/cmp"

	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/internal/vectors"
)

func TestVectorsTransactions(t *testing.T) {
	type input struct {
		TxID      string
		Vout      uint32
		ScriptSig struct{ Hex string }
		Sequence  uint32
		Witness   []string `json:"txinwitness"`
	}
	type output struct {
		Value        int64
		ScriptPubKey struct{ Hex string }
	}
	type tx struct {
		Error         bool
		LockTime      uint32
		Version       int32
		TxID          string
		Hex, Raw      string
		VSize         json.Number
		Outs          []output
		Ins           []input
		Confirmations int
	}
	vectors.Each(t, "bitcoin", "transactions", func(t *testing.T, c *vectors.Case) {
		var in struct{ RawTx string }
		c.Input(t, &in)
		var want tx
		c.Expected(t, &want)
		raw := vectors.Unhex(t, in.RawTx)
		msg, err := Decode(raw)
		if (err != nil) != want.Error {
			t.Fatalf("DecodeTx: %v, want error %v", err, want.Error)
		}
		if err != nil {
			return
		}
		stripped := trial.Must(Strip(msg))(t)
		whole := trial.Must(Encode(msg))(t)
		got := tx{LockTime: msg.LockTime, Version: msg.Version, TxID: msg.TxHash().String(),
			Hex: hex.EncodeToString(stripped), Raw: hex.EncodeToString(whole), VSize: want.VSize}
		for i, in := range msg.TxIn {
			g := input{TxID: in.PreviousOutPoint.Hash.String(), Vout: in.PreviousOutPoint.Index, Sequence: in.Sequence}
			g.ScriptSig.Hex = hex.EncodeToString(in.SignatureScript)
			if i < len(want.Ins) && want.Ins[i].Witness != nil {
				g.Witness = []string{}
			}
			for _, item := range in.Witness {
				g.Witness = append(g.Witness, hex.EncodeToString(item))
			}
			got.Ins = append(got.Ins, g)
		}
		for _, out := range msg.TxOut {
			g := output{Value: out.Value}
			g.ScriptPubKey.Hex = hex.EncodeToString(out.PkScript)
			got.Outs = append(got.Outs, g)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("transaction (-want +got):\n%s", diff)
		}
		if size, err := want.VSize.Int64(); err == nil && int64(Weight(msg)+3)/4 != size {
			t.Errorf("weight %d, want %d vB", Weight(msg), size)
		}
	})
}

// smallTx is a transaction with one input and one output of the given script.
func smallTx(script []byte) *wire.MsgTx {
	tx := wire.NewMsgTx(2)
	tx.AddTxIn(wire.NewTxIn(&wire.OutPoint{Index: 1}, nil, nil))
	tx.AddTxOut(wire.NewTxOut(1000, script))
	return tx
}

func TestDecodeTxRefuses(t *testing.T) {
	good := trial.Must(Encode(smallTx([]byte{0x51})))(t)
	if _, err := Decode(good); err != nil {
		t.Fatal(err)
	}
	withValue := func(values ...int64) []byte {
		tx := smallTx(nil)
		tx.TxOut = nil
		for _, v := range values {
			tx.AddTxOut(wire.NewTxOut(v, nil))
		}
		return trial.Must(Encode(tx))(t)
	}
	segwit := func(rest string) []byte { return append(append([]byte(nil), good[:4]...), vectors.Unhex(t, rest)...) }
	for name, raw := range map[string][]byte{
		"trailing byte":          append(append([]byte(nil), good...), 0),
		"one byte short":         good[:len(good)-1],
		"negative amount":        withValue(-1),
		"amount above all money": withValue(MaxMoney + 1),
		"sum above all money":    withValue(MaxMoney, 1),
		"no inputs":              vectors.Unhex(t, "02000000000000000000"),
		"segwit flag 2":          segwit("0002" + hex.EncodeToString(good[4:])),
		"witness flag without witnesses": segwit("0001" + hex.EncodeToString(good[4:len(good)-4]) +
			"00" + "00000000"),
		"count in a long form":        append(append(append([]byte(nil), good[:4]...), 0xfd, 1, 0), good[5:]...),
		"2^32 inputs in 13 bytes":     vectors.Unhex(t, "02000000ff0000000001000000"),
		"a million inputs in 9 bytes": vectors.Unhex(t, "02000000fe40420f00"),
		"larger than a block":         make([]byte, MaxSize+1),
	} {
		if _, err := Decode(raw); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func TestDecodeTxBoundsMemory(t *testing.T) {
	// Claims 800,000 inputs, which package wire would make room for.
	raw := append(vectors.Unhex(t, "02000000fe00350c00"), make([]byte, 1_000_000)...)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := Decode(raw); err == nil {
		t.Fatal("accepted")
	}
	runtime.ReadMemStats(&after)
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 1<<20 {
		t.Errorf("took %d bytes of memory", grown)
	}
}

func TestStripTxRefuses64Bytes(t *testing.T) {
	// 10 bytes of frame, 41 of input, 9 of output: a script of 4 makes 64.
	for length := range 8 {
		_, err := Strip(smallTx(make([]byte, length)))
		if (err != nil) != (length == 4) {
			t.Errorf("script of %d bytes: %v", length, err)
		}
	}
}

func FuzzDecodeTx(f *testing.F) {
	for _, c := range vectors.Inputs(f, "bitcoin", "transactions", "rawTx") {
		f.Add(vectors.Unhex(f, c))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		tx, err := Decode(raw)
		if err != nil {
			return
		}
		again, err := Encode(tx)
		if err != nil || !bytes.Equal(again, raw) {
			t.Fatalf("%x comes back as %x, %v", raw, again, err)
		}
		if w := Weight(tx); w < len(raw) || w > 4*len(raw) {
			t.Fatalf("%x: weight %d", raw, w)
		}
	})
}
