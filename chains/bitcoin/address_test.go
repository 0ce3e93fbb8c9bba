package bitcoin

import (
	"bytes"
	"encoding/hex"
	"errors"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/btcutil/bech32"
	"github.com/btcsuite/btcd/txscript"

	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/internal/vectors"
)

// networkNamed reads the names that the vectors use.
func networkNamed(t testing.TB, name string) Network {
	t.Helper()
	return trial.Must(ParseNetwork(name))(t)
}

func TestVectorsAddresses(t *testing.T) {
	vectors.Each(t, "bitcoin", "addresses", func(t *testing.T, c *vectors.Case) {
		var in struct{ Network, Address string }
		c.Input(t, &in)
		var want struct {
			ValidAddress bool
			Type         string
			OutputScript *string
		}
		c.Expected(t, &want)
		a, err := ParseAddress(in.Address, networkNamed(t, in.Network))
		if isOffCurve(in.Address) && want.ValidAddress {
			c.Differ(t, "bitcoin-address-off-curve")
			if err == nil || !a.IsZero() || want.OutputScript != nil {
				t.Fatalf("accepted an address without a script: %v", a)
			}
			return
		}
		if (err == nil) != want.ValidAddress {
			t.Fatalf("ParseAddress: %v, want valid %v", err, want.ValidAddress)
		}
		if err != nil {
			if want.Type != "" || want.OutputScript != nil {
				t.Errorf("no address, and yet %s %v", want.Type, want.OutputScript)
			}
			return
		}
		if a.Type().String() != want.Type || hex.EncodeToString(a.Script()) != *want.OutputScript {
			t.Fatalf("got %s %x, want %s %s", a.Type(), a.Script(), want.Type, *want.OutputScript)
		}
		back, err := AddressFromScript(a.Script(), a.Network())
		if err != nil || back != a {
			t.Fatalf("script gives back %v, %v", back, err)
		}
		if !strings.EqualFold(a.String(), in.Address) {
			t.Fatalf("text %s, want %s", a, in.Address)
		}
	})
}

// isOffCurve reports whether s is a taproot address but for its key.
func isOffCurve(s string) bool {
	_, words, checksum, err := bech32.DecodeGeneric(s)
	if err != nil || checksum != bech32.VersionM || len(words) == 0 || words[0] != 1 {
		return false
	}
	key, err := bech32.ConvertBits(words[1:], 5, 8, false)
	return err == nil && len(key) == 32 && !onCurve(key)
}

func TestVectorsScripts(t *testing.T) {
	vectors.Each(t, "bitcoin", "scripts", func(t *testing.T, c *vectors.Case) {
		var in struct{ Network, Script string }
		c.Input(t, &in)
		var want struct{ Address, Type string }
		c.Expected(t, &want)
		script := vectors.Unhex(t, in.Script)
		a, err := AddressFromScript(script, networkNamed(t, in.Network))
		if !canonicalPushes(script) && want.Address != "" {
			c.Differ(t, "bitcoin-script-canonical")
			if err == nil {
				t.Fatalf("accepted a push that is not canonical: %v", a)
			}
			return
		}
		if got := a.String(); got != want.Address || (err == nil) != (want.Address != "") {
			t.Fatalf("got %q, %v, want %q", got, err, want.Address)
		}
		if typ, _, ok := parseScript(script); ok != (want.Type != "") || ok && typ.String() != want.Type {
			t.Fatalf("type %s, %v, want %q", typ, ok, want.Type)
		}
	})
}

// canonicalPushes reports whether every push of a script is in its shortest form.
func canonicalPushes(script []byte) bool {
	b := txscript.NewScriptBuilder()
	for s := txscript.MakeScriptTokenizer(0, script); s.Next(); {
		if s.Data() != nil {
			b.AddData(s.Data())
		} else {
			b.AddOp(s.Opcode())
		}
	}
	shortest, err := b.Script()
	return err == nil && bytes.Equal(shortest, script)
}

func TestAddressRefuses(t *testing.T) {
	const good = "bc1q7nwayk2pm4qf0s36ctq7a6u5pqtvtua7luz5q0"
	for name, s := range map[string]string{
		"empty":              "",
		"space before":       " " + good,
		"newline after":      good + "\n",
		"mixed case":         "bc1Q" + good[4:],
		"mixed case hrp":     "Bc1" + good[3:],
		"scheme":             "bitcoin:" + good,
		"long":               strings.Repeat("1", 75),
		"nul":                good[:20] + "\x00" + good[21:],
		"not ascii":          "1rpi76VvnWJxx524xs9sT4gjm6DZTWVé",
		"separator repeated": "bc11q7nwayk2pm4qf0s36ctq7a6u5pqtvtua7luz5q0",
	} {
		if a, err := ParseAddress(s, Mainnet); err == nil {
			t.Errorf("%s: accepted %q as %v", name, s, a)
		}
	}
	for _, tt := range []struct{ text, want string }{
		{good[:20] + "q" + good[21:], "not a valid Bitcoin address: checksum mismatch: a character is wrong or missing"},
		{"36AvndvdHbzvbTd3JGgYiBqGJbHxazVxSU", "not a valid Bitcoin address: checksum mismatch: a character is wrong or missing"},
		{"not an address at all", "not a valid Bitcoin address: it is neither base58 nor a segwit address that begins with bc1"},
		{"tb1qrllwru2yrz89uqq6nua7jpwpz72g4v5hqr3pru", "wrong Bitcoin network: the address is for testnet3 or testnet4 or signet, expected one for mainnet"},
	} {
		if _, err := ParseAddress(tt.text, Mainnet); err == nil || err.Error() != tt.want {
			t.Errorf("%s: %v, want %q", tt.text, err, tt.want)
		}
	}
	if _, err := ParseAddress(good, Testnet4); !errors.Is(err, ErrOtherNetwork) {
		t.Errorf("mainnet's address on testnet4: %v", err)
	}
	if _, err := ParseAddress(good, Network(9)); err == nil {
		t.Error("accepted an unknown network")
	}
	if _, err := AddressFromScript(vectors.Unhex(t, "0014f4ddd25941dd4097c23ac2c1eeeb940816c5f3be"), -1); err == nil {
		t.Error("accepted an unknown network")
	}
	if _, err := NewAddress(P2TR, make([]byte, 32), Mainnet); err == nil {
		t.Error("accepted a taproot key off the curve")
	}
	if _, err := NewAddress(P2WPKH, make([]byte, 32), Mainnet); err == nil {
		t.Error("accepted a program of the wrong length")
	}
	var zero Address
	if zero.Script() != nil || zero.Program() != nil || zero.String() != "" {
		t.Error("the zero address has content")
	}
}

func TestAddressUpperCase(t *testing.T) {
	const s = "bc1q7nwayk2pm4qf0s36ctq7a6u5pqtvtua7luz5q0"
	a, err := ParseAddress(strings.ToUpper(s), Mainnet)
	if err != nil || a.String() != s {
		t.Fatalf("got %v, %v", a, err)
	}
}

func TestAddressTypes(t *testing.T) {
	for typ := P2PKH; typ.Valid(); typ++ {
		if typ.String() == "unknown" || typ.DustLimit() == 0 || typ.ScriptLen() == 0 {
			t.Errorf("%s: dust %d, length %d", typ, typ.DustLimit(), typ.ScriptLen())
		}
	}
	var none AddressType
	if none.Valid() || none.String() != "unknown" || none.DustLimit() != 0 || none.ScriptLen() != 0 {
		t.Error("the zero type is not empty")
	}
}

func TestParseHashAndOutPoint(t *testing.T) {
	const text = "000000000019d6689c085ae165831e934ff763ae46a2a6c172b3f1b60a8ce26f"
	h, err := ParseHash(text)
	if err != nil || h.String() != text || h[0] != 0x6f || h[31] != 0 {
		t.Fatalf("got %v, %v", h, err)
	}
	for _, bad := range []string{"", text[1:], text + "0", "0x" + text[2:], text[:63] + "g"} {
		if _, err := ParseHash(bad); err == nil {
			t.Errorf("accepted %q", bad)
		}
	}
	op, err := ParseOutPoint(text + ":4294967295")
	if err != nil || op.String() != text+":4294967295" {
		t.Fatalf("got %v, %v", op, err)
	}
	for _, bad := range []string{text, text + ":", text + ":4294967296", text + ":00", text + ":-1", text + ":1 ", ":" + text + "1"} {
		if _, err := ParseOutPoint(bad); err == nil {
			t.Errorf("accepted %q", bad)
		}
	}
}

func FuzzParseAddress(f *testing.F) {
	for _, s := range []string{"1rpi76VvnWJxx524xs9sT4gjm6DZTWVi8", "39C61Yw1WuzuaseCnxnH4WwVBvVGZ7uy7W",
		"bc1q7nwayk2pm4qf0s36ctq7a6u5pqtvtua7luz5q0", "bc1qx3n970k3vn8nq6u0uqtfg2cpjn9tlhd6lezhfxgj75tjnmup6zxsjygc3m",
		"bc1p64dapkmltmugkjtqf95n0x9fzkrvnske0fd7huawy660v8mfnj7q4t2m58", "myhUfdEdDNpoERs8qmyqgeVu7VaskGAtiT",
		"bcrt1qrgsy5d3v4x4tvd8y7g9xx46k7ky65wrntyeua4", "bc1pfeessrawgf"} {
		for n := range params {
			f.Add(s, n)
		}
	}
	f.Fuzz(func(t *testing.T, s string, n int) {
		a, err := ParseAddress(s, Network(n))
		if err != nil {
			return
		}
		back, err := AddressFromScript(a.Script(), a.Network())
		if err != nil || back != a {
			t.Fatalf("%q: script gives back %v, %v", s, back, err)
		}
		if again, err := ParseAddress(a.String(), a.Network()); err != nil || again != a {
			t.Fatalf("%q: text gives back %v, %v", s, again, err)
		}
	})
}

func FuzzScriptType(f *testing.F) {
	for _, s := range []string{"76a9145db2aad8e8e471fb98ce3ec7ea5c5efeca952d7688ac", "a9145df8fef21a0d5bd33ec51a8dd0e28c1379b6cdad87",
		"001407ad64187203385a37615ea2afd01e97bd3aede4", "0020e1446f7ed45574e8215888e907b4cff82d1288b2efd9f7928ef9245421394d8c",
		"5120d9865e585aa5e5125dc2c49d6a4664b40a2b772c5cf560cdf780b5275814af34", "51024e73", "0014aabb"} {
		f.Add(vectors.Unhex(f, s))
	}
	f.Fuzz(func(t *testing.T, script []byte) {
		typ, _, ok := parseScript(script)
		a, err := AddressFromScript(script, Testnet4)
		if ok != (err == nil) || a.Type() != typ {
			t.Fatalf("%x: %v %v, address %v %v", script, typ, ok, a, err)
		}
		if ok && !bytes.Equal(a.Script(), script) {
			t.Fatalf("%x comes back as %x", script, a.Script())
		}
	})
}

func BenchmarkParseAddress(b *testing.B) {
	for name, s := range map[string]string{
		"p2pkh":  "1rpi76VvnWJxx524xs9sT4gjm6DZTWVi8",
		"p2sh":   "39C61Yw1WuzuaseCnxnH4WwVBvVGZ7uy7W",
		"p2wpkh": "bc1q7nwayk2pm4qf0s36ctq7a6u5pqtvtua7luz5q0",
		"p2wsh":  "bc1qx3n970k3vn8nq6u0uqtfg2cpjn9tlhd6lezhfxgj75tjnmup6zxsjygc3m",
		"p2tr":   "bc1p64dapkmltmugkjtqf95n0x9fzkrvnske0fd7huawy660v8mfnj7q4t2m58",
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := ParseAddress(s, Mainnet); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func FuzzParseOutPoint(f *testing.F) {
	const txid = "000000000019d6689c085ae165831e934ff763ae46a2a6c172b3f1b60a8ce26f"
	for _, s := range []string{txid, txid + ":0", txid + ":4294967295", txid + ":01", strings.ToUpper(txid) + ":7"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if op, err := ParseOutPoint(s); err == nil && op.String() != strings.ToLower(s) {
			t.Fatalf("%q reads as %s", s, op)
		}
		if h, err := ParseHash(s); err == nil && h.String() != strings.ToLower(s) {
			t.Fatalf("%q reads as %s", s, h)
		}
	})
}
