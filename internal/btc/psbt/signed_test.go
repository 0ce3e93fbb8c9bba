package psbt

import (
	"encoding/hex"
	"testing"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/btc/rawtx"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/internal/vectors"
)

// signedJSON is a case about signed PSBTs.
type signedJSON struct {
	vaultJSON
	Kind        string
	PSBT        string
	Destination string
	AmountSats  int64 `json:",string"`
}

// agreement is what was to be signed. The vectors of vault swaps say nothing of
// the chain's data and the lock time, so these are as the PSBT has them.
func (in *signedJSON) agreement(t *testing.T, u *Unchecked) (Agreement, error) {
	t.Helper()
	if in.Kind == "payment" {
		return Agreement{Template: PaymentTemplate(in.address(t, in.Destination).Script(), in.AmountSats)}, nil
	}
	in.OpReturnData, in.LockTime = "00", VaultLockTime(0)
	if len(u.tx.TxOut) > 1 {
		if data, err := rawtx.OpReturnData(u.tx.TxOut[1].PkScript); err == nil {
			in.OpReturnData = hex.EncodeToString(data)
		}
	}
	template, err := in.terms(t).Template()
	return Agreement{Template: template, AnySalt: true}, err
}

func (in *signedJSON) submit(t *testing.T) (*Unchecked, Agreement, *SignedTx, error) {
	t.Helper()
	u, err := Parse(in.PSBT)
	if err != nil {
		return nil, Agreement{}, nil, err
	}
	a, err := in.agreement(t, u)
	if err != nil {
		return nil, a, nil, err
	}
	s, err := u.Check(a)
	return u, a, s, err
}

// finishedByWallet reports whether the wallet finished all its inputs of a vault
// transaction itself, which the reference cannot read.
func finishedByWallet(u *Unchecked) bool {
	for _, in := range u.inputs[1:] {
		if in.FinalScriptSig == nil && in.FinalScriptWitness == nil {
			return false
		}
	}
	return true
}

// weaklySigned reports whether a signature has another hash type than ALL or DEFAULT.
func weaklySigned(u *Unchecked) bool {
	if u == nil {
		return false
	}
	for _, in := range u.inputs {
		for _, sig := range in.PartialSigs {
			if sig.Signature[len(sig.Signature)-1] != 1 {
				return true
			}
		}
		if sig := in.TaprootKeySpendSig; len(sig) == 65 && sig[64] != 1 {
			return true
		}
	}
	return false
}

func TestVectorsSignedPSBT(t *testing.T) {
	file := vectors.Load(t, "bitcoin", "signed_psbt")
	accepted := map[bitcoin.Hash]*vectors.Case{} // vault cases that the reference takes, by transaction
	for _, c := range file.Cases {
		var in signedJSON
		c.Input(t, &in)
		if u, err := Parse(in.PSBT); err == nil && in.Kind == "vault" && !vectors.Refused(c.Want(t)) {
			accepted[u.tx.TxHash()] = c
		}
	}
	file.Each(t, func(t *testing.T, c *vectors.Case) {
		var in signedJSON
		c.Input(t, &in)
		u, a, s, err := in.submit(t)
		want := c.Want(t)
		if vectors.Refused(want) {
			if err != nil {
				if fault.CodeOf(err) != fault.InvalidInput {
					t.Errorf("refused with code %s: %v", fault.CodeOf(err), err)
				}
				return
			}
			if in.Kind != "vault" || !finishedByWallet(u) {
				t.Fatalf("accepted as %s; the reference refuses", s.ID)
			}
			c.Differ(t, "bitcoin-psbt-finished-by-wallet")
			same := accepted[u.tx.TxHash()]
			if same == nil {
				return // verified all the same, but there is nothing to compare with
			}
			want = same.Want(t)
		}
		if weaklySigned(u) {
			c.Differ(t, "bitcoin-psbt-weak-signature")
			if fault.CodeOf(err) != fault.InvalidInput {
				t.Errorf("accepted with weak signatures: %+v, error %v", s, err)
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if id, ok := u.TxID(nil); !ok || id != s.ID {
			t.Errorf("id before the check %s, %v; after it %s", id, ok, s.ID)
		}
		got := map[string]any{"txId": s.ID.String()}
		if in.Kind == "vault" {
			got["postedPsbtHex"] = s.PSBT.Hex()
		} else {
			raw := trial.Must(rawtx.Encode(s.Tx))(t)
			n := trial.Must(bitcoin.ParseNetwork(in.Network))(t)
			got["rawTx"], got["vout"], got["senderAddress"] = hex.EncodeToString(raw), 0, senderOf(t, s, a.Template, n)
		}
		vectors.SameJSON(t, want, got)
	})
}

// senderOf returns the address whose output the first wallet input spends.
func senderOf(t *testing.T, s *SignedTx, of Template, n bitcoin.Network) string {
	t.Helper()
	a := trial.Must(bitcoin.AddressFromScript(s.Spent[len(of.Inputs)].PkScript, n))(t)
	return a.String()
}
