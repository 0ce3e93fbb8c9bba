package e2e

import (
	"bytes"
	"context"
	"encoding/hex"
	"io"
	"maps"
	"math/big"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/legacy"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/httpapi"
	"github.com/swapper-go/swapper/internal/devnet/lightning"
	"github.com/swapper-go/swapper/internal/trial"
)

// validated passes requests on, and holds them and their answers to the OpenAPI
// document that the handler serves.
type validated struct {
	t      *testing.T
	router routers.Router
	next   http.Handler
	// lax lets requests that are refused be as they like: they are meant to be wrong.
	lax bool

	mu       sync.Mutex
	answered map[string]bool // operations that have given a good answer
	refused  int
}

func newValidated(t *testing.T, next http.Handler) *validated {
	t.Helper()
	w := httptest.NewRecorder()
	next.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/openapi.json", nil))
	document := trial.Must(openapi3.NewLoader().LoadFromData(w.Body.Bytes()))(t)
	document.Servers = nil
	router := trial.Must(legacy.NewRouter(document))(t)
	v := &validated{t: t, router: router, next: next, answered: map[string]bool{}}
	for _, item := range document.Paths.Map() {
		for _, operation := range item.Operations() {
			v.answered[operation.OperationID] = false
		}
	}
	return v
}

func (v *validated) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		v.t.Error(err)
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	route, params, err := v.router.FindRoute(r)
	if err != nil {
		v.t.Errorf("%s %s: %v", r.Method, r.URL.Path, err)
		return
	}
	in := &openapi3filter.RequestValidationInput{Request: r, Route: route, PathParams: params,
		Options: &openapi3filter.Options{AuthenticationFunc: openapi3filter.NoopAuthenticationFunc}} // callers without a name are let in
	wrong := openapi3filter.ValidateRequest(r.Context(), in)
	r.Body = io.NopCloser(bytes.NewReader(body))
	answer := httptest.NewRecorder()
	v.next.ServeHTTP(answer, r)
	if wrong != nil && !(v.lax && answer.Code != http.StatusOK) {
		v.t.Errorf("request %s %s, answered %d: %v", r.Method, r.URL.Path, answer.Code, wrong)
	}
	out := &openapi3filter.ResponseValidationInput{RequestValidationInput: in, Status: answer.Code, Header: answer.Header(),
		Options: &openapi3filter.Options{IncludeResponseStatus: true}}
	out.SetBodyBytes(answer.Body.Bytes())
	if err := openapi3filter.ValidateResponse(r.Context(), out); err != nil {
		v.t.Errorf("answer %d to %s %s: %s: %v", answer.Code, r.Method, r.URL.Path, answer.Body, err)
	}
	v.mu.Lock()
	if answer.Code == http.StatusOK {
		v.answered[route.Operation.OperationID] = true
	} else {
		v.refused++
	}
	v.mu.Unlock()
	maps.Copy(w.Header(), answer.Header())
	w.WriteHeader(answer.Code)
	_, _ = w.Write(answer.Body.Bytes())
}

// Swaps in every direction over HTTP, and every operation around them: each
// request and each answer is as the OpenAPI document says.
func TestOverHTTP(t *testing.T) {
	t.Parallel()
	w := start(t, options{})
	check := newValidated(t, httpapi.New(w.client, httpapi.Options{}))
	server := httptest.NewServer(check)
	defer server.Close()
	remote := trial.Must(httpapi.NewClient(server.URL, httpapi.ClientOptions{}))(t)
	w.user.Swaps = remote
	services := trial.Must(lightning.StartLNURL(lightning.LNURLOptions{Node: w.net.Payer, Now: w.net.Clock.Now}))(t)
	defer services.Close()
	shop := trial.Must(services.AddPay(lightning.Pay{Name: "shop", MinMsat: 1_000, MaxMsat: 1_000_000_000, Comment: 20,
		Action: &lightning.Action{Tag: "aes", Description: "a gift", Text: "1234"}}))(t)
	once := lightning.Withdraw{Name: "faucet", MinMsat: 1_000, MaxMsat: 1_000_000_000, Description: "for you"}
	faucet := trial.Must(services.AddWithdraw(once))(t)
	to := trial.Must(bitcoin.ParseAddress(w.net.Wallet.Address.String(), bitcoin.Regtest))(t)
	ctx := w.within(4 * time.Minute)
	preimage, hash := lightning.Preimage("over HTTP")
	own := hex.EncodeToString(hash[:]) // its preimage travels in a body

	for name, in := range map[string]swapper.CreateSwapInput{
		"to Bitcoin":     {SrcToken: "CITREA-CBTC", DstToken: "BITCOIN-BTC", Amount: big.NewInt(100_000), AmountType: swapper.ExactOut, SrcAddress: w.address(), DstAddress: to.String()},
		"to a link":      {SrcToken: "CITREA-WBTC", DstToken: "LIGHTNING-BTC", Amount: big.NewInt(50_000), AmountType: swapper.ExactOut, SrcAddress: w.address(), DstAddress: shop.LNURL},
		"from Lightning": {SrcToken: "LIGHTNING-BTC", DstToken: "CITREA-USDC", Amount: big.NewInt(50_000), AmountType: swapper.ExactIn, DstAddress: w.address(), PaymentHash: own},
		"from a link":    {SrcToken: "LIGHTNING-BTC", DstToken: "CITREA-CBTC", Amount: big.NewInt(50_000), AmountType: swapper.ExactIn, DstAddress: w.address()},
		"from Bitcoin":   {SrcToken: "BITCOIN-BTC", DstToken: "CITREA-CBTC", Amount: big.NewInt(200_000), AmountType: swapper.ExactIn, DstAddress: w.address()},
	} {
		t.Run(name, func(t *testing.T) {
			s := trial.Must(remote.CreateSwap(ctx, in))(t)
			pending := trial.Must(remote.ListPendingSwaps(ctx, swapper.ListSwapsInput{Signer: w.address()}))(t)
			if !slices.ContainsFunc(pending, func(l swapper.ListSwapOutput) bool { return l.SwapID == s.SwapID }) {
				t.Errorf("%s is not in the list of pending swaps", s.SwapID)
			}
			if name == "from a link" {
				paid := trial.Must(remote.SettleWithLnurl(ctx, swapper.SettleWithLnurlInput{SwapID: s.SwapID, LnurlWithdraw: faucet.LNURL}))(t)
				if len(paid.PaymentHash) != 64 {
					t.Errorf("payment hash %q", paid.PaymentHash)
				}
			}
			user := *w.user
			if in.PaymentHash != "" {
				user.Secret = func(string) swapper.Secret { return swapper.Secret(hex.EncodeToString(preimage[:])) }
			}
			end, err := user.Finish(ctx, s.SwapID, nil)
			if err != nil || !end.IsSuccess {
				t.Fatalf("%v; ended as %+v", err, end)
			}
			if name == "to a link" && (end.LNURL == nil || end.LNURL.SuccessAction == nil || end.LNURL.SuccessAction.Text != "1234") {
				t.Errorf("the success action is not shown: %+v", end.LNURL)
			}
		})
	}
	if all := trial.Must(remote.ListSwaps(ctx, swapper.ListSwapsInput{Signer: w.address(), ChainID: "CITREA"}))(t); len(all) < 5 {
		t.Errorf("%d swaps in the list", len(all))
	}
	aroundSwaps(ctx, t, w, remote, shop, trial.Must(services.AddWithdraw(once))(t))

	for operation, good := range check.answered {
		if !good {
			t.Errorf("%s has given no good answer", operation)
		}
	}
	if check.refused < 3 {
		t.Errorf("only %d refusals were seen", check.refused)
	}
}

// aroundSwaps asks what is asked around swaps: tokens, limits, addresses,
// balances; and what is refused.
func aroundSwaps(ctx context.Context, t *testing.T, w *world, s swapper.Service, shop, faucet lightning.Links) {
	for _, side := range []swapper.Side{swapper.SideInput, swapper.SideOutput} {
		if got := trial.Must(s.GetSupportedTokens(ctx, swapper.GetSupportedTokensInput{Side: side}))(t); len(got) < 4 {
			t.Errorf("%s: tokens %v", side, got)
		}
		if got := trial.Must(s.GetSwapCounterTokens(ctx, swapper.GetSwapCounterTokensInput{Token: "CITREA-CBTC", Side: side}))(t); len(got) < 2 {
			t.Errorf("%s: counter tokens %v", side, got)
		}
	}
	for _, pair := range [][2]string{{"CITREA-CBTC", "BITCOIN-BTC"}, {"BITCOIN-BTC", "CITREA-USDC"}} {
		limits := trial.Must(s.GetSwapLimits(ctx, swapper.GetSwapLimitsInput{SrcToken: pair[0], DstToken: pair[1]}))(t)
		if limits.Input.Min.RawAmount.Sign() <= 0 || limits.Output.Min.RawAmount.Sign() <= 0 {
			t.Errorf("%v: limits %+v", pair, limits)
		}
	}
	if gas := trial.Must(s.CreateGasSwap(ctx, w.gasInput("LIGHTNING-BTC", w.newcomer())))(t); gas.SwapType != swapper.SwapTrustedFromLN {
		t.Errorf("gas is sold by a swap of type %s", gas.SwapType)
	}
	btc := w.net.Wallet.Address.String()
	for text, want := range map[string]string{
		btc: "BITCOIN", "bitcoin:" + btc + "?amount=0.5": "BITCOIN", w.address(): "CITREA", shop.LNURL: "LNURL", faucet.LNURL: "LNURL",
	} {
		if got := trial.Must(s.ParseAddress(ctx, swapper.ParseAddressInput{Address: text}))(t); got.Type != want {
			t.Errorf("%s is %s", text, got.Type)
		}
	}
	for wallet, token := range map[string]string{btc: "BITCOIN-BTC", w.address(): "CITREA-CBTC"} {
		if got := trial.Must(s.GetSpendableBalance(ctx, swapper.GetSpendableBalanceInput{Wallet: wallet, Token: token}))(t); got.Balance.RawAmount.Sign() <= 0 {
			t.Errorf("%s: %+v", token, got)
		}
	}
	for code, call := range map[fault.Code]func() error{
		fault.NotFound:     func() error { _, err := s.GetSwapStatus(ctx, swapper.GetSwapStatusInput{SwapID: "nope"}); return err },
		fault.InvalidInput: func() error { _, err := s.ParseAddress(ctx, swapper.ParseAddressInput{Address: "nope"}); return err },
		fault.AmountOutOfBounds: func() error {
			_, err := s.CreateSwap(ctx, swapper.CreateSwapInput{SrcToken: "CITREA-CBTC", DstToken: "BITCOIN-BTC", Amount: big.NewInt(1), AmountType: swapper.ExactOut,
				SrcAddress: w.address(), DstAddress: btc})
			return err
		},
	} {
		if err := call(); fault.CodeOf(err) != code {
			t.Errorf("%v, want %s", err, code)
		}
	}
}
