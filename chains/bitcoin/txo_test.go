package bitcoin

import (
	"encoding/hex"
	"encoding/json"
	"testing"

	"github.com/btcsuite/btcd/wire"

	"github.com/swapper-go/swapper/internal/vectors"
)

func TestVectorsTxoHash(t *testing.T) {
	vectors.Each(t, "bitcoin", "txo_hash", func(t *testing.T, c *vectors.Case) {
		var in struct {
			Script string
			Value  int64
		}
		c.Input(t, &in)
		hash := TxoHash(in.Value, unhex(t, in.Script))
		vectors.SameJSON(t, c.Want(t), map[string]string{"txoHash": hex.EncodeToString(hash[:])})
	})
}

func TestVectorsUtilitiesTxoHash(t *testing.T) {
	vectors.Each(t, "utilities", "txo_hash", func(t *testing.T, c *vectors.Case) {
		var in struct {
			Script string
			Value  json.Number
		}
		c.Input(t, &in)
		value, err := in.Value.Int64()
		if err != nil {
			t.Fatal(err)
		}
		hash := TxoHash(value, unhex(t, in.Script))
		vectors.SameJSON(t, c.Want(t), map[string]string{"hash": hex.EncodeToString(hash[:])})
	})
}

func TestFindTxo(t *testing.T) {
	tx := smallTx([]byte{0x51})
	tx.AddTxOut(wire.NewTxOut(2000, []byte{0x52}))
	tx.AddTxOut(wire.NewTxOut(2000, []byte{0x52}))
	if i, ok := FindTxo(tx, TxoHash(2000, []byte{0x52})); !ok || i != 1 {
		t.Errorf("found %d, %v", i, ok)
	}
	if _, ok := FindTxo(tx, TxoHash(1999, []byte{0x52})); ok {
		t.Error("found another amount")
	}
	if _, ok := FindTxo(tx, TxoHash(2000, []byte{0x51})); ok {
		t.Error("found another script")
	}
}

func TestTxoHint(t *testing.T) {
	hint := TxoHint{Txo: TxoHash(5, nil), Nonce: 1<<63 | 5, Confirmations: 0x0102}
	back, err := ParseTxoHint(hint.Bytes())
	if err != nil || back != hint {
		t.Errorf("comes back as %v, %v", back, err)
	}
	if _, err := ParseTxoHint(hint.Bytes()[:41]); err == nil {
		t.Error("accepted 41 bytes")
	}
}
