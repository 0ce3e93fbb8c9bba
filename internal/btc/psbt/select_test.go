package psbt

import (
	"errors"
	"slices"
	"testing"

	"github.com/btcsuite/btcd/wire"
	"github.com/google/go-cmp/cmp"

	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/internal/vectors"
)

func coins(t *testing.T, list []coinJSON) []Coin {
	t.Helper()
	var out []Coin
	for _, j := range list {
		out = append(out, j.coin(t))
	}
	return out
}

// outputJSON is an output to be paid, or one that came out: a type or a script.
type outputJSON struct {
	Type   string  `json:"type,omitempty"`
	Script *string `json:"script,omitempty"` // may be empty
	Value  int64   `json:"value"`
}

func (j outputJSON) txOut(t *testing.T) wire.TxOut {
	t.Helper()
	if j.Script != nil {
		return wire.TxOut{Value: j.Value, PkScript: make([]byte, len(*j.Script)/2)}
	}
	return wire.TxOut{Value: j.Value, PkScript: make([]byte, addressType(t, j.Type).ScriptLen())}
}

func txOuts(t *testing.T, list []outputJSON) []wire.TxOut {
	t.Helper()
	var out []wire.TxOut
	for _, j := range list {
		out = append(out, j.txOut(t))
	}
	return out
}

// selectInput is the input of the vector files about coin selection.
type selectInput struct {
	Strategy       string
	UTXOs          []coinJSON
	RequiredInputs []coinJSON
	Outputs        []outputJSON
	FeeRate        float64
	ChangeType     string
	CPFPAddFee     float64
}

func (in selectInput) draft(t *testing.T) Draft {
	t.Helper()
	d := Draft{Required: coins(t, in.RequiredInputs), Outputs: txOuts(t, in.Outputs), FeeRate: in.FeeRate}
	if in.ChangeType != "" {
		d.Change = addressType(t, in.ChangeType)
	}
	return d
}

// compareSelection compares with the expected JSON; extra are further members.
func compareSelection(t *testing.T, c *vectors.Case, in selectInput, sel Selection, err error, extra map[string]any) {
	t.Helper()
	got := map[string]any{"selected": err == nil}
	var short *notEnoughError
	switch {
	case err == nil:
		inputs, outputs := []string{}, append([]outputJSON{}, in.Outputs...)
		for _, c := range sel.Inputs {
			inputs = append(inputs, c.OutPoint.String())
		}
		if sel.Change > 0 {
			outputs = append(outputs, outputJSON{Type: in.ChangeType, Value: sel.Change})
		}
		got["inputs"], got["outputs"], got["fee"], got["effectiveFeeRate"] = inputs, outputs, sel.Fee, sel.FeeRate
	case errors.As(err, &short):
		got["fee"] = short.Fee
	default:
		got = map[string]any{"error": true}
	}
	for k, v := range extra {
		got[k] = v
	}
	vectors.SameJSON(t, numbers(t, c.Want(t)), got)
}

func TestVectorsCoinSelection(t *testing.T) {
	vectors.Each(t, "bitcoin", "coinselect", func(t *testing.T, c *vectors.Case) {
		var in selectInput
		c.Input(t, &in)
		list := coins(t, in.UTXOs)
		before := slices.Clone(list)
		sel, err := selectCoins(in.draft(t), list)
		compareSelection(t, c, in, sel, err, nil)
		if diff := cmp.Diff(before, list); diff != "" {
			t.Errorf("the caller's coins were changed:\n%s", diff)
		}
	})
}

func TestVectorsCoinSelectionStrategies(t *testing.T) {
	vectors.Each(t, "bitcoin", "coinselect_strategies", func(t *testing.T, c *vectors.Case) {
		var in selectInput
		c.Input(t, &in)
		p := trial.Must(newPurse(in.draft(t), coins(t, in.UTXOs)))(t)
		sel, err := p.accumulate()
		if in.Strategy == "blackjack" {
			sel, err = p.blackjack()
		}
		compareSelection(t, c, in, sel, err, nil)
	})
}

func TestVectorsCoinSelectionFinish(t *testing.T) {
	vectors.Each(t, "bitcoin", "coinselect_finalize", func(t *testing.T, c *vectors.Case) {
		var in selectInput
		c.Input(t, &in)
		names, kept := []string{}, []Coin{}
		for _, coin := range coins(t, in.UTXOs) {
			if !coin.detrimental(in.FeeRate, parentFee(coin.CPFP, in.FeeRate)) {
				names, kept = append(names, coin.OutPoint.String()), append(kept, coin)
			}
		}
		p := trial.Must(newPurse(in.draft(t), kept))(t)
		sel, err := p.finish(kept, in.CPFPAddFee)
		compareSelection(t, c, in, sel, err, map[string]any{"keptAfterDetrimentalFilter": names})
	})
}

func TestVectorsMaxSpendable(t *testing.T) {
	vectors.Each(t, "bitcoin", "max_sendable", func(t *testing.T, c *vectors.Case) {
		var in struct {
			UTXOs, RequiredInputs []coinJSON
			AdditionalOutputs     []struct {
				Value        int64
				ScriptLength int
				Type         string
			}
			Output  struct{ Type string }
			FeeRate float64
		}
		c.Input(t, &in)
		d := Draft{Required: coins(t, in.RequiredInputs), FeeRate: in.FeeRate}
		for _, o := range in.AdditionalOutputs {
			n := o.ScriptLength
			if n == 0 {
				n = addressType(t, o.Type).ScriptLen()
			}
			d.Outputs = append(d.Outputs, wire.TxOut{Value: o.Value, PkScript: make([]byte, n)})
		}
		got, err := MaxSpendable(d, addressType(t, in.Output.Type), coins(t, in.UTXOs))
		if err != nil {
			vectors.SameJSON(t, c.Want(t), map[string]any{"error": true})
			return
		}
		vectors.SameJSON(t, numbers(t, c.Want(t)), map[string]any{"value": got.Value, "fee": got.Fee, "balance": got.Balance()})
	})
}
