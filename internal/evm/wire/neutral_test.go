package wire

import (
	"bytes"
	"crypto/sha256"
	"math/big"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/trial"
)

func TestExpect(t *testing.T) {
	d := deploymentOf(t, "CITREA/MAINNET")
	script := []byte{0, 20, 1, 2, 3}
	conditions := []chains.Condition{
		{Kind: chains.HTLC, PaymentHash: sha256.Sum256(nil)},
		{Kind: chains.Onchain, Script: script, Sats: 5, Confirmations: 2},
		{Kind: chains.OnchainNonced, Script: script, Sats: 5, Nonce: 7, Confirmations: 2},
		{Kind: chains.OnchainTxID, TxID: bitcoin.Hash{9}, Confirmations: 3},
	}
	seen := map[common.Hash]bool{}
	for _, c := range conditions {
		spec := chains.Spec{Kind: c.Kind, Offerer: "0x1000000000000000000000000000000000000001", Claimer: "0x2000000000000000000000000000000000000002",
			Token: Native.Hex(), Amount: big.NewInt(5), Condition: c, PayOut: true, Expiry: 1_900_000_000, Hints: c.Kind == chains.Onchain}
		s, err := d.Expect(spec)
		if err != nil {
			t.Fatalf("%s: %v", c.Kind, err)
		}
		if seen[s.ClaimData] {
			t.Errorf("%s has the claim hash of another condition", c.Kind)
		}
		seen[s.ClaimData] = true
		e := trial.Must(d.Escrow(s))(t)
		back, err := SwapDataOf(e)
		if err != nil || Diff(s, back, chains.Tolerance{}) != nil {
			t.Errorf("%s: read back with %v, %v", c.Kind, Diff(s, back, chains.Tolerance{}), err)
		}
		hash, _ := back.EscrowHash()
		if !bytes.Equal(e.Hash, hash[:]) || ClaimHashText(e.ClaimHash) != s.ClaimData.Hex()[2:] || e.Version != "v1" || e.Expiry != spec.Expiry {
			t.Errorf("neutral view %+v", e)
		}
		var hints []byte
		if spec.Hints {
			hints = ExtraData(c.Script, c.Sats, c.Nonce, uint16(c.Confirmations))
		}
		if !bytes.Equal(s.ExtraData, hints) {
			t.Errorf("%s: got hints %x, want %x", c.Kind, s.ExtraData, hints)
		}
		other := spec
		other.Kind = (c.Kind + 1) % 4
		if _, err := d.Expect(other); err == nil {
			t.Errorf("%s: a condition of another kind was accepted", c.Kind)
		}
		other = spec
		other.Claimer = spec.Offerer
		if _, err := d.Expect(other); err == nil {
			t.Error("an escrow with one party was built")
		}
	}
	// The nonce is part of the nonced kind alone.
	plain, nonced := conditions[1], conditions[2]
	plain.Nonce = 7
	a, err := d.ClaimHash(plain)
	if b, _ := d.ClaimHash(conditions[1]); err != nil || a != b {
		t.Error("a nonce changed the claim hash of a plain output")
	}
	nonced.Nonce = 0
	if _, err := d.ClaimHash(nonced); err == nil {
		t.Error("zero was taken for a nonce")
	}
	if _, err := d.ClaimHash(chains.Condition{Kind: 4}); err == nil {
		t.Error("an unknown kind has a claim hash")
	}
}

func TestIDs(t *testing.T) {
	n, d := presetOf(t, "CITREA/MAINNET"), deploymentOf(t, "CITREA/MAINNET")
	user := addressOf(t, userKey)
	calls := trial.Must(d.Init(payInSwap(t, d, user), user, anyAuth()))(t)
	texts := trial.Must(n.Serialize(calls, 1, FeeRate{Base: big.NewInt(10), Priority: big.NewInt(1)}))(t)
	signed := []string{signText(t, userKey, texts[0]), signText(t, userKey, texts[1])}
	ids := trial.Must(IDs(signed))(t)
	checked, err := d.CheckSigned(n, user, calls, signed)
	if err != nil || checked[0].ID.Hex() != ids[0] || checked[1].ID.Hex() != ids[1] {
		t.Errorf("ids %v of %v, %v", ids, checked, err)
	}
	if _, err := IDs(texts); err == nil {
		t.Error("an unsigned transaction has an id")
	}
}
