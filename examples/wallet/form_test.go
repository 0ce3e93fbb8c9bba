package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// before has a script run before the page's own.
func before(script string) chromedp.Action {
	return chromedp.ActionFunc(func(ctx context.Context) error {
		_, err := page.AddScriptToEvaluateOnNewDocument(script).Do(ctx)
		return err
	})
}

// Each amount can be typed and the other follows; Max, the balance and the values stand beside.
func TestAmounts(t *testing.T) {
	t.Parallel()
	p := browse(t, everyChain(t).url)
	p.until(`document.getElementById('limits').textContent !== ''`)
	p.choose("to", "CITREA-USDC")
	value := func(id string) string { return get[string](p, fmt.Sprintf(`document.getElementById(%q).value`, id)) }
	p.write("pay", "0.001")
	if got := value("receive"); got != "100" {
		t.Errorf("0.001 BTC are %q USDC, want 100 at the market's price", got)
	}
	if got := p.text("pay-value"); got != "$100.00" {
		t.Errorf("0.001 BTC are worth %q", got)
	}
	p.write("receive", "250")
	if got := value("pay"); got != "0.0025" {
		t.Errorf("250 USDC are %q BTC", got)
	}
	if got := p.text("limits"); got != "0.00001 to 0.01 BTC" {
		t.Errorf("the limits are %q", got)
	}
	p.key("max")
	if got := value("pay"); got != "0.01" {
		t.Errorf("Max is %q, not what providers take", got)
	}
	p.do(chromedp.SetValue("#currency", "sats", chromedp.ByID), chromedp.Evaluate(`document.getElementById('currency').dispatchEvent(new Event('change'))`, nil))
	if got := p.text("pay-value"); got != "1,000,000 sats" {
		t.Errorf("in sats it is %q", got)
	}
	p.do(chromedp.Reload())
	p.until(`document.body.dataset.ready === 'true' && document.getElementById('currency').value === 'sats'`)
	p.choose("from", "CITREA-CBTC")
	p.until(`document.getElementById('balance').textContent.endsWith(' CBTC')`)
}

// Fees are one sum, which unfolds to its parts.
func TestFees(t *testing.T) {
	t.Parallel()
	p := browse(t, everyChain(t).url)
	p.ask("CITREA-WBTC", "BITCOIN-BTC", "receive", "0.002")
	p.tabTo("s-fee")
	p.press("\r")
	if !get[bool](p, `document.getElementById('s-fees').open`) {
		t.Fatal("the fees do not unfold with the keyboard")
	}
	parts := get[[]string](p, `[...document.querySelectorAll('#s-fee-parts dd')].map((e) => e.textContent)`)
	sats := func(text string) (n int) {
		t.Helper()
		m := regexp.MustCompile(`^0\.(\d+) WBTC`).FindStringSubmatch(text)
		if m == nil {
			t.Fatalf("%q is not an amount of WBTC", text)
		}
		_, _ = fmt.Sscanf((m[1] + "00000000")[:8], "%d", &n)
		return n
	}
	sum := 0
	for _, part := range parts {
		sum += sats(part)
	}
	if got := sats(p.text("s-fee")); len(parts) != 2 || got != sum {
		t.Errorf("the fees are %d sats, and their parts %q", got, parts)
	}
}

// What is pasted fills in the network and the amount.
func TestPasted(t *testing.T) {
	t.Parallel()
	w := everyChain(t)
	link, err := w.WithdrawLink()
	if err != nil {
		t.Fatal(err)
	}
	address := w.User.Address("BITCOIN")
	p := browse(t, w.url)
	for _, c := range []struct{ name, text, from, to, pay, receive, recipient string }{
		{"an invoice", w.Invoice(30_000), "CITREA-WBTC", "LIGHTNING-BTC", "0.0003", "0.0003", "lnbcrt"},
		{"a lightning link", "lightning:" + w.Invoice(20_000), "CITREA-WBTC", "LIGHTNING-BTC", "0.0002", "0.0002", "lnbcrt"},
		{"a bitcoin URI", "bitcoin:" + address + "?amount=0.004", "CITREA-WBTC", "BITCOIN-BTC", "0.004", "0.004", address},
		{"an LNURL that is paid", w.PayLink(), "CITREA-WBTC", "LIGHTNING-BTC", "", "", "LNURL1"},
		{"an address of a smart chain", w.User.Address("SOLANA"), "LIGHTNING-BTC", "SOLANA-", "", "", ""},
		{"an LNURL that pays", link, "LIGHTNING-BTC", "SOLANA-", "0.01", "", ""},
	} {
		p.until(`document.getElementById('limits').textContent !== ''`)
		p.write("recipient", c.text)
		now := func() [5]string {
			return get[[5]string](p, `['from', 'to', 'pay', 'receive', 'recipient'].map((id) => document.getElementById(id).value)`)
		}
		want := [5]string{c.from, c.to, c.pay, c.receive, c.recipient}
		p.until(fmt.Sprintf(`document.getElementById('from').value === %q && document.getElementById('to').value.startsWith(%q) && (%q === '' || document.getElementById('pay').value === %[3]q) && document.getElementById('limits').textContent !== ''`, c.from, c.to, c.pay))
		got := now()
		for i := range want {
			if want[i] != "" && !strings.HasPrefix(strings.ToUpper(got[i]), strings.ToUpper(want[i])) {
				t.Errorf("%s: the form has %q, want %q", c.name, got, want)
				break
			}
		}
		if problem := p.text("recipient-problem"); problem != "" {
			t.Errorf("%s: %s", c.name, problem)
		}
	}
	p.key("ask")
	p.phase("deposit")
	p.until(`!document.getElementById('go').hidden`) // it comes once the page knows what can be verified
	if got := p.text("go"); got != "Let the link pay" {
		t.Errorf("the button of a link that pays is %q", got)
	}
	if title, words := p.text("verified-title"), p.text("verified-words"); title != "Verified by this page" || !strings.Contains(words, " over Lightning") {
		t.Errorf("of the link's payment it says %q: %q", title, words)
	}
	if got := p.finish(); got != "received" {
		t.Errorf("the link's swap ended as %q", got)
	}
}

// Where the browser reads codes, the camera fills the recipient in.
func TestScan(t *testing.T) {
	t.Parallel()
	w := everyChain(t)
	p := browse(t, w.url)
	if !get[bool](p, `document.getElementById('scan').hidden`) {
		t.Error("a browser that cannot scan has the button")
	}
	p = browse(t, w.url, before(fmt.Sprintf(`
		window.BarcodeDetector = class { async detect() { return [{ rawValue: %q }]; } };
		navigator.mediaDevices.getUserMedia = async () => new MediaStream();`, "bitcoin:"+w.User.Address("BITCOIN")+"?amount=0.0025")))
	p.until(`document.getElementById('limits').textContent !== ''`)
	p.key("scan")
	p.until(`document.getElementById('receive').value === '0.0025' && document.getElementById('to').value === 'BITCOIN-BTC'`)
	if get[bool](p, `document.getElementById('scan-dialog').open`) {
		t.Error("the camera stays open")
	}
}

// An error stands at the field that it concerns, in words of the form.
func TestErrorsAtTheirField(t *testing.T) {
	t.Parallel()
	p := browse(t, everyChain(t).url)
	p.until(`document.getElementById('limits').textContent !== ''`)
	for _, c := range []struct{ field, text, at, want string }{
		{"pay", "1e3", "pay", "Type a number, as in 0.001."},
		{"pay", "0", "pay", "Type an amount above 0."},
		{"pay", "0.000000001", "pay", "At most 8 digits after the point."},
		{"pay", "0.5", "pay", "At most 0.01 BTC."},
		{"receive", "0.000001", "receive", "At least 0.00000997 WBTC."},
		{"recipient", "nobody knows", "recipient", "This is no address, invoice, LNURL or payment link that can be used here."},
	} {
		p.write(c.field, c.text)
		if c.field != "recipient" {
			p.press("\r")
		}
		p.until(fmt.Sprintf(`document.getElementById('%s-problem').textContent !== ''`, c.at))
		if got := p.text(c.at + "-problem"); got != c.want {
			t.Errorf("%s %q: %q, want %q", c.field, c.text, got, c.want)
		}
		if at := get[string](p, `document.activeElement.id`); at != c.at || !get[bool](p, `document.activeElement.hasAttribute('aria-invalid')`) {
			t.Errorf("%s %q: the focus is at %q, and is to be at the field, which is marked", c.field, c.text, at)
		}
	}
}

// What the service refuses is said in the token's units and without the names of its fields.
func TestErrorsOfTheService(t *testing.T) {
	t.Parallel()
	var answer string
	w := own(t, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/api/createSwap" {
				next.ServeHTTP(w, r)
				return
			}
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusBadRequest)
			_, _ = w.Write([]byte(answer))
		})
	})
	p := browse(t, w.url)
	p.until(`document.getElementById('limits').textContent !== ''`)
	p.write("pay", "0.005")
	for _, c := range []struct {
		code, field, message, min, max string
		at, want                       string
	}{
		{"amount_out_of_bounds", "amount", "amount must be from 1000 to 400000 base units", "1000", "400000", "pay-", "At most 0.004 BTC."},
		{"amount_out_of_bounds", "amount", "amount must be at least 600000 base units", "600000", "", "pay-", "At least 0.006 BTC."},
		{"invalid_input", "dstAddress", "is not an address on CITREA", "", "", "recipient-", "The recipient is not an address on CITREA."},
		{"invalid_input", "dstAddress", "not a valid EVM address", "", "", "recipient-", "The recipient is not a valid EVM address."},
		{"unsupported", "", "no provider serves this pair", "", "", "", "This pair cannot be swapped now. Choose other tokens."},
		{"upstream", "", "lp: EOF", "", "", "", "No provider gave a good quote. Nothing was paid. Try again, or another amount."},
		{"timeout", "", "the deadline expired", "", "", "", "That took too long. Try again: nothing is paid twice."},
		{"internal", "", "store", "", "", "", "The service has a problem of its own. Try again in a while."},
	} {
		says := map[string]any{"code": c.code, "error": c.message}
		for name, v := range map[string]string{"field": c.field, "min": c.min, "max": c.max} {
			if v != "" {
				says[name] = v
			}
		}
		if c.field != "" {
			says["error"] = c.field + ": " + c.message
		}
		text, _ := json.Marshal(says)
		answer = string(text)
		p.key("ask")
		p.until(fmt.Sprintf(`document.getElementById('%sproblem').textContent === %q`, c.at, c.want))
		if c.code == "upstream" {
			p.look("no quote")
		}
		p.write("pay", "0.005")
		if got := p.text(c.at + "problem"); got != "" {
			t.Errorf("%s stays when the form changes: %q", c.code, got)
		}
	}
}

// What is to be paid says how often, how much and until when; a click copies it whole.
func TestDeposit(t *testing.T) {
	t.Parallel()
	p := browse(t, everyChain(t).url, before(`navigator.clipboard.writeText = async (text) => { window.copied = text; }`))
	p.ask("LIGHTNING-BTC", "STARKNET-WBTC", "pay", "0.0005")
	if got := p.text("lead"); !regexp.MustCompile(`^Once, exactly this amount, until \d\d:\d\d\.`).MatchString(got) {
		t.Errorf("the payment is described as %q", got)
	}
	if got := get[string](p, `document.getElementById('code').alt`); got != "QR code of the invoice for 0.0005 BTC" {
		t.Errorf("the code is named %q", got)
	}
	p.do(chromedp.Click("#deposit-address button", chromedp.ByQuery))
	p.until(`window.copied?.startsWith('lnbcrt500u') && document.getElementById('announce').textContent === 'Copied the invoice.'`)
	if shown := p.text("deposit-address"); len(shown) > 20 {
		t.Errorf("the invoice is shown at its whole length: %q", shown)
	}
	if !get[bool](p, `document.getElementById('s-deposit-row').hidden`) {
		t.Error("a swap without a security deposit explains one")
	}
	p.key("change")
	p.ask("LIGHTNING-BTC", "SOLANA-WBTC", "pay", "0.0005")
	if got := p.text("s-deposit-row"); !strings.Contains(got, "returns to you with the claim") {
		t.Errorf("the security deposit is explained as %q", got)
	}
}
