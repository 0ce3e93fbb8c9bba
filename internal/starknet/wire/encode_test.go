package wire

import (
	"bytes"
	"encoding/hex"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/internal/vectors"
)

func TestVectorsUtils(t *testing.T) {
	vectors.Each(t, "chain-starknet", "utils", func(t *testing.T, c *vectors.Case) {
		var in struct {
			Fn, Address, Hex, Value string
			Lenient                 bool
			Felts                   []string
		}
		c.Input(t, &in)
		switch in.Fn {
		case "normalizeAddress":
			canonical, err := Address(in.Address)
			switch in.Address {
			case "0", "5", "":
				c.Differ(t, "stark-address-form")
				if err == nil {
					t.Errorf("%q is accepted", in.Address)
				}
			case "0x0":
				c.Differ(t, "address-zero")
				if err == nil {
					t.Error("zero is accepted")
				}
			case "0x05", "0xABCDEF":
				c.Differ(t, "stark-address-zeros")
				if err != errAddressForm {
					t.Errorf("%q: %v", in.Address, err)
				}
			default:
				if !c.Refuses(t, err) {
					vectors.SameJSON(t, c.Want(t), map[string]string{"value": canonical})
				}
			}
		case "isValidAddress":
			var want struct{ Value bool }
			c.Expected(t, &want)
			_, err := Address(in.Address)
			switch {
			case err == errZeroAddress:
				c.Differ(t, "address-zero")
				if !want.Value {
					t.Error("the reference refuses zero")
				}
			case in.Lenient && validWith0x(in.Address):
				c.Differ(t, "stark-address-form")
				if err == nil || !want.Value {
					t.Errorf("%q: %v, the reference says %v", in.Address, err, want.Value)
				}
			case strings.HasPrefix(in.Address, "0x") && len(in.Address) < 66:
				theirs, ours := in.Lenient && len(in.Address) > 2, len(in.Address) >= 58
				if theirs != ours {
					c.Differ(t, "stark-address-zeros")
				}
				if want.Value != theirs || (err == nil) != ours {
					t.Errorf("%q: %v, the reference says %v", in.Address, err, want.Value)
				}
			case (err == nil) != want.Value:
				t.Errorf("%v, want %v", err, want.Value)
			}
		case "bytes":
			b := vectors.Unhex(t, in.Hex)
			var want struct {
				Bytes31Span, ByteArrayReference, ByteArrayCanonical []string
				ReferenceIsCanonical                                bool
				PoseidonRange, Back                                 string
			}
			c.Expected(t, &want)
			span, array := Chunks(b), ByteArray(b)
			back, ok := fromChunks(span, len(b))
			if !slices.Equal(hexes(span), want.Bytes31Span) || !slices.Equal(hexes(array), want.ByteArrayCanonical) {
				t.Errorf("%v and %v", hexes(span), hexes(array))
			}
			if Hex64(Poseidon(span...)) != want.PoseidonRange || !ok || hex.EncodeToString(back) != want.Back {
				t.Errorf("hash %s, back %x", Hex64(Poseidon(span...)), back)
			}
			if slices.Equal(want.ByteArrayReference, hexes(array)) != want.ReferenceIsCanonical {
				t.Errorf("the same as the reference: want %v", want.ReferenceIsCanonical)
			}
			if !want.ReferenceIsCanonical {
				c.Differ(t, "stark-byte-array")
				if ref := (&reader{rest: feltsOf(t, want.ByteArrayReference)}); ref.byteArray() != nil || ref.err == nil {
					t.Error("the other form is read")
				}
			}
			r := reader{rest: array}
			if got := r.byteArray(); !bytes.Equal(got, b) || r.end() != nil {
				t.Errorf("read back as %x, %v", got, r.err)
			}
		case "u32":
			b := vectors.Unhex(t, in.Hex)
			words := felts(nil).words(b)
			back, ok := bytesOfWords(words)
			if !ok {
				t.Fatal("words are too wide")
			}
			numbers := make([]uint64, len(words))
			for i, w := range words {
				numbers[i] = w.Uint64()
			}
			vectors.SameJSON(t, c.Want(t), map[string]any{"u32": numbers, "back": hex.EncodeToString(back)})
		case "u256":
			low, high, ok := U256(bigOf(t, in.Value))
			var err error
			if !ok {
				err = errFelt
			}
			if !c.Refuses(t, err) {
				vectors.SameJSON(t, c.Want(t), map[string]string{"low": Decimal(low), "high": Decimal(high)})
				r := reader{rest: []Felt{low, high}}
				if back := r.u256(); back.Cmp(bigOf(t, in.Value)) != 0 || r.end() != nil {
					t.Errorf("read back as %s, %v", back, r.err)
				}
			}
		case "poseidon":
			vectors.SameJSON(t, c.Want(t), map[string]string{"hash": Hex64(Poseidon(feltsOf(t, in.Felts)...))})
		default:
			t.Fatalf("unknown %s", in.Fn)
		}
	})
}

// validWith0x reports whether a text without 0x would be an address with it.
func validWith0x(s string) bool {
	_, err := ParseAddress("0x" + s)
	return err == nil
}

const prime = "0x800000000000011000000000000000000000000000000000000000000000001"

// A felt is refused where a library would reduce it, or read another notation: the
// same hash would stand for two escrows (§4).
func TestParseFelt(t *testing.T) {
	p := bigOf(t, prime)
	last := new(big.Int).Sub(p, big.NewInt(1))
	for s, want := range map[string]*big.Int{
		"0": {}, "0x0": {}, "0X1f": big.NewInt(31), "0x1F": big.NewInt(31), "007": big.NewInt(7),
		"0x" + strings.Repeat("0", 60) + "1": big.NewInt(1), last.String(): last, "0x" + last.Text(16): last,
		p.String(): nil, prime: nil, new(big.Int).Add(p, big.NewInt(1)).String(): nil, "0x" + strings.Repeat("f", 64): nil, "0x1" + strings.Repeat("0", 64): nil,
		"": nil, "0x": nil, "x": nil, "-1": nil, "+1": nil, " 1": nil, "1 ": nil, "1_0": nil, "0b1": nil, "0o7": nil, "1e3": nil, "0x-1": nil, "0x1_0": nil, "ff": nil,
		"٣": nil, "0x" + strings.Repeat("0", 79): nil, strings.Repeat("0", 81): nil, strings.Repeat("9", 80): nil,
	} {
		f, err := ParseFelt(s)
		if want == nil && err == nil || want != nil && (err != nil || Number(f).Cmp(want) != 0) {
			t.Errorf("%q: %s, %v; want %v", s, Hex(f), err, want)
		}
	}
	for _, n := range []*big.Int{nil, big.NewInt(-1), p, new(big.Int).Lsh(p, 9)} {
		if _, err := FeltOfBig(n); err == nil {
			t.Errorf("%v is a felt", n)
		}
	}
	if _, err := FeltOfBytes(make([]byte, 33)); err == nil {
		t.Error("33 bytes are a felt")
	}
	if f, err := FeltOfBytes(nil); err != nil || !f.IsZero() {
		t.Errorf("no bytes: %v, %v", f, err)
	}
}

// Numbers are read in the width that they have in the contracts, and nothing is left over.
func TestReaderLimits(t *testing.T) {
	wide := func(bits uint) Felt { return feltOf(t, "0x"+new(big.Int).Lsh(big.NewInt(1), bits).Text(16)) }
	for name, read := range map[string]struct {
		read func(*reader)
		in   []Felt
		ok   bool
	}{
		"64 bits":                      {func(r *reader) { r.uint(64) }, []Felt{wide(63)}, true},
		"65 bits":                      {func(r *reader) { r.uint(64) }, []Felt{wide(64)}, false},
		"33 bits":                      {func(r *reader) { r.u32() }, []Felt{wide(32)}, false},
		"128 bits":                     {func(r *reader) { r.u128() }, []Felt{wide(127)}, true},
		"129 bits":                     {func(r *reader) { r.u128() }, []Felt{wide(128)}, false},
		"half of 129 bits":             {func(r *reader) { r.u256() }, []Felt{{}, wide(128)}, false},
		"half a u256":                  {func(r *reader) { r.u256() }, []Felt{{}}, false},
		"true":                         {func(r *reader) { r.flag() }, []Felt{FeltOf(1)}, true},
		"neither true nor false":       {func(r *reader) { r.flag() }, []Felt{FeltOf(2)}, false},
		"an address":                   {func(r *reader) { r.address() }, []Felt{feltOf(t, "0x07fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffeff")}, true},
		"beyond addresses":             {func(r *reader) { r.address() }, []Felt{firstBeyond}, false},
		"a list":                       {func(r *reader) { r.span() }, []Felt{FeltOf(1), {}}, true},
		"a list that is too short":     {func(r *reader) { r.span() }, []Felt{FeltOf(2), {}}, false},
		"a list of 2^63":               {func(r *reader) { r.span() }, []Felt{wide(63), {}}, false},
		"a felt too many":              {func(r *reader) { r.felt() }, []Felt{{}, {}}, false},
		"nothing":                      {func(r *reader) { r.felt() }, nil, false},
		"a word of 33 bits":            {func(r *reader) { r.words(1) }, []Felt{wide(32)}, false},
		"bytes":                        {func(r *reader) { r.byteArray() }, []Felt{{}, FeltOf(255), FeltOf(1)}, true},
		"bytes that do not fit":        {func(r *reader) { r.byteArray() }, []Felt{{}, FeltOf(256), FeltOf(1)}, false},
		"a full word that does not":    {func(r *reader) { r.byteArray() }, []Felt{FeltOf(1), wide(248), {}, {}}, false},
		"a word left over":             {func(r *reader) { r.byteArray() }, []Felt{{}, FeltOf(5), FeltOf(31)}, false},
		"bytes without their pending":  {func(r *reader) { r.byteArray() }, []Felt{{}}, false},
		"nothing left, but a pending":  {func(r *reader) { r.byteArray() }, []Felt{{}, FeltOf(1), {}}, false},
		"2^64 bytes left over of none": {func(r *reader) { r.byteArray() }, []Felt{{}, {}, wide(64)}, false},
	} {
		r := reader{rest: slices.Clone(read.in)}
		if read.read(&r); (r.end() == nil) != read.ok {
			t.Errorf("%s: %v", name, r.err)
		}
	}
	if _, ok := fromChunks([]Felt{FeltOf(256)}, 1); ok {
		t.Error("a chunk of two bytes is read as one")
	}
	if _, ok := fromChunks(nil, -1); ok {
		t.Error("a negative length")
	}
}

// The digits of a felt are read back as that felt, up to the largest one.
func TestDecimalOfLargeFelts(t *testing.T) {
	largest := new(big.Int).Sub(bigOf(t, prime), big.NewInt(1))
	for _, below := range []int64{0, 1, 65533, 65534, 65535, 1 << 40} {
		n := new(big.Int).Sub(largest, big.NewInt(below))
		f := trial.Must(FeltOfBig(n))(t)
		if got := Decimal(f); got != n.String() {
			t.Errorf("%d below the largest felt: %s, want %s", below, got, n)
		}
	}
	if got := Decimal(Felt{}); got != "0" {
		t.Errorf("zero: %s", got)
	}
}
