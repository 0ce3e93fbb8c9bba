package httpapi

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/bounds"
)

// client is what [NewClient] returns.
type client struct {
	base   string
	http   *http.Client
	header http.Header
	keys   *bounds.Cache[string, swapper.Secret] // of swaps that it has created, by id
}

var _ swapper.Service = (*client)(nil)

// ClientOptions are the options of [NewClient]. The zero value means the defaults.
type ClientOptions struct {
	// HTTP sends the requests. It is copied, and the copy refuses redirects unless the
	// client has its own CheckRedirect.
	HTTP *http.Client
	// Header is added to every request, for example `x-api-key`.
	Header http.Header
}

// NewClient returns a [swapper.Service] that calls a remote server: this package's
// handler or another implementation of the API, at a base URL such as
// https://swaps.example/api. The error is a [fault.Error] with
// [fault.InvalidInput].
//
// Input is validated before it is sent. Errors carry the code, field and bounds
// that the service returned; a response that does not follow the API is
// [fault.Upstream]. Responses are read up to a limit, and unknown members
// are ignored. Redirects are errors, because a request carries keys and signed
// transactions. An operation without a deadline gets the handler's default plus
// 15 s. Requests are never retried. The client is safe for concurrent use.
//
// The client remembers the keys of the swaps that it creates, and shows a swap's key with
// each request about it. That memory ends with the process: who goes on with a swap later
// keeps SwapKey of the output, and gives it in the inputs.
func NewClient(base string, o ClientOptions) (swapper.Service, error) {
	u, err := url.Parse(base)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.RawQuery != "" || u.Fragment != "" {
		return nil, newError(fault.InvalidInput, "base", "must be an http or https URL without a query")
	}
	c := &client{base: strings.TrimRight(u.String(), "/"), http: &http.Client{}, header: http.Header{}, keys: bounds.NewCache[string, swapper.Secret](keysKept)}
	if o.HTTP != nil {
		*c.http = *o.HTTP
	}
	for name, values := range o.Header {
		for _, v := range values {
			c.header.Add(name, v)
		}
	}
	if c.http.CheckRedirect == nil {
		c.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	}
	return c, nil
}

// withDeadline gives the context of an operation a deadline if it has none.
func withDeadline(ctx context.Context, d func(Deadlines) time.Duration) (context.Context, context.CancelFunc) {
	if _, ok := ctx.Deadline(); ok {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, d(Deadlines{}.orDefault())+15*time.Second)
}

func usual(d Deadlines) time.Duration { return d.Default }

// CreateSwap implements [swapper.Service].
func (c *client) CreateSwap(ctx context.Context, in swapper.CreateSwapInput) (*swapper.CreateSwapOutput, error) {
	ctx, cancel := withDeadline(ctx, func(d Deadlines) time.Duration { return d.CreateSwap })
	defer cancel()
	return c.keep(object[swapper.CreateSwapOutput](send(ctx, c, post, "createSwap", createSwapFields, &in)))
}

// CreateGasSwap implements [swapper.Service].
func (c *client) CreateGasSwap(ctx context.Context, in swapper.CreateGasSwapInput) (*swapper.CreateSwapOutput, error) {
	ctx, cancel := withDeadline(ctx, func(d Deadlines) time.Duration { return d.CreateSwap })
	defer cancel()
	return c.keep(object[swapper.CreateSwapOutput](send(ctx, c, post, "createGasSwap", createGasSwapFields, &in)))
}

// GetSwapStatus implements [swapper.Service]. A secret is sent in the body of a
// POST; only if the service does not support this addition to the API is it
// sent in the query string.
func (c *client) GetSwapStatus(ctx context.Context, in swapper.GetSwapStatusInput) (*swapper.GetSwapStatusOutput, error) {
	ctx, cancel := withDeadline(ctx, usual)
	defer cancel()
	in.SwapKey = c.keyFor(in.SwapID, in.SwapKey)
	how := get
	if in.Secret != "" {
		how = postOrGet
	}
	return object[swapper.GetSwapStatusOutput](send(ctx, c, how, "getSwapStatus", getSwapStatusFields, &in))
}

// SubmitTransaction implements [swapper.Service].
func (c *client) SubmitTransaction(ctx context.Context, in swapper.SubmitTransactionInput) (*swapper.SubmitTransactionOutput, error) {
	ctx, cancel := withDeadline(ctx, func(d Deadlines) time.Duration { return d.SubmitTransaction })
	defer cancel()
	in.SwapKey = c.keyFor(in.SwapID, in.SwapKey)
	return object[swapper.SubmitTransactionOutput](send(ctx, c, post, "submitTransaction", submitTransactionFields, &in))
}

// SettleWithLnurl implements [swapper.Service].
func (c *client) SettleWithLnurl(ctx context.Context, in swapper.SettleWithLnurlInput) (*swapper.SettleWithLnurlOutput, error) {
	ctx, cancel := withDeadline(ctx, func(d Deadlines) time.Duration { return d.SettleWithLnurl })
	defer cancel()
	in.SwapKey = c.keyFor(in.SwapID, in.SwapKey)
	return object[swapper.SettleWithLnurlOutput](send(ctx, c, post, "settleWithLnurl", settleWithLnurlFields, &in))
}

// ListSwaps implements [swapper.Service]. It reads as many pages as the service has.
func (c *client) ListSwaps(ctx context.Context, in swapper.ListSwapsInput) ([]swapper.ListSwapOutput, error) {
	ctx, cancel := withDeadline(ctx, usual)
	defer cancel()
	return c.list(ctx, "listSwaps", in)
}

// ListPendingSwaps implements [swapper.Service].
func (c *client) ListPendingSwaps(ctx context.Context, in swapper.ListSwapsInput) ([]swapper.ListSwapOutput, error) {
	ctx, cancel := withDeadline(ctx, usual)
	defer cancel()
	return c.list(ctx, "listPendingSwaps", in)
}

// GetSupportedTokens implements [swapper.Service].
func (c *client) GetSupportedTokens(ctx context.Context, in swapper.GetSupportedTokensInput) ([]swapper.Token, error) {
	ctx, cancel := withDeadline(ctx, usual)
	defer cancel()
	return array[swapper.Token](send(ctx, c, get, "getSupportedTokens", getSupportedTokensFields, &in))
}

// GetSwapCounterTokens implements [swapper.Service].
func (c *client) GetSwapCounterTokens(ctx context.Context, in swapper.GetSwapCounterTokensInput) ([]swapper.Token, error) {
	ctx, cancel := withDeadline(ctx, usual)
	defer cancel()
	return array[swapper.Token](send(ctx, c, get, "getSwapCounterTokens", getSwapCounterTokensFields, &in))
}

// GetSwapLimits implements [swapper.Service].
func (c *client) GetSwapLimits(ctx context.Context, in swapper.GetSwapLimitsInput) (*swapper.GetSwapLimitsOutput, error) {
	ctx, cancel := withDeadline(ctx, usual)
	defer cancel()
	return object[swapper.GetSwapLimitsOutput](send(ctx, c, get, "getSwapLimits", getSwapLimitsFields, &in))
}

// ParseAddress implements [swapper.Service].
func (c *client) ParseAddress(ctx context.Context, in swapper.ParseAddressInput) (*swapper.ParseAddressOutput, error) {
	ctx, cancel := withDeadline(ctx, usual)
	defer cancel()
	return object[swapper.ParseAddressOutput](send(ctx, c, get, "parseAddress", parseAddressFields, &in))
}

// GetSpendableBalance implements [swapper.Service].
func (c *client) GetSpendableBalance(ctx context.Context, in swapper.GetSpendableBalanceInput) (*swapper.GetSpendableBalanceOutput, error) {
	ctx, cancel := withDeadline(ctx, usual)
	defer cancel()
	return object[swapper.GetSpendableBalanceOutput](send(ctx, c, get, "getSpendableBalance", getSpendableBalanceFields, &in))
}
