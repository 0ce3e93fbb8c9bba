package lightning

import (
	"cmp"
	"net/http"

	"github.com/swapper-go/swapper/internal/lightning"
)

func (s *LNURLServer) withdrawDetails(r *http.Request, f LNURLFault) (any, string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w := s.withdraws[r.PathValue("name")]
	if w == nil {
		return nil, "no such withdrawal"
	}
	if w.used {
		return nil, "this was withdrawn already"
	}
	low, high := w.MinMsat, w.MaxMsat
	if f.NoBounds {
		low, high = high+1, low
	}
	a := map[string]any{
		"tag": cmp.Or(f.Tag, "withdrawRequest"), "callback": cmp.Or(f.CallbackURL, base(r)+"/withdraw/"+w.Name+"/pay"), "k1": w.k1,
		"minWithdrawable": low, "maxWithdrawable": high, "defaultDescription": w.Description,
	}
	if f.NoK1 {
		delete(a, "k1")
	}
	return a, ""
}

// withdraw agrees to pay an invoice and starts to.
func (s *LNURLServer) withdraw(r *http.Request, f LNURLFault) (any, string) {
	text := r.FormValue("pr")
	inv, err := lightning.Decode(text)
	if err != nil || inv.AmountMsat == nil {
		return nil, "the invoice must have an amount"
	}
	if refusal := s.redeem(r.PathValue("name"), r.FormValue("k1"), text, *inv.AmountMsat, !f.NeverPay); refusal != "" {
		return nil, refusal
	}
	switch {
	case f.LoseAnswer:
		panic(http.ErrAbortHandler)
	case f.Unclear:
		return map[string]string{"status": "MAYBE"}, ""
	}
	return map[string]string{"status": "OK"}, ""
}

// redeem uses up a withdrawal and starts the payment, or says why not.
func (s *LNURLServer) redeem(name, k1, invoice string, msat int64, pay bool) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	w := s.withdraws[name]
	switch {
	case w == nil || k1 != w.k1:
		return "unknown k1"
	case w.used:
		return "this was withdrawn already"
	case msat < w.MinMsat || msat > w.MaxMsat:
		return "the amount is out of bounds"
	}
	if pay {
		if err := s.options.Node.Start(invoice, Limits{}); err != nil {
			return "the invoice cannot be paid: " + err.Error()
		}
	}
	w.used = true
	s.paid = append(s.paid, Paid{name, invoice})
	return ""
}
