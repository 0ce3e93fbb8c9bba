package chainio

import (
	"context"
	"errors"
	"math/big"
	"testing"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/lp"
	"github.com/swapper-go/swapper/internal/swap"
)

// refunder is a provider that is told where a payment goes back to.
type refunder struct {
	LPClient
	status lp.Status
	err    error
}

func (r refunder) SetRefundAddress(context.Context, string, string, *big.Int, string) (lp.Status, error) {
	return r.status, r.err
}

// TestRefundAddressIsToldOnce takes an address that is set already for set, a refusal
// for one, and makes nothing of an answer that was lost.
func TestRefundAddressIsToldOnce(t *testing.T) {
	done, refused, unknown := swap.Outcome{Done: true}, swap.Outcome{Refused: true}, swap.Outcome{}
	for name, c := range map[string]struct {
		lp   refunder
		want swap.Outcome
	}{
		"taken":                    {refunder{status: lp.Status{Code: lp.CodeDone}}, done},
		"set before":               {refunder{status: lp.Status{Code: lp.CodeRefundIsSet}}, done},
		"set before, as a refusal": {refunder{err: &lp.RequestError{Code: lp.CodeRefundIsSet}}, done},
		"refused":                  {refunder{err: &lp.RequestError{Code: lp.CodeNotFound}}, refused},
		"answered otherwise":       {refunder{status: lp.Status{Code: lp.CodeExpired}}, refused},
		"no answer":                {refunder{err: errors.New("no answer")}, unknown},
	} {
		r := &swap.Record{Head: swap.Head{Type: swap.TrustedFromBTC}, Gas: &swap.GasPart{RefundTo: "bc1q"}}
		got := (&Executor{LPs: c.lp}).Execute(t.Context(), r, swap.Effect{Kind: swap.SetRefund})
		if (got.Reason == "") != c.want.Done {
			t.Errorf("%s: reason %q", name, got.Reason)
		}
		if got.Reason, got.Err = "", nil; got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

// TestNothingIsSentThatIsNotThere leaves it open what becomes of an effect that
// cannot be carried out here.
func TestNothingIsSentThatIsNotThere(t *testing.T) {
	var p Executor
	one := &swap.Submission{Txs: []swap.SignedTx{{}}}
	for name, r := range map[string]*swap.Record{"no chain": {Submission: one}, "no submission": {}} {
		if o := p.Execute(t.Context(), r, swap.Effect{Kind: swap.SendTx}); o.Done || o.Refused {
			t.Errorf("%s: %+v", name, o)
		}
	}
	p.Chains = map[string]chains.Chain{"": nil}
	for name, r := range map[string]*swap.Record{"no submission": {}, "too short": {Submission: one}} {
		if o := p.Execute(t.Context(), r, swap.Effect{Kind: swap.SendTx, Step: 1}); o.Done || o.Refused {
			t.Errorf("%s: %+v", name, o)
		}
	}
	if o := p.Execute(t.Context(), &swap.Record{}, swap.Effect{Kind: swap.Publish}); !o.Refused {
		t.Errorf("without a messenger: %+v", o)
	}
}
