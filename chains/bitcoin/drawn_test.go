package bitcoin

import (
	"bytes"
	"testing"

	"github.com/btcsuite/btcd/btcec/v2/schnorr"
	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/chaincfg"
	"github.com/btcsuite/btcd/txscript"

	"github.com/swapper-go/swapper/internal/vectors"
)

// chainParams are btcd's constants; testnet 4 has the addresses of testnet 3.
var chainParams = [...]*chaincfg.Params{Mainnet: &chaincfg.MainNetParams, Testnet3: &chaincfg.TestNet3Params, Testnet4: &chaincfg.TestNet3Params,
	Regtest: &chaincfg.RegressionNetParams, Signet: &chaincfg.SigNetParams}

// FuzzAddressesOfBtcutil compares addresses with btcutil's: of every program that can be
// paid to, in each network, its text is read alike; whatever is accepted of a bent text
// pays to the script that btcutil says; and what btcutil takes for one of the five forms
// is accepted.
func FuzzAddressesOfBtcutil(f *testing.F) {
	for kind := range byte(5) {
		f.Add(append([]byte{kind, kind}, bytes.Repeat([]byte{kind + 1}, 40)...), []byte{})
	}
	f.Add([]byte{2, 0, 9}, []byte{1, 5, 1, 'q'})
	f.Fuzz(func(t *testing.T, fields, bends []byte) {
		d := vectors.Draw(fields)
		n := Network(d.Int(len(params)))
		p := chainParams[n]
		var made btcutil.Address
		var err error
		switch d.Int(5) {
		case 0:
			made, err = btcutil.NewAddressPubKeyHash(d.Bytes(20), p)
		case 1:
			made, err = btcutil.NewAddressScriptHashFromHash(d.Bytes(20), p)
		case 2:
			made, err = btcutil.NewAddressWitnessPubKeyHash(d.Bytes(20), p)
		case 3:
			made, err = btcutil.NewAddressWitnessScriptHash(d.Bytes(32), p)
		default:
			made, err = btcutil.NewAddressTaproot(d.Bytes(32), p)
		}
		if err != nil {
			t.Fatal(err)
		}
		text := string(vectors.Draw(bends).Bent([]byte(made.EncodeAddress())))
		a, err := ParseAddress(text, n)
		theirs, unknown := btcutil.DecodeAddress(text, p)
		if err == nil {
			if unknown != nil || !theirs.IsForNet(p) {
				t.Fatalf("%q is accepted on %s, and not by btcutil: %v", text, n, unknown)
			}
			if script, err := txscript.PayToAddrScript(theirs); err != nil || !bytes.Equal(script, a.Script()) {
				t.Fatalf("%q pays to %x, btcutil says %x, %v", text, a.Script(), script, err)
			}
			return
		}
		if unknown != nil || !theirs.IsForNet(p) || !valid(theirs) {
			return
		}
		if text == theirs.EncodeAddress() { // not in capitals, or in another of its writings
			t.Fatalf("%q is an address of %s by btcutil, and refused: %v", text, n, err)
		}
	})
}

// valid reports whether an address of btcutil can be spent from.
func valid(a btcutil.Address) bool {
	switch a := a.(type) {
	case *btcutil.AddressTaproot:
		_, err := schnorr.ParsePubKey(a.ScriptAddress())
		return err == nil
	case *btcutil.AddressPubKeyHash, *btcutil.AddressScriptHash, *btcutil.AddressWitnessPubKeyHash, *btcutil.AddressWitnessScriptHash:
		return true
	}
	return false
}
