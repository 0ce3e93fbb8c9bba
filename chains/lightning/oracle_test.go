package lightning

import (
	"bytes"
	"crypto/sha256"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/btcsuite/btcd/btcec/v2"
	"github.com/btcsuite/btcd/btcec/v2/ecdsa"
	"github.com/btcsuite/btcd/btcutil/bech32"
	"github.com/btcsuite/btcd/chaincfg"
	"github.com/lightningnetwork/lnd/lnwire"
	"github.com/lightningnetwork/lnd/zpay32"
)

// The oracle is another implementation: whatever it accepts, Decode must read
// the same, apart from what it does not check.

var oracleNets = []*chaincfg.Params{&chaincfg.MainNetParams, &chaincfg.TestNet3Params, &chaincfg.SigNetParams, &chaincfg.RegressionNetParams, &chaincfg.SimNetParams}

// compareWithOracle fails the test if zpay32 accepts text and Decode reads
// something else. It reports whether zpay32 accepted.
func compareWithOracle(t *testing.T, text string) bool {
	t.Helper()
	for _, net := range oracleNets {
		z, err := zpay32.Decode(text, net)
		if err != nil {
			continue
		}
		inv, err := Decode(text)
		if err != nil {
			if !strictHere(text, z) {
				t.Fatalf("zpay32 reads %s, Decode does not: %v", text, err)
			}
			return true
		}
		sameAsOracle(t, inv, z)
		return true
	}
	return false
}

// strictHere reports whether text breaks a rule that zpay32 does not know: more
// than 21 million bitcoin, absurd numbers, a recovery id above 3 or one that
// does not lead to the payee that is named, a bech32m checksum.
func strictHere(text string, z *zpay32.Invoice) bool {
	hrp, words, version, err := bech32.DecodeNoLimitWithVersion(text)
	if err != nil || version != bech32.Version0 {
		return true
	}
	if wraps(hrp) {
		return true
	}
	for _, f := range must(rawFields(text)) {
		if f.tag == tagExpiry || f.tag == tagMinFinalCLTV {
			if _, ok := number(f.words); !ok {
				return true
			}
		}
	}
	sig := wholeBytes(words[len(words)-signatureWords:])
	payee, err := recoverPayee(hrp, words[:len(words)-signatureWords], words[len(words)-signatureWords:])
	return sig[64] > 3 || err != nil || !bytes.Equal(payee[:], z.Destination.SerializeCompressed())
}

// wraps reports whether the amount in hrp is above 21 million bitcoin, where
// zpay32's arithmetic may wrap around.
func wraps(hrp string) bool {
	start := strings.IndexAny(hrp, "0123456789")
	if start < 0 {
		return false
	}
	digits := strings.TrimRight(hrp[start:], "munp")
	tenthsOfMsat := map[string]int64{"": 1e12, "m": 1e9, "u": 1e6, "n": 1e3, "p": 1}[hrp[start+len(digits):]]
	amount, ok := new(big.Int).SetString(digits, 10)
	return !ok || amount.Mul(amount, big.NewInt(tenthsOfMsat)).Cmp(new(big.Int).Mul(big.NewInt(maxMsat), big.NewInt(10))) > 0
}

func must[T any](v T, _ bool) T { return v }

func sameAsOracle(t *testing.T, inv *Invoice, z *zpay32.Invoice) {
	t.Helper()
	check := func(what string, ok bool) {
		t.Helper()
		if !ok {
			t.Errorf("%s differs: %+v, zpay32 %+v", what, inv, z)
		}
	}
	same32 := func(a, b *[32]byte) bool { return (a == nil) == (b == nil) && (a == nil || *a == *b) }
	check("amount", (inv.AmountMsat == nil) == (z.MilliSat == nil) && (z.MilliSat == nil || uint64(*inv.AmountMsat) == uint64(*z.MilliSat)))
	check("timestamp", inv.Timestamp == z.Timestamp.Unix())
	check("payment hash", inv.PaymentHash == *z.PaymentHash)
	check("description", (inv.Description == nil) == (z.Description == nil) && (z.Description == nil || *inv.Description == *z.Description))
	check("description hash", same32(inv.DescriptionHash, z.DescriptionHash))
	check("payee", bytes.Equal(inv.Payee[:], z.Destination.SerializeCompressed()))
	check("final delta", uint64(inv.MinFinalCLTV) == z.MinFinalCLTVExpiry())
	check("expiry", inv.ExpirySeconds > 1<<33 || time.Duration(inv.ExpirySeconds)*time.Second == z.Expiry())
	secret := z.PaymentAddr.UnwrapOr([32]byte{})
	check("payment secret", (inv.PaymentSecret != nil) == z.PaymentAddr.IsSome() && (inv.PaymentSecret == nil || *inv.PaymentSecret == secret))
	check("blinded paths", inv.HasBlindedPaths == (len(z.BlindedPaymentPaths) > 0))
	check("number of hints", len(inv.RouteHints) == len(z.RouteHints))
	for i, hint := range z.RouteHints {
		check("hops", len(inv.RouteHints[i]) == len(hint))
		for j, h := range hint {
			check("hop", inv.RouteHints[i][j] == Hop{[33]byte(h.NodeID.SerializeCompressed()), h.ChannelID, h.FeeBaseMSat, h.FeeProportionalMillionths, h.CLTVExpiryDelta})
		}
	}
	for bit := range 300 {
		check("features", inv.Features.Has(bit) == z.Features.RawFeatureVector.IsSet(lnwire.FeatureBit(bit)))
	}
}

// invoiceOf signs an invoice of any words.
func invoiceOf(t testing.TB, hrp string, words []byte, key *btcec.PrivateKey) string {
	t.Helper()
	digest := sha256.Sum256(pack([]byte(hrp), words))
	compact := ecdsa.SignCompact(key, digest[:], true)
	sig, err := bech32.ConvertBits(append(compact[1:], compact[0]-31), 8, 5, true)
	if err != nil {
		t.Fatal(err)
	}
	text, err := bech32.Encode(hrp, append(append([]byte{}, words...), sig...))
	if err != nil {
		t.Fatal(err)
	}
	return text
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

func TestInvoicesOfAnotherEncoder(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for n := range 200 {
		net := oracleNets[n%len(oracleNets)]
		var hash, secret [32]byte
		for i := range hash {
			hash[i], secret[i] = byte(random.Uint32()), byte(random.Uint32())
		}
		options := []func(*zpay32.Invoice){zpay32.Amount(lnwire.MilliSatoshi(1 + random.Int64N(1e18))), zpay32.PaymentAddr(secret)}
		if n%2 == 0 {
			options = append(options, zpay32.Description(strings.Repeat("é", n%60)))
		} else {
			options = append(options, zpay32.DescriptionHash(sha256.Sum256(secret[:])))
		}
		if n%3 == 0 {
			options = append(options, zpay32.Expiry(time.Duration(random.Int64N(1e6))*time.Second), zpay32.CLTVExpiry(random.Uint64N(2016)))
		}
		if n%7 == 0 {
			options = append(options, zpay32.Destination(testKey.PubKey()))
		}
		for range n % 3 {
			hop := zpay32.HopHint{NodeID: testKey.PubKey(), ChannelID: random.Uint64(), FeeBaseMSat: random.Uint32(), FeeProportionalMillionths: random.Uint32(), CLTVExpiryDelta: uint16(random.Uint32())}
			options = append(options, zpay32.RouteHint([]zpay32.HopHint{hop, hop}[:1+n%2]))
		}
		options = append(options, zpay32.Features(lnwire.NewFeatureVector(lnwire.NewRawFeatureVector(lnwire.FeatureBit(8+n%9), lnwire.FeatureBit(14), lnwire.FeatureBit(n)), nil)))
		inv, err := zpay32.NewInvoice(net, hash, time.Unix(1_600_000_000+random.Int64N(1e9), 0), options...)
		if err != nil {
			t.Fatal(err)
		}
		text, err := inv.Encode(zpay32.MessageSigner{SignCompact: func(msg []byte) ([]byte, error) {
			digest := sha256.Sum256(msg)
			return ecdsa.SignCompact(testKey, digest[:], true), nil
		}})
		if err != nil {
			t.Fatal(err)
		}
		if !compareWithOracle(t, text) {
			t.Fatalf("zpay32 does not read its own %s", text)
		}
		got, err := Decode(strings.ToUpper(text))
		if err != nil || got.PaymentHash != hash {
			t.Errorf("in upper case: %v", err)
		}
	}
}
