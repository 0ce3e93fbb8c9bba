package lnurl

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/httpx"
	"github.com/swapper-go/swapper/internal/trial"
)

const payAnswer = `{"tag":"payRequest","callback":"https://service.com/cb","minSendable":1000,"maxSendable":9000,"metadata":"[[\"text/plain\",\"x\"]]"}`

// respond is a transport that always answers the same.
type respond struct {
	status int
	header http.Header
	body   string
	err    error
	asked  int
}

func (r *respond) RoundTrip(req *http.Request) (*http.Response, error) {
	r.asked++
	if r.err != nil {
		return nil, r.err
	}
	return &http.Response{StatusCode: r.status, Header: r.header, ContentLength: -1, Body: io.NopCloser(strings.NewReader(r.body)), Request: req}, nil
}

func TestFetchErrors(t *testing.T) {
	answer := func(s string) *respond { return &respond{status: 200, body: s} }
	for _, tt := range []struct {
		name      string
		transport *respond
		want      fault.Code
		message   string // part of it
	}{
		{"reason", answer(`{"status":"ERROR","reason":"no such user"}`), fault.Upstream, "refused: no such user"},
		{"reason with HTTP 404", &respond{status: 404, body: `{"status":"ERROR","reason":"gone"}`}, fault.Upstream, "refused: gone"},
		{"reason with controls", answer(`{"status":"ERROR","reason":"a\u001b[31m\nb"}`), fault.Upstream, "refused: a [31m b"},
		{"endless reason", answer(`{"status":"ERROR","reason":"` + strings.Repeat("x", 90000) + `"}`), fault.Upstream, "refused: " + strings.Repeat("x", 300)},
		{"no reason", answer(`{"status":"ERROR"}`), fault.Upstream, "refused"},
		{"HTTP 500", &respond{status: 500, body: payAnswer}, fault.Upstream, "HTTP status 500"},
		{"HTTP 304", &respond{status: 304}, fault.Upstream, "HTTP status 304"},
		{"html", answer("<html>"), fault.Upstream, "not JSON"},
		{"two values", answer(payAnswer + payAnswer), fault.Upstream, "not JSON"},
		{"not UTF-8", answer("{\"tag\":\"\xff\"}"), fault.Upstream, "not JSON"},
		{"null", answer("null"), fault.Upstream, "not a JSON object"},
		{"too large", answer(`{"a":"` + strings.Repeat("x", 256<<10) + `"}`), fault.Upstream, "too large"},
		{"deep", answer(strings.Repeat("[", 200000)), fault.Upstream, "not JSON"},
		{"network", &respond{err: errors.New("connection reset")}, fault.Upstream, "could not be reached"},
		{"no such host", &respond{err: &net.DNSError{Err: "no such host", IsNotFound: true}}, fault.Upstream, "could not be reached"},
		{"time", &respond{err: context.DeadlineExceeded}, fault.Timeout, "did not respond in time"},
		{"private address", &respond{err: &httpx.AddressError{Host: "service.com", Addr: netip.MustParseAddr("10.9.8.7")}}, fault.InvalidInput, "not public"},
		{"redirect to http", &respond{status: 302, header: http.Header{"Location": {"http://service.com/"}}}, fault.Upstream, "sent a redirect that is not followed"},
		{"redirect inside", &respond{status: 302, header: http.Header{"Location": {"https://10.9.8.7/"}}}, fault.Upstream, "redirects to a host that is not allowed"},
		{"redirect to user info", &respond{status: 302, header: http.Header{"Location": {"https://a:b@service.com/"}}}, fault.Upstream, "redirects to a host that is not allowed"},
		{"other case of names", answer(strings.Replace(payAnswer, "tag", "Tag", 1)), fault.Upstream, "neither LNURL-pay nor"},
		{"callback with user info", answer(strings.Replace(payAnswer, "//service", "//a@service", 1)), fault.Upstream, "callback"},
		{"callback without host", answer(strings.Replace(payAnswer, "https://service.com/cb", "/cb", 1)), fault.Upstream, "callback"},
		{"callback to localhost", answer(strings.Replace(payAnswer, "service.com", "localhost", 1)), fault.Upstream, "callback"},
		{"exponent", answer(strings.Replace(payAnswer, "9000", "9e3", 1)), fault.Upstream, "maxSendable"},
		{"metadata of empty lists", answer(strings.Replace(payAnswer, `[\"text/plain\",\"x\"]`, `[]`, 1)), fault.Upstream, "metadata"},
		{"metadata of numbers", answer(strings.Replace(payAnswer, `\"text/plain\"`, `5`, 1)), fault.Upstream, "metadata"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, _ := clientFor(tt.transport, time.Unix(0, 0))
			d, err := c.Resolve(t.Context(), "joe@service.com")
			if d != nil || fault.CodeOf(err) != tt.want || !strings.Contains(err.Error(), tt.message) {
				t.Errorf("got %v, %s: %v; want %s: ...%s...", d, fault.CodeOf(err), err, tt.want, tt.message)
			}
			if strings.Contains(err.Error(), "10.9.8.7") || len(err.Error()) > 500 {
				t.Errorf("tells too much: %v", err)
			}
		})
	}
}

func TestWholeNumbersWithZerosAreIntegers(t *testing.T) {
	c, _ := clientFor(&respond{status: 200, body: strings.Replace(payAnswer, "9000", "9000.0", 1)}, time.Unix(0, 0))
	if d, err := c.Resolve(t.Context(), "joe@service.com"); err != nil || d.(*Pay).Params.MaxSendable != 9000 {
		t.Errorf("got %v, %v", d, err)
	}
}

func TestCheckRefusesWhatIsNotPublic(t *testing.T) {
	lnurl := func(u string) string {
		return trial.Must(Encode(u))(t)
	}
	public := New(Config{})
	local := New(Config{AllowLocal: true})
	onion := New(Config{OnionProxy: "127.0.0.1:9050"})
	for _, tt := range []struct {
		url                  string
		public, local, onion bool
	}{
		{"https://service.com/x", true, true, true},
		{"https://service.com:8443/x", true, true, true},
		{"https://1.1.1.1/x", true, true, true},
		{"https://[2606:4700::1111]/x", true, true, true},
		{"http://service.com/x", false, true, false},
		{"http://127.0.0.1:8080/x", false, true, false},
		{"https://127.0.0.1/x", false, true, false},
		{"https://127.1/x", false, true, false},
		{"https://2130706433/x", false, true, false},
		{"https://0x7f.0.0.0x1/x", false, true, false},
		{"https://localhost/x", false, true, false},
		{"https://localhost./x", false, true, false},
		{"https://a.localhost/x", false, true, false},
		{"https://printer.local/x", false, true, false},
		{"https://metadata.google.internal/x", false, true, false},
		{"https://metadata/x", false, true, false},
		{"https://10.0.0.1/x", false, true, false},
		{"https://[::1]/x", false, true, false},
		{"https://[::ffff:10.0.0.1]/x", false, true, false},
		{"https://[64:ff9b::a00:1]/x", false, true, false},
		{"https://[fe80::1%25eth0]/x", false, true, false},
		{"https://169.254.169.254/latest", false, true, false},
		{"http://abcdef.onion/x", false, false, true},
		{"https://abcdef.onion/x", false, false, true},
		{"http://abcdef.onion.example.com/x", false, true, false},
	} {
		l, err := Parse(lnurl(tt.url))
		if err != nil {
			t.Errorf("%s: %v", tt.url, err)
			continue
		}
		for _, c := range []struct {
			name   string
			client *Client
			want   bool
		}{{"public", public, tt.public}, {"local", local, tt.local}, {"onion", onion, tt.onion}} {
			if err := c.client.Check(l); (err == nil) != c.want || err != nil && fault.CodeOf(err) != fault.InvalidInput {
				t.Errorf("%s, %s: %v, want allowed: %v", tt.url, c.name, err, c.want)
			}
		}
	}
	for _, u := range []string{"https://user@service.com/", "https://user:pw@service.com/", "ftp://service.com/", "javascript:alert(1)", "https:///x", "https://",
		"service.com/x", "https://service.com/?tag=login&k1=00", "file:///etc/passwd", "gopher://127.0.0.1:70/"} {
		if l, err := Parse(lnurl(u)); err == nil || errors.Is(err, ErrNotLink) {
			t.Errorf("%s: %v, %v", u, l, err)
		}
	}
}

func TestParseForms(t *testing.T) {
	bech := "lnurl1dp68gurn8ghj77nvwyhxjme0d4uhvurzuqplas"
	for text, want := range map[string]string{ // text to Link.Text, empty: not a link
		"  " + bech + "\n": bech, "lightning:" + bech: bech, "LIGHTNING://" + strings.ToUpper(bech): strings.ToUpper(bech),
		"https://shop.example/?Lightning=" + bech + "&x=1": bech, "LNURLP://Host.example/Path?x=1": "lnurlp://Host.example/Path?x=1",
		"lnurlw://host.example": "lnurlw://host.example", "Joe.Doe+1@Pay.Example": "joe.doe+1@pay.example", "lightning:joe@pay.example": "joe@pay.example",

		"": "", "lnurl": "", "lnurl1": "", "@pay.example": "", "joe@": "", "joe@pay": "", "joe@.example": "", "joe@pay..example": "", "joe@pay.example.": "",
		"joe@10.0.0.1": "", "joe@1.0x7f": "", "joe@pay.example:80": "", "joe@pay.example/x": "", "joe@pay.example?x": "", "a@b@pay.example": "",
		"joe doe@pay.example": "", "j\u00f6e@pay.example": "", strings.Repeat("a", 65) + "@pay.example": "", "-@-.example": "",
		"https://shop.example/": "", "https://shop.example/?lightning=lnbc1": "", "https://shop.example/?lightning=" + bech + "&lightning=" + bech: "", "https://shop.example/?lightning=" + bech + "&Lightning=" + bech: "",
		"lnurlc://host.example": "", "lnurla://host.example?tag=login": "", "keyauth://host.example": "", "lnurlp:host.example": "", "bitcoin:" + bech: "",
		strings.Repeat("a", 9000): "",
	} {
		l, err := Parse(text)
		if want == "" {
			if !errors.Is(err, ErrNotLink) || fault.CodeOf(err) != fault.InvalidInput {
				t.Errorf("%.40q: %v, %v", text, l, err)
			}
			continue
		}
		if err != nil || l.Text() != want {
			t.Errorf("%.40q: %q, %v; want %q", text, l.Text(), err, want)
		}
	}
}

// TestNamesOfPrivateAddresses goes through the client's own transport: a name
// that looks public resolves to the test's listener.
func TestNamesOfPrivateAddresses(t *testing.T) {
	var hits atomic.Int32
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		hits.Add(1)
		_, _ = io.WriteString(w, payAnswer)
	}))
	t.Cleanup(s.Close)
	addr := netip.MustParseAddrPort(s.Listener.Addr().String())
	c := New(Config{})
	c.http.Transport = httpx.Guard{Resolver: fixed{addr.Addr()}}.Transport()
	_, err := c.Resolve(t.Context(), fmt.Sprintf("lnurlp://rebind.example:%d/x", addr.Port()))
	if fault.CodeOf(err) != fault.InvalidInput || hits.Load() != 0 {
		t.Errorf("%v, %d requests", err, hits.Load())
	}
	local := New(Config{AllowLocal: true})
	d, err := local.Resolve(t.Context(), encoded(t, fmt.Sprintf("http://%s/x", addr)))
	if err != nil || d.(*Pay).Params.Domain != "127.0.0.1" || hits.Load() != 1 {
		t.Errorf("allowed: %v, %v, %d requests", d, err, hits.Load())
	}
}

type fixed []netip.Addr

func (f fixed) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) { return f, nil }

func encoded(t *testing.T, u string) string {
	t.Helper()
	return trial.Must(Encode(u))(t)
}

func TestFetchEndsWithTheContext(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil { // a body without end
			_, _ = io.WriteString(w, " ")
			w.(http.Flusher).Flush()
			time.Sleep(time.Millisecond)
		}
	}))
	t.Cleanup(s.Close)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	start := time.Now()
	_, err := New(Config{AllowLocal: true}).Resolve(ctx, encoded(t, s.URL))
	if fault.CodeOf(err) != fault.Timeout || time.Since(start) > 30*time.Second {
		t.Errorf("%v after %v", err, time.Since(start))
	}
}

// withdrawInvoice is for 5 sats on mainnet; see the vectors.
const withdrawInvoice = "lnbc50n1pj48ugqpp56k6d9a2704pzvgwxeltj93dn8ryjfl0azn03zctsvfc5kfevghpqsp5ydv64gczr9gp0vlpzhpan9n8rwucyn45rzlch58d0tq6yl679axs9qypqsqdqsw3jhxapqw9e8gumsrdvs444ar8sdkrrusuqml2z7sln8zgm0n8agtxkftmkjwpjcw26hlqnw6rrv4eajjfu9fz859h8yne8h97k6ccy822qc2nfywrhuj8sqm277ea"

func TestSubmitInvoiceTellsWhatIsKnown(t *testing.T) {
	w := WithdrawParams{K1: "hush-hush", Callback: "https://service.com/w", MinWithdrawable: 1000, MaxWithdrawable: 9000}
	for _, tt := range []struct {
		name      string
		transport *respond
		code      fault.Code
		unknown   bool
	}{
		{"yes", &respond{status: 200, body: `{"status":"OK"}`}, "", false},
		{"no", &respond{status: 200, body: `{"status":"ERROR","reason":"used"}`}, fault.Upstream, false},
		{"no with HTTP 400", &respond{status: 400, body: `{"status":"ERROR","reason":"used"}`}, fault.Upstream, false},
		{"neither", &respond{status: 200, body: `{}`}, fault.Upstream, true},
		{"ok in lower case", &respond{status: 200, body: `{"status":"ok"}`}, fault.Upstream, true},
		{"yes with HTTP 500", &respond{status: 500, body: `{"status":"OK"}`}, fault.Upstream, true},
		{"html", &respond{status: 200, body: `<html>`}, fault.Upstream, true},
		{"connection lost", &respond{err: io.ErrUnexpectedEOF}, fault.Upstream, true},
		{"late", &respond{err: context.DeadlineExceeded}, fault.Timeout, true},
		{"redirect", &respond{status: 302, header: http.Header{"Location": {"http://service.com/"}}}, fault.Upstream, true},
	} {
		c, _ := clientFor(tt.transport, time.Unix(0, 0))
		err := c.SubmitInvoice(t.Context(), w, withdrawInvoice)
		if fault.CodeOf(err) != tt.code || errors.Is(err, ErrUnknownOutcome) != tt.unknown || tt.transport.asked != 1 {
			t.Errorf("%s: %v (%s), %d requests; want %s, unknown: %v", tt.name, err, fault.CodeOf(err), tt.transport.asked, tt.code, tt.unknown)
		}
		if err != nil && strings.Contains(err.Error(), w.K1) {
			t.Errorf("%s: the error tells k1: %v", tt.name, err)
		}
	}
	for name, change := range map[string]func(*WithdrawParams, *string){
		"above":         func(w *WithdrawParams, _ *string) { w.MaxWithdrawable = 4999 },
		"below":         func(w *WithdrawParams, _ *string) { w.MinWithdrawable = 5001 },
		"no k1":         func(w *WithdrawParams, _ *string) { w.K1 = "" },
		"http":          func(w *WithdrawParams, _ *string) { w.Callback = "http://service.com/w" },
		"inside":        func(w *WithdrawParams, _ *string) { w.Callback = "https://192.168.1.1/w" },
		"other network": func(_ *WithdrawParams, pr *string) { *pr = "lntb" + *pr },
		"no invoice":    func(_ *WithdrawParams, pr *string) { *pr = "hello" },
	} {
		transport := &respond{status: 200, body: `{"status":"OK"}`}
		c, _ := clientFor(transport, time.Unix(0, 0))
		bad, pr := w, withdrawInvoice
		change(&bad, &pr)
		err := c.SubmitInvoice(t.Context(), bad, pr)
		if err == nil || errors.Is(err, ErrUnknownOutcome) || transport.asked != 0 {
			t.Errorf("%s: %v, %d requests", name, err, transport.asked)
		}
	}
	c, _ := clientFor(&respond{}, time.Unix(0, 0))
	c.network = bitcoin.Testnet4
	if err := c.SubmitInvoice(t.Context(), w, withdrawInvoice); fault.CodeOf(err) != fault.InvalidInput {
		t.Errorf("mainnet invoice on testnet: %v", err)
	}
}

// TestWithdrawalIsSentOnce uses a server that takes the request and hangs up, on
// a connection that has served before: the usual transport would repeat it.
func TestWithdrawalIsSentOnce(t *testing.T) {
	l := trial.Must(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer l.Close()
	var requests atomic.Int32
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				r := bufio.NewReader(conn)
				for {
					if _, err := http.ReadRequest(r); err != nil {
						return
					}
					if requests.Add(1) > 1 {
						return // taken, and no answer
					}
					_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 15\r\n\r\n{\"status\":\"OK\"}")
				}
			}()
		}
	}()
	c := New(Config{AllowLocal: true})
	w := WithdrawParams{K1: "k", Callback: "http://" + l.Addr().String(), MinWithdrawable: 1000, MaxWithdrawable: 9000}
	trial.Do(t, c.SubmitInvoice(t.Context(), w, withdrawInvoice))
	if err := c.SubmitInvoice(t.Context(), w, withdrawInvoice); !errors.Is(err, ErrUnknownOutcome) {
		t.Errorf("second: %v", err)
	}
	if n := requests.Load(); n != 2 {
		t.Errorf("%d requests for two withdrawals", n)
	}
}

func TestRequestInvoiceBounds(t *testing.T) {
	p := PayParams{Callback: "https://service.com/cb", Metadata: "[]", MinSendable: 1500, MaxSendable: 3999, CommentAllowed: 3}
	for _, tt := range []struct {
		name    string
		sats    int64
		comment string
		code    fault.Code
		asked   int
	}{
		{"below", 1, "", fault.AmountOutOfBounds, 0},
		{"above", 4, "", fault.AmountOutOfBounds, 0},
		{"zero", 0, "", fault.AmountOutOfBounds, 0},
		{"negative", -2, "", fault.AmountOutOfBounds, 0},
		{"overflow", 1<<63 - 1, "", fault.AmountOutOfBounds, 0},
		{"long comment", 2, "four", fault.InvalidInput, 0},
		{"two emoji are four units", 2, "\U0001f600\U0001f600", fault.InvalidInput, 0},
		{"three umlauts", 2, "\u00fc\u00fc\u00fc", fault.Upstream, 1}, // asked; the answer is no invoice
		{"lowest", 2, "", fault.Upstream, 1},
		{"highest", 3, "", fault.Upstream, 1},
	} {
		transport := &respond{status: 200, body: `{}`}
		c, _ := clientFor(transport, time.Unix(0, 0))
		_, err := c.RequestInvoice(t.Context(), p, tt.sats, tt.comment)
		if fault.CodeOf(err) != tt.code || transport.asked != tt.asked {
			t.Errorf("%s: %v, %d requests; want %s, %d", tt.name, err, transport.asked, tt.code, tt.asked)
		}
	}
	c, _ := clientFor(&respond{}, time.Unix(0, 0))
	_, err := c.RequestInvoice(t.Context(), p, 9, "")
	if e, ok := errors.AsType[*fault.Error](err); !ok || e.Min.Int64() != 2 || e.Max.Int64() != 3 {
		t.Errorf("bounds %v", err)
	}
}

func TestOnionSchemes(t *testing.T) {
	for text, want := range map[string]string{
		"lnurlp://abc.onion": "http://abc.onion", "lnurlp://abc.onion?x=1": "http://abc.onion?x=1", "lnurlw://ABC.Onion:81/x": "http://ABC.Onion:81/x",
		"lnurlp://host.example/abc.onion": "https://host.example/abc.onion", "lnurlp://host.example?abc.onion": "https://host.example?abc.onion",
		"lnurlp://host.example:443?x=http://abc.onion": "https://host.example:443?x=http://abc.onion", "joe@abc.onion": "http://abc.onion/.well-known/lnurlp/joe",
	} {
		if l, err := Parse(text); err != nil || l.URL() != want {
			t.Errorf("%s: %s, %v; want %s", text, l.URL(), err, want)
		}
	}
}
