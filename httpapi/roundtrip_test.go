package httpapi_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"math/big"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/httpapi"
	"github.com/swapper-go/swapper/internal/trial"
)

const preimage = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeFF"

// exchange is one call of one operation.
type exchange struct {
	name string
	call func(context.Context, swapper.Service) (any, error)
	key  func(string) exchange // the same with another main text; nil where it is not free
}

func (t exchange) withKey(key string) (exchange, bool) {
	if t.key == nil {
		return exchange{}, false
	}
	return t.key(key), true
}

func createSwap(in swapper.CreateSwapInput) exchange {
	return exchange{"createSwap", func(ctx context.Context, s swapper.Service) (any, error) { return s.CreateSwap(ctx, in) },
		func(key string) exchange { in.SrcToken = key; return createSwap(in) }}
}

func createGasSwap(in swapper.CreateGasSwapInput) exchange {
	return exchange{"createGasSwap", func(ctx context.Context, s swapper.Service) (any, error) { return s.CreateGasSwap(ctx, in) },
		func(key string) exchange { in.SrcToken = key; return createGasSwap(in) }}
}

func getSwapStatus(in swapper.GetSwapStatusInput) exchange {
	return exchange{"getSwapStatus", func(ctx context.Context, s swapper.Service) (any, error) { return s.GetSwapStatus(ctx, in) },
		func(key string) exchange { in.SwapID = key; return getSwapStatus(in) }}
}

func submitTransaction(in swapper.SubmitTransactionInput) exchange {
	return exchange{"submitTransaction", func(ctx context.Context, s swapper.Service) (any, error) { return s.SubmitTransaction(ctx, in) },
		func(key string) exchange { in.SwapID = key; return submitTransaction(in) }}
}

func settleWithLnurl(in swapper.SettleWithLnurlInput) exchange {
	return exchange{"settleWithLnurl", func(ctx context.Context, s swapper.Service) (any, error) { return s.SettleWithLnurl(ctx, in) },
		func(key string) exchange { in.SwapID = key; return settleWithLnurl(in) }}
}

func listSwaps(in swapper.ListSwapsInput) exchange {
	return exchange{"listSwaps", func(ctx context.Context, s swapper.Service) (any, error) { return s.ListSwaps(ctx, in) },
		func(key string) exchange { in.Signer = key; return listSwaps(in) }}
}

func listPendingSwaps(in swapper.ListSwapsInput) exchange {
	return exchange{"listPendingSwaps", func(ctx context.Context, s swapper.Service) (any, error) { return s.ListPendingSwaps(ctx, in) },
		func(key string) exchange { in.Signer = key; return listPendingSwaps(in) }}
}

func getSupportedTokens(in swapper.GetSupportedTokensInput) exchange {
	return exchange{"getSupportedTokens", func(ctx context.Context, s swapper.Service) (any, error) { return s.GetSupportedTokens(ctx, in) }, nil}
}

func getSwapCounterTokens(in swapper.GetSwapCounterTokensInput) exchange {
	return exchange{"getSwapCounterTokens", func(ctx context.Context, s swapper.Service) (any, error) { return s.GetSwapCounterTokens(ctx, in) },
		func(key string) exchange { in.Token = key; return getSwapCounterTokens(in) }}
}

func getSwapLimits(in swapper.GetSwapLimitsInput) exchange {
	return exchange{"getSwapLimits", func(ctx context.Context, s swapper.Service) (any, error) { return s.GetSwapLimits(ctx, in) },
		func(key string) exchange { in.SrcToken = key; return getSwapLimits(in) }}
}

func parseAddress(in swapper.ParseAddressInput) exchange {
	return exchange{"parseAddress", func(ctx context.Context, s swapper.Service) (any, error) { return s.ParseAddress(ctx, in) },
		func(key string) exchange { in.Address = key; return parseAddress(in) }}
}

func getSpendableBalance(in swapper.GetSpendableBalanceInput) exchange {
	return exchange{"getSpendableBalance", func(ctx context.Context, s swapper.Service) (any, error) { return s.GetSpendableBalance(ctx, in) },
		func(key string) exchange { in.Wallet = key; return getSpendableBalance(in) }}
}

// exchanges call every operation, with all fields and with few, and get every answer of the fake.
func exchanges() []exchange {
	huge, _ := new(big.Int).SetString("115792089237316195423570985008687907853269984665640564039457584007913129639935", 10)
	all := []exchange{
		createSwap(swapper.CreateSwapInput{SrcToken: "a", DstToken: "b", Amount: huge, AmountType: swapper.ExactOut, SrcAddress: "s <&>", DstAddress: "d\u2028\"\\",
			GasAmount: big.NewInt(7), PaymentHash: preimage, LightningInvoiceDescription: "æ—日", LightningInvoiceDescriptionHash: preimage,
			LightningPaymentHTLCTimeout: new(5 * 24 * time.Hour), LightningPaymentMaxHTLCTimeout: new(10 * 24 * time.Hour), IdempotencyKey: "key 1"}),
		createSwap(swapper.CreateSwapInput{SrcToken: "a", DstToken: "b", Amount: big.NewInt(1), AmountType: swapper.ExactIn, DstAddress: "d"}),
		createGasSwap(swapper.CreateGasSwapInput{SrcToken: "a", ChainID: "CITREA", Amount: huge, DstAddress: "d\u2028\"\\", RefundAddress: "bc1 <&>", LP: "https://lp.example/?a=1&b=2", IdempotencyKey: "key 2"}),
		createGasSwap(swapper.CreateGasSwapInput{SrcToken: "a", ChainID: "b", Amount: big.NewInt(1), DstAddress: "d"}),
		getSwapStatus(swapper.GetSwapStatusInput{SwapID: "send", Secret: preimage, BitcoinAddress: "bc1", BitcoinPublicKey: preimage, BitcoinFeeRate: new(1e-7), Signer: "s&s=+%"}),
		submitTransaction(swapper.SubmitTransactionInput{SwapID: "a", SignedTxs: []string{"0x00", `{"signed":{"a":1}}`}}),
		settleWithLnurl(swapper.SettleWithLnurlInput{SwapID: "a", LnurlWithdraw: "lnurlw://x.example/?a=1&b=2"}),
		settleWithLnurl(swapper.SettleWithLnurlInput{SwapID: "a"}),
		listSwaps(swapper.ListSwapsInput{Signer: "0x1", ChainID: "CITREA"}),
		listSwaps(swapper.ListSwapsInput{Signer: "0x1"}),
		listPendingSwaps(swapper.ListSwapsInput{Signer: "0x1", ChainID: "CITREA"}),
		getSupportedTokens(swapper.GetSupportedTokensInput{Side: swapper.SideInput}),
		getSwapCounterTokens(swapper.GetSwapCounterTokensInput{Token: "BITCOIN-BTC", Side: swapper.SideOutput}),
		getSwapLimits(swapper.GetSwapLimitsInput{SrcToken: "BITCOIN-BTC", DstToken: "CITREA-CBTC"}),
		getSpendableBalance(swapper.GetSpendableBalanceInput{Wallet: "w", Token: "BITCOIN-BTC", TargetChain: "CITREA", GasDrop: true, FeeRate: "1000;500", MinBitcoinFeeRate: new(1.25)}),
		getSpendableBalance(swapper.GetSpendableBalanceInput{Wallet: "w", Token: "CITREA-CBTC", FeeMultiplier: new(1.5)}),
	}
	for id := range statuses() {
		all = append(all, getSwapStatus(swapper.GetSwapStatusInput{SwapID: id}))
	}
	for a := range addresses() {
		all = append(all, parseAddress(swapper.ParseAddressInput{Address: a}))
	}
	return all
}

func dial(t testing.TB, url string, o httpapi.ClientOptions) swapper.Service {
	t.Helper()
	return trial.Must(httpapi.NewClient(url, o))(t)
}

var sameNumbers = cmp.Options{
	cmp.Comparer(func(a, b *big.Int) bool { return a == b || a != nil && b != nil && a.Cmp(b) == 0 }),
	cmpopts.EquateEmpty(),
}

func TestClientAgainstHandler(t *testing.T) {
	service := &fake{}
	server := httptest.NewServer(httpapi.New(service, httpapi.Options{BasePath: "/api"}))
	defer server.Close()
	client := dial(t, server.URL+"/api/", httpapi.ClientOptions{})
	for _, exchange := range exchanges() {
		var sent, arrived any
		service.got = func(in any) { sent = in }
		want, err := exchange.call(t.Context(), service)
		if err != nil {
			t.Fatalf("%s: %v", exchange.name, err)
		}
		service.got = func(in any) { arrived = in }
		got, err := exchange.call(t.Context(), client)
		if err != nil {
			t.Errorf("%s: %v", exchange.name, err)
			continue
		}
		if in, ok := sent.(swapper.ListSwapsInput); ok { // by pages, with one more swap than they have
			if in.Limit == 0 {
				in.Limit = 1000
			}
			in.Limit++
			sent = in
		}
		if diff := cmp.Diff(sent, arrived, sameNumbers); diff != "" {
			t.Errorf("%s: input differs (-sent +arrived):\n%s", exchange.name, diff)
		}
		if diff := cmp.Diff(want, got, sameNumbers); diff != "" {
			t.Errorf("%s: answer differs (-given +received):\n%s", exchange.name, diff)
		}
	}
}

var codes = map[fault.Code]int{
	fault.InvalidInput: 400, fault.Unsupported: 400, fault.AmountOutOfBounds: 400, fault.NotFound: 404,
	fault.InvalidState: 409, fault.Upstream: 502, fault.Timeout: 504, fault.Internal: 500,
}

func TestErrorsAgainstHandler(t *testing.T) {
	service := &fake{}
	var log bytes.Buffer
	server := httptest.NewServer(httpapi.New(service, httpapi.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))}))
	defer server.Close()
	status := 0
	client := dial(t, server.URL, httpapi.ClientOptions{HTTP: &http.Client{Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
		response, err := http.DefaultTransport.RoundTrip(r)
		if err == nil {
			status = response.StatusCode
		}
		return response, err
	})}})
	for _, exchange := range exchanges() {
		for code, wantStatus := range codes {
			failing, ok := exchange.withKey("error-" + string(code))
			if !ok {
				continue
			}
			log.Reset()
			_, want := failing.call(t.Context(), service)
			_, got := failing.call(t.Context(), client)
			if fault.CodeOf(got) != code || status != wantStatus {
				t.Errorf("%s: %v became %v, status %d", exchange.name, want, got, status)
			}
			if code == fault.Internal {
				if strings.Contains(got.Error(), "secret detail") || !strings.Contains(log.String(), "secret detail") {
					t.Errorf("%s: the caller reads %q, the log %q", exchange.name, got, log.String())
				}
				continue
			}
			if log.Len() > 0 {
				t.Errorf("%s: %v is logged: %s", exchange.name, want, log.String())
			}
			a, _ := errors.AsType[*fault.Error](want)
			b, _ := errors.AsType[*fault.Error](got)
			if diff := cmp.Diff(a, b, sameNumbers); diff != "" {
				t.Errorf("%s: error differs (-given +received):\n%s", exchange.name, diff)
			}
		}
		if failing, ok := exchange.withKey("error-plain"); ok {
			if _, err := failing.call(t.Context(), client); fault.CodeOf(err) != fault.Timeout {
				t.Errorf("%s: an expired context became %v", exchange.name, err)
			}
		}
		if failing, ok := exchange.withKey("error-panic"); ok {
			log.Reset()
			_, err := failing.call(t.Context(), client)
			if fault.CodeOf(err) != fault.Internal || strings.Contains(err.Error(), "secret") || !strings.Contains(log.String(), "fake_test.go") {
				t.Errorf("%s: a panic became %v, and in the log %q", exchange.name, err, log.String())
			}
		}
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
