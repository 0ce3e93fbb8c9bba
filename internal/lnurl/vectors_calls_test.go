package lnurl

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/internal/vectors"
)

// wantCall is the outcome of a callback; a better answer may name only the
// members that differ.
type wantCall struct {
	Error         bool
	OK            bool
	Invoice       *string
	SuccessAction json.RawMessage
	URL           *string
	URLHas        string
	Requests      *int
	DelaysMs      []int64
}

// merged returns the expected outcome with the better answer's members on top.
func merged(t *testing.T, c *vectors.Case) wantCall {
	t.Helper()
	var want wantCall
	c.Expected(t, &want)
	var better struct{ Expected json.RawMessage }
	if !c.Member(t, "better", &better) {
		return want
	}
	c.Want(t)
	var b struct {
		Error    *bool
		OK       *bool
		Requests *int
	}
	trial.Do(t, errors.Join(json.Unmarshal(better.Expected, &b), json.Unmarshal(better.Expected, &want)))
	switch {
	case b.Requests != nil:
		want.DelaysMs = nil
	case b.Error != nil && *b.Error:
		want.URL, want.Requests = nil, nil // where it is refused, before or after asking, is ours to choose
	case b.OK != nil, bytes.Contains(better.Expected, []byte(`"successAction"`)):
		want.Error, want.URL, want.Requests, want.DelaysMs = false, nil, nil, nil
	}
	if want.URLHas != "" {
		want.URL = nil
	}
	return want
}

func TestVectorsLNURLPay(t *testing.T) {
	now := dateOf(t, "utilities", "lnurl_pay")
	vectors.Each(t, "utilities", "lnurl_pay", func(t *testing.T, c *vectors.Case) {
		var in struct {
			Callback, Metadata string
			AmountSats         json.Number
			Comment            string
			HTTP               canned
		}
		c.Input(t, &in)
		want := merged(t, c)
		client, delays := clientFor(&in.HTTP, now)
		sats := trial.Must(in.AmountSats.Int64())(t)
		p := PayParams{Callback: in.Callback, Metadata: in.Metadata, MinSendable: 1, MaxSendable: 1 << 60, CommentAllowed: 1000}
		got, err := client.RequestInvoice(t.Context(), p, sats, in.Comment)
		checkPayment(t, &want, got, err)
		checkCalls(t, &want, in.HTTP.asked, *delays)
	})
}

func checkPayment(t *testing.T, want *wantCall, got *Payment, err error) {
	t.Helper()
	if want.Error {
		if err == nil {
			t.Errorf("accepted %+v", got)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	if want.Invoice != nil && got.PR != *want.Invoice {
		t.Errorf("invoice %s, want %s", got.PR, *want.Invoice)
	}
	if want.SuccessAction != nil {
		vectors.SameJSON(t, want.SuccessAction, got.SuccessAction)
	}
}

func checkCalls(t *testing.T, want *wantCall, asked []string, delays []int64) {
	t.Helper()
	if want.Requests != nil && len(asked) != *want.Requests {
		t.Errorf("%d requests, want %d", len(asked), *want.Requests)
	}
	if want.URL != nil && (len(asked) == 0 || asked[0] != *want.URL) {
		t.Errorf("asked %v, want %s", asked, *want.URL)
	}
	if want.URLHas != "" && (len(asked) == 0 || !strings.Contains(asked[0], want.URLHas)) {
		t.Errorf("asked %v, want %s in it", asked, want.URLHas)
	}
	if want.DelaysMs != nil {
		if diff := cmp.Diff(want.DelaysMs, delays); diff != "" {
			t.Errorf("waits (-want +got):\n%s", diff)
		}
	}
}

func TestVectorsLNURLWithdraw(t *testing.T) {
	vectors.Each(t, "utilities", "lnurl_withdraw", func(t *testing.T, c *vectors.Case) {
		var in struct {
			K1, Callback                     string
			MinWithdrawable, MaxWithdrawable int64
			Invoice                          string
			HTTP                             canned
		}
		c.Input(t, &in)
		want := merged(t, c)
		client, delays := clientFor(&in.HTTP, time.Unix(0, 0))
		w := WithdrawParams{K1: in.K1, Callback: in.Callback, MinWithdrawable: in.MinWithdrawable, MaxWithdrawable: in.MaxWithdrawable}
		err := client.SubmitInvoice(t.Context(), w, in.Invoice)
		if (err != nil) != want.Error {
			t.Errorf("error %v, want %v", err, want.Error)
		}
		checkCalls(t, &want, in.HTTP.asked, *delays)
	})
}
