package lnurl

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/lightning"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/internal/vectors"
)

// The tests of this file trip one guard at a time, at its limit and one beyond.

var actionKey = []byte("0123456789abcdef0123456789abcdef")

// sealed encrypts whole blocks, whatever they end in.
func sealed(t *testing.T, iv []byte, plain string) string {
	t.Helper()
	block := trial.Must(aes.NewCipher(actionKey))(t)
	out := make([]byte, len(plain))
	cipher.NewCBCEncrypter(block, iv).CryptBlocks(out, []byte(plain))
	return base64.StdEncoding.EncodeToString(out)
}

func TestSuccessActionLimits(t *testing.T) {
	const limit = 144
	iv := base64.StdEncoding.EncodeToString(make([]byte, 16))
	block := base64.StdEncoding.EncodeToString(make([]byte, 16))
	for _, c := range []struct {
		name   string
		action map[string]string
		ok     bool
	}{
		{"message at the limit", map[string]string{"tag": "message", "message": strings.Repeat("x", limit)}, true},
		{"message one longer", map[string]string{"tag": "message", "message": strings.Repeat("x", limit+1)}, false},
		{"description at the limit", map[string]string{"tag": "url", "description": strings.Repeat("x", limit), "url": "https://a.example/"}, true},
		{"description one longer", map[string]string{"tag": "url", "description": strings.Repeat("x", limit+1), "url": "https://a.example/"}, false},
		{"ciphertext at the limit", map[string]string{"tag": "aes", "description": "", "iv": iv, "ciphertext": strings.Repeat("A", maxCiphertext)}, true},
		{"ciphertext longer", map[string]string{"tag": "aes", "description": "", "iv": iv, "ciphertext": strings.Repeat("A", maxCiphertext+4)}, false},
		{"ciphertext with something behind it", map[string]string{"tag": "aes", "description": "", "iv": iv, "ciphertext": block + "!"}, false},
		{"iv with something behind it", map[string]string{"tag": "aes", "description": "", "iv": iv + "!", "ciphertext": block}, false},
		{"iv in two lines", map[string]string{"tag": "aes", "description": "", "iv": iv[:8] + "\n" + iv[8:], "ciphertext": block}, false},
		{"ciphertext in two lines", map[string]string{"tag": "aes", "description": "", "iv": iv, "ciphertext": block[:8] + "\r" + block[8:]}, false},
		{"https", map[string]string{"tag": "url", "description": "", "url": "https://a.example/x"}, true},
		{"http", map[string]string{"tag": "url", "description": "", "url": "http://a.example/x"}, false},
		{"http of an onion host", map[string]string{"tag": "url", "description": "", "url": "http://abcdef.onion/x"}, true},
		{"ftp of an onion host", map[string]string{"tag": "url", "description": "", "url": "ftp://abcdef.onion/x"}, false},
		{"https with user information", map[string]string{"tag": "url", "description": "", "url": "https://bank.example@a.example/"}, false},
		{"https without a host", map[string]string{"tag": "url", "description": "", "url": "https:///x"}, false},
		{"port alone", map[string]string{"tag": "url", "description": "", "url": "https://:443/x"}, false},
		{"no web address", map[string]string{"tag": "url", "description": "", "url": "https://a.example:port/"}, false},
		{"script", map[string]string{"tag": "url", "description": "", "url": "javascript://a.example/%0aalert(1)"}, false},
	} {
		a, err := parseSuccessAction(json.RawMessage(jsonOf(c.action)))
		if (err == nil) != c.ok {
			t.Errorf("%s: %+v, %v", c.name, a, err)
		}
	}
	if a, err := parseSuccessAction(json.RawMessage("{\"tag\":\"message\",\"message\":\"\xff\"}")); err == nil {
		t.Errorf("a message that is not UTF-8: %+v", a)
	}
	var a SuccessAction
	if err := json.Unmarshal([]byte(`{"tag":"message"}`), &a); err == nil {
		t.Errorf("a message without one is read as %+v", a)
	}
	if (&SuccessAction{Tag: "url", URL: "https://a.example:port/"}).onHost(&url.URL{Host: "a.example"}) {
		t.Error("what is no web address is on the callback's host")
	}
}

func TestDecipherGuards(t *testing.T) {
	iv := make([]byte, 16)
	base := base64.StdEncoding.EncodeToString
	long := strings.Repeat("y", 16)
	for _, c := range []struct {
		name, iv, ciphertext string
		key                  []byte
		want                 string
		ok                   bool
	}{
		{"one byte of padding", base(iv), sealed(t, iv, "fifteen letters\x01"), actionKey, "fifteen letters", true},
		{"a whole block of padding", base(iv), sealed(t, iv, strings.Repeat("\x10", 16)), actionKey, "", true},
		{"two blocks", base(iv), sealed(t, iv, long+"fourteen chars\x02\x02"), actionKey, long + "fourteen chars", true},
		{"no padding", base(iv), sealed(t, iv, "fifteen letters\x00"), actionKey, "", false},
		{"padding longer than a block", base(iv), sealed(t, iv, long+"fifteen letters\x11"), actionKey, "", false},
		{"padding that differs", base(iv), sealed(t, iv, "fourteen chars\x01\x02"), actionKey, "", false},
		{"not UTF-8", base(iv), sealed(t, iv, "\xff fifteen lette\x01"), actionKey, "", false},
		{"a short iv", base(iv[:15]), sealed(t, iv, "fifteen letters\x01"), actionKey, "", false},
		{"a long iv", base(append(iv, 0)), sealed(t, iv, "fifteen letters\x01"), actionKey, "", false},
		{"no text", base(iv), "", actionKey, "", false},
		{"half a block", base(iv), base(make([]byte, 8)), actionKey, "", false},
		{"a short key", base(iv), sealed(t, iv, "fifteen letters\x01"), actionKey[:31], "", false},
	} {
		text, err := (&SuccessAction{Tag: "aes", IV: c.iv, Ciphertext: c.ciphertext}).decipher(c.key)
		if (err == nil) != c.ok || text != c.want {
			t.Errorf("%s: %q, %v", c.name, text, err)
		}
	}
}

const withdrawAnswer = `{"tag":"withdrawRequest","callback":"https://service.com/cb","k1":"k","minWithdrawable":1000,"maxWithdrawable":9000,"defaultDescription":""}`

func TestFetchGuards(t *testing.T) {
	for _, c := range []struct {
		name, link, answer, from, to string
		ok                           bool
	}{
		{"a payment", "lnurlp", payAnswer, "", "", true},
		{"a withdrawal", "lnurlw", withdrawAnswer, "", "", true},
		{"a withdrawal without a minimum", "lnurlw", withdrawAnswer, `"minWithdrawable":1000,`, ``, true},
		{"a payment behind a link for a withdrawal", "lnurlw", payAnswer, "", "", false},
		{"a minimum in quotes", "lnurlw", withdrawAnswer, `1000`, `"1000"`, false},
		{"a fraction as the minimum", "lnurlw", withdrawAnswer, `1000`, `1000.5`, false},
		{"no maximum", "lnurlw", withdrawAnswer, `"maxWithdrawable":9000,`, ``, false},
		{"a negative minimum", "lnurlw", withdrawAnswer, `1000`, `-1`, false},
		{"no k1", "lnurlw", withdrawAnswer, `"k1":"k",`, ``, false},
		{"a withdrawal's callback inside", "lnurlw", withdrawAnswer, "https://service.com/cb", "https://10.0.0.1/cb", false},
		{"a withdrawal's callback over http", "lnurlw", withdrawAnswer, "https://service.com/cb", "http://service.com/cb", false},
		{"a callback that is no web address", "lnurlp", payAnswer, "https://service.com/cb", "https://service.com:port/cb", false},
		{"no metadata", "lnurlp", payAnswer, `"metadata"`, `"other"`, false},
		{"one sat at least and at most", "lnurlp", payAnswer, `9000`, `1000`, true},
		{"not one whole sat", "lnurlp", payAnswer, `"minSendable":1000,"maxSendable":9000`, `"minSendable":1001,"maxSendable":1999`, false},
		{"a maximum below the minimum", "lnurlp", payAnswer, `9000`, `999`, false},
		{"an entry of null", "lnurlp", payAnswer, `[\"text/plain\",\"x\"]`, `[null]`, false},
	} {
		answer := strings.Replace(c.answer, c.from, c.to, 1)
		if c.from != "" && answer == c.answer {
			t.Fatalf("%s: nothing to change", c.name)
		}
		client, _ := clientFor(&respond{status: 200, body: answer}, time.Unix(0, 0))
		d, err := client.Resolve(t.Context(), c.link+"://service.com/x")
		if (err == nil) != c.ok || (d != nil) != c.ok || err != nil && fault.CodeOf(err) != fault.Upstream {
			t.Errorf("%s: %+v, %v", c.name, d, err)
		}
	}
	client, _ := clientFor(&respond{status: 200, body: strings.Replace(payAnswer, `\"x\"`, `\"x\",null,5`, 1)}, time.Unix(0, 0))
	d := trial.Must(client.Resolve(t.Context(), "joe@service.com"))(t)
	if got := d.(*Pay).Params.DecodedMetadata; len(got) != 1 || !slices.Equal(got[0], []string{"text/plain", "x"}) {
		t.Errorf("metadata %q", got)
	}
	if _, err := client.Resolve(t.Context(), "joe"); !errors.Is(err, ErrNotLink) {
		t.Errorf("no link: %v", err)
	}
}

func TestCallbackGuards(t *testing.T) {
	p := PayParams{Callback: "https://service.com/cb", Metadata: "[]", MinSendable: 1000, MaxSendable: 9000}
	for _, c := range []struct {
		name   string
		change func(*PayParams)
		sats   int64
		code   fault.Code
	}{
		{"no web address", func(p *PayParams) { p.Callback = "https://service.com:port/cb" }, 5, fault.InvalidInput},
		{"nothing of a negative minimum", func(p *PayParams) { p.MinSendable = -1 }, 0, fault.Upstream},
		{"nothing of less than a sat", func(p *PayParams) { p.MinSendable, p.MaxSendable = 0, 999 }, 0, fault.Upstream},
		{"nothing of crossed bounds", func(p *PayParams) { p.MaxSendable = 999 }, 0, fault.Upstream},
	} {
		bad := p
		c.change(&bad)
		transport := &respond{status: 200, body: `{}`}
		client, _ := clientFor(transport, time.Unix(0, 0))
		if got, err := client.RequestInvoice(t.Context(), bad, c.sats, ""); fault.CodeOf(err) != c.code || transport.asked != 0 {
			t.Errorf("%s: %+v, %v, %d requests", c.name, got, err, transport.asked)
		}
	}
	client, _ := clientFor(&respond{err: context.DeadlineExceeded}, time.Unix(0, 0))
	if _, err := client.RequestInvoice(t.Context(), p, 5, ""); fault.CodeOf(err) != fault.Timeout {
		t.Errorf("a late answer: %v", err)
	}
	transport := &respond{status: 200, body: `{"status":"OK"}`}
	client, _ = clientFor(transport, time.Unix(0, 0))
	w := WithdrawParams{K1: "k", Callback: "https://service.com:port/w", MinWithdrawable: 1000, MaxWithdrawable: 9000}
	if err := client.SubmitInvoice(t.Context(), w, withdrawInvoice); fault.CodeOf(err) != fault.InvalidInput || errors.Is(err, ErrUnknownOutcome) || transport.asked != 0 {
		t.Errorf("a withdrawal to no web address: %v, %d requests", err, transport.asked)
	}
	// for 5 sats: at either bound, and one millisatoshi beyond
	for _, c := range []struct {
		low, high int64
		ok        bool
	}{{5000, 5000, true}, {5001, 9000, false}, {1000, 4999, false}} {
		w := WithdrawParams{K1: "k", Callback: "https://service.com/w", MinWithdrawable: c.low, MaxWithdrawable: c.high}
		if err := client.SubmitInvoice(t.Context(), w, withdrawInvoice); (err == nil) != c.ok {
			t.Errorf("%d to %d msat: %v", c.low, c.high, err)
		}
	}
}

// An invoice may be paid in its last second, and not when it is over.
func TestRequestInvoiceJustInTime(t *testing.T) {
	var in struct {
		Callback, Metadata string
		HTTP               canned
	}
	vectors.Load(t, "utilities", "lnurl_pay").Cases[0].Input(t, &in)
	var answer struct{ PR string }
	var body string
	for _, list := range in.HTTP.answers {
		body = string(list[0].Body)
	}
	trial.Do(t, json.Unmarshal([]byte(body), &answer))
	inv := trial.Must(lightning.Decode(answer.PR))(t)
	p := PayParams{Callback: in.Callback, Metadata: in.Metadata, MinSendable: *inv.AmountMsat, MaxSendable: *inv.AmountMsat}
	for late, ok := range map[int64]bool{-1: true, 0: false, 1: false} {
		client, _ := clientFor(&respond{status: 200, body: body}, time.Unix(inv.ExpiresAt()+late, 0))
		if _, err := client.RequestInvoice(t.Context(), p, *inv.AmountMsat/1000, ""); (err == nil) != ok {
			t.Errorf("%d s after the end: %v", late, err)
		}
	}
}
