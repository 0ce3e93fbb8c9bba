package lightning

import (
	"bytes"
	"crypto/sha256"
	"testing"

	"github.com/btcsuite/btcd/btcec/v2"
	"github.com/btcsuite/btcd/btcec/v2/ecdsa"
	"github.com/btcsuite/btcd/btcutil/bech32"

	"github.com/swapper-go/swapper/internal/trial"
)

// invoiceOf signs an invoice of any words.
func invoiceOf(t testing.TB, hrp string, words []byte, key *btcec.PrivateKey) string {
	t.Helper()
	signed := trial.Must(bech32.ConvertBits(words, 5, 8, true))(t)
	digest := sha256.Sum256(append([]byte(hrp), signed...))
	compact := ecdsa.SignCompact(key, digest[:], true)
	sig := trial.Must(bech32.ConvertBits(append(compact[1:], compact[0]-31), 8, 5, true))(t)
	return trial.Must(bech32.Encode(hrp, append(append([]byte{}, words...), sig...)))(t)
}

// wordsOf are a timestamp and fields of a number of 5-bit words each.
func wordsOf(fields ...rawField) []byte {
	words := []byte{1, 20, 15, 3, 2, 1, 0}
	for _, f := range fields {
		words = append(append(words, f.tag, byte(len(f.words)>>5), byte(len(f.words)&31)), f.words...)
	}
	return words
}

var testKey, _ = btcec.PrivKeyFromBytes(bytes.Repeat([]byte{7}, 32))

func repeated(word byte, n int) []byte { return bytes.Repeat([]byte{word}, n) }

// words32 are the words of 32 bytes: the last one has a single bit of them.
func words32(word byte) []byte { return append(repeated(word, 51), 16) }
