package chainio

import (
	"bytes"
	"testing"

	"github.com/swapper-go/swapper/internal/swap"
	"github.com/swapper-go/swapper/internal/trial"
)

// The transaction that a caller completes is the same for the same terms, and another one
// as soon as anything changes that it follows from.
func TestRawTransactionsFollowTheirTerms(t *testing.T) {
	s := newScene(t)
	ask := func() swap.BuiltAction {
		t.Helper()
		return trial.Must(s.BuildAction(t.Context(), s.record, &swap.Fund{Vault: true}, swap.Caller{}))(t)
	}
	first := ask()
	if again := ask(); !bytes.Equal(first.Raw.PSBT, again.Raw.PSBT) || again.Raw == first.Raw {
		t.Error("the same terms give another transaction, or one that callers share")
	}
	for name, change := range map[string]func(r *swap.Record){
		"seed":   func(r *swap.Record) { r.Seed[0]++ },
		"amount": func(r *swap.Record) { r.Bitcoin.Sats++ },
		"script": func(r *swap.Record) {
			script := bytes.Clone(r.Vault.LPScript)
			script[len(script)-1]++
			r.Vault.LPScript = script
		},
		"shares":  func(r *swap.Record) { r.Vault.Shares[0]++ },
		"balance": func(r *swap.Record) { r.Vault.UTXOSats++ },
	} {
		before := ask()
		change(s.record)
		if after := ask(); bytes.Equal(before.Raw.PSBT, after.Raw.PSBT) {
			t.Errorf("%s: the transaction of other terms", name)
		}
	}
	s.record.Vault.MinFeeRate++
	if rate := ask().Raw.FeeRate; rate != s.record.Vault.MinFeeRate {
		t.Errorf("fee rate %v of other terms", rate)
	}
}
