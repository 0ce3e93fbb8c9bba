package rawtx

import (
	"encoding/hex"
	"encoding/json"
	"strconv"
	"testing"

	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/internal/vectors"
)

// sats reads an amount; hashes are of any 64 bits.
func sats(t *testing.T, text string) int64 {
	t.Helper()
	v := trial.Must(strconv.ParseUint(text, 10, 64))(t)
	return int64(v)
}

func TestVectorsTxoHash(t *testing.T) {
	vectors.Each(t, "bitcoin", "txo_hash", func(t *testing.T, c *vectors.Case) {
		var in struct {
			Script string
			Value  json.Number
		}
		c.Input(t, &in)
		hash := TxoHash(sats(t, in.Value.String()), vectors.Unhex(t, in.Script))
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
		hash := TxoHash(sats(t, in.Value.String()), vectors.Unhex(t, in.Script))
		vectors.SameJSON(t, c.Want(t), map[string]string{"hash": hex.EncodeToString(hash[:])})
	})
}

// The claim hashes of EVM chains are in package chains/evm.
func TestVectorsClaimHashes(t *testing.T) {
	vectors.Each(t, "bitcoin", "claim_hashes", func(t *testing.T, c *vectors.Case) {
		var in struct {
			Script        string
			AmountSats    string
			Nonce         *uint64 `json:",string"`
			Confirmations uint16
		}
		c.Input(t, &in)
		var want struct{ SolanaClaimHash, EVMExtraData string }
		c.Expected(t, &want)
		var nonce uint64
		if in.Nonce != nil {
			nonce = *in.Nonce
		}
		script, amount := vectors.Unhex(t, in.Script), sats(t, in.AmountSats)
		for name, c := range map[string]struct {
			txo  [32]byte
			want string
		}{
			"Solana claim hash": {NoncedTxoHash(nonce, amount, script), want.SolanaClaimHash},
			"EVM extra data":    {TxoHash(amount, script), want.EVMExtraData},
		} {
			got := TxoHint{Txo: c.txo, Nonce: nonce, Confirmations: in.Confirmations}.Bytes()
			if hex.EncodeToString(got) != c.want {
				t.Errorf("%s: got %x, want %s", name, got, c.want)
			}
		}
	})
}

func TestTxoHint(t *testing.T) {
	hint := TxoHint{Txo: TxoHash(5, nil), Nonce: 1<<63 | 5, Confirmations: 0x0102}
	if got, want := hex.EncodeToString(hint.Bytes()), hex.EncodeToString(hint.Txo[:])+"8000000000000005"+"0102"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
