package wire

import (
	"bytes"
	"encoding/json"
	"slices"
	"testing"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/trial"
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
		f.Add(vectors.Unhex(f, s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		r := reader{rest: ByteArray(b)}
		if got := r.byteArray(); r.end() != nil || !bytes.Equal(got, b) {
			t.Fatalf("%x is read back as %x, %v", b, got, r.err)
		}
		if back, ok := fromChunks(Chunks(b), len(b)); !ok || !bytes.Equal(back, b) {
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

func swapDataSeeds(f *testing.F) (seeds [][]byte) {
	f.Helper()
	for _, c := range vectors.Load(f, "chain-starknet", "swapdata").Cases {
		var in struct{ Swap json.RawMessage }
		if c.Input(f, &in); in.Swap != nil {
			seeds = append(seeds, in.Swap)
		}
	}
	return append(seeds, []byte(goodSwapData))
}

// An escrow that is read is the same in JSON and in calldata, with one hash.
func FuzzParseSwapData(f *testing.F) {
	for _, text := range swapDataSeeds(f) {
		f.Add(text)
	}
	d := deploymentOf(f, "")
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := ParseSwapData(text)
		if err != nil {
			return
		}
		again := trial.Must(json.Marshal(s))(t)
		if b, err := ParseSwapData(again); err != nil || Diff(s, b, chains.Tolerance{}) != nil {
			t.Fatalf("%s is read back as %+v, %v", again, b, err)
		}
		public := trial.Must(s.Public())(t)
		if d.CheckSwapData(s) != nil {
			return
		}
		if b, err := d.ParsePublic(public); err != nil || escrowHash(t, b) != escrowHash(t, s) || b.Kind != s.Kind {
			t.Fatalf("%s is read back as %+v, %v", public, b, err)
		}
		all := trial.Must(s.Felts())(t)
		b, rest, err := d.decodeSwapData(all)
		if err != nil || len(rest) != 0 || escrowHash(t, b) != escrowHash(t, s) || b.Kind != s.Kind {
			t.Fatalf("%s in calldata is %+v, %v", again, b, err)
		}
	})
}

// Calldata that is read as an escrow is that escrow's only form.
func FuzzDecodeSwapData(f *testing.F) {
	d := deploymentOf(f, "")
	for _, text := range swapDataSeeds(f) {
		if s, err := ParseSwapData(text); err == nil {
			all := trial.Must(s.Felts())(f)
			f.Add(packed(all))
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		all := unpacked(b)
		s, rest, err := d.decodeSwapData(all)
		if err != nil {
			return
		}
		again, err := s.Felts()
		if err != nil || !slices.Equal(again, all[:len(all)-len(rest)]) {
			t.Fatalf("read as %+v, which is other calldata (%v)", s, err)
		}
	})
}

// A signature is a list of felts, and its text is that list.
func FuzzParseSignature(f *testing.F) {
	for _, c := range vectors.Load(f, "chain-starknet", "signatures").Cases {
		var in struct{ Authorization authJSON }
		if c.Input(f, &in); in.Authorization.Signature != "" {
			f.Add(in.Authorization.Signature)
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		all, err := parseSignature(text)
		if err != nil {
			return
		}
		again, err := parseSignature(FormatSignature(all))
		if err != nil || !slices.Equal(again, all) {
			t.Fatalf("%q is %v, then %v, %v", text, hexes(all), hexes(again), err)
		}
		SignedByKey(all[0], all[len(all)-1], all) // must not panic on anything
	})
}
