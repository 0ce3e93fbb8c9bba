package psbt

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/trial"
)

// coinJSON is a coin as the vectors write it.
type coinJSON struct {
	TxID  string
	Vout  uint32
	Value int64
	Type  string
	CPFP  *cpfpJSON
}

type cpfpJSON struct{ TxVsize, TxEffectiveFeeRate float64 }

func (j coinJSON) coin(t *testing.T) Coin {
	t.Helper()
	c := Coin{Value: j.Value, Type: addressType(t, j.Type)}
	if j.TxID != "" {
		hash := trial.Must(bitcoin.ParseHash(j.TxID))(t)
		c.OutPoint = bitcoin.OutPoint{Hash: hash, Index: j.Vout}
	}
	if j.CPFP != nil {
		c.CPFP = &bitcoin.CPFP{AdjustedVSize: j.CPFP.TxVsize, EffectiveFeeRate: j.CPFP.TxEffectiveFeeRate}
	}
	return c
}

// numbers rewrites the numbers of a JSON text as Go writes float64, so that only their values are compared.
func numbers(t *testing.T, text json.RawMessage) json.RawMessage {
	t.Helper()
	var v any
	trial.Do(t, json.Unmarshal(text, &v))
	return trial.Must(json.Marshal(v))(t)
}

// typeNamed is the type of which String gives the name.
func typeNamed(name string) (bitcoin.AddressType, error) {
	for typ := bitcoin.P2PKH; typ.Valid(); typ++ {
		if typ.String() == name {
			return typ, nil
		}
	}
	return 0, fmt.Errorf("unknown address type %q", name)
}

func addressType(t *testing.T, name string) bitcoin.AddressType {
	t.Helper()
	return trial.Must(typeNamed(name))(t)
}

// coinOf is a coin of a p2wpkh wallet; parents, if any, are unconfirmed.
func coinOf(n byte, sats int64, parents *bitcoin.CPFP) Coin {
	return Coin{OutPoint: bitcoin.OutPoint{Hash: bitcoin.Hash{n}}, Value: sats, Type: bitcoin.P2WPKH, CPFP: parents}
}

// benchCoins makes n coins of random size; every eighth is unconfirmed.
func benchCoins(n int) []Coin {
	r := rand.New(rand.NewPCG(1, 2))
	list := make([]Coin, n)
	for i := range list {
		list[i] = Coin{OutPoint: bitcoin.OutPoint{Index: uint32(i)}, Value: 300 + r.Int64N(100_000), Type: bitcoin.P2WPKH}
		list[i].OutPoint.Hash[0], list[i].OutPoint.Hash[1] = byte(i), byte(i>>8)
		if i%8 == 0 {
			list[i].CPFP = &bitcoin.CPFP{AdjustedVSize: 140 + float64(r.IntN(2000)), EffectiveFeeRate: float64(r.IntN(80)) / 4}
		}
	}
	return list
}
