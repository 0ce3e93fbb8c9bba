package psbt

import (
	"encoding/json"
	"testing"

	"github.com/btcsuite/btcd/wire"

	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/internal/vectors"
)

func TestVectorsSizes(t *testing.T) {
	vectors.Each(t, "bitcoin", "sizes", func(t *testing.T, c *vectors.Case) {
		var in struct {
			Kind, Type   string
			ScriptLength *int
			Inputs       []string
			Outputs      []json.RawMessage
			ChangeType   string
		}
		c.Input(t, &in)
		var want struct {
			Bytes, Sats float64
			Error       bool
		}
		c.Expected(t, &want)
		typ, err := typeNamed(in.Type)
		switch in.Kind {
		case "input":
			if (err != nil) != want.Error || err == nil && inputVBytes(typ) != want.Bytes {
				t.Errorf("input %q: %v vB, error %v, want %+v", in.Type, inputVBytes(typ), err, want)
			}
		case "output":
			n := typ.ScriptLen()
			if in.ScriptLength != nil {
				n, err = *in.ScriptLength, nil
			}
			if (err != nil) != want.Error || err == nil && outputVBytes(n) != want.Bytes {
				t.Errorf("output: %v vB, error %v, want %+v", outputVBytes(n), err, want)
			}
		case "dust":
			if float64(typ.DustLimit()) != want.Sats {
				t.Errorf("dust limit %d, want %v", typ.DustLimit(), want.Sats)
			}
		case "tx":
			var d Draft
			for _, name := range in.Inputs {
				d.Required = append(d.Required, Coin{Type: addressType(t, name)})
			}
			for _, raw := range in.Outputs {
				var n int
				var name string
				if json.Unmarshal(raw, &n) != nil {
					trial.Do(t, json.Unmarshal(raw, &name))
					n = addressType(t, name).ScriptLen()
				}
				d.Outputs = append(d.Outputs, wire.TxOut{PkScript: make([]byte, n)})
			}
			if in.ChangeType != "" {
				d.Change = addressType(t, in.ChangeType)
			}
			if got := d.vbytes(d.Required); got != want.Bytes {
				t.Errorf("transaction of %v vB, want %v", got, want.Bytes)
			}
		default:
			t.Fatalf("unknown kind %q", in.Kind)
		}
	})
}
