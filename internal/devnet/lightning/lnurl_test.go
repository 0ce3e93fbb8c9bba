package lightning_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/devnet/lightning"
	"github.com/swapper-go/swapper/internal/devnet/loopback"
	bolt11 "github.com/swapper-go/swapper/internal/lightning"
	"github.com/swapper-go/swapper/internal/lnurl"
	"github.com/swapper-go/swapper/internal/trial"
)

// kit is services of a shop, and a customer.
type kit struct {
	*lightning.LNURLServer
	shop, customer *lightning.Node
	local          *lnurl.Client // over http on loopback
	secure         *lnurl.Client // over https, by name
}

func newKit(t *testing.T) kit {
	t.Helper()
	net := lightning.New(lightning.Options{})
	k := kit{shop: trial.Must(net.NewNode("shop", 1_000_000))(t), customer: trial.Must(net.NewNode("customer", 1_000_000))(t)}
	k.LNURLServer = trial.Must(lightning.StartLNURL(lightning.LNURLOptions{Node: k.shop}))(t)
	t.Cleanup(func() { _ = k.Close() })
	k.local = lnurl.New(lnurl.Config{Network: bitcoin.Regtest, AllowLocal: true})
	k.secure = lnurl.New(lnurl.Config{Network: bitcoin.Regtest, Transport: k.Transport()})
	return k
}

func alice(a *lightning.Action) lightning.Pay {
	return lightning.Pay{Name: "alice", MinMsat: 1500, MaxMsat: 100_000_000, Comment: 20, Action: a}
}

func TestEveryFormOfLinkIsPaid(t *testing.T) {
	k := newKit(t)
	links := trial.Must(k.AddPay(alice(nil)))(t)
	for text, client := range map[string]*lnurl.Client{links.LNURL: k.local, links.Secure: k.secure, links.Identifier: k.secure} {
		d := trial.Must(client.Resolve(t.Context(), text))(t)
		pay, ok := d.(*lnurl.Pay)
		if low, high := d.Sats(); !ok || low != 2 || high != 100_000 {
			t.Fatalf("%s: %+v", text, d)
		}
		p := trial.Must(client.RequestInvoice(t.Context(), pay.Params, 50, "thanks, Ω"))(t)
		paid := trial.Must(k.customer.Pay(t.Context(), p.PR, lightning.Limits{}))(t)
		issued := k.Issued()
		if last := issued[len(issued)-1]; last.Preimage != paid.Preimage || last.Comment != "thanks, Ω" || last.AmountMsat != 50_000 || last.Invoice != p.PR {
			t.Errorf("%s: %+v", text, last)
		}
	}
	if got := k.shop.BalanceSats(); got != 1_000_150 {
		t.Errorf("the shop has %d", got)
	}
}

func TestActionsAreShown(t *testing.T) {
	k := newKit(t)
	for _, a := range []lightning.Action{
		{Tag: "message", Text: "thank you"}, {Tag: "url", Description: "your ticket", Path: "/ticket"}, {Tag: "aes", Description: "your code", Text: "4711 €"},
	} {
		links := trial.Must(k.AddPay(alice(&a)))(t)
		pay := trial.Must(k.secure.Resolve(t.Context(), links.Identifier))(t).(*lnurl.Pay)
		p := trial.Must(k.secure.RequestInvoice(t.Context(), pay.Params, 10, ""))(t)
		paid := trial.Must(k.customer.Pay(t.Context(), p.PR, lightning.Limits{}))(t)
		got := p.SuccessAction.Decode(paid.Preimage[:])
		switch {
		case got == nil:
			t.Errorf("%s is not shown", a.Tag)
		case a.Tag == "message" && got.Description != a.Text,
			a.Tag == "url" && (got.URL == nil || *got.URL != "https://"+lightning.Domain+"/ticket"),
			a.Tag == "aes" && (got.Text == nil || *got.Text != a.Text || got.Description != a.Description):
			t.Errorf("%s: %+v", a.Tag, got)
		}
	}
	for name, c := range map[string]struct {
		tag string
		f   lightning.LNURLFault
	}{
		"foreign": {"url", lightning.LNURLFault{ForeignAction: true}}, "script": {"url", lightning.LNURLFault{InsecureAction: true}},
		"unknown": {"message", lightning.LNURLFault{UnknownAction: true}}, "corrupt": {"aes", lightning.LNURLFault{CorruptAction: true}},
	} {
		k.Misbehave(c.f)
		links := trial.Must(k.AddPay(alice(&lightning.Action{Tag: c.tag, Text: "secret", Path: "/x"})))(t)
		pay := trial.Must(k.secure.Resolve(t.Context(), links.Identifier))(t).(*lnurl.Pay)
		p := trial.Must(k.secure.RequestInvoice(t.Context(), pay.Params, 10, ""))(t)
		paid := trial.Must(k.customer.Pay(t.Context(), p.PR, lightning.Limits{}))(t)
		if got := p.SuccessAction.Decode(paid.Preimage[:]); got != nil {
			t.Errorf("%s: %+v is shown", name, got)
		}
	}
}

// Whatever a service lies about, the client refuses, and names it.
func TestLiesOfPayServices(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		f    lightning.LNURLFault
		says string
	}{
		"other metadata":  {lightning.LNURLFault{WrongHash: true}, "metadata"},
		"no commitment":   {lightning.LNURLFault{Plain: true}, "metadata"},
		"more":            {lightning.LNURLFault{ExtraMsat: 1}, "msat instead of"},
		"less":            {lightning.LNURLFault{ExtraMsat: -1000}, "msat instead of"},
		"no amount":       {lightning.LNURLFault{NoAmount: true}, "no amount"},
		"expired":         {lightning.LNURLFault{Expired: true}, "expired"},
		"other network":   {lightning.LNURLFault{OtherNetwork: true}, "another network"},
		"no invoice":      {lightning.LNURLFault{NoInvoice: true}, "no invoice"},
		"broken invoice":  {lightning.LNURLFault{Broken: true}, "unusable invoice"},
		"refused":         {lightning.LNURLFault{Refuse: "closed today"}, "closed today"},
		"garbage":         {lightning.LNURLFault{Callback: loopback.Fault{Garbage: true}}, "not JSON"},
		"huge":            {lightning.LNURLFault{Callback: loopback.Fault{Huge: true}}, "too large"},
		"error status":    {lightning.LNURLFault{Callback: loopback.Fault{Status: 500}}, "500"},
		"redirect to ftp": {lightning.LNURLFault{Redirect: "ftp://127.0.0.1/"}, "redirect"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newKit(t)
			links := trial.Must(k.AddPay(alice(nil)))(t)
			pay := trial.Must(k.local.Resolve(t.Context(), links.LNURL))(t).(*lnurl.Pay)
			k.Misbehave(c.f)
			ctx, cancel := context.WithTimeout(t.Context(), time.Second) // rounds of tries end with it
			defer cancel()
			_, err := k.local.RequestInvoice(ctx, pay.Params, 50, "")
			if err == nil || !strings.Contains(err.Error(), c.says) && fault.CodeOf(err) != fault.Timeout {
				t.Errorf("%v, want something about %q", err, c.says)
			}
		})
	}
}

func TestLiesOfPayServicesAboutTerms(t *testing.T) {
	t.Parallel()
	for name, f := range map[string]lightning.LNURLFault{
		"other tag": {Tag: "channelRequest"}, "withdrawal": {Tag: "withdrawRequest"}, "callback to a file": {CallbackURL: "file:///etc/passwd"}, "no bounds": {NoBounds: true},
		"bad metadata": {BadMetadata: true}, "stalls": {Details: loopback.Fault{Stall: true}}, "huge": {Details: loopback.Fault{Huge: true}},
		"down": {Details: loopback.Fault{Down: true}}, "not found": {Details: loopback.Fault{Status: 404}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newKit(t)
			links := trial.Must(k.AddPay(alice(nil)))(t)
			k.Misbehave(f)
			ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
			defer cancel()
			if d, err := k.local.Resolve(ctx, links.LNURL); err == nil {
				t.Errorf("%+v", d)
			}
		})
	}
	k := newKit(t)
	links := trial.Must(k.AddPay(alice(nil)))(t)
	guarded := lnurl.New(lnurl.Config{Network: bitcoin.Regtest})
	k.Misbehave(lightning.LNURLFault{})
	if _, err := guarded.Resolve(t.Context(), links.LNURL); fault.CodeOf(err) != fault.InvalidInput {
		t.Errorf("a client of the public network called loopback: %v", err)
	}
	k.Misbehave(lightning.LNURLFault{CallbackURL: "https://10.0.0.1/"})
	if d, err := k.secure.Resolve(t.Context(), links.Identifier); err == nil {
		t.Errorf("callback to a private address: %+v", d)
	}
}

func withdrawal(t *testing.T, k kit) (*lnurl.Withdraw, string, [32]byte) {
	t.Helper()
	links := trial.Must(k.AddWithdraw(lightning.Withdraw{Name: "voucher", MinMsat: 1000, MaxMsat: 50_000_000, Description: "a gift"}))(t)
	w := trial.Must(k.local.Resolve(t.Context(), links.LNURL))(t).(*lnurl.Withdraw)
	preimage, _ := lightning.Preimage(t.Name() + w.Params.K1)
	invoice := trial.Must(k.customer.NewInvoice(lightning.InvoiceOptions{Preimage: preimage, AmountMsat: 20_000_000}))(t)
	return w, invoice, preimage
}

func paid(t *testing.T, k kit, preimage [32]byte) bool {
	t.Helper()
	state, ok := k.customer.Invoice(sha256.Sum256(preimage[:]))
	return ok && state == lightning.Settled
}

func TestWithdraw(t *testing.T) {
	k := newKit(t)
	w, invoice, preimage := withdrawal(t, k)
	unpayable := trial.Must(k.shop.NewInvoice(lightning.InvoiceOptions{Preimage: [32]byte{8}, AmountMsat: 20_000_000}))(t) // its own
	if err := k.local.SubmitInvoice(t.Context(), w.Params, unpayable); err == nil {
		t.Error("paid itself")
	}
	if err := k.local.SubmitInvoice(t.Context(), w.Params, invoice); err != nil || !paid(t, k, preimage) {
		t.Fatal(err)
	}
	if got := k.customer.BalanceSats(); got != 1_020_000 {
		t.Errorf("the customer has %d", got)
	}
	again := trial.Must(k.customer.NewInvoice(lightning.InvoiceOptions{Preimage: [32]byte{9}, AmountMsat: 20_000_000}))(t)
	if err := k.local.SubmitInvoice(t.Context(), w.Params, again); err == nil || errors.Is(err, lnurl.ErrUnknownOutcome) {
		t.Errorf("a second withdrawal: %v", err)
	}
	if list := k.Paid(); len(list) != 1 || list[0].Invoice != invoice {
		t.Errorf("%+v", list)
	}
	if inv, err := bolt11.Decode(invoice); err != nil || *inv.AmountMsat != 20_000_000 {
		t.Error(err)
	}
}

func TestLiesOfWithdrawServices(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		f             lightning.LNURLFault
		ok, sent, any bool // no error; paid; the outcome is unknown
	}{
		"agrees and does not pay": {lightning.LNURLFault{NeverPay: true}, true, false, false},
		"pays without an answer":  {lightning.LNURLFault{LoseAnswer: true}, false, true, true},
		"pays and says maybe":     {lightning.LNURLFault{Unclear: true}, false, true, true},
		"refuses":                 {lightning.LNURLFault{Refuse: "empty"}, false, false, false},
		"stalls":                  {lightning.LNURLFault{Callback: loopback.Fault{Stall: true}}, false, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newKit(t)
			w, invoice, preimage := withdrawal(t, k)
			k.Misbehave(c.f)
			patience := time.Minute
			if c.f.Callback.Stall {
				patience = time.Second
			}
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			err := k.local.SubmitInvoice(ctx, w.Params, invoice)
			if (err == nil) != c.ok || errors.Is(err, lnurl.ErrUnknownOutcome) != c.any || paid(t, k, preimage) != c.sent {
				t.Errorf("%v, paid %v", err, paid(t, k, preimage))
			}
		})
	}
	k := newKit(t)
	links := trial.Must(k.AddWithdraw(lightning.Withdraw{Name: "voucher", MinMsat: 1000, MaxMsat: 2000}))(t)
	for name, f := range map[string]lightning.LNURLFault{"no k1": {NoK1: true}, "no bounds": {NoBounds: true}, "payment": {Tag: "payRequest"}} {
		k.Misbehave(f)
		if d, err := k.local.Resolve(t.Context(), links.LNURL); err == nil {
			t.Errorf("%s: %+v", name, d)
		}
	}
}

func TestUnknownNamesAndBadRequests(t *testing.T) {
	k := newKit(t)
	if _, err := k.secure.Resolve(t.Context(), "nobody@"+lightning.Domain); err == nil || !strings.Contains(err.Error(), "no such user") {
		t.Error(err)
	}
	links := trial.Must(k.AddPay(alice(nil)))(t)
	pay := trial.Must(k.local.Resolve(t.Context(), links.LNURL))(t).(*lnurl.Pay)
	pay.Params.MaxSendable = 1e12
	if _, err := k.local.RequestInvoice(t.Context(), pay.Params, 1e8, ""); err == nil || !strings.Contains(err.Error(), "out of bounds") {
		t.Error(err)
	}
}
