package members

import (
	"encoding/hex"
	"strings"
	"testing"

	"github.com/swapper-go/swapper/internal/trial"
)

func TestErrorsNameTheMember(t *testing.T) {
	data := []byte(`{"type":"evm","n":5,"no":null,"esc":"aé","hex":"0x00","inner":{"flag":"true"},"list":[]}`)
	for want, read := range map[string]func(r *Reader){
		"n: has the wrong type":                       func(r *Reader) { r.Text("n") },
		"no: is required":                             func(r *Reader) { r.Text("no") },
		"away: is required":                           func(r *Reader) { r.Flag("away") },
		"hex: must be hexadecimal without 0x":         func(r *Reader) { r.Bytes("hex") },
		"hex: encoding/hex: invalid byte: U+0078 'x'": func(r *Reader) { As(r, "hex", hex.DecodeString) },
		"list: must be a JSON object":                 func(r *Reader) { _, err := r.In("list", r.Fields["list"]); r.FailWith(err) },
		"inner.flag: has the wrong type": func(r *Reader) {
			inner, _ := r.In("inner", r.Fields["inner"])
			inner.Flag("flag")
			r.FailWith(inner.Err)
		},
		"n: is first": func(r *Reader) { r.Fail("n", "is first"); r.Fail("no", "is second") },
	} {
		r := trial.Must(ReadTyped("swap data", data, "evm", "an EVM chain"))(t)
		if r.Text("esc") != "aé" || r.Has("no") {
			t.Errorf("%q, null counts as present: %v", r.Text("esc"), r.Has("no"))
		}
		if read(&r); r.Err == nil || r.Err.Error() != want {
			t.Errorf("%v, want %q", r.Err, want)
		}
	}
}

func TestObjectsThatAreNone(t *testing.T) {
	for _, text := range []string{``, `null`, `[]`, `5`, `{"type":"sol"}`, `{}`, `{"type":"` + strings.Repeat("e", MaxText) + `"}`} {
		if r, err := ReadTyped("swap data", []byte(text), "evm", "an EVM chain"); err == nil {
			t.Errorf("%.20s is read as %v", text, r.Fields)
		}
	}
}
