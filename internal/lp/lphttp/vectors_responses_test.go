package lphttp

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/flowtest"
	"github.com/swapper-go/swapper/internal/lp"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/internal/vectors"
)

// wireNames are the names of answers' members where they are not the Go name
// with a small first letter.
var wireNames = map[string]string{
	"SatsPerVB": "satsPervByte", "ExactSatsPerVB": "satsPervByteNumber", "Escrow": "data", "Invoice": "pr", "ReqID": "reqId", "BTCAddress": "btcAddress", "QuoteID": "quoteId", "VaultID": "vaultId",
	"VaultBTCAddress": "vaultBtcAddress", "BTCUTXO": "btcUtxo", "BTCFeeRate": "btcFeeRate", "BTCAmount": "btcAmount", "BTCAmountSwap": "btcAmountSwap",
	"BTCAmountGas": "btcAmountGas", "TotalFeeBTC": "totalFeeBtc", "SwapFeeBTC": "swapFeeBtc", "GasSwapFeeBTC": "gasSwapFeeBtc", "UsedInputsOfRequest": "usedUtxoInputCalculation",
}

// onWire returns an answer as the vectors show it.
func onWire(v any, method string) map[string]any {
	if txID, ok := v.(string); ok {
		return map[string]any{"txId": txID}
	}
	out := map[string]any{}
	r := reflect.ValueOf(v)
	for i := range r.NumField() {
		name := r.Type().Field(i).Name
		wire, ok := wireNames[name]
		if !ok {
			wire = strings.ToLower(name[:1]) + name[1:]
		}
		switch f := r.Field(i).Interface().(type) {
		case *big.Int:
			out[wire] = f.String()
		case *float64: // of later LPs alone
			if f != nil {
				out[wire] = *f
			}
		case chains.Auth:
			out["prefix"], out["timeout"], out["signature"] = f.Prefix, fmt.Sprint(f.Timeout), f.Signature
		default:
			out[wire] = f
		}
	}
	if t, ok := out["minRequiredExpiry"]; ok {
		out["minRequiredExpiry"] = fmt.Sprint(t)
	}
	if method == "initFromBTCLN" || method == "initFromBTCLNAuto" || method == "initTrustedFromBTC" {
		out["intermediaryKey"] = out["address"]
		delete(out, "address")
	}
	if used, ok := out["usedUtxoInputCalculation"]; ok && used == false {
		out["usedUtxoInputCalculation"] = nil
	}
	return out
}

// lenient is what the network's clients take for a big integer and no LP sends.
var lenient = regexp.MustCompile(`^(\s*[0-9]+\s*|\s*|\+[0-9]+|\s*0[xX][0-9a-fA-F]+\s*|0[oObB][0-7]+)$`)

// wholeDigits is what is taken: at most 78 digits.
var wholeDigits = regexp.MustCompile(`^-?[0-9]{1,78}$`)

// fieldsOf returns the members of a JSON object, nil if it is none.
func fieldsOf(data []byte) (fields map[string]json.RawMessage) {
	_ = json.Unmarshal(data, &fields)
	return fields
}

// strictly reports what we refuse on purpose in the named fields of an answer's
// data; without names, in the field that an error is about.
func strictly(data json.RawMessage, err error, names ...string) (id string) {
	fields := fieldsOf(data)
	if e, ok := errors.AsType[*lp.RequestError](err); ok {
		for name := range fields {
			if strings.Contains(e.Message, ": "+name+": expected a non-negative whole number") {
				names = append(names, name)
			}
		}
	}
	for _, name := range names {
		s, quoted := string(fields[name]), strings.HasPrefix(string(fields[name]), `"`)
		if quoted {
			_ = json.Unmarshal(fields[name], &s)
		}
		switch whole := wholeDigits.MatchString(s); {
		case whole && s[0] == '-':
			return "lp-negative"
		case quoted && !whole && lenient.MatchString(s):
			return "lp-strict-numbers"
		}
	}
	return ""
}

// sameLoosely compares what the reference reads in data that are refused here
// for a number: members as they are sent, numbers as JavaScript reads them.
func sameLoosely(t *testing.T, want, data json.RawMessage) {
	t.Helper()
	var says, sent map[string]any
	flowtest.Decode(t, want, &says)
	flowtest.Decode(t, data, &sent)
	for name, v := range says {
		if got := loosely(sent[name]); got != loosely(v) {
			t.Errorf("%s: the reference reads %v in %v", name, v, sent[name])
		}
	}
}

// loosely is one text for every way to write a whole number that JavaScript reads,
// and the JSON of anything else.
func loosely(v any) string {
	if s, ok := v.(string); ok {
		s = strings.TrimSpace(s)
		if s == "" {
			return "0"
		}
		if n, ok := new(big.Int).SetString(strings.TrimPrefix(s, "+"), 10); ok {
			return n.String()
		}
		if len(s) > 2 && s[0] == '0' && strings.ContainsRune("xXoObB", rune(s[1])) {
			if n, ok := new(big.Int).SetString(strings.ToLower(s), 0); ok && n.BitLen() <= 64 {
				return n.String()
			}
		}
	}
	text, _ := json.Marshal(v)
	return string(text)
}

func TestVectorsResponses(t *testing.T) {
	vectors.Each(t, "lp-protocol", "responses", func(t *testing.T, c *vectors.Case) {
		var in struct {
			Method, ContentType string
			Status              int
			Body, BodyHex       string
		}
		var want struct {
			Result json.RawMessage
			Side   map[string]json.RawMessage
		}
		c.Input(t, &in)
		c.Expected(t, &want)
		payload := []byte(in.Body)
		if in.BodyHex != "" {
			payload = trial.Must(hex.DecodeString(in.BodyHex))(t)
		}
		base := flowtest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
			flowtest.ReadAll(r)
			w.Header().Set("Content-Type", in.ContentType)
			w.WriteHeader(in.Status)
			_, _ = w.Write(payload)
		})
		side := map[string]json.RawMessage{}
		early := lp.Early{
			SignData: func(v json.RawMessage) { side["signDataPrefetch"] = slices.Clone(v) },
			NodeKey:  func(s string) { side["lnPublicKey"], _ = json.Marshal(s) },
		}
		got, err := ask(t, client(t, Options{}), base, in.Method, "CITREA", "", quoteParams{}, lateParams{}, early)

		for name, v := range want.Side {
			if string(v) == "null" || vectors.Refused(v) {
				if side[name] != nil {
					t.Errorf("%s is %s, want none", name, side[name])
				}
				continue
			}
			vectors.SameJSON(t, v, side[name])
		}
		if !vectors.Refused(want.Result) {
			data := fieldsOf(payload)["data"]
			if id := strictly(data, err); id != "" {
				c.Differ(t, id) // the error is checked in finding its field
				c.Expected(t, &want)
				sameLoosely(t, want.Result, data)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			vectors.SameJSON(t, want.Result, onWire(got, in.Method))
			return
		}
		compareCall(t, err, want.Result)
	})
}

// compareCall checks an error against the vectors' description of it.
func compareCall(t *testing.T, err error, want json.RawMessage) {
	t.Helper()
	var e struct {
		Class, Message string
		HTTPCode       int
		Min, Max       *string
	}
	flowtest.Decode(t, want, &e)
	if err == nil || flowtest.Class(err) != e.Class {
		t.Fatalf("error %v is a %s, want %s", err, flowtest.Class(err), e.Class)
	}
	if _, ok := errors.AsType[*lp.RequestError](err); ok {
		if e.Message == "Cannot parse the response with the expected schema" {
			e.Message = ""
		}
		compareRefusal(t, err, e.Class == "OutOfBoundsError", e.HTTPCode, e.Min, e.Max, e.Message)
	}
}

func TestVectorsResponsesGet(t *testing.T) {
	vectors.Each(t, "lp-protocol", "responses-get", func(t *testing.T, c *vectors.Case) {
		var in struct {
			Method, Body string
			Status       int
		}
		var want struct {
			Result json.RawMessage
			Calls  int
		}
		c.Input(t, &in)
		c.Expected(t, &want)
		calls := make(chan struct{}, 10)
		base := flowtest.Serve(t, func(w http.ResponseWriter, _ *http.Request) {
			calls <- struct{}{}
			w.WriteHeader(in.Status)
			_, _ = w.Write([]byte(in.Body))
		})
		cl := client(t, Options{})
		var got any
		var err error
		if in.Method == "getRefundAuthorization" {
			var s lp.Status
			s, err = cl.Status(t.Context(), lp.StatusQuery{URL: base + "/tobtc", Endpoint: lp.GetRefundAuthorization, ID: "00"})
			shown := map[string]any{"code": s.Code, "msg": s.Message}
			data := map[string]any{}
			if s.Auth != nil {
				data = map[string]any{"address": "a", "prefix": s.Auth.Prefix, "timeout": fmt.Sprint(s.Auth.Timeout), "signature": s.Auth.Signature}
			}
			if s.Secret != nil {
				data["secret"] = hex.EncodeToString(s.Secret)
			}
			if s.TxID != "" {
				data["txId"] = s.TxID
			}
			if len(data) > 0 {
				shown["data"] = data
			}
			got = shown
		} else {
			var answer any
			answer, err = ask(t, cl, base, in.Method, "CITREA", "", quoteParams{}, lateParams{}, lp.Early{})
			got = onWire(answer, in.Method)
		}
		if len(calls) != want.Calls {
			t.Errorf("%d calls, want %d", len(calls), want.Calls)
		}
		if vectors.Refused(want.Result) {
			compareCall(t, err, want.Result)
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if in.Method == "getRefundAuthorization" {
			// The address of an authorisation is not read: the one of /info counts.
			var result map[string]any
			flowtest.Decode(t, want.Result, &result)
			if data, ok := result["data"].(map[string]any); ok && data["address"] != nil {
				data["address"] = "a"
			}
			want.Result, _ = json.Marshal(result)
		}
		vectors.SameJSON(t, want.Result, got)
	})
}
