package address

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"math/big"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/lnurl"
	"github.com/swapper-go/swapper/internal/swap"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/internal/vectors"
	"github.com/swapper-go/swapper/tokens"
)

// canned answers requests as the vectors say ("*" is any address) and remembers
// them.
type canned struct {
	answers map[string]answered
	asked   []string
}

type answered struct {
	Status int
	Body   json.RawMessage
}

// UnmarshalJSON keeps the last of several answers.
func (c *canned) UnmarshalJSON(text []byte) error {
	var byURL map[string]json.RawMessage
	if err := json.Unmarshal(text, &byURL); err != nil {
		return err
	}
	c.answers = map[string]answered{}
	for u, raw := range byURL {
		var list []json.RawMessage
		if json.Unmarshal(raw, &list) == nil && len(list) > 0 {
			raw = list[len(list)-1]
		}
		var one answered
		if err := json.Unmarshal(raw, &one); err != nil {
			return err
		}
		c.answers[u] = one
	}
	return nil
}

func (c *canned) RoundTrip(req *http.Request) (*http.Response, error) {
	c.asked = append(c.asked, req.URL.String())
	answer, ok := c.answers[req.URL.String()]
	if !ok {
		answer, ok = c.answers["*"]
	}
	if !ok {
		return nil, errors.New("nobody there")
	}
	if answer.Status == 0 {
		answer.Status = http.StatusOK
	}
	return &http.Response{StatusCode: answer.Status, Body: io.NopCloser(bytes.NewReader(answer.Body)), ContentLength: -1, Request: req}, nil
}

// tagOf is what the service behind any address says that it is.
func (c *canned) tagOf() string {
	var body struct{ Tag string }
	_ = json.Unmarshal(c.answers["*"].Body, &body)
	return body.Tag
}

func fetching(t testing.TB, network string, transport http.RoundTripper, chains ...string) *Parser {
	t.Helper()
	n := trial.Must(bitcoin.ParseNetwork(network))(t)
	p := trial.Must(New(Config{Network: n, Chains: chainsNamed(chains...),
		LNURL: lnurl.New(lnurl.Config{Network: n, Transport: transport})}))(t)
	return p
}

func TestVectorsParseAddress(t *testing.T) {
	vectors.Each(t, "utilities", "parse_address", func(t *testing.T, c *vectors.Case) {
		var in struct {
			Address, Network string
			Chains           []string
		}
		c.Input(t, &in)
		var answers struct{ HTTP json.RawMessage }
		c.Input(t, &answers)
		transport := &canned{}
		if answers.HTTP != nil {
			trial.Do(t, json.Unmarshal(answers.HTTP, &transport.answers))
		}
		p := fetching(t, in.Network, transport, in.Chains...)
		got, err := p.Parse(t.Context(), in.Address)
		want := c.Want(t)
		var theirs json.RawMessage
		c.Expected(t, &theirs)
		if strings.TrimSpace(string(theirs)) != strings.TrimSpace(string(want)) {
			detailsByAnotherLink(t, in.Network, transport, theirs)
			var says struct {
				LNURL   any
				Address string
			}
			c.Expected(t, &says)
			if says.LNURL != nil && says.Address != strings.TrimPrefix(in.Address, "lightning:") {
				t.Errorf("the reference names %q", says.Address)
			}
		}
		checkRecognised(t, c, p, in.Address, want)
		if !vectors.Refused(want) && err != nil {
			link := strings.ToLower(schemes.ReplaceAllString(trim(in.Address), ""))
			switch id, ok := refusedByRule(in.Address); {
			case ok:
				c.Differ(t, id)
			case onlyLength(in.Address):
				c.Differ(t, "evm-address-form")
			case strings.HasPrefix(link, "lnurlw://") && transport.tagOf() == "payRequest":
				c.Differ(t, "lnurl-announced-tag")
				if fault.CodeOf(err) != fault.Upstream {
					t.Errorf("code %s", fault.CodeOf(err))
				}
				detailsByAnotherLink(t, in.Network, transport, want)
			default:
				t.Error(err)
			}
			return
		}
		if vectors.Refused(want) {
			if err == nil && withoutZeros.MatchString(in.Address) && got.Type == "STARKNET" {
				c.Differ(t, "stark-address-zeros")
				return
			}
			if err == nil {
				t.Errorf("accepted as %s %s", got.Type, got.Address)
			}
			if fault.CodeOf(err) == fault.InvalidInput && len(transport.asked) > 0 {
				t.Errorf("asked %q before refusing", transport.asked)
			}
			return
		}
		sameAnswer(t, want, got)
		var out struct{ Requests []string }
		c.Expected(t, &out)
		if slices.Sort(transport.asked); out.Requests != nil && got.Address == in.Address {
			if diff := cmp.Diff(out.Requests, slices.Compact(transport.asked)); diff != "" {
				t.Errorf("requests differ (-want +got):\n%s", diff)
			}
		}
	})
}

// The reference says what it makes of a service as an address too.
func TestVectorsLNURLFetchAddress(t *testing.T) {
	var says struct{ ParseAddress json.RawMessage }
	file := vectors.Load(t, "utilities", "lnurl_fetch")
	// What is refused, or answered better, is compared with the details in lnurl.
	file.Cases = slices.DeleteFunc(file.Cases, func(c *vectors.Case) bool {
		var better any
		c.Expected(t, &says)
		return c.Member(t, "better", &better) || vectors.Refused(says.ParseAddress)
	})
	file.Each(t, func(t *testing.T, c *vectors.Case) {
		var in struct {
			LNURL string
			HTTP  canned
		}
		c.Input(t, &in)
		c.Expected(t, &says)
		got, err := fetching(t, "mainnet", &in.HTTP).Parse(t.Context(), in.LNURL)
		if err != nil {
			var sent struct{ Metadata string }
			var entries [][]any
			for _, a := range in.HTTP.answers {
				_ = json.Unmarshal(a.Body, &sent)
			}
			if c.Differ(t, "lnurl-metadata"); json.Unmarshal([]byte(sent.Metadata), &entries) == nil {
				t.Error(err)
			}
			return
		}
		// Members of a service's answer that nobody has documented are not handed on.
		var want map[string]any
		trial.Do(t, json.Unmarshal(says.ParseAddress, &want))
		params := want["lnurl"].(map[string]any)["params"].(map[string]any)
		for name := range params {
			if !slices.Contains(documented, name) {
				delete(params, name)
			}
		}
		sameAnswer(t, vectors.JSON(t, want), got)
	})
}

// documented are the members of a service's answer that have a meaning
// (protocol: utilities.md §7.1).
var documented = []string{"tag", "callback", "domain", "minSendable", "maxSendable", "metadata", "decodedMetadata", "commentAllowed", "url",
	"k1", "minWithdrawable", "maxWithdrawable", "defaultDescription", "balanceCheck", "payLink"}

// answer is what the reference says without a network call.
type answer struct {
	Type     string
	Error    bool
	SwapType int
}

// withoutCall is what the reference says of a text without a network call: what
// we say, where we accept it and it does; by its own rules where we differ. nil
// is a text in which it recognises nothing.
func withoutCall(p *Parser, text string) *answer {
	kind := ""
	r, err := p.Recognise(text)
	switch theirs := asReference(p, text); {
	case err == nil && looseLink(p, text) == (r.Type == LNURL) && (theirs == nil) == (r.Type == LNURL) && (theirs == nil || theirs.Type == r.Type):
		kind = r.Type
	case looseLink(p, text):
		kind = LNURL
	case theirs != nil:
		kind = theirs.Type
	case triedAndFailed(p, text):
		return &answer{Error: true}
	default:
		return nil
	}
	swaps := map[string]swap.Type{"BITCOIN": swap.ToBTC, "LIGHTNING": swap.ToBTCLN}
	return &answer{Type: kind, SwapType: int(swaps[kind])}
}

// detailsByAnotherLink compares what the reference made of a service's answer with
// what we make of it. Where a text is refused for its form, or spelt in a way of our
// own, the service is asked by a plain link of the kind that it answers to.
func detailsByAnotherLink(t *testing.T, network string, service *canned, theirs json.RawMessage) {
	t.Helper()
	var says struct {
		Address string
		LNURL   *struct{ Params struct{ URL string } }
	}
	trial.Do(t, json.Unmarshal(theirs, &says))
	if says.LNURL == nil {
		return
	}
	scheme := "lnurlp"
	if service.tagOf() == "withdrawRequest" {
		scheme = "lnurlw"
	}
	got := trial.Must(fetching(t, network, &canned{answers: service.answers}).Parse(t.Context(), scheme+"://service.example/x"))(t)
	if says.LNURL.Params.URL != says.Address {
		t.Errorf("the reference asks %q for %q", says.LNURL.Params.URL, says.Address)
	}
	got.Address = says.Address
	switch d := got.Details.(type) {
	case *lnurl.Pay:
		d.Params.URL = says.Address
	case *lnurl.Withdraw:
		d.Params.URL = says.Address
	}
	sameAnswer(t, theirs, got)
}

// checkRecognised checks the answer without network call: the type of the whole
// answer, or LNURL where the service decides.
func checkRecognised(t *testing.T, c *vectors.Case, p *Parser, text string, want json.RawMessage) {
	t.Helper()
	var says struct {
		answer
		Sync *answer
	}
	c.Expected(t, &says)
	if diff := cmp.Diff(withoutCall(p, text), says.Sync, cmp.AllowUnexported(answer{})); diff != "" {
		t.Errorf("without a call (-want +the reference):\n%s", diff)
	}
	if says.Type != LNURL && (says.Sync == nil || says.Sync.Type != LNURL) {
		var whole struct {
			Error         bool
			Type, Address string
			Amount        *struct {
				Amount, RawAmount, Symbol, Chain string
				Decimals                         int
			}
		}
		c.Expected(t, &whole)
		var theirs *synchronous
		if !whole.Error {
			theirs = &synchronous{Type: whole.Type, Address: whole.Address}
			if a := whole.Amount; a != nil {
				theirs.Sats = a.RawAmount
				sats, ok := new(big.Int).SetString(a.RawAmount, 10)
				if !ok || a.Decimals != 8 || a.Symbol != map[string]string{"BITCOIN": "BTC", "LIGHTNING": "BTC"}[a.Chain] || a.Chain != whole.Type ||
					sats.Sign() >= 0 && a.Amount != tokens.NewAmount(sats, tokens.BTC()).Decimal() || sats.Sign() < 0 && a.Amount != signAmong(sats.String()) {
					t.Errorf("the reference's amount is %+v", a)
				}
			}
		}
		sameAsReference(t, p, text, theirs)
	}
	r, err := p.Recognise(text)
	var whole struct{ Type string }
	trial.Do(t, json.Unmarshal(want, &whole))
	if _, refused := refusedByRule(text); (refused || onlyLength(text)) && err != nil || withoutZeros.MatchString(text) && r.Type == "STARKNET" {
		return
	}
	var out struct {
		Sync *struct {
			Type  string
			Error bool
		}
	}
	c.Expected(t, &out)
	switch {
	case whole.Type != "" && (err != nil || r.Type != whole.Type):
		t.Errorf("recognised as %q, %v; want %s", r.Type, err, whole.Type)
	case whole.Type == "" && err == nil && r.Type != LNURL:
		t.Errorf("recognised as %s, want an error", r.Type)
	case whole.Type == "" && err == nil && (out.Sync == nil || out.Sync.Type != LNURL):
		t.Error("recognised as LNURL, which the reference does not")
	}
}

// signAmong is a negative amount as the reference writes it: its sign counts as a digit.
func signAmong(sats string) string {
	sats = strings.Repeat("0", max(9-len(sats), 0)) + sats
	return sats[:len(sats)-8] + "." + sats[len(sats)-8:]
}

// sameAnswer compares an answer as parseAddress writes it. The vectors carry the
// service's parameters as sent; those that are filled in here are extra (protocol:
// utilities.md §16).
func sameAnswer(t *testing.T, want json.RawMessage, got Result) {
	t.Helper()
	text := trial.Must(json.Marshal(written(got)))(t)
	var w, g map[string]any
	trial.Do(t, errors.Join(json.Unmarshal(want, &w), json.Unmarshal(text, &g)))
	delete(w, "sync")
	delete(w, "requests")
	if wl, ok := w["lnurl"].(map[string]any); ok {
		wp, _ := wl["params"].(map[string]any)
		gl, _ := g["lnurl"].(map[string]any)
		gp, _ := gl["params"].(map[string]any)
		for _, filled := range []string{"domain", "commentAllowed", "defaultDescription"} {
			if _, sent := wp[filled]; !sent {
				delete(gp, filled)
			}
		}
	}
	if diff := cmp.Diff(w, g); diff != "" {
		t.Errorf("answer differs (-want +got):\n%s", diff)
	}
}

type wireAmount struct {
	Amount    string `json:"amount"`
	RawAmount string `json:"rawAmount"`
	Decimals  int    `json:"decimals"`
	Symbol    string `json:"symbol"`
	Chain     string `json:"chain"`
}

func wire(a *tokens.Amount) *wireAmount {
	if a == nil {
		return nil
	}
	return &wireAmount{a.Decimal(), a.Units(), a.Token.Decimals, a.Token.Ticker, a.Token.Chain}
}

func written(r Result) any {
	type link struct {
		Type             string      `json:"type"`
		Min              *wireAmount `json:"min"`
		Max              *wireAmount `json:"max"`
		CommentMaxLength *int64      `json:"commentMaxLength,omitempty"`
		ShortDescription string      `json:"shortDescription,omitempty"`
		LongDescription  string      `json:"longDescription,omitempty"`
		Icon             string      `json:"icon,omitempty"`
		Params           any         `json:"params"`
	}
	out := struct {
		Address string      `json:"address"`
		Type    string      `json:"type"`
		LNURL   *link       `json:"lnurl,omitempty"`
		Min     *wireAmount `json:"min,omitempty"`
		Max     *wireAmount `json:"max,omitempty"`
		Amount  *wireAmount `json:"amount,omitempty"`
	}{Address: r.Address, Type: r.Type, Min: wire(r.Min), Max: wire(r.Max), Amount: wire(r.Amount)}
	switch d := r.Details.(type) {
	case *lnurl.Pay:
		out.LNURL = &link{"pay", wire(sats(d.MinSats, tokens.LightningBTC())), wire(sats(d.MaxSats, tokens.LightningBTC())),
			&d.Params.CommentAllowed, d.ShortDescription, d.LongDescription, d.Icon, d.Params}
	case *lnurl.Withdraw:
		out.LNURL = &link{Type: "withdraw", Min: wire(sats(d.MinSats, tokens.LightningBTC())),
			Max: wire(sats(d.MaxSats, tokens.LightningBTC())), Params: d.Params}
	}
	return out
}

// One amount in whole sats is the amount, not a range.
func TestLinkOfOneAmount(t *testing.T) {
	transport := &canned{}
	body := `{"*":{"body":{"tag":"withdrawRequest","k1":"x","callback":"https://a.example/w","minWithdrawable":20500,"maxWithdrawable":21999}}}`
	trial.Do(t, json.Unmarshal([]byte(body), &transport.answers))
	r, err := fetching(t, "mainnet", transport).Parse(t.Context(), "lnurlw://a.example/x")
	if err != nil || r.Min != nil || r.Max != nil || r.Amount == nil || r.Amount.Units() != "21" {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestParseErrors(t *testing.T) {
	wait := roundTrip(func(req *http.Request) (*http.Response, error) {
		<-req.Context().Done()
		return nil, req.Context().Err()
	})
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := fetching(t, "mainnet", wait).Parse(ctx, "a@b.example"); fault.CodeOf(err) != fault.Timeout {
		t.Errorf("slow service: %s, %v", fault.CodeOf(err), err)
	}
	if _, err := parser(t, "mainnet").Parse(t.Context(), "a@b.example"); fault.CodeOf(err) != fault.Unsupported {
		t.Errorf("no client: %s, %v", fault.CodeOf(err), err)
	}
	if _, err := fetching(t, "mainnet", wait).Recognise("lnurlp://10.0.0.1/x"); fault.CodeOf(err) != fault.InvalidInput {
		t.Errorf("private host: %s, %v", fault.CodeOf(err), err)
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }
