package noderpc

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/vectors"
)

func TestVectorsCoreRPC(t *testing.T) {
	t.Parallel()
	vectors.Each(t, "bitcoin", "core_rpc", func(t *testing.T, c *vectors.Case) {
		var in struct {
			Kind string
			BTC  json.Number
			Txs  map[string]graphTx
			Of   string
		}
		c.Input(t, &in)
		want := c.Want(t)
		var got any
		var err error
		switch in.Kind {
		case "value":
			var v int64
			v, err = sats(in.BTC)
			got = map[string]int64{"sats": v}
		case "effectiveFee":
			got, err = effectiveFeeOf(in.Txs, in.Of)
		default:
			t.Fatalf("no such kind: %s", in.Kind)
		}
		if vectors.Refused(want) || err != nil {
			if (err != nil) != vectors.Refused(want) {
				t.Errorf("error %v, want %s", err, want)
			}
			return
		}
		vectors.SameJSON(t, want, got)
	})
}

// graphTx is a transaction of a vector: its inputs name transactions and outputs.
type graphTx struct {
	VSize         int64
	Confirmations int64
	Ins           [][2]any
	Outs          []int64
}

// effectiveFeeOf puts the unconfirmed transactions into a mempool, as a node
// would tell them, and asks for the effective fee of one.
func effectiveFeeOf(txs map[string]graphTx, of string) (any, error) {
	ids := make(map[string]bitcoin.Hash)
	for name := range txs {
		var h bitcoin.Hash
		copy(h[:], name)
		ids[name] = h
	}
	pool := make(map[bitcoin.Hash]poolTx)
	for name, tx := range txs {
		if tx.Confirmations > 0 {
			continue
		}
		p := poolTx{vsize: tx.VSize}
		for _, in := range tx.Ins {
			parent, _ := in[0].(string)
			number, _ := in[1].(json.Number)
			index, err := number.Int64()
			if err != nil || index < 0 || index >= int64(len(txs[parent].Outs)) {
				return nil, errors.New("no such output")
			}
			p.fee += txs[parent].Outs[index]
			p.parents = append(p.parents, ids[parent])
		}
		for _, out := range tx.Outs {
			p.fee -= out
		}
		pool[ids[name]] = p
	}
	fee, vsize, ok := effectiveFee(pool, ids[of])
	if !ok {
		return nil, errors.New("does not wait")
	}
	return map[string]any{"fee": fee, "vsize": vsize, "feeRate": float64(fee) / float64(vsize)}, nil
}
