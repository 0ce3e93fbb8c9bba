package lnurl

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/internal/vectors"
)

func FuzzParse(f *testing.F) {
	for _, c := range vectors.Load(f, "utilities", "lnurl_strings").Cases {
		var in struct{ LNURL string }
		c.Input(f, &in)
		f.Add(in.LNURL)
		f.Add("lightning:" + in.LNURL)
		f.Add("https://shop.example/?lightning=" + in.LNURL)
	}
	c := New(Config{})
	f.Fuzz(func(t *testing.T, text string) {
		l, err := Parse(text)
		if err != nil {
			if fault.CodeOf(err) != fault.InvalidInput || l != (Link{}) {
				t.Errorf("%q: %v, %v", text, l, err)
			}
			return
		}
		if again, err := Parse(l.Text()); err != nil || again != l {
			t.Errorf("%q, text %q, reads back as %v, %v", text, l.Text(), again, err)
		}
		if c.Check(l) == nil && !strings.HasPrefix(strings.ToLower(l.URL()), "https://") {
			t.Errorf("%q may be asked at %s", text, l.URL())
		}
	})
}

func FuzzEncode(f *testing.F) {
	f.Add("https://service.com/x?y=z")
	f.Fuzz(func(t *testing.T, u string) {
		text := trial.Must(Encode(u))(t)
		if back, err := decode(text); utf8.ValidString(u) && (err != nil || back != u) {
			t.Errorf("%q comes back as %q, %v", u, back, err)
		}
	})
}

// FuzzFetch is about the first answer of a service: pay and withdraw bodies.
func FuzzFetch(f *testing.F) {
	for _, c := range vectors.Load(f, "utilities", "lnurl_fetch").Cases {
		var in struct{ HTTP canned }
		c.Input(f, &in)
		for _, list := range in.HTTP.answers {
			f.Add(list[0].Status, string(list[0].Body))
		}
	}
	l := trial.Must(Parse("lnurlp://service.com/x"))(f)
	l.want = ""
	f.Fuzz(func(t *testing.T, status int, body string) {
		transport := &respond{status: http.StatusOK, body: body}
		if status%4 == 0 {
			transport.status = 200 + status%300
		}
		c, _ := clientFor(transport, time.Unix(0, 0))
		d, err := c.Fetch(t.Context(), l)
		if err != nil {
			if d != nil || fault.CodeOf(err) == fault.Internal || len(err.Error()) > 2000 {
				t.Errorf("%v, code %s: %v", d, fault.CodeOf(err), err)
			}
			return
		}
		if low, high := d.Sats(); low < 1 || high < low {
			t.Errorf("bounds %d to %d", low, high)
		}
		text, err := json.Marshal(d)
		if err != nil || !json.Valid(text) {
			t.Errorf("%s, %v", text, err)
		}
		switch d := d.(type) {
		case *Pay:
			if d.Params.DecodedMetadata == nil || d.Params.Domain != "service.com" || d.MinSats*1000 < d.Params.MinSendable || d.MaxSats*1000 > d.Params.MaxSendable {
				t.Errorf("%+v", d)
			}
			// The callback passed: it can be asked.
			transport.body = `{}`
			transport.status = http.StatusOK
			if _, err := c.RequestInvoice(t.Context(), d.Params, d.MaxSats, ""); fault.CodeOf(err) != fault.Upstream {
				t.Errorf("callback %s: %v", d.Params.Callback, err)
			}
		case *Withdraw:
			if d.Params.K1 == "" || d.MinSats*1000 < d.Params.MinWithdrawable || d.MaxSats*1000 > d.Params.MaxWithdrawable {
				t.Errorf("%+v", d)
			}
		}
	})
}

// FuzzCallbacks is about the answers to an amount and to an invoice.
func FuzzCallbacks(f *testing.F) {
	var good PayParams
	for i, c := range vectors.Load(f, "utilities", "lnurl_pay").Cases {
		var in struct {
			Callback, Metadata string
			HTTP               canned
		}
		c.Input(f, &in)
		if i == 0 {
			good = PayParams{Callback: in.Callback, Metadata: in.Metadata, MinSendable: 1, MaxSendable: 1 << 60}
		}
		for _, list := range in.HTTP.answers {
			f.Add(string(list[0].Body))
		}
	}
	f.Add(`{"status":"OK"}`)
	w := WithdrawParams{K1: "hush-hush", Callback: "https://service.com/w", MinWithdrawable: 1000, MaxWithdrawable: 9000}
	f.Fuzz(func(t *testing.T, body string) {
		c, _ := clientFor(&respond{status: http.StatusOK, body: body}, time.Unix(0, 0))
		p, err := c.RequestInvoice(t.Context(), good, 700, "")
		if err == nil {
			if *p.Invoice.AmountMsat != 700_000 {
				t.Errorf("invoice for %d msat", *p.Invoice.AmountMsat)
			}
		} else if fault.CodeOf(err) != fault.Upstream {
			t.Errorf("%s: %v", fault.CodeOf(err), err)
		}
		transport := &respond{status: http.StatusOK, body: body}
		c, _ = clientFor(transport, time.Unix(0, 0))
		err = c.SubmitInvoice(t.Context(), w, withdrawInvoice)
		_, refused := errors.AsType[*serviceError](err)
		if transport.asked != 1 || err != nil && refused == errors.Is(err, ErrUnknownOutcome) {
			t.Errorf("%d requests, %v", transport.asked, err)
		}
	})
}

func FuzzSuccessAction(f *testing.F) {
	for _, c := range vectors.Load(f, "utilities", "lnurl_success_action").Cases {
		var in actionCase
		c.Input(f, &in)
		f.Add([]byte(in.SuccessAction), []byte("0123456789abcdef0123456789abcdef"))
	}
	f.Fuzz(func(t *testing.T, raw, preimage []byte) {
		a, err := parseSuccessAction(raw)
		if err != nil {
			if a != nil {
				t.Errorf("both %+v and %v", a, err)
			}
			return
		}
		checkRoundTrip(t, a)
		d := a.Decode(preimage)
		if d != nil && (len(preimage) != 32 || utf16Length(d.Description) > 144 || d.Text != nil && !utf8.ValidString(*d.Text)) {
			t.Errorf("decoded to %+v with %d bytes", d, len(preimage))
		}
		if d == nil && len(preimage) == 32 && a.Tag != "aes" {
			t.Errorf("%+v is not decoded", a)
		}
	})
}

func FuzzDecipher(f *testing.F) {
	f.Add("xrJdnv09Fd3ABMl3BkDP/A==", "Me45QXg7l5p+3OoVlmQhbQ==", []byte("0123456789abcdef0123456789abcdef"))
	f.Add("", "", []byte{})
	f.Fuzz(func(t *testing.T, ciphertext, iv string, key []byte) {
		if text, err := (&SuccessAction{Ciphertext: ciphertext, IV: iv}).decipher(key); err == nil && (!utf8.ValidString(text) || len(text) > len(ciphertext)) {
			t.Errorf("deciphered to %q", text)
		}
	})
}
