package psbt

import (
	"bytes"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/btcec/v2"
	"github.com/btcsuite/btcd/btcec/v2/schnorr"
	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/txscript"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/internal/vectors"
)

// keyOf says, by another way than NewWallet, whether a key in hex can be used
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
	script := trial.Must(txscript.NewScriptBuilder().AddOp(txscript.OP_0).AddData(btcutil.Hash160(compressed)).Script())(t)
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

func TestVectorsWallets(t *testing.T) {
	type wallet struct {
		Address   string `json:"address"`
		PublicKey string `json:"publicKey"`
		Type      string `json:"type"`
	}
	view := func(w Wallet) wallet {
		return wallet{w.Address().String(), hex.EncodeToString(w.PublicKey()), w.Address().Type().String()}
	}
	vectors.Each(t, "bitcoin", "wallets", func(t *testing.T, c *vectors.Case) {
		var in struct{ Network, Address, PublicKey, WIF string }
		c.Input(t, &in)
		var want struct {
			wallet
			Error bool
		}
		c.Expected(t, &want)
		n := trial.Must(bitcoin.ParseNetwork(in.Network))(t)
		if in.WIF != "" {
			// The reference makes wallets of private keys. Here they are refused, and
			// not repeated; the wallet is made of the public half.
			c.Differ(t, "bitcoin-wallet-no-private-key")
			if _, err := bitcoin.ParseAddress(in.WIF, n); err == nil || strings.Contains(err.Error(), in.WIF) {
				t.Errorf("private key as address: %v", err)
			}
			if want.Error {
				return
			}
			a := trial.Must(bitcoin.ParseAddress(want.Address, n))(t)
			if _, err := NewWallet(a, in.WIF); err == nil || strings.Contains(err.Error(), in.WIF) {
				t.Errorf("private key as public key: %v", err)
			}
			w, err := NewWallet(a, want.PublicKey)
			if err != nil || view(w) != want.wallet {
				t.Errorf("got %+v, error %v, want %+v", view(w), err, want.wallet)
			}
			return
		}
		a, err := bitcoin.ParseAddress(in.Address, n)
		if err != nil {
			if !want.Error {
				t.Error(err)
			}
			return
		}
		w, err := NewWallet(a, in.PublicKey)
		if !want.Error && !keyOf(t, a, in.PublicKey) {
			c.Differ(t, "bitcoin-wallet-key")
			if fault.CodeOf(err) != fault.InvalidInput {
				t.Errorf("a key that is not the address's: wallet %+v, error %v", view(w), err)
			}
			// The reference takes any key as it is; of taproot's it drops the first byte.
			key, _ := hex.DecodeString(in.PublicKey)
			if len(key) == 33 && a.Type() == bitcoin.P2TR {
				key = key[1:]
			}
			if got := (wallet{a.String(), hex.EncodeToString(key), a.Type().String()}); got != want.wallet {
				t.Errorf("got %+v, want %+v", got, want.wallet)
			}
			return
		}
		if (err != nil) != want.Error || err == nil && view(w) != want.wallet {
			t.Errorf("got %+v, error %v, want %+v", view(w), err, want)
		}
	})
}

func TestWalletWithoutAddress(t *testing.T) {
	if _, err := NewWallet(bitcoin.Address{}, ""); fault.CodeOf(err) != fault.InvalidInput {
		t.Errorf("error %v", err)
	}
	if err := (Wallet{}).CanFund(false); err == nil {
		t.Error("the zero wallet can fund")
	}
}
