package lnurl

import (
	"encoding/json"
	"net/url"
	"testing"

	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/lightning"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/internal/vectors"
)

// TestVectorsFlowLNURL covers the same ground from the side of the swap types.
func TestVectorsFlowLNURL(t *testing.T) {
	now := dateOf(t, "swap-flows-escrow", "lnurl")
	vectors.Each(t, "swap-flows-escrow", "lnurl", func(t *testing.T, c *vectors.Case) {
		var in struct {
			Op, Text        string
			Answer          json.RawMessage
			HTTPStatus      int
			PayRequest      PayParams
			WithdrawRequest WithdrawParams
			AmountSats      json.Number
			Comment         string
			Invoice         string
		}
		c.Input(t, &in)
		transport := &canned{answers: map[string][]cannedAnswer{"*": {{Status: in.HTTPStatus, Body: in.Answer}}}}
		switch in.Op {
		case "callUrl":
			var want struct {
				IsLNURL bool
				CallURL json.RawMessage
			}
			c.Expected(t, &want)
			var wantURL *string
			if !vectors.Refused(want.CallURL) {
				trial.Do(t, json.Unmarshal(want.CallURL, &wantURL))
			}
			checkRecognition(t, c, in.Text, want.IsLNURL, wantURL)
		case "resolve":
			client, _ := clientFor(transport, now)
			flowResolve(t, c, client, transport, in.Text, in.Answer, in.HTTPStatus)
		case "payCallback":
			client, _ := clientFor(transport, now)
			sats := trial.Must(in.AmountSats.Int64())(t)
			got, err := client.RequestInvoice(t.Context(), in.PayRequest, sats, in.Comment)
			flowPay(t, c, transport, &in.PayRequest, in.Answer, got, err)
		case "withdrawCallback":
			client, _ := clientFor(transport, now)
			err := client.SubmitInvoice(t.Context(), in.WithdrawRequest, in.Invoice)
			flowWithdraw(t, c, transport, in.WithdrawRequest, in.Invoice, err)
		default:
			t.Fatalf("operation %s", in.Op)
		}
	})
}

func flowResolve(t *testing.T, c *vectors.Case, client *Client, transport *canned, text string, answer json.RawMessage, status int) {
	t.Helper()
	var want struct {
		Error  bool
		Result json.RawMessage
		Asked  string
	}
	c.Expected(t, &want)
	d, err := client.Resolve(t.Context(), text)
	if len(transport.asked) == 0 || transport.asked[0] != want.Asked {
		t.Errorf("asked %v, want %s", transport.asked, want.Asked)
	}
	l, _ := Parse(text)
	var head struct{ Tag Tag }
	_ = json.Unmarshal(answer, &head)
	switch {
	case want.Error:
		if err == nil {
			t.Errorf("accepted %+v", d)
		}
	case l.Wants() != "" && head.Tag != l.Wants():
		c.Differ(t, "lnurl-announced-tag")
		if err == nil {
			t.Errorf("accepted a %s for %s", head.Tag, text)
		}
	case err != nil && (status >= 300 || !goodAnswer(answer)):
		c.Differ(t, "lnurl-checked-answer")
		if fault.CodeOf(err) != fault.Upstream {
			t.Errorf("error %v", err)
		}
	default:
		checkDetails(t, c, want.Result, nil, d, err)
	}
}

// goodAnswer says whether an answer has what utilities.md §7.1 demands beyond a
// tag, as far as its numbers, k1 and callback go.
func goodAnswer(answer json.RawMessage) bool {
	var a struct {
		K1, Callback                     string
		MinSendable, MaxSendable         *int64
		MinWithdrawable, MaxWithdrawable *int64
		Tag                              Tag
		Metadata                         *string
	}
	if json.Unmarshal(answer, &a) != nil {
		return false
	}
	low, high := a.MinSendable, a.MaxSendable
	if a.Tag == TagWithdraw {
		if low, high = a.MinWithdrawable, a.MaxWithdrawable; low == nil {
			low = new(int64)
		}
	}
	u, err := url.Parse(a.Callback)
	return err == nil && u.Scheme == "https" && publicName(u.Hostname()) && (a.Tag == TagPay && a.Metadata != nil || a.K1 != "") &&
		low != nil && high != nil && *low >= 0 && *high/1000 >= 1 && (*low+999)/1000 <= *high/1000
}

func flowPay(t *testing.T, c *vectors.Case, transport *canned, p *PayParams, answer json.RawMessage, got *Payment, err error) {
	t.Helper()
	var want struct {
		Error         bool
		Invoice       string
		SuccessAction json.RawMessage
		Asked         string
	}
	c.Expected(t, &want)
	if len(transport.asked) != 1 || transport.asked[0] != want.Asked {
		t.Errorf("asked %v, want %s", transport.asked, want.Asked)
	}
	var sent struct {
		PR            string
		SuccessAction json.RawMessage
	}
	_ = json.Unmarshal(answer, &sent)
	callback, _ := url.Parse(p.Callback)
	a, bad := parseSuccessAction(sent.SuccessAction)
	hasAction := sent.SuccessAction != nil && string(sent.SuccessAction) != "null"
	if hasAction && (bad != nil || !a.onHost(callback)) {
		c.Differ(t, "lnurl-bad-action")
		if err != nil || got.PR != sent.PR || got.SuccessAction != nil {
			t.Errorf("got %+v, %v; want the invoice without an action", got, err)
		}
		return
	}
	checkPayment(t, &wantCall{Error: want.Error, Invoice: &want.Invoice, SuccessAction: want.SuccessAction}, got, err)
}

func flowWithdraw(t *testing.T, c *vectors.Case, transport *canned, w WithdrawParams, invoice string, err error) {
	t.Helper()
	var want struct {
		Error bool
		OK    bool
		Asked *string
	}
	c.Expected(t, &want)
	inv := trial.Must(lightning.Decode(invoice))(t)
	inside := *inv.AmountMsat >= w.MinWithdrawable && *inv.AmountMsat <= w.MaxWithdrawable
	if (want.Asked != nil) != inside {
		c.Differ(t, "lnurl-withdraw-msat")
		if (err == nil) != inside {
			t.Errorf("%d msat in %d..%d: %v", *inv.AmountMsat, w.MinWithdrawable, w.MaxWithdrawable, err)
		}
		return
	}
	if (err != nil) != want.Error {
		t.Errorf("error %v, want %v", err, want.Error)
	}
	if want.Asked != nil && (len(transport.asked) != 1 || transport.asked[0] != *want.Asked) {
		t.Errorf("asked %v, want %s", transport.asked, *want.Asked)
	}
}
