package lphttp

import (
	"encoding/hex"
	"encoding/json"
	"math/big"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/swapper-go/swapper/internal/async"
	"github.com/swapper-go/swapper/internal/flowtest"
	"github.com/swapper-go/swapper/internal/lp"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/internal/vectors"
)

// quoteParams are the inputs of all quote requests.
type quoteParams struct {
	BTCAddress, Amount, Nonce, Token, Offerer, Claimer, Sequence, PaymentHash string
	ConfirmationTarget, Confirmations                                         int
	ExactIn, ExactOut                                                         bool
	Description, DescriptionHash, GasToken, GasAmount                         string
	PR, MaxFee, ExpiryTimestamp, ReqID, Address, FrontingFeeRate              string
	StickyAddress                                                             *bool
	QuoteID, PSBTHex, RefundAddress                                           string
}

// lateParams are the futures that a request may wait for.
type lateParams struct {
	feeRate       *async.Future[string]
	bounty        *async.Future[*lp.Bounty]
	autoBounty    *async.Future[*big.Int]
	amount, share *async.Future[*big.Int]
	inputs        *async.Future[[]lp.InputCost]
	inputFeeRate  *async.Future[float64]
}

// ask makes the call that the vectors name by its method.
func ask(t *testing.T, c *Client, base, method, chain, depositToken string, p quoteParams, l lateParams, early lp.Early) (any, error) {
	t.Helper()
	ctx := t.Context()
	n := func(s string) *big.Int {
		if s == "" {
			return nil
		}
		return flowtest.Number(t, s)
	}
	unix := func(s string) int64 {
		if s == "" {
			return 0
		}
		return flowtest.Number(t, s).Int64()
	}
	u64 := func(s string) uint64 {
		if s == "" {
			return 0
		}
		return flowtest.Number(t, s).Uint64()
	}
	switch method {
	case "initToBTC":
		return c.ToBTC(ctx, base, lp.ToBTCRequest{Chain: chain, Address: p.BTCAddress, Amount: n(p.Amount), ExactIn: p.ExactIn, ConfirmationTarget: p.ConfirmationTarget,
			Confirmations: p.Confirmations, Nonce: u64(p.Nonce), Token: p.Token, Offerer: p.Offerer, FeeRate: l.feeRate}, early)
	case "initToBTCLN":
		return c.ToBTCLN(ctx, base, lp.ToBTCLNRequest{Chain: chain, Invoice: p.PR, MaxFee: n(p.MaxFee), Expiry: unix(p.ExpiryTimestamp), Token: p.Token, Offerer: p.Offerer, FeeRate: l.feeRate}, early)
	case "prepareToBTCLNExactIn":
		return c.PrepareToBTCLN(ctx, base, lp.PrepareToBTCLNRequest{Chain: chain, Invoice: p.PR, Amount: n(p.Amount), MaxFee: n(p.MaxFee), Expiry: unix(p.ExpiryTimestamp), Token: p.Token, Offerer: p.Offerer}, early)
	case "initToBTCLNExactIn":
		return c.ToBTCLNExactIn(ctx, base, lp.ToBTCLNExactInRequest{Invoice: p.PR, ReqID: p.ReqID, FeeRate: l.feeRate}, early)
	case "initFromBTC":
		return c.FromBTC(ctx, base, lp.FromBTCRequest{Chain: chain, DepositToken: depositToken, Claimer: p.Claimer, Amount: n(p.Amount), Token: p.Token, ExactOut: p.ExactOut,
			Sequence: u64(p.Sequence), Bounty: l.bounty, FeeRate: l.feeRate}, early)
	case "initFromBTCLN":
		return c.FromBTCLN(ctx, base, lp.FromBTCLNRequest{Chain: chain, DepositToken: depositToken, PaymentHash: p.PaymentHash, Amount: n(p.Amount), Claimer: p.Claimer, Token: p.Token,
			Description: p.Description, DescriptionHash: p.DescriptionHash, ExactOut: p.ExactOut, FeeRate: l.feeRate}, early)
	case "initFromBTCLNAuto":
		return c.FromBTCLNAuto(ctx, base, lp.FromBTCLNAutoRequest{Chain: chain, PaymentHash: p.PaymentHash, Amount: n(p.Amount), Claimer: p.Claimer, Token: p.Token,
			Description: p.Description, DescriptionHash: p.DescriptionHash, ExactOut: p.ExactOut, GasToken: p.GasToken, GasAmount: n(p.GasAmount), ClaimerBounty: l.autoBounty}, early)
	case "prepareSpvFromBTC":
		return c.SPV(ctx, base, lp.SPVRequest{Chain: chain, Address: p.Address, Amount: l.amount, Token: p.Token, GasAmount: n(p.GasAmount), GasToken: p.GasToken, ExactOut: p.ExactOut,
			FrontingFeeRate: n(p.FrontingFeeRate), CallerFeeRate: l.share, StickyAddress: p.StickyAddress, Inputs: l.inputs, InputFeeRate: l.inputFeeRate})
	case "initSpvFromBTC":
		psbt := trial.Must(hex.DecodeString(p.PSBTHex))(t)
		return c.PostSPV(ctx, base, chain, p.QuoteID, psbt)
	case "initTrustedFromBTCLN":
		return c.TrustedLN(ctx, base, lp.TrustedRequest{Chain: chain, Address: p.Address, Amount: n(p.Amount), Token: p.Token})
	case "initTrustedFromBTC":
		return c.TrustedBTC(ctx, base, lp.TrustedRequest{Chain: chain, Address: p.Address, Amount: n(p.Amount), Token: p.Token, RefundAddress: p.RefundAddress})
	}
	t.Fatalf("no method %q", method)
	return nil, nil
}

type lateValue struct {
	Param   string
	Value   json.RawMessage
	AfterMs int
}

// prepareLate returns futures that get their values when the vectors say.
func prepareLate(t *testing.T, late []lateValue) (l lateParams) {
	t.Helper()
	for _, v := range late {
		var s string
		_ = json.Unmarshal(v.Value, &s)
		none := string(v.Value) == "null"
		var set func()
		switch v.Param {
		case "feeRate":
			l.feeRate = async.NewFuture[string]()
			set = func() { l.feeRate.Set(s, nil) }
		case "amount":
			l.amount = async.NewFuture[*big.Int]()
			set = func() { l.amount.Set(orNil(t, s), nil) }
		case "callerFeeRate":
			l.share = async.NewFuture[*big.Int]()
			set = func() { l.share.Set(orNil(t, s), nil) }
		case "amountFeeRate":
			l.inputFeeRate = async.NewFuture[float64]()
			var rate float64
			flowtest.Decode(t, v.Value, &rate)
			set = func() { l.inputFeeRate.Set(rate, nil) }
		case "amountUtxos":
			l.inputs = async.NewFuture[[]lp.InputCost]()
			var costs []lp.InputCost
			flowtest.Decode(t, v.Value, &costs)
			set = func() { l.inputs.Set(costs, nil) }
		case "claimerBounty":
			if s != "" {
				l.autoBounty = async.NewFuture[*big.Int]()
				set = func() { l.autoBounty.Set(flowtest.Number(t, s), nil) }
				break
			}
			l.bounty = async.NewFuture[*lp.Bounty]()
			if none {
				set = func() { l.bounty.Set(nil, nil) }
				break
			}
			var b map[string]string
			flowtest.Decode(t, v.Value, &b)
			bounty := &lp.Bounty{FeePerBlock: flowtest.Number(t, b["feePerBlock"]), SafetyFactor: flowtest.Number(t, b["safetyFactor"]),
				StartTimestamp: flowtest.Number(t, b["startTimestamp"]).Int64(), AddBlock: flowtest.Number(t, b["addBlock"]), AddFee: flowtest.Number(t, b["addFee"])}
			set = func() { l.bounty.Set(bounty, nil) }
		default:
			t.Fatalf("no late parameter %q", v.Param)
		}
		time.AfterFunc(time.Duration(v.AfterMs)*time.Millisecond, set)
	}
	return l
}

func orNil(t *testing.T, s string) *big.Int {
	t.Helper()
	if s == "" {
		return nil
	}
	return flowtest.Number(t, s)
}

func members(t *testing.T, object json.RawMessage) []lp.Param {
	t.Helper()
	if len(object) == 0 || string(object) == "null" {
		return nil
	}
	var out []lp.Param
	d := json.NewDecoder(strings.NewReader(string(object)))
	trial.Must(d.Token())(t)
	for d.More() {
		name := trial.Must(d.Token())(t)
		var value json.RawMessage
		trial.Do(t, d.Decode(&value))
		out = append(out, lp.Param{Name: name.(string), Value: value})
	}
	return out
}

type captured struct {
	method, uri, contentType, accept string
	body                             []byte
}

func TestVectorsRequests(t *testing.T) {
	flowtest.EachTimed(t, "lp-protocol", "requests", func(t *testing.T, c *vectors.Case) {
		var in struct {
			Method, Chain, DepositToken string
			Streaming                   bool
			Params                      quoteParams
			AdditionalParams            json.RawMessage
			Late                        []lateValue
		}
		var want struct {
			Method, Path, ContentType, Accept string
			Frames                            []string
			BodyHex                           string
			Body                              *string
		}
		c.Input(t, &in)
		c.Expected(t, &want)
		got := make(chan captured, 2)
		network := roundTripper(func(r *http.Request) (int, string, []byte) {
			got <- captured{r.Method, r.URL.RequestURI(), r.Header.Get("Content-Type"), r.Header.Get("Accept"), flowtest.ReadAll(r)}
			return http.StatusOK, "", []byte(`{"code":20002,"msg":"no funds"}`)
		})
		cl := client(t, Options{Transport: network, NoStreams: !in.Streaming, Extra: members(t, in.AdditionalParams)})
		_, err := ask(t, cl, "https://lp", in.Method, in.Chain, in.DepositToken, in.Params, prepareLate(t, in.Late), lp.Early{})
		if flowtest.Class(err) != "RequestError" {
			t.Fatalf("call: %v", err)
		}
		req := <-got
		if req.method != want.Method || req.uri != want.Path || req.contentType != want.ContentType || req.accept != want.Accept {
			t.Errorf("request %s %s %s %s", req.method, req.uri, req.contentType, req.accept)
		}
		if want.Body != nil {
			if string(req.body) != *want.Body {
				t.Errorf("body %s\nwant %s", req.body, *want.Body)
			}
			return
		}
		var all []byte
		for _, f := range want.Frames {
			all = append(all, flowtest.Frame(f)...)
		}
		if string(req.body) != string(all) {
			t.Errorf("body %q\nwant %q", req.body, all)
		}
		if want.BodyHex != "" && hex.EncodeToString(req.body) != want.BodyHex {
			t.Errorf("body %x\nwant %s", req.body, want.BodyHex)
		}
	})
}

func TestVectorsRequestsGet(t *testing.T) {
	vectors.Each(t, "lp-protocol", "requests-get", func(t *testing.T, c *vectors.Case) {
		var in struct {
			Method, PathPrefix, Chain, Nonce string
			Args                             []string
			Params                           quoteParams
		}
		var want struct {
			Method, Path                             string
			Calls                                    int
			Get, PostPath, PostContentType, PostBody string
		}
		c.Input(t, &in)
		c.Expected(t, &want)
		got := make(chan captured, 10)
		base := flowtest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
			got <- captured{r.Method, r.RequestURI, r.Header.Get("Content-Type"), r.Header.Get("Accept"), flowtest.ReadAll(r)}
			_, _ = w.Write([]byte(`{"code":10003,"msg":"unpaid"}`))
		})
		if in.Nonce != "" {
			checkInfoRequests(t, in.Nonce, want.Get, want.PostPath, want.PostContentType, want.PostBody)
			return
		}
		cl := client(t, Options{})
		q := lp.StatusQuery{URL: base + in.PathPrefix}
		if len(in.Args) > 0 {
			q.ID = in.Args[0]
		}
		if len(in.Args) > 1 {
			q.Sequence = flowtest.Number(t, in.Args[1])
		}
		var err error
		switch in.Method {
		case "getRefundAuthorization":
			q.Endpoint = lp.GetRefundAuthorization
			_, err = cl.Status(t.Context(), q)
		case "getPaymentAuthorization":
			q.Endpoint = lp.GetInvoicePaymentAuth
			_, err = cl.Status(t.Context(), q)
		case "getInvoiceStatus", "getTrustedInvoiceStatus":
			q.Endpoint = lp.GetInvoiceStatus
			_, err = cl.Status(t.Context(), q)
		case "getTrustedAddressStatus":
			q.Endpoint = lp.GetAddressStatus
			_, err = cl.Status(t.Context(), q)
		case "setTrustedRefundAddress":
			_, err = cl.SetRefundAddress(t.Context(), q.URL, q.ID, q.Sequence, in.Args[2])
		default:
			_, err = ask(t, cl, base, in.Method, in.Chain, "", in.Params, lateParams{}, lp.Early{})
			if flowtest.Class(err) != "RequestError" {
				t.Errorf("quote: %v", err)
			}
			err = nil
		}
		if err != nil {
			t.Error(err)
		}
		req := <-got
		// The amount of gas is what is paid out: LPs read an exact input as sats.
		if plain := strings.Replace(want.Path, "exactIn=true", "exactIn=false", 1); plain != want.Path {
			c.Differ(t, "lp-trusted-exact-out")
			want.Path = plain
		}
		if req.method != want.Method || req.uri != want.Path || len(got) != want.Calls-1 || req.accept == "" {
			t.Errorf("request %s %s (%d calls), want %s %s", req.method, req.uri, len(got)+1, want.Method, want.Path)
		}
	})
}
