package chainio

import (
	"context"
	"errors"
	"testing"

	"github.com/btcsuite/btcd/wire"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/lp/lphttp"
	"github.com/swapper-go/swapper/internal/swap"
)

// oneTx is a backend that gives one answer for every transaction.
type oneTx struct {
	bitcoin.Backend
	answer bitcoin.Result[*bitcoin.Tx]
}

func (b oneTx) Txs(_ context.Context, ids []bitcoin.Hash) []bitcoin.Result[*bitcoin.Tx] {
	answers := make([]bitcoin.Result[*bitcoin.Tx], len(ids))
	for i := range answers {
		answers[i] = b.answer
	}
	return answers
}

// TestOnlyConfirmedPaymentsAreProven builds no step on a payment that is not in a
// block, and leaves the plan that it was given as it was.
func TestOnlyConfirmedPaymentsAreProven(t *testing.T) {
	msg := wire.NewMsgTx(2)
	msg.AddTxIn(&wire.TxIn{})
	msg.AddTxOut(&wire.TxOut{Value: 1})
	for name, c := range map[string]struct {
		answer bitcoin.Result[*bitcoin.Tx]
		proven bool
	}{
		"confirmed": {bitcoin.Result[*bitcoin.Tx]{Value: &bitcoin.Tx{Msg: msg, Confirmations: 1, Height: 7, BlockHash: bitcoin.Hash{3}}}, true},
		"waiting":   {bitcoin.Result[*bitcoin.Tx]{Value: &bitcoin.Tx{Msg: msg}}, false},
		"not found": {bitcoin.Result[*bitcoin.Tx]{Err: bitcoin.ErrNotFound}, false},
		"no answer": {bitcoin.Result[*bitcoin.Tx]{Err: errors.New("no answer")}, false},
	} {
		w := New(nil, oneTx{answer: c.answer}, lphttp.NewClient(lphttp.Options{}))
		given := &chains.Payment{TxID: bitcoin.Hash{1}}
		plan := chains.Plan{Steps: []chains.Step{{}, {Payment: given}}}
		err := w.prove(t.Context(), &plan)
		w.Close()
		if (err == nil) != c.proven || given.Raw != nil {
			t.Errorf("%s: %v", name, err)
		}
		if p := plan.Steps[1].Payment; c.proven && (len(p.Raw) == 0 || p.Height != 7 || p.Block != (bitcoin.Hash{3})) {
			t.Errorf("%s: proven as %+v", name, p)
		}
	}
}

// TestNothingIsBuiltForAnUnknownChain names the chain that is not configured.
func TestNothingIsBuiltForAnUnknownChain(t *testing.T) {
	w := New(nil, oneTx{}, lphttp.NewClient(lphttp.Options{}))
	defer w.Close()
	r := &swap.Record{Vault: &swap.VaultPart{}, Bitcoin: &swap.BitcoinPart{}}
	r.Chain = "NOWHERE"
	for _, a := range []swap.Action{&swap.Sign{}, &swap.Fund{Vault: true}} {
		if todo, err := w.BuildAction(t.Context(), r, a, swap.Caller{}); err == nil {
			t.Errorf("%T: %+v", a, todo)
		}
	}
	if _, err := w.IDs(r, []string{"00"}); err == nil {
		t.Error("transactions of a chain that is not configured have ids")
	}
}
