package verify_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/btcsuite/btcd/btcec/v2"
	"github.com/btcsuite/btcd/btcec/v2/ecdsa"
	"github.com/btcsuite/btcd/chaincfg"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	gocmp "github.com/google/go-cmp/cmp"
	"github.com/lightningnetwork/lnd/lnwire"
	"github.com/lightningnetwork/lnd/zpay32"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/price"
	"github.com/swapper-go/swapper/storage"
	"github.com/swapper-go/swapper/tokens"
	"github.com/swapper-go/swapper/verify"
)

var (
	noon   = time.Date(2030, 1, 2, 12, 0, 0, 0, time.UTC)
	coin   = tokens.Token{Chain: "MOON", Ticker: "WBTC", Name: "Wrapped", Decimals: 8, DisplayDecimals: 8, Address: "coin"}
	prices = price.Fixed{Prices: map[string]*big.Int{coin.ID(): big.NewInt(1e14)}, USD: 1}
)

// moon is a chain of which only the tokens and the form of addresses count.
type moon struct{ chains.Chain }

func (moon) ID() string                                               { return "MOON" }
func (m moon) Open(context.Context, chains.Env) (chains.Chain, error) { return m, nil }
func (moon) Info() chains.Info {
	return chains.Info{ID: "MOON", Tokens: []tokens.Token{coin}, Native: coin}
}
func (moon) TokenAddress(s string) (string, error) { return strings.ToLower(s), nil }
func (moon) Address(s string) (string, error) {
	if !strings.HasPrefix(s, "moon") {
		return "", fault.Invalid("", "must begin with moon")
	}
	return s, nil
}

type regtest struct{ bitcoin.Backend }

func (regtest) Network() bitcoin.Network { return bitcoin.Regtest }

// service answers what a test wants, and counts what it is told.
type service struct {
	swapper.Service
	created *swapper.CreateSwapOutput
	status  *swapper.GetSwapStatusOutput
	tokens  []swapper.Token
	listed  []swapper.ListSwapOutput
	limits  *swapper.GetSwapLimitsOutput
	asked   int
	secrets int // heard
}

func (s *service) CreateSwap(context.Context, swapper.CreateSwapInput) (*swapper.CreateSwapOutput, error) {
	s.asked++
	return s.created, nil
}

func (s *service) CreateGasSwap(context.Context, swapper.CreateGasSwapInput) (*swapper.CreateSwapOutput, error) {
	s.asked++
	return s.created, nil
}

func (s *service) GetSwapStatus(_ context.Context, in swapper.GetSwapStatusInput) (*swapper.GetSwapStatusOutput, error) {
	s.asked++
	if in.Secret != "" {
		s.secrets++
	}
	return s.status, nil
}

func (s *service) GetSupportedTokens(context.Context, swapper.GetSupportedTokensInput) ([]swapper.Token, error) {
	return s.tokens, nil
}

// noLinks is a network without services behind links.
type noLinks struct{}

func (noLinks) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusNotFound, Body: http.NoBody}, nil
}

func clock() time.Time { return noon }

func wrap(t *testing.T, s swapper.Service) swapper.Service {
	t.Helper()
	return wrapWith(t, s, swapper.Policy{})
}

func wrapWith(t *testing.T, s swapper.Service, p swapper.Policy) swapper.Service {
	t.Helper()
	v := trial.Must(verify.Wrap(s, verify.Config{Policy: p, Network: bitcoin.Regtest, Chains: []chains.Factory{moon{}}, Store: new(storage.Memory), Bitcoin: regtest{}, Prices: prices, Now: clock,
		LNURL: swapper.LNURLOptions{Transport: noLinks{}}}))(t)
	return v
}

func invoice(t *testing.T, msat uint64) string {
	t.Helper()
	z := trial.Must(zpay32.NewInvoice(&chaincfg.RegressionNetParams, [32]byte{9}, noon, zpay32.Description("swap"), zpay32.CLTVExpiry(80), zpay32.PaymentAddr([32]byte{1}), zpay32.Amount(lnwire.MilliSatoshi(msat))))(t)
	key, _ := btcec.PrivKeyFromBytes(bytes.Repeat([]byte{7}, 32))
	return trial.Must(z.Encode(zpay32.MessageSigner{SignCompact: func(msg []byte) ([]byte, error) { return ecdsa.SignCompact(key, chainhash.HashB(msg), true), nil }}))(t)
}

func address(t *testing.T, b byte) string {
	t.Helper()
	a := trial.Must(bitcoin.NewAddress(bitcoin.P2WPKH, bytes.Repeat([]byte{b}, 20), bitcoin.Regtest))(t)
	return a.String()
}

func units(v int64, of tokens.Token) swapper.Amount {
	return swapper.AmountOf(tokens.NewAmount(big.NewInt(v), of))
}

// honest are requests and what an honest service answers to them.
func honest(t *testing.T, typ swapper.SwapType) (swapper.CreateSwapInput, *swapper.CreateSwapOutput) {
	in := swapper.CreateSwapInput{SrcToken: coin.ID(), Amount: big.NewInt(100_000), AmountType: swapper.ExactOut, SrcAddress: "moon1"}
	var to tokens.Token
	networkFee := int64(150)
	switch typ {
	case swapper.SwapToBTC:
		to, in.DstAddress = tokens.BTC(), address(t, 1)
	case swapper.SwapToBTCLN:
		to, in.DstAddress = tokens.LightningBTC(), invoice(t, 100_000_000)
	default:
		t.Fatalf("no honest %s", typ)
	}
	in.DstToken = to.ID()
	network := units(networkFee, coin)
	return in, &swapper.CreateSwapOutput{SwapKey: "00112233445566778899aabbccddeeff", SwapOutputBase: swapper.SwapOutputBase{
		SwapID: "swap1", SwapType: typ, State: swapper.SwapState{Number: 0, Name: "CREATED", Description: "ready"}, CreatedAt: swapper.Timestamp{Time: noon},
		Quote: swapper.SwapQuote{InputAmount: units(100_300+networkFee, coin), OutputAmount: units(100_000, to), Expiry: swapper.Timestamp{Time: noon.Add(time.Minute)}, OutputAddress: in.DstAddress,
			Fees: swapper.SwapQuoteFees{Swap: units(300, coin), NetworkOutput: &network}},
		Steps: swapper.List[swapper.Step]{{Type: "Payment", Side: "source", Chain: "MOON", Status: "awaiting"}},
	}}
}

var types = []swapper.SwapType{swapper.SwapToBTC, swapper.SwapToBTCLN}

func TestHonestQuotesPass(t *testing.T) {
	for _, typ := range types {
		in, answer := honest(t, typ)
		got, err := wrap(t, &service{created: answer}).CreateSwap(t.Context(), in)
		if err != nil {
			t.Fatalf("%s: %v", typ, err)
		}
		if diff := gocmp.Diff(answer.Quote, got.Quote, gocmp.Comparer(func(a, b *big.Int) bool { return a.Cmp(b) == 0 })); diff != "" {
			t.Errorf("%s (-honest +got):\n%s", typ, diff)
		}
		if got.SwapKey != answer.SwapKey || !strings.HasPrefix(got.State.Description, "Told by the service") || len(got.Steps) != 0 {
			t.Errorf("%s: got %+v", typ, got)
		}
	}
}

// Each way of a service to cheat with a quote, by the reason of the refusal.
func TestQuotesThatAreRefused(t *testing.T) {
	for name, c := range map[string]struct {
		reason string
		lie    func(t *testing.T, o *swapper.CreateSwapOutput)
	}{
		"no id":            {"id", func(_ *testing.T, o *swapper.CreateSwapOutput) { o.SwapID = "" }},
		"long id":          {"id", func(_ *testing.T, o *swapper.CreateSwapOutput) { o.SwapID = strings.Repeat("x", 1<<16) }},
		"another type":     {"type", func(_ *testing.T, o *swapper.CreateSwapOutput) { o.SwapType = swapper.SwapTrustedFromBTC }},
		"less is paid out": {"quote", func(_ *testing.T, o *swapper.CreateSwapOutput) { o.Quote.OutputAmount.RawAmount = big.NewInt(99_999) }},
		"price":            {"quote", func(_ *testing.T, o *swapper.CreateSwapOutput) { o.Quote.InputAmount.RawAmount = big.NewInt(103_000) }},
		"fee": {"quote", func(_ *testing.T, o *swapper.CreateSwapOutput) {
			o.Quote.InputAmount.RawAmount, o.Quote.Fees.Swap.RawAmount = big.NewInt(106_150), big.NewInt(6000)
		}},
		"fee above everything": {"quote", func(_ *testing.T, o *swapper.CreateSwapOutput) { o.Quote.Fees.Swap.RawAmount = big.NewInt(200_000) }},
		"network fee": {"quote", func(_ *testing.T, o *swapper.CreateSwapOutput) {
			o.Quote.InputAmount.RawAmount, o.Quote.Fees.NetworkOutput.RawAmount = big.NewInt(300_300), big.NewInt(200_000)
		}},
		"negative fee":              {"quote", func(_ *testing.T, o *swapper.CreateSwapOutput) { o.Quote.Fees.Swap.RawAmount = big.NewInt(-1) }},
		"input is missing":          {"quote", func(_ *testing.T, o *swapper.CreateSwapOutput) { o.Quote.InputAmount.RawAmount = nil }},
		"another token is paid":     {"token", func(_ *testing.T, o *swapper.CreateSwapOutput) { o.Quote.InputAmount.Symbol = "ETH" }},
		"fee in another token":      {"token", func(_ *testing.T, o *swapper.CreateSwapOutput) { o.Quote.Fees.Swap.Symbol = "ETH" }},
		"network fee in another":    {"token", func(_ *testing.T, o *swapper.CreateSwapOutput) { o.Quote.Fees.NetworkOutput.Chain = "MARS" }},
		"paid out on another chain": {"token", func(_ *testing.T, o *swapper.CreateSwapOutput) { o.Quote.OutputAmount.Chain = "MARS" }},
		"decimals":                  {"token", func(_ *testing.T, o *swapper.CreateSwapOutput) { o.Quote.OutputAmount.Decimals = 6 }},
		"somebody else is paid":     {"recipient", func(t *testing.T, o *swapper.CreateSwapOutput) { o.Quote.OutputAddress = address(t, 2) }},
		"another invoice":           {"recipient", func(t *testing.T, o *swapper.CreateSwapOutput) { o.Quote.OutputAddress = invoice(t, 99_000_000) }},
		"expired":                   {"expiry", func(_ *testing.T, o *swapper.CreateSwapOutput) { o.Quote.Expiry = swapper.Timestamp{Time: noon} }},
	} {
		for _, typ := range types {
			in, answer := honest(t, typ)
			c.lie(t, answer)
			v := wrap(t, &service{created: answer})
			_, err := v.CreateSwap(t.Context(), in)
			refused, ok := errors.AsType[*verify.RefusedError](err)
			if !ok || refused.Reason != c.reason || refused.Field == "" || fault.CodeOf(err) != fault.Upstream {
				t.Errorf("%s, %s: got %v, want the reason %q", name, typ, err, c.reason)
			}
			if _, err := v.GetSwapStatus(t.Context(), swapper.GetSwapStatusInput{SwapID: "swap1"}); fault.CodeOf(err) != fault.NotFound {
				t.Errorf("%s, %s: the refused swap was kept: %v", name, typ, err)
			}
		}
	}
}

// The policy decides what a price may be; its zero value is the usual one.
func TestPolicyBoundsThePrice(t *testing.T) {
	for name, c := range map[string]struct {
		policy swapper.Policy
		ok     bool
	}{
		"usual": {swapper.Policy{}, false},
		"loose": {swapper.Policy{TolerancePPM: 50_000}, true},
	} {
		in, answer := honest(t, swapper.SwapToBTC)
		answer.Quote.InputAmount.RawAmount = big.NewInt(103_000)
		_, err := wrapWith(t, &service{created: answer}, c.policy).CreateSwap(t.Context(), in)
		if refused, _ := errors.AsType[*verify.RefusedError](err); c.ok != (err == nil) || !c.ok && (refused == nil || refused.Reason != "quote") {
			t.Errorf("%s: got %v, want accepted: %v", name, err, c.ok)
		}
	}
}

// With an exact input the service may not take more or less than that.
func TestExactInputIsFixed(t *testing.T) {
	for input, ok := range map[int64]bool{100_450: true, 100_449: false, 100_451: false} {
		in, answer := honest(t, swapper.SwapToBTC)
		in.Amount, in.AmountType = big.NewInt(100_450), swapper.ExactIn
		answer.Quote.InputAmount.RawAmount = big.NewInt(input)
		if _, err := wrap(t, &service{created: answer}).CreateSwap(t.Context(), in); (err == nil) != ok {
			t.Errorf("%d are taken: got %v, want accepted: %v", input, err, ok)
		}
	}
}

// A service gives the id of one swap to another, so that what is agreed on one is
// compared with the other.
func TestReplayedSwapIsRefused(t *testing.T) {
	in, answer := honest(t, swapper.SwapToBTC)
	v := wrap(t, &service{created: answer})
	in.IdempotencyKey = "one"
	for range 2 {
		if _, err := v.CreateSwap(t.Context(), in); err != nil {
			t.Fatalf("a repeated request: %v", err)
		}
	}
	for name, key := range map[string]string{"without a key": "", "another key": "two"} {
		in.IdempotencyKey = key
		_, err := v.CreateSwap(t.Context(), in)
		if refused, ok := errors.AsType[*verify.RefusedError](err); !ok || refused.Reason != "id" {
			t.Errorf("%s: got %v, want a refusal of the id", name, err)
		}
	}
}

// What cannot be verified is refused before the service hears of it.
func TestUnverifiedIsNotAsked(t *testing.T) {
	s := &service{}
	v := wrap(t, s)
	create := func(change func(in *swapper.CreateSwapInput)) error {
		in, _ := honest(t, swapper.SwapToBTCLN)
		change(&in)
		_, err := v.CreateSwap(t.Context(), in)
		return err
	}
	btc, ln := tokens.BTC().ID(), tokens.LightningBTC().ID()
	for name, c := range map[string]struct {
		code fault.Code
		err  error
	}{
		"from Bitcoin":        {fault.Unsupported, create(func(in *swapper.CreateSwapInput) { in.SrcToken, in.DstToken, in.DstAddress = btc, coin.ID(), "moon1" })},
		"from Lightning":      {fault.Unsupported, create(func(in *swapper.CreateSwapInput) { in.SrcToken, in.DstToken, in.DstAddress = ln, coin.ID(), "moon1" })},
		"to a link":           {fault.Upstream, create(func(in *swapper.CreateSwapInput) { in.DstAddress = "me@example.com" })},
		"another amount":      {fault.InvalidInput, create(func(in *swapper.CreateSwapInput) { in.Amount = big.NewInt(5) })},
		"exact input":         {fault.InvalidInput, create(func(in *swapper.CreateSwapInput) { in.AmountType = swapper.ExactIn })},
		"a payer of no chain": {fault.InvalidInput, create(func(in *swapper.CreateSwapInput) { in.SrcAddress = "sun1" })},
		"gas":                 {fault.InvalidInput, create(func(in *swapper.CreateSwapInput) { in.GasAmount = big.NewInt(1) })},
		"submit":              {fault.NotFound, second(v.SubmitTransaction(t.Context(), swapper.SubmitTransactionInput{SwapID: "a", SignedTxs: []string{"0x"}}))},
		"settle":              {fault.InvalidInput, second(v.SettleWithLnurl(t.Context(), swapper.SettleWithLnurlInput{}))},
		"list":                {fault.InvalidInput, second(v.ListSwaps(t.Context(), swapper.ListSwapsInput{}))},
		"list pending":        {fault.InvalidInput, second(v.ListPendingSwaps(t.Context(), swapper.ListSwapsInput{}))},
		"parse a link":        {fault.Upstream, second(v.ParseAddress(t.Context(), swapper.ParseAddressInput{Address: "me@example.com"}))},
		"parse nothing":       {fault.InvalidInput, second(v.ParseAddress(t.Context(), swapper.ParseAddressInput{}))},
		"parse anything":      {fault.InvalidInput, second(v.ParseAddress(t.Context(), swapper.ParseAddressInput{Address: "sun1"}))},
		"balance":             {fault.InvalidInput, second(v.GetSpendableBalance(t.Context(), swapper.GetSpendableBalanceInput{}))},
		"a foreign token":     {fault.Unsupported, second(v.GetSpendableBalance(t.Context(), swapper.GetSpendableBalanceInput{Wallet: "moon1", Token: "MARS-X"}))},
		"secret":              {fault.NotFound, second(v.GetSwapStatus(t.Context(), swapper.GetSwapStatusInput{SwapID: "a", Secret: swapper.Secret(strings.Repeat("0", 64))}))},
		"unknown swap":        {fault.NotFound, second(v.GetSwapStatus(t.Context(), swapper.GetSwapStatusInput{SwapID: "a"}))},
	} {
		if fault.CodeOf(c.err) != c.code {
			t.Errorf("%s: got %v, want the code %s", name, c.err, c.code)
		}
	}
	if s.asked != 0 {
		t.Errorf("the service was asked %d times, want 0", s.asked)
	}
}

func (s *service) GetSwapLimits(context.Context, swapper.GetSwapLimitsInput) (*swapper.GetSwapLimitsOutput, error) {
	return s.limits, nil
}

// The limits are what the service says, and no bound of what is agreed on: a quote inside them
// that is not the request's is refused, and one outside them that is, is not.
func TestLimitsAreTheServicesWord(t *testing.T) {
	in, answer := honest(t, swapper.SwapToBTC)
	amount := func(raw int64) *swapper.Amount {
		return &swapper.Amount{RawAmount: big.NewInt(raw), Decimals: 8, Symbol: "BTC", Chain: "BITCOIN"}
	}
	s := &service{created: answer, limits: &swapper.GetSwapLimitsOutput{Output: swapper.GetSwapLimitsSide{Min: *amount(1), Max: amount(2)}}}
	v := wrap(t, s)
	got, err := v.GetSwapLimits(t.Context(), swapper.GetSwapLimitsInput{SrcToken: in.SrcToken, DstToken: in.DstToken})
	if err != nil || got != s.limits {
		t.Errorf("got %+v, %v, want what the service says", got, err)
	}
	if _, err := v.CreateSwap(t.Context(), in); err != nil {
		t.Errorf("the request's own amount is refused: %v", err)
	}
	answer.SwapID, answer.Quote.OutputAmount.RawAmount = "swap2", big.NewInt(2)
	_, err = v.CreateSwap(t.Context(), in)
	if refused, ok := errors.AsType[*verify.RefusedError](err); !ok || refused.Reason != "quote" {
		t.Errorf("got %v, want another amount refused, whatever the limits are", err)
	}
}

// An address is read by the wallet itself.
func TestAddressesAreReadHere(t *testing.T) {
	s := &service{}
	v := wrap(t, s)
	to := address(t, 1)
	for text, want := range map[string]swapper.ParseAddressOutput{
		to:                                 {Address: to, Type: "BITCOIN"},
		"bitcoin:" + to + "?amount=0.0005": {Address: to, Type: "BITCOIN", Amount: new(units(50_000, tokens.BTC()))},
		" moon1 ":                          {Address: "moon1", Type: "MOON"},
		invoice(t, 5_000_000):              {Address: invoice(t, 5_000_000), Type: "LIGHTNING", Amount: new(units(5000, tokens.LightningBTC()))},
	} {
		got, err := v.ParseAddress(t.Context(), swapper.ParseAddressInput{Address: text})
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if diff := gocmp.Diff(asText(t, want), asText(t, got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
	if s.asked != 0 {
		t.Errorf("the service was asked %d times, want 0", s.asked)
	}
}

func second[T any](_ T, err error) error { return err }

// Every action of these swaps, whose escrow is not known, is withheld, and what the service claims to have happened is not shown.
func TestStatusShowsWhatWasAgreed(t *testing.T) {
	for name, action := range map[string]swapper.Action{
		"pay":  &swapper.SendToAddress{},
		"psbt": &swapper.SignPSBT{},
	} {
		in, answer := honest(t, swapper.SwapToBTC)
		secret := true
		s := &service{created: answer, status: &swapper.GetSwapStatusOutput{CurrentAction: action, RequiresSecretReveal: &secret, Escrow: &swapper.EscrowInfo{},
			ListSwapOutput: swapper.ListSwapOutput{SwapOutputBase: answer.SwapOutputBase, IsFinished: true, IsSuccess: true, IsFailed: true}}}
		v := wrap(t, s)
		if _, err := v.CreateSwap(t.Context(), in); err != nil {
			t.Fatal(err)
		}
		got, err := v.GetSwapStatus(t.Context(), swapper.GetSwapStatusInput{SwapID: "swap1"})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got.CurrentAction != nil || got.ActionError == nil || got.ActionError.Code != fault.Unsupported || got.RequiresSecretReveal != nil || got.Escrow != nil || got.IsFinished || got.IsSuccess || got.IsFailed || len(got.Steps) != 0 {
			t.Errorf("%s: got %+v", name, got)
		}
		s.status.Quote.InputAmount.RawAmount = big.NewInt(100_451)
		_, err = v.GetSwapStatus(t.Context(), swapper.GetSwapStatusInput{SwapID: "swap1"})
		if refused, ok := errors.AsType[*verify.RefusedError](err); !ok || refused.Reason != "agreed" {
			t.Errorf("%s: a changed quote: got %v, want a refusal", name, err)
		}
	}
}

func TestTokensAreTheWalletsOwn(t *testing.T) {
	own := swapper.TokenOf(coin)
	foreign := swapper.Token{ID: "MARS-X", ChainID: "MARS", Ticker: "X"}
	for name, c := range map[string]struct {
		change func(*swapper.Token)
		ok     bool
	}{
		"honest":         {func(*swapper.Token) {}, true},
		"another form":   {func(k *swapper.Token) { k.Address = "COIN" }, true},
		"other address":  {func(k *swapper.Token) { k.Address = "thief" }, false},
		"other decimals": {func(k *swapper.Token) { k.Decimals = 18 }, false},
		"other ticker":   {func(k *swapper.Token) { k.Ticker = "ETH" }, false},
	} {
		said := own
		c.change(&said)
		got, err := wrap(t, &service{tokens: []swapper.Token{foreign, said}}).GetSupportedTokens(t.Context(), swapper.GetSupportedTokensInput{})
		if c.ok {
			if diff := gocmp.Diff([]swapper.Token{own}, got); diff != "" || err != nil {
				t.Errorf("%s: %v (-want +got):\n%s", name, err, diff)
			}
		} else if refused, ok := errors.AsType[*verify.RefusedError](err); !ok || refused.Reason != "token" {
			t.Errorf("%s: got %v, %v, want a refusal", name, got, err)
		}
	}
}

// harmless are the parts of an answer that may be changed, and why.
var harmless = map[string]string{
	"/swapId":                             "a name that the service gives: later answers are compared with the terms under it",
	"/state/number":                       "marked as the service's word",
	"/state/name":                         "marked as the service's word",
	"/state/description":                  "marked as the service's word",
	"/state":                              "marked as the service's word",
	"/quote/expiry":                       "the quote is kept only as long as the service likes; what has expired is refused",
	"/quote/fees/networkOutput":           "only how a price within policy is divided into fees",
	"/quote/fees/networkOutput/rawAmount": "only how a price within policy is divided into fees",
	"/quote/fees/swap/rawAmount":          "only how a price within policy is divided into fees",
	"/swapKey":                            "names the caller to the service alone",
}

// Each leaf of an honest answer is changed, emptied and dropped: the answer is refused,
// or the wallet sees the same, or the part is listed as harmless.
func TestEveryLeafIsVerified(t *testing.T) {
	for _, typ := range types {
		in, answer := honest(t, typ)
		text := trial.Must(json.Marshal(answer))(t)
		want := trial.Must(wrap(t, &service{created: answer}).CreateSwap(t.Context(), in))(t)
		want.SwapKey = "***" // as in the text
		honestText := asText(t, want)
		tried, refused := 0, 0
		for path, changed := range changes(t, text) {
			tried++
			var out swapper.CreateSwapOutput
			if json.Unmarshal(changed, &out) != nil {
				refused++
				continue
			}
			got, err := wrap(t, &service{created: &out}).CreateSwap(t.Context(), in)
			if err != nil {
				refused++
				continue
			}
			at, _, _ := strings.Cut(path, " ")
			if harmless[at] == "" && asText(t, got) != honestText {
				t.Errorf("%s: %s is believed: got %s", typ, path, asText(t, got))
			}
		}
		if tried < 60 || refused < 30 {
			t.Errorf("%s: %d changes were tried and %d refused, want at least 60 and 30", typ, tried, refused)
		}
	}
}

func asText(t *testing.T, v any) string {
	t.Helper()
	b := trial.Must(json.Marshal(v))(t)
	return string(b)
}

// changes are all texts in which one part of a JSON object is changed, by its path.
func changes(t *testing.T, text []byte) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	var root any
	trial.Do(t, json.Unmarshal(text, &root))
	var walk func(path string, v any, set func(any), drop func())
	walk = func(path string, v any, set func(any), drop func()) {
		try := func(name string, to any) {
			set(to)
			all[path+" "+name] = []byte(asText(t, root))
			set(v)
		}
		switch v := v.(type) {
		case map[string]any:
			for k, member := range v {
				walk(path+"/"+k, member, func(to any) { v[k] = to }, func() { delete(v, k) })
			}
			v["added"] = "1"
			all[path+" added"] = []byte(asText(t, root))
			delete(v, "added")
		case []any:
			for i, member := range v {
				walk(fmt.Sprintf("%s/%d", path, i), member, func(to any) { v[i] = to }, nil)
			}
		case string:
			try("longer", v+"1")
			try("empty", "")
			try("negative", "-"+v)
		case float64:
			try("more", v+1)
			try("zero", 0)
			try("negative", -v-1)
		case bool:
			try("other", !v)
		case nil:
			try("something", "1")
		}
		if drop != nil {
			drop()
			all[path+" dropped"] = []byte(asText(t, root))
			set(v)
		}
	}
	walk("", root, func(any) {}, nil)
	return all
}

func TestConfigurationIsChecked(t *testing.T) {
	good := verify.Config{Network: bitcoin.Regtest, Chains: []chains.Factory{moon{}}, Store: new(storage.Memory), Bitcoin: regtest{}}
	for field, change := range map[string]func(*verify.Config){
		"network":             func(c *verify.Config) { c.Network = 99 },
		"store":               func(c *verify.Config) { c.Store = nil },
		"chains":              func(c *verify.Config) { c.Chains = nil },
		"bitcoin":             func(c *verify.Config) { c.Bitcoin = nil },
		"maxTrustedSats":      func(c *verify.Config) { c.MaxTrustedSats = -1 },
		"noBitcoin":           func(c *verify.Config) { c.NoBitcoin = true },
		"policy.tolerancePPM": func(c *verify.Config) { c.Policy.TolerancePPM = -1 },
	} {
		c := good
		change(&c)
		_, err := verify.Wrap(&service{}, c)
		if e, ok := errors.AsType[*fault.Error](err); !ok || e.Code != fault.InvalidInput || e.Field != field {
			t.Errorf("%s: got %v, want it named", field, err)
		}
	}
}

func TestClosedServiceRefuses(t *testing.T) {
	in, answer := honest(t, swapper.SwapToBTC)
	v := wrap(t, &service{created: answer})
	trial.Do(t, v.(io.Closer).Close())
	if _, err := v.CreateSwap(t.Context(), in); !errors.Is(err, swapper.ErrClosed) {
		t.Errorf("got %v, want ErrClosed", err)
	}
}

func refuses(err error) bool {
	_, ok := errors.AsType[*verify.RefusedError](err)
	return ok
}
