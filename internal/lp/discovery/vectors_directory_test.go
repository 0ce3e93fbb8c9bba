package discovery

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"math/big"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/google/go-cmp/cmp"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/evm/wire"
	"github.com/swapper-go/swapper/internal/flowtest"
	"github.com/swapper-go/swapper/internal/lp"
	"github.com/swapper-go/swapper/internal/lp/lphttp"
	solwire "github.com/swapper-go/swapper/internal/solana/wire"
	starkwire "github.com/swapper-go/swapper/internal/starknet/wire"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/internal/vectors"
	"github.com/swapper-go/swapper/tokens"
)

// testChain is a chain whose signatures are words: "good" verifies.
type testChain struct {
	info   chains.Info
	verify func(ctx context.Context, signer string, data []byte, signature string) error
}

func (c testChain) Info() chains.Info { return c.info }

func (c testChain) VerifyData(ctx context.Context, signer string, data []byte, signature string) error {
	if c.verify != nil {
		return c.verify(ctx, signer, data, signature)
	}
	switch signature {
	case "good":
		return nil
	case "throw":
		return errors.New("node not reachable")
	}
	return &chains.AuthError{Reason: "invalid signature"}
}

// clientChains are the contracts that the vectors' client knows.
func clientChains() []Chain {
	return []Chain{
		testChain{info: chains.Info{ID: "CITREA", Default: "v1", Versions: []chains.Version{{Name: "v1", LPInit: true, Vaults: true}}}},
		testChain{info: chains.Info{ID: "SOLANA", Default: "v1", Versions: []chains.Version{{Name: "v1"}, {Name: "v2", LPInit: true, Vaults: true}}},
			verify: func(context.Context, string, []byte, string) error { return nil }}, // the vectors' LPs are honest on this one
	}
}

// jsonLP is an LP as the vectors show it.
type jsonLP struct {
	URL              string                     `json:"url,omitempty"`
	Addresses        map[string]string          `json:"addresses"`
	ContractVersions map[string]string          `json:"contractVersions"`
	Services         map[string]json.RawMessage `json:"services"`
}

func (l jsonLP) record(t *testing.T) *LP {
	t.Helper()
	out := &LP{URL: l.URL, Addresses: l.Addresses, Versions: l.ContractVersions, Services: map[lp.Service]lp.ServiceInfo{}}
	for key, raw := range l.Services {
		n, err := strconv.Atoi(key)
		if err != nil {
			n = slices.Index(typeNames, key)
		}
		envelope, _ := json.Marshal(map[string]any{"nonce": "n", "services": map[string]any{lp.Service(n).String(): raw}})
		answer, _ := json.Marshal(map[string]any{"envelope": string(envelope), "chains": map[string]any{}})
		info, err := lp.ReadInfo(l.URL, answer, "n")
		if _, offered := info.Services[lp.Service(n)]; err != nil || !offered {
			t.Fatalf("service %s: %v", key, err)
		}
		out.Services[lp.Service(n)] = info.Services[lp.Service(n)]
	}
	return out
}

// typeNames are the names of swap types by number.
var typeNames = []string{"FROM_BTC", "FROM_BTCLN", "TO_BTC", "TO_BTCLN", "TRUSTED_FROM_BTC", "TRUSTED_FROM_BTCLN", "SPV_VAULT_FROM_BTC", "FROM_BTCLN_AUTO"}

func TestVectorsCandidates(t *testing.T) {
	vectors.Each(t, "lp-protocol", "candidates", func(t *testing.T, c *vectors.Case) {
		var in struct {
			Chain, Token string
			SwapType     lp.Service
			Amount       *string
			LPs          []jsonLP
		}
		var want struct {
			Candidates []string
			Min, Max   *int64
		}
		c.Input(t, &in)
		c.Expected(t, &want)
		d := NewDirectory(Setup{Chains: clientChains()})
		for _, l := range in.LPs {
			d.lps = append(d.lps, l.record(t))
		}
		q := Query{Service: in.SwapType, Chain: in.Chain, Token: in.Token, ExactIn: !in.SwapType.ToBitcoin()}
		if in.Amount != nil {
			q.Amount = flowtest.Number(t, *in.Amount)
		}
		got := []string{}
		for _, x := range d.candidates(q) {
			got = append(got, x.LP.URL)
		}
		if diff := cmp.Diff(want.Candidates, got); diff != "" {
			t.Errorf("candidates (-want +got):\n%s", diff)
		}
		b := d.Limits(in.SwapType, in.Chain, in.Token)
		r := b.Input
		if in.SwapType.ToBitcoin() {
			r = b.Output
		}
		for side, pair := range map[string]struct {
			want *int64
			got  *big.Int
		}{"min": {want.Min, r.Min}, "max": {want.Max, r.Max}} {
			if (pair.want == nil) != (pair.got == nil) || pair.want != nil && big.NewInt(*pair.want).Cmp(pair.got) != 0 {
				t.Errorf("%s is %v, want %v", side, pair.got, pair.want)
			}
		}
		if q.Amount != nil && len(got) == 0 && want.Min != nil {
			if q.Amount.Int64() < *want.Min || q.Amount.Int64() > *want.Max {
				if err := d.noCandidate(q); fault.CodeOf(err) != fault.AmountOutOfBounds {
					t.Errorf("no candidate: %v", err)
				}
			}
		}
	})
}

func TestVectorsNodeInfo(t *testing.T) {
	vectors.Each(t, "lp-protocol", "node-info", func(t *testing.T, c *vectors.Case) {
		var in struct{ Response json.RawMessage }
		c.Input(t, &in)
		var want struct{ Reference, Strict json.RawMessage }
		c.Expected(t, &want)
		var p *LP
		for _, missing := range []string{"", http.MethodGet, http.MethodPost} { // old LPs know only one of the two
			base := flowtest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
				var ask struct{ Nonce string }
				if ask.Nonce = r.URL.Query().Get("nonce"); r.Method == http.MethodPost {
					_ = json.Unmarshal(flowtest.ReadAll(r), &ask)
				}
				if r.Method == missing {
					http.NotFound(w, r)
					return
				}
				_, _ = w.Write([]byte(strings.ReplaceAll(string(in.Response), "NONCE", ask.Nonce)))
			})
			d := NewDirectory(Setup{Client: newClient(t, lphttp.Options{}), Chains: clientChains(), URLs: []string{base}})
			var err error
			p, err = d.Get(t.Context(), base)
			if string(want.Strict) == "null" {
				if err == nil {
					t.Errorf("loaded %+v", p)
				}
				continue
			}
			if err != nil {
				t.Fatalf("without %q: %v", missing, err)
			}
		}
		if string(want.Strict) == "null" {
			return
		}
		if cmp.Diff(string(want.Reference), string(want.Strict)) != "" {
			c.Differ(t, "lp-info-strict")
		}
		strict, unknown := readable(t, in.Response, want.Strict)
		if unknown {
			c.Differ(t, "lp-info-strict")
		}
		vectors.SameJSON(t, strict, shown(p))
	})
}

// shown returns an LP in the vectors' form.
func shown(p *LP) map[string]any {
	services, bounds := map[string]any{}, map[string]any{}
	for service, s := range p.Services {
		chainTokens, byChain := map[string]any{}, map[string]any{}
		for _, c := range s.Chains {
			chainTokens[c.Chain] = c.Tokens
			byToken := map[string]any{}
			for _, token := range c.Tokens {
				b := announced(s, service)
				byToken[token] = map[string]any{"input": shownRange(b.Input), "output": shownRange(b.Output)}
			}
			byChain[c.Chain] = byToken
		}
		key := strconv.Itoa(int(service))
		services[key] = map[string]any{"swapFeePPM": s.FeePPM, "swapBaseFee": s.BaseFee, "min": s.Min, "max": s.Max, "chainTokens": chainTokens}
		bounds[key] = byChain
	}
	return map[string]any{"addresses": p.Addresses, "contractVersions": p.Versions, "services": services, "bounds": bounds}
}

func shownRange(r Range) map[string]any {
	out := map[string]any{}
	if r.Min != nil {
		out["min"] = r.Min.String()
	}
	if r.Max != nil {
		out["max"] = r.Max.String()
	}
	return out
}

// readable drops from an expected LP the old form of the token list, which we
// read and do not keep, and services whose names nobody knows.
func readable(t *testing.T, response, p json.RawMessage) (out json.RawMessage, unknown bool) {
	t.Helper()
	var answer struct{ Envelope string }
	flowtest.Decode(t, response, &answer)
	var envelope struct{ Services map[string]json.RawMessage }
	flowtest.Decode(t, []byte(answer.Envelope), &envelope)
	var m struct {
		Addresses        json.RawMessage           `json:"addresses"`
		ContractVersions json.RawMessage           `json:"contractVersions"`
		Services         map[string]map[string]any `json:"services"`
		Bounds           map[string]any            `json:"bounds"`
	}
	flowtest.Decode(t, p, &m)
	for key, s := range m.Services {
		delete(s, "tokens")
		n := trial.Must(strconv.Atoi(key))(t)
		if _, offered := envelope.Services[lp.Service(n).String()]; !offered {
			delete(m.Services, key)
			delete(m.Bounds, key)
			unknown = true
		}
	}
	out = trial.Must(json.Marshal(m))(t)
	return out, unknown
}

func TestVectorsInfoEnvelope(t *testing.T) {
	vectors.Each(t, "lp-protocol", "info-envelope", func(t *testing.T, c *vectors.Case) {
		var in struct {
			ChainFamily, Envelope, Signature, Address string
			StarknetChainID, PublicKey                string
			EVMChainID                                uint64
		}
		var want struct {
			Digest, MessageHash string
			TypedData           json.RawMessage
			Valid               bool
		}
		c.Input(t, &in)
		c.Expected(t, &want)
		var inner struct{ Nonce string }
		flowtest.Decode(t, []byte(in.Envelope), &inner)
		chain := testChain{info: chains.Info{ID: "X", Versions: []chains.Version{{Name: "v1"}}}}
		switch in.ChainFamily {
		case "evm":
			n := wire.Network{ChainID: in.EVMChainID}
			chain.verify = func(_ context.Context, signer string, data []byte, signature string) error {
				if !common.IsHexAddress(signer) {
					return &chains.AuthError{Reason: "no address"}
				}
				return n.VerifyData(common.HexToAddress(signer), data, signature)
			}
		case "solana":
			chain.verify = func(_ context.Context, signer string, data []byte, signature string) error {
				key, err := solwire.ParseKey(signer)
				if err != nil {
					return &chains.AuthError{Reason: "no address"}
				}
				return solwire.VerifyData(key, data, signature)
			}
		case "starknet":
			n := starkwire.Network{ChainID: in.StarknetChainID}
			key := starkwire.MustFelt(in.PublicKey)
			vectors.SameJSON(t, want.TypedData, n.DataMessage([]byte(in.Envelope)))
			chain.verify = func(_ context.Context, signer string, data []byte, signature string) error {
				account, err := starkwire.ParseAddress(signer)
				if err != nil {
					return &chains.AuthError{Reason: "no address", Err: err}
				}
				q, err := n.CheckData(account, data, signature)
				if err != nil {
					return err
				}
				if starkwire.Hex(q.Hash) != want.MessageHash {
					t.Errorf("signed is %s, want %s", starkwire.Hex(q.Hash), want.MessageHash)
				}
				if !starkwire.SignedByKey(key, q.Hash, q.Signature) { // what a plain account says; the vectors ask none
					return q.Refused(true)
				}
				return nil
			}
		default:
			t.Fatalf("unknown family %s", in.ChainFamily)
		}
		answer := trial.Must(json.Marshal(map[string]any{"envelope": in.Envelope, "chains": map[string]any{"X": map[string]string{"address": in.Address, "signature": in.Signature}}}))(t)
		info := trial.Must(lp.ReadInfo("https://lp", answer, inner.Nonce))(t)
		d := NewDirectory(Setup{Chains: []Chain{chain}})
		proven := d.prove(t.Context(), "https://lp", info).Addresses["X"] == in.Address
		if lower := strings.ToLower(in.Address); in.ChainFamily == "evm" && lower == in.Address && !want.Valid && proven {
			c.Differ(t, "evm-address-bytes") // the same bytes, spelled otherwise
			want.Valid = true
		}
		if sig, err := hex.DecodeString(strings.TrimPrefix(in.Signature, "0x")); err == nil && in.ChainFamily == "evm" && len(sig) == 64 && want.Valid && !proven {
			c.Differ(t, "evm-signature-form") // a form that contracts do not take
			want.Valid = false
		}
		if proven != want.Valid {
			t.Errorf("address proven: %v, want %v", proven, want.Valid)
		}
	})
}

// stub is what an LP of a quote round does.
type stub struct {
	Kind, Input, Output, Min, Max string
	Recoverable                   bool
	DelayMs                       int
}

type stubQuote struct{ input, output *big.Int }

func (s stub) ask(t *testing.T, ctx context.Context, url string) (stubQuote, error) {
	select {
	case <-time.After(time.Duration(s.DelayMs) * time.Millisecond):
	case <-ctx.Done():
		return stubQuote{}, ctx.Err()
	}
	switch s.Kind {
	case "ok":
		return stubQuote{flowtest.Number(t, s.Input), flowtest.Number(t, s.Output)}, nil
	case "intermediaryError", "lperr":
		return stubQuote{}, &lp.LPError{Reason: "bad", Recoverable: s.Recoverable}
	case "outOfBounds", "bounds":
		return stubQuote{}, &lp.OutOfBoundsError{RequestError: lp.RequestError{LP: url, Status: 400}, Min: flowtest.Number(t, s.Min), Max: flowtest.Number(t, s.Max)}
	case "requestError", "other":
		return stubQuote{}, &lp.RequestError{LP: url, Status: 400, Message: "req"}
	}
	return stubQuote{}, &lp.CallError{LP: url, Err: errors.New("connection reset")}
}

func TestVectorsQuoteSelection(t *testing.T) {
	flowtest.EachTimed(t, "lp-protocol", "quote-selection", func(t *testing.T, c *vectors.Case) {
		var in struct {
			SwapType  lp.Service
			ExactIn   bool
			Amount    *string
			MaxWaitMs int
			LPs       []stub
		}
		var want struct {
			Error                        bool
			Class, Chosen, Min, Max      string
			HTTPCode, Reloads            int
			Removed                      []string
			LimitsChanged, WaitedForTime bool
			Bounds                       map[string]json.RawMessage
		}
		c.Input(t, &in)
		c.Expected(t, &want)
		network := &infoNetwork{services: `{"` + in.SwapType.String() + `":{"swapFeePPM":0,"swapBaseFee":0,"min":1000,"max":5000000,"chainTokens":{"CITREA":["T"]}}}`}
		var urls []string
		for i := range in.LPs {
			urls = append(urls, "https://lp"+strconv.Itoa(i))
		}
		d := NewDirectory(Setup{Client: newClient(t, lphttp.Options{Transport: network}), Chains: clientChains(), URLs: urls})
		trial.Do(t, d.Reload(t.Context()))
		asked := network.asked.Load()
		lps := d.LPs()
		q := Query{Service: in.SwapType, Chain: "CITREA", Token: "T", ExactIn: in.ExactIn}
		if in.Amount != nil {
			q.Amount = flowtest.Number(t, *in.Amount)
		}
		offer, err := Collect(t.Context(), d, q, Round[stubQuote]{
			Wait: time.Duration(in.MaxWaitMs) * time.Millisecond, Attempts: 1,
			Ask: func(ctx context.Context, x Candidate) (stubQuote, error) {
				i, _ := strconv.Atoi(strings.TrimPrefix(x.LP.URL, "https://lp"))
				return in.LPs[i].ask(t, ctx, x.LP.URL)
			},
			Better: better(in.ExactIn),
		})
		if want.Error {
			if err == nil || flowtest.Class(err) != want.Class {
				t.Fatalf("error %v is a %s, want %s", err, flowtest.Class(err), want.Class)
			}
			if want.Class == "OutOfBoundsError" {
				if e, ok := errors.AsType[*lp.OutOfBoundsError](err); !ok || e.Status != want.HTTPCode || e.Min.String() != want.Min || e.Max.String() != want.Max {
					t.Errorf("error %#v, want a refusal with status %d and bounds %s to %s", err, want.HTTPCode, want.Min, want.Max)
				}
			}
		} else if err != nil || offer.From.LP.URL != "https://"+want.Chosen {
			t.Fatalf("chosen %+v, %v, want %s", offer.From.LP, err, want.Chosen)
		}
		if n := network.asked.Load() - asked; n > 0 != (want.Reloads > 0 && len(in.LPs) > 0) {
			t.Errorf("LPs asked about themselves again: %d times, want %d reloads", n, want.Reloads)
		}
		var punished []string
		for _, p := range d.Penalties() {
			punished = append(punished, strings.TrimPrefix(p.URL, "https://"))
		}
		for i, p := range in.LPs {
			// Who could not help it is not punished.
			if url := "lp" + strconv.Itoa(i); p.Recoverable && slices.Contains(want.Removed, url) {
				c.Differ(t, "lp-recoverable-stays")
				want.Removed = slices.DeleteFunc(want.Removed, func(s string) bool { return s == url })
				want.LimitsChanged = len(want.Removed) > 0
			}
		}
		slices.Sort(want.Removed)
		if !slices.Equal(punished, want.Removed) || offer.LimitsChanged != want.LimitsChanged {
			t.Errorf("punished %v, limits changed %v, want %v, %v", punished, offer.LimitsChanged, want.Removed, want.LimitsChanged)
		}
		for _, p := range lps {
			b := d.bounds(p, in.SwapType, "CITREA", "T")
			vectors.SameJSON(t, want.Bounds[strings.TrimPrefix(p.URL, "https://")], map[string]any{"input": shownRange(b.Input), "output": shownRange(b.Output)})
		}
	})
}

// infoNetwork answers /info for every host.
type infoNetwork struct {
	services string
	asked    atomic.Int64
}

func (n *infoNetwork) RoundTrip(r *http.Request) (*http.Response, error) {
	n.asked.Add(1)
	var ask struct{ Nonce string }
	if ask.Nonce = r.URL.Query().Get("nonce"); r.Method == http.MethodPost {
		_ = json.Unmarshal(flowtest.ReadAll(r), &ask)
	}
	envelope := `{"nonce":"` + ask.Nonce + `","services":` + n.services + `}`
	answer, err := json.Marshal(map[string]any{"envelope": envelope, "chains": map[string]any{"CITREA": map[string]string{"address": "0xA", "signature": "good"}}})
	if err != nil {
		return nil, err
	}
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(bytes.NewReader(answer)), Request: r}, nil
}

func better(exactIn bool) func(a, b stubQuote) bool {
	return func(a, b stubQuote) bool {
		if exactIn {
			return a.output.Cmp(b.output) > 0
		}
		return a.input.Cmp(b.input) < 0
	}
}

func TestVectorsLPChoice(t *testing.T) {
	flowtest.EachTimed(t, "swap-flows-spv-and-core", "lp_choice", func(t *testing.T, c *vectors.Case) {
		var in struct {
			ExactIn bool
			Amount  string
			Answers []struct {
				LP string
				stub
			}
		}
		var want struct {
			Error             bool
			ErrorType, Chosen string
			RemainingLPs      []string
			LimitsChanged     bool
			Learnt            []struct{ LP, Side, Min, Max string }
		}
		c.Input(t, &in)
		c.Expected(t, &want)
		d := NewDirectory(Setup{Client: newClient(t, lphttp.Options{}), Chains: clientChains()})
		for _, a := range in.Answers {
			d.lps = append(d.lps, &LP{URL: a.LP, Services: map[lp.Service]lp.ServiceInfo{
				lp.SPVFromBTC: {Min: 1000, Max: 10000000, Chains: []lp.ChainTokens{{Chain: "CITREA", Tokens: []string{"T"}}}},
			}})
		}
		offer, err := Collect(t.Context(), d, Query{Service: lp.SPVFromBTC, Chain: "CITREA", Token: "T", ExactIn: in.ExactIn, Amount: flowtest.Number(t, in.Amount)}, Round[stubQuote]{
			Ask: func(ctx context.Context, x Candidate) (stubQuote, error) {
				for i, a := range in.Answers {
					if a.LP == x.LP.URL {
						a.DelayMs = 3 * i // in the order of the vectors
						return a.ask(t, ctx, x.LP.URL)
					}
				}
				return stubQuote{}, errors.New("no such LP")
			},
			Better: better(in.ExactIn),
		})
		if want.Error {
			if err == nil || flowtest.Class(err) != want.ErrorType {
				t.Fatalf("error %v is a %s, want %s", err, flowtest.Class(err), want.ErrorType)
			}
		} else if err != nil || offer.From.LP.URL != want.Chosen {
			t.Fatalf("chosen %v, %v, want %s", offer.From.LP, err, want.Chosen)
		}
		var remaining []string
		for _, p := range d.LPs() {
			if d.penalties.free(p.URL, lp.Pair{Service: lp.SPVFromBTC, Chain: "CITREA", Token: "T"}, time.Now()) {
				remaining = append(remaining, p.URL)
			}
		}
		if !slices.Equal(remaining, want.RemainingLPs) || offer.LimitsChanged != want.LimitsChanged {
			t.Errorf("remaining %v, changed %v, want %v, %v", remaining, offer.LimitsChanged, want.RemainingLPs, want.LimitsChanged)
		}
		for i, l := range want.Learnt {
			b := d.bounds(d.lps[i], lp.SPVFromBTC, "CITREA", "T")
			r := b.Output
			if l.Side == "input" {
				r = b.Input
			}
			if diff := cmp.Diff(map[string]any{"min": l.Min, "max": l.Max}, shownRange(r)); l.Min != "" && diff != "" || l.Min == "" && r.Min != nil {
				t.Errorf("%s: bounds %v, want %+v", l.LP, shownRange(r), l)
			}
		}
	})
}

// everyChain are the chains of the catalogue with the contracts that the
// network's clients use by default.
func everyChain() (list []Chain, ids []string) {
	for _, id := range flowtest.Chains {
		v := chains.Version{Name: "v1", LPInit: id != "SOLANA", Vaults: id != "SOLANA"}
		list = append(list, testChain{info: chains.Info{ID: id, Default: "v1", Versions: []chains.Version{v}}})
		ids = append(ids, id)
	}
	return list, ids
}

func loaded(t *testing.T, lps []jsonLP, only []string) *Directory {
	t.Helper()
	list, ids := everyChain()
	if only != nil {
		list = slices.DeleteFunc(list, func(c Chain) bool { return !slices.Contains(only, c.Info().ID) })
	}
	d := NewDirectory(Setup{Chains: list, Tokens: flowtest.Tokens(t, ids...)})
	for _, l := range lps {
		d.lps = append(d.lps, l.record(t))
	}
	return d
}

func TestVectorsSupportedTokens(t *testing.T) {
	vectors.Each(t, "swap-flows-spv-and-core", "supported_tokens", func(t *testing.T, c *vectors.Case) {
		var in struct {
			Chains []string
			LPs    []jsonLP
		}
		var want struct {
			SupportedInput, SupportedOutput []string
			Counter                         []struct {
				Token         string
				Input, Output []string
			}
		}
		c.Input(t, &in)
		c.Expected(t, &want)
		d := loaded(t, in.LPs, in.Chains)
		ids := func(list []tokens.Token) []string {
			out := []string{}
			for _, x := range list {
				out = append(out, x.ID())
			}
			return out
		}
		if diff := cmp.Diff(want.SupportedInput, ids(d.Supported(Input))); diff != "" {
			t.Errorf("supported as input (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(want.SupportedOutput, ids(d.Supported(Output))); diff != "" {
			t.Errorf("supported as output (-want +got):\n%s", diff)
		}
		for _, x := range want.Counter {
			token := trial.Must(d.s.Tokens.Resolve(x.Token))(t)
			for _, side := range []struct {
				side Side
				want []string
			}{{Input, x.Input}, {Output, x.Output}} {
				got := ids(d.Counter(token, side.side))
				if slices.Equal(got, side.want) {
					continue
				}
				// The reference stops at an LP's first chain without the service: ours is a superset.
				c.Differ(t, "lp-counter-tokens")
				if token.Chain != tokens.Bitcoin && token.Chain != tokens.Lightning || !isSubset(side.want, got) {
					t.Errorf("%s as %d: %v, want %v", x.Token, side.side, got, side.want)
				}
				for _, id := range got {
					if !listed(t, d, in.LPs, id, token, side.side) {
						t.Errorf("%s as %d: nobody lists %s", x.Token, side.side, id)
					}
				}
			}
		}
	})
}

func isSubset(part, whole []string) bool {
	return !slices.ContainsFunc(part, func(s string) bool { return !slices.Contains(whole, s) })
}

// listed looks in the LPs themselves whether one lists a token for swaps with btc.
func listed(t *testing.T, d *Directory, lps []jsonLP, id string, btc tokens.Token, side Side) bool {
	t.Helper()
	token := trial.Must(d.s.Tokens.Resolve(id))(t)
	info := d.chain(token.Chain).Info()
	service := map[bool]map[Side]lp.Service{
		true:  {Input: lp.FromLightning(info), Output: lp.ToBTCLN},
		false: {Input: lp.FromBitcoin(info), Output: lp.ToBTC},
	}[btc == tokens.LightningBTC()][side]
	return slices.ContainsFunc(lps, func(l jsonLP) bool {
		_, ok := d.spelling(l.record(t).Services[service], token.Chain, token.Address)
		return ok
	})
}

func TestVectorsLimits(t *testing.T) {
	vectors.Each(t, "swap-flows-spv-and-core", "limits", func(t *testing.T, c *vectors.Case) {
		var in struct {
			LPs          []jsonLP
			LearntBounds []struct{ LP, SwapType, Token, Side, Min, Max string }
		}
		var want struct {
			Limits []struct {
				SrcToken, DstToken string
				Input, Output      struct {
					Min json.RawMessage
					Max json.RawMessage
				}
			}
		}
		c.Input(t, &in)
		c.Expected(t, &want)
		d := loaded(t, in.LPs, nil)
		for _, l := range in.LearntBounds {
			token := trial.Must(d.s.Tokens.Resolve(l.Token))(t)
			service := lp.Service(slices.Index(typeNames, l.SwapType))
			i := slices.IndexFunc(d.lps, func(p *LP) bool { return p.URL == l.LP })
			spelled, ok := d.spelling(d.lps[i].Services[service], token.Chain, token.Address)
			if !ok {
				t.Fatalf("%s does not list %s", l.LP, l.Token)
			}
			d.learn(Candidate{LP: d.lps[i], Token: spelled}, Query{Service: service, Chain: token.Chain, ExactIn: l.Side == "input"}, flowtest.Number(t, l.Min), flowtest.Number(t, l.Max))
		}
		for _, l := range want.Limits {
			src, dst, smart, service := way(t, d, l.SrcToken, l.DstToken)
			b := d.Limits(service, smart.Chain, smart.Address).Shown()
			compareSide(t, l.SrcToken+" in", src, l.Input.Min, l.Input.Max, b.Input)
			compareSide(t, l.DstToken+" out", dst, l.Output.Min, l.Output.Max, b.Output)
		}
	})
}

// way is the service for a pair of tokens, and which of them is on a smart chain.
func way(t *testing.T, d *Directory, from, to string) (src, dst, smart tokens.Token, service lp.Service) {
	t.Helper()
	src, dst = trial.Must(d.s.Tokens.Resolve(from))(t), trial.Must(d.s.Tokens.Resolve(to))(t)
	switch {
	case dst == tokens.LightningBTC():
		return src, dst, src, lp.ToBTCLN
	case src == tokens.LightningBTC():
		return src, dst, dst, lp.FromLightning(d.chain(dst.Chain).Info())
	case src == tokens.BTC():
		return src, dst, dst, lp.FromBitcoin(d.chain(dst.Chain).Info())
	}
	return src, dst, src, lp.ToBTC
}

func compareSide(t *testing.T, what string, token tokens.Token, min, max json.RawMessage, got Range) {
	t.Helper()
	for _, x := range []struct {
		want json.RawMessage
		got  *big.Int
	}{{min, got.Min}, {max, got.Max}} {
		if len(x.want) == 0 || string(x.want) == "null" {
			if x.got != nil {
				t.Errorf("%s: %v, want unknown", what, x.got)
			}
			continue
		}
		if x.got == nil {
			t.Errorf("%s: unknown, want %s", what, x.want)
			continue
		}
		a := tokens.NewAmount(x.got, token)
		vectors.SameJSON(t, x.want, map[string]any{"amount": a.Decimal(), "rawAmount": a.Units(), "decimals": token.Decimals, "symbol": token.Ticker, "chain": token.Chain})
	}
}

func TestVectorsLimitsEndpoint(t *testing.T) {
	vectors.Each(t, "swap-flows-spv-and-core", "limits_endpoint", func(t *testing.T, c *vectors.Case) {
		type pair struct{ Min, Max string }
		var in struct {
			SrcToken, DstToken, BTCMin, BTCMax string
			Learnt, DummyQuoteTeaches          *pair
		}
		var want struct {
			DummyQuote *struct {
				Amount  string
				ExactIn bool
			}
			Limits struct {
				Input, Output struct {
					Min json.RawMessage
					Max json.RawMessage
				}
			}
		}
		c.Input(t, &in)
		c.Expected(t, &want)
		d := loaded(t, nil, nil)
		src, dst, smart, service := way(t, d, in.SrcToken, in.DstToken)
		p := &LP{URL: "lp", Services: map[lp.Service]lp.ServiceInfo{service: {
			Min: flowtest.Number(t, in.BTCMin).Int64(), Max: flowtest.Number(t, in.BTCMax).Int64(), Chains: []lp.ChainTokens{{Chain: smart.Chain, Tokens: []string{smart.Address}}},
		}}}
		d.lps = []*LP{p}
		teach := func(b *pair, exactIn bool) {
			d.learn(Candidate{LP: p, Token: smart.Address}, Query{Service: service, Chain: smart.Chain, ExactIn: exactIn}, flowtest.Number(t, b.Min), flowtest.Number(t, b.Max))
		}
		if in.Learnt != nil {
			teach(in.Learnt, service.ToBitcoin())
		}
		exactIn, worthwhile := d.Limits(service, smart.Chain, smart.Address).Probe(service)
		if worthwhile != (want.DummyQuote != nil) || worthwhile && (exactIn != want.DummyQuote.ExactIn || want.DummyQuote.Amount != "1") {
			t.Fatalf("probe %v, exact in %v, want %+v", worthwhile, exactIn, want.DummyQuote)
		}
		if worthwhile {
			teach(in.DummyQuoteTeaches, exactIn)
		}
		b := d.Limits(service, smart.Chain, smart.Address).Shown()
		compareSide(t, "input", src, want.Limits.Input.Min, want.Limits.Input.Max, b.Input)
		compareSide(t, "output", dst, want.Limits.Output.Min, want.Limits.Output.Max, b.Output)
	})
}
