package psbt

import (
	"strconv"

	"github.com/btcsuite/btcd/btcec/v2"
	"github.com/btcsuite/btcd/btcec/v2/schnorr"
	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/txscript"
)

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

func hash160(b []byte) []byte { return btcutil.Hash160(b) }

// testKey is the private key 1.
func testKey() *btcec.PrivateKey {
	var b [32]byte
	b[31] = 1
	k, _ := btcec.PrivKeyFromBytes(b[:])
	return k
}

func taprootProgram(k *btcec.PrivateKey) []byte {
	return schnorr.SerializePubKey(txscript.ComputeTaprootKeyNoScript(k.PubKey()))
}
