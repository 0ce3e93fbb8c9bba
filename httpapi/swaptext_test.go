package httpapi

import (
	"bytes"
	"encoding/json"
	"math"
	"math/big"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"github.com/swapper-go/swapper"
)

// encoded is what package encoding/json makes of an answer.
func encoded(v any) (string, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return b.String(), err
}

// texts are those that JSON has a way of its own with.
var texts = []string{"", "CITREA", "a<b>&c", "quote\" and \\", "line\nbreak\x00\x7f", "höher, 1 €", "\xff broken", "\u2028", "0x1234", "bitcoin:bc1q?amount=1"}

var numbers = []float64{0, math.Copysign(0, -1), 1, -1, 1.5, 0.1, 1e-6, 9.9e-7, 1e20, 1e21, 123456789.25, -2.5, 5e-324}

// fill gives every field of a value something, of which it is the one with the number n;
// nil and empty are something, too.
func fill(r *rand.Rand, v reflect.Value) {
	switch at := v.Addr().Interface().(type) {
	case *swapper.Action:
		all := []swapper.Action{nil, new(swapper.SendToAddress), new(swapper.SignPSBT), new(swapper.SignSmartChainTransaction), new(swapper.Wait)}
		if *at = all[r.IntN(len(all))]; *at != nil {
			fill(r, v.Elem().Elem())
		}
		return
	case *swapper.Timestamp:
		*at = []swapper.Timestamp{{}, {Time: time.UnixMilli(0)}, {Time: time.Now()}, {Time: time.UnixMilli(r.Int64() >> r.IntN(63))}}[r.IntN(4)]
		return
	case *json.RawMessage:
		*at = json.RawMessage([]string{`{"a": [1, 2], "b":"<é>"}`, `{}`, ` null `, "{\n\"x\":\"\\u003c\"}"}[r.IntN(4)])
		return
	case **big.Int:
		*at = []*big.Int{nil, new(big.Int), big.NewInt(21e14), big.NewInt(-5), new(big.Int).Lsh(big.NewInt(3), 200)}[r.IntN(5)]
		return
	case *swapper.SignPSBT:
		*at = swapper.SignPSBT{}
		fill(r, v.FieldByName([]string{"Funded", "Raw"}[r.IntN(2)]))
		fill(r, v.FieldByName("Name"))
		fill(r, v.FieldByName("Description"))
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			fill(r, v.Field(i))
		}
	case reflect.Pointer:
		if r.IntN(4) == 0 {
			v.SetZero()
			return
		}
		v.Set(reflect.New(v.Type().Elem()))
		fill(r, v.Elem())
	case reflect.Slice:
		n := r.IntN(4) // nil: 0
		v.SetZero()
		if n > 0 {
			v.Set(reflect.MakeSlice(v.Type(), n-1, n-1))
		}
		for i := range max(0, n-1) {
			fill(r, v.Index(i))
		}
	case reflect.Map:
		v.SetZero()
		if n := r.IntN(4); n > 0 { // nil: 0
			v.Set(reflect.MakeMap(v.Type()))
			for range n - 1 {
				key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
				fill(r, key)
				fill(r, value)
				v.SetMapIndex(key, value)
			}
		}
	case reflect.String:
		v.SetString(texts[r.IntN(len(texts))])
	case reflect.Float64:
		v.SetFloat(numbers[r.IntN(len(numbers))])
	case reflect.Bool:
		v.SetBool(r.IntN(2) == 0)
	case reflect.Int, reflect.Int64:
		v.SetInt(r.Int64() >> r.IntN(63))
	case reflect.Uint32, reflect.Uint64:
		v.SetUint(r.Uint64() >> (64 - r.IntN(v.Type().Bits())))
	default:
		panic("no value for " + v.Type().String())
	}
}

// A swap is written exactly as package encoding/json would write it, with every member
// that its types have, or left to that package.
func TestSwapsAreWrittenAsByEncodingJSON(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	for _, v := range []any{new(swapper.GetSwapStatusOutput), new(created), new(swapper.List[swapper.ListSwapOutput])} {
		written := 0
		const rounds = 3000
		for range rounds {
			fill(r, reflect.ValueOf(v).Elem())
			body := v
			if list, ok := v.(*swapper.List[swapper.ListSwapOutput]); ok {
				body = *list
			}
			want, err := encoded(body)
			got, ok := appendSwaps([]byte("before"), body)
			switch {
			case ok && err != nil:
				t.Fatalf("%T that cannot be encoded (%v) was written: %s", body, err, got)
			case ok && string(got)+"\n" != "before"+want:
				t.Fatalf("%T was written as\n%s, expected\nbefore%s", body, got, want)
			case ok:
				written++
			}
		}
		if written < rounds/4 {
			t.Errorf("of %d values of %T only %d were written", rounds, v, written)
		}
	}
}

func TestWhatCannotBeWrittenIsLeftToEncodingJSON(t *testing.T) {
	for _, v := range []any{
		nil, 5, &swapper.ParseAddressOutput{},
		&swapper.GetSwapStatusOutput{CurrentAction: struct{ swapper.Action }{&swapper.Wait{}}},
		&swapper.GetSwapStatusOutput{CurrentAction: &swapper.SignPSBT{}},
		&swapper.GetSwapStatusOutput{CurrentAction: &swapper.SignPSBT{Raw: make([]swapper.RawPSBT, 1), Funded: make([]swapper.FundedPSBT, 1)}},
		&swapper.GetSwapStatusOutput{CurrentAction: &swapper.SignPSBT{Raw: []swapper.RawPSBT{{FeeRate: math.NaN()}}}},
		&swapper.GetSwapStatusOutput{CurrentAction: &swapper.SignPSBT{Raw: []swapper.RawPSBT{{FeeRate: math.Inf(1)}}}},
		&swapper.GetSwapStatusOutput{CurrentAction: &swapper.Wait{ExpectedTime: 1}},
		&swapper.GetSwapStatusOutput{Escrow: &swapper.EscrowInfo{Data: json.RawMessage(`{"open":`)}},
		&swapper.GetSwapStatusOutput{Escrow: &swapper.EscrowInfo{Data: json.RawMessage{}}},
	} {
		if text, ok := appendSwaps(nil, v); ok {
			t.Errorf("%T was written: %s", v, text)
		}
	}
}
