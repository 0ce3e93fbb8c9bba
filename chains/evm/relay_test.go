package evm

import (
	"encoding/hex"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/vectors"
)

func TestVectorsClaimHash(t *testing.T) {
	vectors.Each(t, "chain-evm", "claimhash", func(t *testing.T, c *vectors.Case) {
		var in struct {
			Fn, BtcRelay, PaymentHash, TxID, OutputScript string
			Amount, Nonce                                 *uint64 `json:",string"`
			Confirmations                                 uint16
		}
		c.Input(t, &in)
		want := c.Want(t)
		relay := common.HexToAddress(in.BtcRelay)
		var got map[string]string
		var failed error
		switch in.Fn {
		case "htlc":
			b, err := hexBytes("0x"+in.PaymentHash, 32)
			got, failed = map[string]string{"claimData": hex.EncodeToString(b)}, err
		case "txid":
			txid, err := bitcoin.ParseHash(in.TxID)
			data := ClaimDataTxID(txid, uint32(in.Confirmations), relay)
			got, failed = map[string]string{"claimData": hex.EncodeToString(data[:])}, err
		case "output":
			script, nonce := unhex(t, in.OutputScript), uint64(0)
			if in.Nonce != nil {
				nonce = *in.Nonce
			}
			data := ClaimDataOutput(script, *in.Amount, nonce, uint32(in.Confirmations), relay)
			got = map[string]string{"claimData": hex.EncodeToString(data[:]),
				"extraData": hex.EncodeToString(ExtraData(script, *in.Amount, nonce, in.Confirmations))}
		default:
			t.Fatalf("unknown function %s", in.Fn)
		}
		if vectors.Refused(want) {
			if failed == nil {
				t.Error("accepted")
			}
			return
		}
		if failed != nil {
			t.Fatal(failed)
		}
		vectors.SameJSON(t, want, got)
	})
}

// The Solana half of the file is tested with that chain.
func TestVectorsBitcoinClaimHashes(t *testing.T) {
	vectors.Each(t, "bitcoin", "claim_hashes", func(t *testing.T, c *vectors.Case) {
		var in struct {
			Script, EVMRelay  string
			AmountSats, Nonce *uint64 `json:",string"`
			Confirmations     uint16
		}
		c.Input(t, &in)
		var want struct{ EVMClaimHash, EVMExtraData string }
		c.Expected(t, &want)
		script, nonce := unhex(t, in.Script), uint64(0)
		if in.Nonce != nil {
			nonce = *in.Nonce
		}
		claim := ClaimDataOutput(script, *in.AmountSats, nonce, uint32(in.Confirmations), common.HexToAddress(in.EVMRelay))
		if got := hex.EncodeToString(claim[:]); got != want.EVMClaimHash {
			t.Errorf("claim hash: got %s, want %s", got, want.EVMClaimHash)
		}
		if got := hex.EncodeToString(ExtraData(script, *in.AmountSats, nonce, in.Confirmations)); got != want.EVMExtraData {
			t.Errorf("extra data: got %s, want %s", got, want.EVMExtraData)
		}
	})
}
