package wire

import (
	"bytes"
	"encoding/hex"
	"strconv"
	"testing"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/internal/vectors"
)

func TestVectorsClaimData(t *testing.T) {
	vectors.Each(t, "chain-starknet", "claimdata", func(t *testing.T, c *vectors.Case) {
		var in struct {
			Fn, BitcoinNetwork, Secret, PaymentHash, OutputScript, TxID, Amount string
			Nonce                                                               *string
			Confirmations                                                       uint16
		}
		c.Input(t, &in)
		d := deploymentOf(t, in.BitcoinNetwork)
		condition := chains.Condition{Confirmations: in.Confirmations}
		got := map[string]any{}
		switch in.Fn {
		case "htlc":
			hash := vectors.Unhex(t, in.PaymentHash)
			if len(hash) != 32 { // which the type of a payment hash rules out here
				if !vectors.Refused(c.Want(t)) {
					t.Error("the reference reads it")
				}
				return
			}
			condition.Kind, condition.PaymentHash = chains.HTLC, [32]byte(hash)
			witness := preimageWitness([32]byte(vectors.Unhex(t, in.Secret)))
			secret, ok := bytesOfWords(witness)
			if !ok {
				t.Fatal("the witness has wide words")
			}
			got["witness"], got["witnessResultToSecret"] = hexes(witness), hex.EncodeToString(secret)
		case "onchain":
			condition.Kind, condition.Script = chains.Onchain, vectors.Unhex(t, in.OutputScript)
			condition.Sats = bigOf(t, in.Amount).Uint64()
			if in.Nonce != nil && *in.Nonce != "0" {
				n := trial.Must(strconv.ParseUint(*in.Nonce, 10, 64))(t)
				condition.Kind, condition.Nonce = chains.OnchainNonced, n
			}
			got["extraData"] = hex.EncodeToString(extraData(condition))
		case "txid":
			id := trial.Must(bitcoin.ParseHash(in.TxID))(t)
			condition.Kind, condition.TxID = chains.OnchainTxID, id
		default:
			t.Fatalf("unknown %s", in.Fn)
		}
		claim := trial.Must(d.ClaimHash(condition))(t)
		got["claimHash"] = ClaimHashText(claim)
		vectors.SameJSON(t, c.Want(t), got)
	})
}

// Whatever the condition says is in the claim data, and nothing of two kinds is alike.
func TestClaimHashCommitsToAll(t *testing.T) {
	d, other := deploymentOf(t, "TESTNET"), deploymentOf(t, "TESTNET4")
	base := chains.Condition{Kind: chains.OnchainNonced, Script: []byte{1, 2}, Sats: 5, Nonce: 6, TxID: bitcoin.Hash{7}, Confirmations: 2, PaymentHash: [32]byte{8}}
	seen := map[Felt]string{}
	note := func(name string, d Deployment, c chains.Condition) {
		f, err := d.ClaimHash(c)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if before, ok := seen[f]; ok {
			t.Errorf("%s and %s have one claim hash", before, name)
		}
		seen[f] = name
	}
	change := func(f func(c *chains.Condition)) chains.Condition { c := base; f(&c); return c }
	note("base", d, base)
	note("another relay", other, base)
	note("another script", d, change(func(c *chains.Condition) { c.Script = bytes.Clone([]byte{1, 2, 0}) }))
	note("another amount", d, change(func(c *chains.Condition) { c.Sats = 6 }))
	note("another nonce", d, change(func(c *chains.Condition) { c.Nonce = 5 }))
	note("no nonce", d, change(func(c *chains.Condition) { c.Kind = chains.Onchain }))
	note("another depth", d, change(func(c *chains.Condition) { c.Confirmations = 3 }))
	note("a transaction", d, change(func(c *chains.Condition) { c.Kind = chains.OnchainTxID }))
	note("another transaction", d, change(func(c *chains.Condition) { c.Kind, c.TxID = chains.OnchainTxID, bitcoin.Hash{6} }))
	note("a hash lock", d, change(func(c *chains.Condition) { c.Kind = chains.HTLC }))
}
