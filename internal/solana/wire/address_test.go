package wire

import (
	"errors"
	"math/big"
	"strings"
	"testing"
)

func TestAddress(t *testing.T) {
	t.Parallel()
	const good = "Hs3ePxtgaGEteZn7bwKfz4QopR7YLAbRwXTsoUygS4BH"
	for name, tc := range map[string]struct {
		text string
		err  error
	}{
		"wallet":            {good, nil},
		"42 characters":     {"1yFYZuJrbAv4JhdrgJgPkjBuTuYV1XtD6jA22d8ghx", nil},
		"program derived":   {"MsFWSVWqPbN2tkNEBcVDdjoc2JawAzZzZtqRbkenWS4", ErrOffCurve},
		"system program":    {strings.Repeat("1", 32), errZeroAddress},
		"33 zero bytes":     {strings.Repeat("1", 33), ErrKeyForm},
		"31 bytes":          {"2VUnLYxEQcSmLBruiCLAdCJP5sQxj7nbAtKYEzwbknr", ErrKeyForm},
		"33 bytes":          {"1GNt7MzQQxBje4QEStDSstgduDZ6UpBv7WeuJkqDkuuqM", ErrKeyForm},
		"2^256":             {encode(new(big.Int).Lsh(big.NewInt(1), 256)), ErrKeyForm},
		"2^256 - 1":         {encode(new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 256), big.NewInt(1))), ErrOffCurve},
		"lower case":        {strings.ToLower(good), ErrKeyForm},
		"blank":             {good + " ", ErrKeyForm},
		"letter of no base": {good[:43] + "0", ErrKeyForm},
		"empty":             {"", ErrKeyForm},
		"high byte":         {good[:43] + "\xff", ErrKeyForm},
		// y = p + 1 names the same point as y = 1 in an encoding that is not canonical.
		"point written otherwise": {encodeLE(new(big.Int).Add(curvePrime(), big.NewInt(1))), ErrOffCurve},
		// y = 1 has x = 0, of which there is no negative.
		"negative zero": {encodeLE(new(big.Int).Add(new(big.Int).Lsh(big.NewInt(1), 255), big.NewInt(1))), ErrOffCurve},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Address(tc.text)
			if !errors.Is(err, tc.err) || err == nil && got != tc.text || err != nil && got != "" {
				t.Errorf("%q, %v; want %v", got, err, tc.err)
			}
		})
	}
	if _, err := TokenAddress("MsFWSVWqPbN2tkNEBcVDdjoc2JawAzZzZtqRbkenWS4"); err != nil {
		t.Errorf("a mint off the curve: %v", err)
	}
}

func curvePrime() *big.Int {
	return new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 255), big.NewInt(19))
}

// encode writes a number in base58, without leading ones.
func encode(n *big.Int) string {
	const digits = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
	var out []byte
	for n, rest := new(big.Int).Set(n), new(big.Int); n.Sign() > 0; {
		n.DivMod(n, big.NewInt(58), rest)
		out = append([]byte{digits[rest.Int64()]}, out...)
	}
	return string(out)
}

// encodeLE writes the 32 little-endian bytes of a number in base58.
func encodeLE(n *big.Int) string {
	key := n.FillBytes(make([]byte, 32))
	for i, j := 0, 31; i < j; i, j = i+1, j-1 {
		key[i], key[j] = key[j], key[i]
	}
	zeros := 0
	for zeros < 32 && key[zeros] == 0 {
		zeros++
	}
	return strings.Repeat("1", zeros) + encode(new(big.Int).SetBytes(key))
}

func FuzzAddress(f *testing.F) {
	f.Add("Hs3ePxtgaGEteZn7bwKfz4QopR7YLAbRwXTsoUygS4BH")
	f.Add("So11111111111111111111111111111111111111112")
	f.Fuzz(func(t *testing.T, s string) {
		key, err := ParseKey(s)
		if err == nil {
			n := new(big.Int).SetBytes(key[:])
			if strings.TrimLeft(s, "1") != encode(n) {
				t.Fatalf("%q is read as %x", s, key)
			}
		}
		if _, valid := Address(s); valid == nil && err != nil {
			t.Fatalf("%q: %v", s, err)
		}
	})
}

func BenchmarkAddress(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Address("Hs3ePxtgaGEteZn7bwKfz4QopR7YLAbRwXTsoUygS4BH"); err != nil {
			b.Fatal(err)
		}
	}
}
