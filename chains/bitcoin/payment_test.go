package bitcoin

import (
	"context"
	"errors"
	"iter"
	"testing"
	"time"

	"github.com/btcsuite/btcd/wire"
)

// known is a backend that knows some transactions; the first ones are the newest.
type known struct {
	Backend
	txs   []*Tx
	asked int
	fail  error
}

func (k *known) AddressTxs(context.Context, Address) iter.Seq2[*Tx, error] {
	return func(yield func(*Tx, error) bool) {
		for _, tx := range k.txs {
			k.asked++
			if !yield(tx, nil) {
				return
			}
		}
		if k.fail != nil {
			yield(nil, k.fail)
		}
	}
}

func (k *known) Txs(_ context.Context, ids []Hash) []Result[*Tx] {
	answers := make([]Result[*Tx], len(ids))
	for i, id := range ids {
		answers[i].Err = ErrNotFound
		for _, tx := range k.txs {
			if tx.ID == id {
				answers[i] = Result[*Tx]{Value: tx}
			}
		}
	}
	return answers
}

func paying(height uint32, values ...int64) *Tx {
	m := wire.NewMsgTx(2)
	m.AddTxIn(wire.NewTxIn(&OutPoint{Hash: Hash{byte(height), 1}}, nil, nil))
	for _, v := range values {
		m.AddTxOut(wire.NewTxOut(v, []byte{byte(height)}))
	}
	tx := &Tx{ID: m.TxHash(), Msg: m, Height: height}
	if height > 0 {
		tx.Confirmations = 100 - height
		tx.BlockTime = time.Unix(int64(height)*600, 0)
	}
	return tx
}

func TestFindPayment(t *testing.T) {
	match := func(out *wire.TxOut) bool { return out.Value == 7 }
	tests := []struct {
		name   string
		txs    []*Tx
		since  uint32
		height uint32
		vout   uint32
		ok     bool
		asked  int
	}{
		{"none", nil, 0, 0, 0, false, 0},
		{"no match", []*Tx{paying(5, 1, 2)}, 0, 0, 0, false, 1},
		{"unconfirmed", []*Tx{paying(0, 1, 7)}, 0, 0, 1, true, 1},
		{"confirmed before unconfirmed", []*Tx{paying(0, 7), paying(9, 7)}, 0, 9, 0, true, 2},
		{"lowest block", []*Tx{paying(9, 7), paying(8, 7), paying(7, 6)}, 0, 8, 0, true, 3},
		{"first output", []*Tx{paying(9, 1, 7, 7)}, 0, 9, 1, true, 1},
		{"nothing older than since", []*Tx{paying(9, 1), paying(8, 7), paying(7, 7), paying(6, 7)}, 8, 8, 0, true, 3},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			k := &known{txs: test.txs}
			p, ok, err := FindPayment(t.Context(), k, Address{}, time.Unix(int64(test.since)*600, 0), match)
			if err != nil || ok != test.ok || k.asked != test.asked {
				t.Fatalf("ok %v, asked %d, error %v; want %v, %d", ok, k.asked, err, test.ok, test.asked)
			}
			if ok && (p.Tx.Height != test.height || p.Vout != test.vout) {
				t.Errorf("height %d output %d, want %d and %d", p.Tx.Height, p.Vout, test.height, test.vout)
			}
		})
	}
	broken := &known{txs: []*Tx{paying(9, 7)}, fail: errors.New("broken")}
	if _, _, err := FindPayment(t.Context(), broken, Address{}, time.Time{}, match); err == nil {
		t.Error("a search that broke off was taken for complete")
	}
}

func TestFillPrevouts(t *testing.T) {
	parent, child := paying(5, 10, 20), paying(6, 15)
	child.Msg.TxIn[0].PreviousOutPoint = OutPoint{Hash: parent.ID, Index: 1}
	child.Prevouts = []*wire.TxOut{wire.NewTxOut(99, nil)} // a lie
	k := &known{txs: []*Tx{parent}}
	filled, err := FillPrevouts(t.Context(), k, child)
	if err != nil {
		t.Fatal(err)
	}
	if fee, ok := filled.Fee(); !ok || fee != 5 {
		t.Errorf("fee %d, %v; want 5", fee, ok)
	}
	if child.Prevouts[0].Value != 99 {
		t.Error("the shared transaction was changed")
	}
	for name, op := range map[string]OutPoint{"no such output": {Hash: parent.ID, Index: 2}, "no such parent": {Hash: Hash{9}}} {
		child.Msg.TxIn[0].PreviousOutPoint = op
		if _, err := FillPrevouts(t.Context(), k, child); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// Backends need not list by age: what is found later replaces only what is worse.
func TestFindPaymentInAnyOrder(t *testing.T) {
	match := func(out *wire.TxOut) bool { return out.Value == 7 }
	for name, c := range map[string]struct {
		txs    []*Tx
		height uint32
		vout   uint32
	}{
		"a later block":             {[]*Tx{paying(8, 7), paying(9, 1, 7)}, 8, 0},
		"an unconfirmed one":        {[]*Tx{paying(9, 7), paying(0, 1, 7)}, 9, 0},
		"another in the same block": {[]*Tx{paying(8, 7), paying(8, 1, 7)}, 8, 0},
		"another unconfirmed one":   {[]*Tx{paying(0, 7), paying(0, 1, 7)}, 0, 0},
		"an earlier block":          {[]*Tx{paying(0, 7), paying(9, 7), paying(8, 1, 7), paying(9, 7)}, 8, 1},
	} {
		p, ok, err := FindPayment(t.Context(), &known{txs: c.txs}, Address{}, time.Time{}, match)
		if err != nil || !ok || p.Tx.Height != c.height || p.Vout != c.vout {
			t.Errorf("%s: %+v, %v, %v", name, p, ok, err)
		}
	}
}

// New coins come from nowhere: their input has no parent.
func TestFillPrevoutsOfNewCoins(t *testing.T) {
	parent, child := paying(5, 10, 20), paying(6, 15)
	child.Msg.TxIn = []*wire.TxIn{{PreviousOutPoint: OutPoint{Index: wire.MaxPrevOutIndex}}, {PreviousOutPoint: OutPoint{Hash: parent.ID}}, {PreviousOutPoint: OutPoint{Hash: parent.ID, Index: 1}}}
	filled, err := FillPrevouts(t.Context(), &known{txs: []*Tx{parent}}, child)
	if err != nil {
		t.Fatal(err)
	}
	if p := filled.Prevouts; p[0] != nil || p[1].Value != 10 || p[2].Value != 20 {
		t.Errorf("%+v", p)
	}
}
