package psbt

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"math/rand/v2"
	"testing"

	"github.com/btcsuite/btcd/btcec/v2"
	"github.com/btcsuite/btcd/btcec/v2/schnorr"
	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/txscript"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/btc/coinselect"
)

// coinJSON_psbt is a coin as the vectors write it.
type coinJSON struct {
	TxID  string
	Vout  uint32
	Value int64
	Type  string
	CPFP  *struct{ TxVsize, TxEffectiveFeeRate float64 }
}

func (j coinJSON) coin(t *testing.T) coinselect.Coin {
	t.Helper()
	c := coinselect.Coin{Value: j.Value, Type: addressType(t, j.Type)}
	if j.TxID != "" {
		hash, err := bitcoin.ParseHash(j.TxID)
		if err != nil {
			t.Fatal(err)
		}
		c.OutPoint = bitcoin.OutPoint{Hash: hash, Index: j.Vout}
	}
	if j.CPFP != nil {
		c.CPFP = &bitcoin.CPFP{AdjustedVSize: j.CPFP.TxVsize, EffectiveFeeRate: j.CPFP.TxEffectiveFeeRate}
	}
	return c
}

// numbers_psbt rewrites the numbers_psbt of a JSON text as Go writes float64, so that only their values are compared.
func numbers(t *testing.T, text json.RawMessage) json.RawMessage {
	t.Helper()
	var v any
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	out, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func addressType(t *testing.T, name string) bitcoin.AddressType {
	t.Helper()
	for typ := bitcoin.P2PKH; typ.Valid(); typ++ {
		if typ.String() == name {
			return typ
		}
	}
	t.Fatalf("unknown address type %q", name)
	return 0
}

// benchCoins_psbt makes n coins of random size; every eighth is unconfirmed.
func benchCoins(n int) []coinselect.Coin {
	r := rand.New(rand.NewPCG(1, 2))
	list := make([]coinselect.Coin, n)
	for i := range list {
		list[i] = coinselect.Coin{OutPoint: bitcoin.OutPoint{Index: uint32(i)}, Value: 300 + r.Int64N(100_000), Type: bitcoin.P2WPKH}
		list[i].OutPoint.Hash[0], list[i].OutPoint.Hash[1] = byte(i), byte(i>>8)
		if i%8 == 0 {
			list[i].CPFP = &bitcoin.CPFP{AdjustedVSize: 140 + float64(r.IntN(2000)), EffectiveFeeRate: float64(r.IntN(80)) / 4}
		}
	}
	return list
}

// keyOf_psbt says, by another way than NewWallet, whether a key in hex can be used
// for an address: whether it has the form that the address type needs, and
// whether the address is one of those that the key has.
func keyOf(t *testing.T, a bitcoin.Address, text string) bool {
	t.Helper()
	key, err := hex.DecodeString(text)
	if err != nil {
		return false
	}
	if len(key) == 0 || a.Type() == bitcoin.P2WSH {
		return true
	}
	if len(key) == 32 {
		key = append([]byte{2}, key...)
		if a.Type() != bitcoin.P2TR {
			odd := "03" + text
			return a.Type() != bitcoin.P2SH && (keyOf(t, a, "02"+text) || keyOf(t, a, odd))
		}
	}
	pub, err := btcec.ParsePubKey(key)
	if err != nil {
		return false
	}
	compressed := pub.SerializeCompressed()
	script, err := txscript.NewScriptBuilder().AddOp(txscript.OP_0).AddData(btcutil.Hash160(compressed)).Script()
	if err != nil {
		t.Fatal(err)
	}
	switch a.Type() {
	case bitcoin.P2TR:
		tweaked := txscript.ComputeTaprootOutputKey(pub, nil)
		return len(key) == 33 && bytes.Equal(schnorr.SerializePubKey(tweaked), a.Program())
	case bitcoin.P2SH:
		return len(key) == 33 && bytes.Equal(btcutil.Hash160(script), a.Program())
	case bitcoin.P2PKH:
		return bytes.Equal(btcutil.Hash160(compressed), a.Program()) || bytes.Equal(btcutil.Hash160(pub.SerializeUncompressed()), a.Program())
	}
	return bytes.Equal(btcutil.Hash160(compressed), a.Program())
}
