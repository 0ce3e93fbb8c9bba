package wire

import (
	"bytes"
	"testing"

	"github.com/swapper-go/swapper/internal/vectors"
)

// packed and unpacked carry lists of felts through the fuzzer: 32 bytes each, what is
// not a felt made one.
func packed(all []Felt) (b []byte) {
	for _, f := range all {
		full := f.Bytes()
		b = append(b, full[:]...)
	}
	return b
}

func unpacked(b []byte) (all []Felt) {
	for ; len(b) >= 32; b = b[32:] {
		all = append(all, *new(Felt).SetBytes(b[:32]))
	}
	return all
}

// A text is read as one felt, or not at all, and what is written is read again.
func FuzzParseFelt(f *testing.F) {
	for _, s := range vectors.Inputs(f, "chain-starknet", "utils", "address") {
		f.Add(s)
	}
	f.Add(prime)
	f.Fuzz(func(t *testing.T, s string) {
		v, err := ParseFelt(s)
		if err != nil {
			return
		}
		for _, text := range []string{Hex(v), Hex64(v), Decimal(v), "0X" + Digits64(v)} {
			if again, err := ParseFelt(text); err != nil || again != v {
				t.Fatalf("%q is %q, which is %v, %v", s, text, again, err)
			}
		}
	})
}

// Bytes are one list of felts, which is read back as them and no other.
func FuzzByteArray(f *testing.F) {
	for _, s := range vectors.Inputs(f, "chain-starknet", "utils", "hex") {
		f.Add(unhex(f, s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		r := reader{rest: ByteArray(b)}
		if got := r.byteArray(); r.end() != nil || !bytes.Equal(got, b) {
			t.Fatalf("%x is read back as %x, %v", b, got, r.err)
		}
		if back, ok := FromChunks(Chunks(b), len(b)); !ok || !bytes.Equal(back, b) {
			t.Fatalf("%x is %x in chunks", b, back)
		}
		other := reader{rest: unpacked(b)}
		if got := other.byteArray(); other.end() == nil {
			if again := packed(ByteArray(got)); !bytes.Equal(again, b[:len(b)/32*32]) && !hasBigFelt(b) {
				t.Fatalf("two forms of %x", got)
			}
		}
	})
}

// hasBigFelt reports whether bytes hold a number that is no felt.
func hasBigFelt(b []byte) bool {
	for ; len(b) >= 32; b = b[32:] {
		if _, err := FeltOfBytes(b[:32]); err != nil {
			return true
		}
	}
	return false
}

// A rate is read as three numbers, and its text is that rate.
func FuzzParseFeeRate(f *testing.F) {
	for _, s := range vectors.Inputs(f, "chain-starknet", "fees", "feeRate") {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		r, err := ParseFeeRate(s)
		if err != nil {
			if CheckFeeRate(s) == nil {
				t.Fatalf("%q is good and cannot be read: %v", s, err)
			}
			return
		}
		again, err := ParseFeeRate(r.String())
		if err != nil || again.String() != r.String() || CheckFeeRate(r.String()) != nil {
			t.Fatalf("%q is %q, which is %q, %v", s, r, again, err)
		}
		g := Gas{1 << 63, 1<<64 - 1, 5}
		if r.Bounds(g).MaxFee().Cmp(r.Cost(g)) != 0 {
			t.Fatalf("%q costs two sums", s)
		}
	})
}
