package wire

import (
	"encoding/hex"
	"encoding/json"
	"testing"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/btc/rawtx"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/internal/vectors"
)

func conditionHashes(t *testing.T, fn, script, paymentHash, txid string, amount json.Number, nonce *json.Number, confirmations uint16) map[string]string {
	t.Helper()
	out := map[string]string{}
	c := chains.Condition{Confirmations: confirmations}
	switch fn {
	case "getHashForHtlc":
		c.Kind, c.PaymentHash = chains.HTLC, hash32(t, paymentHash)
	case "getHashForTxId":
		id := trial.Must(bitcoin.ParseHash(txid))(t)
		c.Kind, c.TxID = chains.OnchainTxID, id
	case "getHashForOnchain":
		c.Kind, c.Script, c.Sats = chains.Onchain, vectors.Unhex(t, script), number(t, amount)
		if nonce != nil && *nonce != "0" { // without one it is no nonced payment
			c.Kind, c.Nonce = chains.OnchainNonced, number(t, *nonce)
		}
		hint := rawtx.TxoHash(int64(c.Sats), c.Script)
		out["extraData"] = hex.EncodeToString(hint[:])
	default:
		t.Fatalf("unknown %s", fn)
	}
	h := trial.Must(ClaimHashOf(c))(t)
	out["claimHash"] = hex.EncodeToString(h.Bytes())
	return out
}

func TestClaimHashRefusals(t *testing.T) {
	for name, c := range map[string]chains.Condition{
		"more than all bitcoin": {Kind: chains.Onchain, Sats: uint64(rawtx.MaxMoney) + 1},
		"unknown kind":          {Kind: 9},
		"nonced without nonce":  {Kind: chains.OnchainNonced, Sats: 1},
	} {
		if h, err := ClaimHashOf(c); err == nil {
			t.Errorf("%s: %v", name, h)
		}
	}
	plain, nonced := chains.Condition{Kind: chains.Onchain, Sats: 1}, chains.Condition{Kind: chains.Onchain, Sats: 1, Nonce: 9}
	if a, b := trial.Must(ClaimHashOf(plain))(t), trial.Must(ClaimHashOf(nonced))(t); a != b {
		t.Errorf("a payment without nonce has two hashes: %v, %v", a, b)
	}
}
