package lphttp

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"io"
	"math/big"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/async"
	"github.com/swapper-go/swapper/internal/btc/rawtx"
	"github.com/swapper-go/swapper/internal/flowtest"
	"github.com/swapper-go/swapper/internal/httpx"
	"github.com/swapper-go/swapper/internal/lp"
	"github.com/swapper-go/swapper/internal/vectors"
)

// canned answers every request with the same bytes.
type canned struct {
	status      int
	contentType string
	body        []byte
}

func (c canned) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		_, _ = io.Copy(io.Discard, r.Body)
		r.Body.Close()
	}
	return &http.Response{StatusCode: c.status, Header: http.Header{"Content-Type": {c.contentType}}, ContentLength: -1,
		Body: io.NopCloser(bytes.NewReader(c.body)), Request: r}, nil
}

// FuzzAnswers feeds any answer to every endpoint.
func FuzzAnswers(f *testing.F) {
	for _, file := range []string{"responses", "responses-get"} {
		for _, c := range vectors.Load(f, "lp-protocol", file).Cases {
			var in struct {
				ContentType, Body, BodyHex string
				Status                     int
			}
			c.Input(f, &in)
			data, _ := hex.DecodeString(in.BodyHex)
			f.Add(append(data, in.Body...), in.ContentType == lp.StreamType, in.Status == 200)
		}
	}
	for _, c := range vectors.Load(f, "lp-protocol", "node-info").Cases {
		var in struct{ Response json.RawMessage }
		c.Input(f, &in)
		f.Add(bytes.ReplaceAll(in.Response, []byte("NONCE"), []byte(strings.Repeat("0", 64))), false, true)
	}
	f.Add([]byte(`{"content":"W10="}`), false, true)
	f.Fuzz(answerAll)
}

// FuzzBentAnswers takes answers of honest providers, as single answers and as frames of
// a stream, with members left out, renamed, doubled, exchanged or made something odd.
func FuzzBentAnswers(f *testing.F) {
	var seeds [][]byte
	for _, file := range []string{"responses", "responses-get"} {
		for _, c := range vectors.Load(f, "lp-protocol", file).Cases {
			var in struct{ Body string }
			if c.Input(f, &in); json.Valid([]byte(in.Body)) {
				seeds = append(seeds, []byte(in.Body))
			}
		}
	}
	for _, c := range vectors.Load(f, "lp-protocol", "node-info").Cases {
		var in struct{ Response json.RawMessage }
		c.Input(f, &in)
		seeds = append(seeds, bytes.ReplaceAll(in.Response, []byte("NONCE"), []byte(strings.Repeat("0", 64))))
	}
	for i := range seeds {
		f.Add([]byte{byte(i), 1, byte(i), 6, 2}, false)
	}
	f.Fuzz(func(t *testing.T, fields []byte, stream bool) {
		d := vectors.Draw(fields)
		data := d.JSON(seeds[d.Int(len(seeds))])
		ok := d.Int(4) > 0
		if stream {
			var frames []byte
			for range 1 + d.Int(2) {
				frames = append(frames, flowtest.Frame(string(data))...)
				data = d.JSON(data)
			}
			data = d.Bent(frames)
		}
		answerAll(t, data, stream, ok)
	})
}

// answerAll gives one answer to every call.
func answerAll(t *testing.T, data []byte, stream, ok bool) {
	answer := canned{status: http.StatusBadRequest, body: data}
	if stream {
		answer.contentType = lp.StreamType
	}
	if ok {
		answer.status = http.StatusOK
	}
	c := NewClient(Options{Transport: answer, Rand: zeros{}, Limit: 4096, Retry: httpx.RetryPolicy{Calls: 1, Sleep: quick().Sleep}})
	one := big.NewInt(1)
	ctx, base := t.Context(), "https://lp"
	calls := map[string]func() (any, error){
		"ToBTC": func() (any, error) {
			return c.ToBTC(ctx, base, lp.ToBTCRequest{Amount: one, FeeRate: async.Known("1")}, lp.Early{})
		},
		"ToBTCLN":        func() (any, error) { return c.ToBTCLN(ctx, base, lp.ToBTCLNRequest{MaxFee: one}, lp.Early{}) },
		"PrepareToBTCLN": func() (any, error) { return c.PrepareToBTCLN(ctx, base, lp.PrepareToBTCLNRequest{}, lp.Early{}) },
		"ToBTCLNExactIn": func() (any, error) { return c.ToBTCLNExactIn(ctx, base, lp.ToBTCLNExactInRequest{}, lp.Early{}) },
		"FromBTC":        func() (any, error) { return c.FromBTC(ctx, base, lp.FromBTCRequest{}, lp.Early{}) },
		"FromBTCLN":      func() (any, error) { return c.FromBTCLN(ctx, base, lp.FromBTCLNRequest{}, lp.Early{}) },
		"FromBTCLNAuto":  func() (any, error) { return c.FromBTCLNAuto(ctx, base, lp.FromBTCLNAutoRequest{}, lp.Early{}) },
		"SPV":            func() (any, error) { return c.SPV(ctx, base, lp.SPVRequest{}) },
		"PostSPV":        func() (any, error) { return c.PostSPV(ctx, base, "C", "q", nil) },
		"TrustedLN":      func() (any, error) { return c.TrustedLN(ctx, base, lp.TrustedRequest{}) },
		"TrustedBTC":     func() (any, error) { return c.TrustedBTC(ctx, base, lp.TrustedRequest{}) },
		"Status": func() (any, error) {
			return c.Status(ctx, lp.StatusQuery{URL: base, Endpoint: lp.GetRefundAuthorization})
		},
		"SetRefund": func() (any, error) { return c.SetRefundAddress(ctx, base, "00", one, "bc1") },
		"Info":      func() (any, error) { return c.Info(ctx, base) },
		"List":      func() (any, error) { return c.List(ctx, base) },
	}
	for name, call := range calls {
		v, err := call()
		if err != nil {
			if len(err.Error()) > 4000 {
				t.Errorf("%s: error of %d bytes", name, len(err.Error()))
			}
			if code := fault.CodeOf(err); name != "Info" && name != "List" && code != fault.Upstream && code != fault.AmountOutOfBounds {
				t.Errorf("%s: %v has the code %s", name, err, code)
			}
			continue
		}
		if !ok {
			t.Errorf("%s accepts a status of 400: %+v", name, v)
		}
		plausible(t, name, reflect.ValueOf(v))
	}
}

// plausible demands that amounts of an answer are there and not negative.
func plausible(t *testing.T, name string, v reflect.Value) {
	t.Helper()
	if v.Kind() != reflect.Struct {
		return
	}
	for i := range v.NumField() {
		switch f := v.Field(i).Interface().(type) {
		case *big.Int:
			if optional := name == "Status" || name == "SetRefund"; f == nil && !optional || f != nil && f.Sign() < 0 {
				t.Errorf("%s: %s is %v", name, v.Type().Field(i).Name, f)
			}
		case int64:
			if f < 0 {
				t.Errorf("%s: %s is %d", name, v.Type().Field(i).Name, f)
			}
		case json.RawMessage:
			if f != nil && !json.Valid(f) {
				t.Errorf("%s: %s is no JSON", name, v.Type().Field(i).Name)
			}
		case map[lp.Service]lp.ServiceInfo:
			for s, x := range f {
				if !s.Valid() || x.Min < 0 || x.Max > rawtx.MaxMoney || x.Min > x.Max || x.FeePPM < 0 || x.FeePPM >= 1_000_000 || x.FeeSats(x.Max) < 0 {
					t.Errorf("%s: service %v is %+v", name, s, x)
				}
			}
		}
	}
}
