package lnurl

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"math/big"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/lightning"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/internal/vectors"
	"github.com/swapper-go/swapper/tokens"
)

// canned answers requests as the vectors say and remembers them.
type canned struct {
	answers map[string][]cannedAnswer
	asked   []string
}

type cannedAnswer struct {
	Status       int
	Body         json.RawMessage
	NetworkError bool
}

func (a *canned) UnmarshalJSON(text []byte) error {
	var byURL map[string]json.RawMessage
	if err := json.Unmarshal(text, &byURL); err != nil {
		return err
	}
	a.answers = map[string][]cannedAnswer{}
	for u, raw := range byURL {
		var list []cannedAnswer
		if json.Unmarshal(raw, &list) != nil {
			list = make([]cannedAnswer, 1)
			if err := json.Unmarshal(raw, &list[0]); err != nil {
				return err
			}
		}
		a.answers[u] = list
	}
	return nil
}

func (a *canned) RoundTrip(req *http.Request) (*http.Response, error) {
	a.asked = append(a.asked, req.URL.String())
	list := a.answers[req.URL.String()]
	if list == nil {
		list = a.answers["*"]
	}
	if list == nil {
		return nil, errors.New("nobody there")
	}
	answer := list[min(len(a.asked), len(list))-1]
	if answer.NetworkError {
		return nil, errors.New("fetch failed")
	}
	body := []byte(answer.Body)
	var text string
	if json.Unmarshal(body, &text) == nil {
		body = []byte(text)
	}
	status := answer.Status
	if status == 0 {
		status = http.StatusOK
	}
	return &http.Response{StatusCode: status, ContentLength: -1, Body: io.NopCloser(bytes.NewReader(body)), Request: req}, nil
}

// clientFor returns a client on canned answers at a time, and the waits of its
// repetitions in ms.
func clientFor(transport http.RoundTripper, now time.Time) (*Client, *[]int64) {
	c := New(Config{Network: bitcoin.Mainnet, Transport: transport, Now: func() time.Time { return now }})
	delays := []int64{}
	c.retry.Jitter = func(d time.Duration) time.Duration { return d }
	c.retry.Sleep = func(_ context.Context, d time.Duration) error {
		delays = append(delays, d.Milliseconds())
		return nil
	}
	return c, &delays
}

// dateOf is when the invoices of a file are good, apart from one that is about
// expiry: just after the youngest.
func dateOf(t *testing.T, area, name string) time.Time {
	t.Helper()
	var last int64
	for _, c := range vectors.Load(t, area, name).Cases {
		var in json.RawMessage
		c.Input(t, &in)
		for _, text := range anyInvoice.FindAllString(string(in), -1) {
			if inv, err := lightning.Decode(text); err == nil {
				last = max(last, inv.Timestamp)
			}
		}
	}
	return time.Unix(last+1, 0)
}

var anyInvoice = regexp.MustCompile(`ln[0-9a-z]{150,}`)

func TestVectorsLNURLEncode(t *testing.T) {
	vectors.Each(t, "utilities", "lnurl_encode", func(t *testing.T, c *vectors.Case) {
		var in struct{ URL string }
		c.Input(t, &in)
		var want struct{ LNURL string }
		c.Expected(t, &want)
		got, err := Encode(in.URL)
		if err != nil || got != want.LNURL {
			t.Errorf("got %s, %v; want %s", got, err, want.LNURL)
		}
		if back, err := decode(got); err != nil || back != in.URL {
			t.Errorf("decoded to %s, %v", back, err)
		}
	})
}

func TestVectorsLNURLStrings(t *testing.T) {
	vectors.Each(t, "utilities", "lnurl_strings", func(t *testing.T, c *vectors.Case) {
		var in struct{ LNURL string }
		c.Input(t, &in)
		var want struct {
			IsLNURL bool
			URL     *string
			Error   bool
		}
		trial.Do(t, json.Unmarshal(c.Want(t), &want))
		checkRecognition(t, c, in.LNURL, want.IsLNURL, want.URL)
	})
}

// checkRecognition compares what Parse says of a text with what the reference,
// or the vectors' better answer, says; url is nil for an error or no link.
func checkRecognition(t *testing.T, c *vectors.Case, text string, isLink bool, wantURL *string) {
	t.Helper()
	l, err := Parse(text)
	if plain, ok := otherSpelling(text); ok && err == nil {
		if same, err := Parse(plain); err != nil || l.URL() != same.URL() {
			t.Errorf("got %s, %v; want what %s means, %s", l.URL(), err, plain, same.URL())
		}
		if wantURL == nil || *wantURL != l.URL() {
			c.Differ(t, "uri-spelling")
		}
		return
	}
	if isLink && wantURL != nil {
		if id := refusedByRule(text, *wantURL); id != "" {
			c.Differ(t, id)
			if err == nil || (id == "lnurl-anchored") != errors.Is(err, ErrNotLink) {
				t.Errorf("got %v, %v", l, err)
			}
			return
		}
		if lower := strings.ToLower(text); isPlainIdentifier(text) && lower != text {
			c.Differ(t, "lnurl-identifier-case")
			name, host, _ := strings.Cut(lower, "@")
			scheme := "https://"
			if strings.HasSuffix(host, ".onion") {
				scheme = "http://"
			}
			if want := scheme + host + "/.well-known/lnurlp/" + name; err != nil || l.URL() != want || l.Text() != lower {
				t.Errorf("got %v, %v; want %s", l, err, want)
			}
			return
		}
		if err != nil || l.URL() != *wantURL {
			t.Errorf("got %s, %v; want %s", l.URL(), err, *wantURL)
		}
	} else if err == nil {
		t.Errorf("accepted: %v", l)
	} else if wantURL != nil {
		t.Errorf("no link, and yet at %s", *wantURL)
	}
	if got := IsLink(text); got != isLink {
		t.Errorf("is a link: %v, want %v", got, isLink)
	}
	if err == nil {
		if again, err := Parse(l.Text()); err != nil || again != l {
			t.Errorf("%q reads back as %v, %v", l.Text(), again, err)
		}
	}
}

// isPlainIdentifier reports whether text has the outline of name@host and
// nothing around it.
func isPlainIdentifier(text string) bool {
	return strings.Contains(text, "@") && !strings.ContainsAny(text, " []<>:/?#")
}

// identifier is what counts as name@host: a DNS name with a dot, whose last label
// is no number.
var identifier = regexp.MustCompile(`^[a-z0-9._+-]{1,64}@([a-z0-9_-]+\.)+[a-z0-9-]*[a-z-][a-z0-9-]*$`)

// refusedByRule names the rule by which a text is refused that the reference
// asks at u, empty if there is none.
func refusedByRule(text, u string) string {
	bare := withoutScheme(strings.ToLower(text))
	web := strings.HasPrefix(bare, "https://") || strings.HasPrefix(bare, "http://")
	around := false
	switch {
	case web:
		link, err := url.Parse(bare)
		around = err != nil || !strings.HasPrefix(link.Query().Get("lightning"), "lnurl1")
	case strings.HasPrefix(bare, "lnurl1"):
		around = strings.ContainsAny(bare, " ?#&/,")
	case !strings.HasPrefix(bare, "lnurl"):
		around = !identifier.MatchString(bare)
	}
	parsed, err := url.Parse(u)
	switch {
	case around:
		return "lnurl-anchored"
	case strings.HasPrefix(bare, "lnurl1") && text != strings.ToLower(text) && text != strings.ToUpper(text) && !strings.Contains(text, ":"):
		return "lnurl-one-case"
	case err != nil, parsed.User != nil, parsed.Hostname() == "", parsed.Scheme != "https" && parsed.Scheme != "http", parsed.Query().Get("tag") == "login":
		return "lnurl-url-syntax"
	}
	return ""
}

// withoutScheme takes blanks and the lightning scheme off a text.
func withoutScheme(text string) string {
	return strings.TrimPrefix(strings.TrimPrefix(strings.TrimSpace(text), "lightning:"), "//")
}

// otherSpelling is what a text means that the reference does not recognise for
// its scheme: upper-case LUD-17, or a scheme before an identifier.
func otherSpelling(text string) (plain string, ok bool) {
	lower := strings.ToLower(text)
	for _, scheme := range []string{"lnurlp://", "lnurlw://"} {
		if rest, is := strings.CutPrefix(lower, scheme); is && !strings.HasPrefix(text, scheme) {
			return scheme + text[len(text)-len(rest):], true
		}
	}
	plain = withoutScheme(lower)
	return plain, plain != lower && identifier.MatchString(plain)
}

func TestVectorsLNURLFetch(t *testing.T) {
	vectors.Each(t, "utilities", "lnurl_fetch", func(t *testing.T, c *vectors.Case) {
		var in struct {
			LNURL string
			HTTP  canned
		}
		c.Input(t, &in)
		var want struct {
			Params, LNURL json.RawMessage
			Requests      int
			DelaysMs      []int64
		}
		c.Expected(t, &want)
		client, delays := clientFor(&in.HTTP, time.Unix(0, 0))
		d, err := client.Resolve(t.Context(), in.LNURL)
		if len(in.HTTP.asked) != want.Requests {
			t.Errorf("%d requests, want %d", len(in.HTTP.asked), want.Requests)
		}
		if diff := cmp.Diff(want.DelaysMs, *delays); diff != "" {
			t.Errorf("waits (-want +got):\n%s", diff)
		}
		var better struct{ Expected *betterFetch }
		if c.Member(t, "better", &better); better.Expected != nil {
			c.Want(t)
		}
		checkDetails(t, c, want.LNURL, better.Expected, d, err)
		checkSaidTwice(t, c, in.LNURL)
	})
}

// checkSaidTwice holds what the reference says of a service against itself: as
// its parameters, as details of a link, and as an address. Of the details, ours
// are compared with the second.
func checkSaidTwice(t *testing.T, c *vectors.Case, text string) {
	t.Helper()
	var says struct {
		Params, LNURL map[string]any
		ParseAddress  map[string]any
	}
	c.Expected(t, &says)
	if says.LNURL["error"] == true {
		if says.ParseAddress["error"] != true {
			t.Errorf("no details, and yet %v", says.ParseAddress)
		}
		return
	}
	if diff := cmp.Diff(says.LNURL["params"], any(says.Params)); diff != "" {
		t.Errorf("parameters (-details +params):\n%s", diff)
	}
	whole := map[string]any{"address": text, "type": "LNURL", "lnurl": says.LNURL}
	for _, bound := range []string{"min", "max"} {
		a, _ := says.LNURL[bound].(map[string]any)
		raw, _ := a["rawAmount"].(string)
		n, ok := new(big.Int).SetString(raw, 10)
		if !ok {
			t.Fatalf("%s is %v", bound, says.LNURL[bound])
		}
		shown := tokens.NewAmount(n, tokens.LightningBTC())
		want := map[string]any{"amount": shown.Decimal(), "rawAmount": raw, "decimals": json.Number("8"), "symbol": shown.Token.Ticker, "chain": shown.Token.Chain}
		if n.Sign() < 0 { // which the reference writes oddly
			want["amount"] = a["amount"]
		}
		if diff := cmp.Diff(want, a); diff != "" {
			t.Errorf("%s (-want +got):\n%s", bound, diff)
		}
		whole[bound] = a
	}
	if cmp.Equal(whole["min"], whole["max"]) {
		whole["amount"] = whole["min"]
		delete(whole, "min")
		delete(whole, "max")
	}
	if text, given := says.LNURL["shortDescription"]; given {
		if _, is := text.(string); !is { // of which it makes details, and no address
			whole = map[string]any{"error": true, "message": says.ParseAddress["message"]}
		}
	}
	if diff := cmp.Diff(whole, says.ParseAddress); diff != "" {
		t.Errorf("address (-want +got):\n%s", diff)
	}
}

// betterFetch are the members in which the better answer differs.
type betterFetch struct {
	Error                  bool
	MinSat, MaxSat         string
	Params                 map[string]json.RawMessage
	ShortDescriptionAbsent bool
	ParamsOnlyKnownFields  *bool
}

type wantDetails struct {
	Error            bool
	Type             string
	Min, Max         json.RawMessage // sats, or an amount with rawAmount
	CommentMaxLength int64
	ShortDescription any
	LongDescription  string
	Icon             string
	Params           map[string]json.RawMessage
}

// satsOf reads sats from a JSON string or an amount.
func satsOf(t *testing.T, raw json.RawMessage) string {
	t.Helper()
	var amount struct{ RawAmount string }
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	trial.Do(t, json.Unmarshal(raw, &amount))
	return amount.RawAmount
}

// checkDetails compares what Fetch returned with what the reference made of the
// same answer.
func checkDetails(t *testing.T, c *vectors.Case, raw json.RawMessage, better *betterFetch, d Details, err error) {
	t.Helper()
	var want wantDetails
	if e := json.Unmarshal(raw, &want); e != nil {
		t.Fatal(e)
	}
	if better == nil {
		better = &betterFetch{}
	}
	if want.Error && better.MinSat == "" || better.Error {
		if err == nil {
			t.Errorf("accepted: %+v", d)
		}
		return
	}
	var metadata string
	_ = json.Unmarshal(want.Params["metadata"], &metadata)
	var entries [][]any
	if want.Type == "pay" && json.Unmarshal([]byte(metadata), &entries) != nil {
		c.Differ(t, "lnurl-metadata")
		if err == nil {
			t.Errorf("accepted metadata %s", metadata)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	wantMin, wantMax := "", ""
	if !want.Error {
		wantMin, wantMax = satsOf(t, want.Min), satsOf(t, want.Max)
	}
	if better.MinSat != "" {
		wantMin = better.MinSat
	}
	if better.MaxSat != "" {
		wantMax = better.MaxSat
	}
	var params any
	var minMsat int64
	low, high := d.Sats()
	switch d := d.(type) {
	case *Pay:
		params, minMsat = d.Params, d.Params.MinSendable
		if want.Type != "pay" || d.Params.CommentAllowed != want.CommentMaxLength || d.LongDescription != want.LongDescription || d.Icon != want.Icon {
			t.Errorf("got %+v, want %+v", d, want)
		}
		short, _ := want.ShortDescription.(string)
		if d.ShortDescription != short {
			t.Errorf("short description %q, want %q", d.ShortDescription, short)
		}
	case *Withdraw:
		params, minMsat = d.Params, d.Params.MinWithdrawable
		if want.Type != "withdraw" && !want.Error {
			t.Errorf("a withdrawal, want %s", want.Type)
		}
	}
	if better.MinSat == "" && minMsat%1000 != 0 {
		c.Differ(t, "lnurl-sats-inside")
		if low != minMsat/1000+1 {
			t.Errorf("minimum of %d msat is %d sats", minMsat, low)
		}
	} else if itoa(low) != wantMin {
		t.Errorf("minimum %d, want %s", low, wantMin)
	}
	if wantMax != "" && itoa(high) != wantMax {
		t.Errorf("maximum %d, want %s", high, wantMax)
	}
	checkParams(t, &want, better, params)
}

// checkParams compares the raw parameters: what the reference passed through, in
// the documented members, with the fills of utilities.md §7.1.
func checkParams(t *testing.T, want *wantDetails, better *betterFetch, params any) {
	t.Helper()
	text := trial.Must(json.Marshal(params))(t)
	var got map[string]json.RawMessage
	trial.Do(t, json.Unmarshal(text, &got))
	if better.ParamsOnlyKnownFields != nil && !*better.ParamsOnlyKnownFields {
		t.Error("members that nobody has documented are to be handed on")
	}
	known := []string{"tag", "callback", "domain", "minSendable", "maxSendable", "metadata", "decodedMetadata", "commentAllowed", "url",
		"k1", "minWithdrawable", "maxWithdrawable", "defaultDescription", "balanceCheck", "payLink"}
	filled := map[string]bool{"domain": true, "commentAllowed": true, "defaultDescription": true, "minWithdrawable": true}
	for name, raw := range got {
		expected, ok := want.Params[name]
		if b, named := better.Params[name]; named {
			expected, ok = b, true
		}
		switch {
		case !slices.Contains(known, name):
			t.Errorf("unknown parameter %s", name)
		case ok && better.ShortDescriptionAbsent && name == "decodedMetadata":
			if strings.ContainsAny(string(raw), "0123456789") {
				t.Errorf("metadata %s has values that are not strings", raw)
			}
		case ok:
			vectors.SameJSON(t, expected, raw)
		case !filled[name] && !want.Error:
			t.Errorf("parameter %s = %s, which the service did not send", name, raw)
		}
	}
	for name := range want.Params {
		if _, ok := got[name]; !ok && slices.Contains(known, name) {
			t.Errorf("no parameter %s", name)
		}
	}
}

func itoa(n int64) string { return json.Number(jsonOf(n)).String() }

func jsonOf(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(text)
}
