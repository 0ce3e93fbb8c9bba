package lp

import (
	"context"
	"errors"
	"io"
	"math/big"
	"net"
	"os"
	"testing"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/tokens"
)

// Whose fault a refusal is, at the bounds that the LP names and beyond.
func TestCallersFaultAtTheBounds(t *testing.T) {
	bounds := &OutOfBoundsError{RequestError: RequestError{Code: codeTooLow, Message: "no"}, Min: n(100), Max: n(200)}
	gas := func(most *big.Int) error { return &RequestError{Code: codeGasTooHigh, Message: "no", Most: most} }
	wrapped := func(err error) error { return named(Candidate{LP: &LP{URL: "https://lp"}}, err) }
	tests := []struct {
		name        string
		amount, gas *big.Int
		err         error
		code        fault.Code // "": it is not the caller's
		field       string
	}{
		{"below", n(99), nil, bounds, fault.AmountOutOfBounds, "amount"},
		{"at the least", n(100), nil, bounds, fault.InvalidInput, "amount"},
		{"at the most", n(200), nil, bounds, fault.InvalidInput, "amount"},
		{"above", n(201), nil, bounds, fault.AmountOutOfBounds, "amount"},
		{"no amount", nil, nil, bounds, fault.AmountOutOfBounds, "amount"},
		{"gas at the most", n(1), n(900), gas(n(900)), fault.InvalidInput, "gasAmount"},
		{"gas above", n(1), n(901), gas(n(900)), fault.AmountOutOfBounds, "gasAmount"},
		{"gas above what was not said", n(1), n(901), gas(nil), fault.InvalidInput, "gasAmount"},
		{"no gas", n(1), nil, gas(n(900)), fault.InvalidInput, "gasAmount"},
		{"what we refuse", n(1), nil, fault.Invalid("dstAddress", "is wrong"), fault.InvalidInput, "dstAddress"},
		{"what we refuse now", n(1), nil, &fault.Error{Code: fault.InvalidState, Field: "amount"}, fault.InvalidState, "amount"},
		{"our bounds", n(1), nil, fault.OutOfBounds("amount", n(2), n(3)), fault.AmountOutOfBounds, "amount"},
		{"without a field", n(1), nil, fault.New(fault.InvalidInput, "is wrong"), "", ""},
		{"out of bounds without a field", n(1), nil, &fault.Error{Code: fault.AmountOutOfBounds}, "", ""},
		{"another fault with a field", n(1), nil, &fault.Error{Code: fault.Timeout, Field: "amount"}, "", ""},
		{"no fault at all", n(1), nil, errors.New("reset"), "", ""},
		{"a lie", n(1), nil, Lie("total is 5"), "", ""},
		{"no words", n(1), nil, &RequestError{Code: 29999}, "", ""},
	}
	for _, x := range tests {
		t.Run(x.name, func(t *testing.T) {
			for _, err := range []error{x.err, wrapped(x.err)} {
				e := CallersFault(Query{Service: ToBTC, Amount: x.amount, Gas: x.gas}, err)
				if (e == nil) != (x.code == "") || e != nil && (e.Code != x.code || e.Field != x.field) {
					t.Errorf("%v is %+v", err, e)
				}
			}
		})
	}
	e := CallersFault(Query{Amount: n(150)}, bounds)
	covered := CallersFault(Query{Amount: n(150), Gas: n(1)}, bounds)
	none := CallersFault(Query{Amount: n(150), Gas: n(0)}, bounds)
	if e.Message == covered.Message || e.Message != none.Message {
		t.Errorf("with gas %q, without %q, with none of it %q", covered.Message, e.Message, none.Message)
	}
}

// A round and a call that failed have the code that says most.
func TestCodesOfFailures(t *testing.T) {
	ours, call := Failure{Err: errors.New("x")}, Failure{Err: &CallError{"https://lp", context.DeadlineExceeded}}
	for _, x := range []struct {
		failures []Failure
		want     fault.Code
	}{
		{[]Failure{ours}, fault.Internal},
		{[]Failure{call, ours}, fault.Timeout},
		{[]Failure{{Err: Lie("x")}, ours, ours}, fault.Upstream},
		{[]Failure{{Err: Lie("x")}, call}, fault.Timeout}, // the last
	} {
		if got := fault.CodeOf(&RoundError{x.failures}); got != x.want {
			t.Errorf("%v: %s, want %s", x.failures, got, x.want)
		}
	}
	for err, want := range map[error]fault.Code{
		context.DeadlineExceeded: fault.Timeout, context.Canceled: fault.Timeout, os.ErrDeadlineExceeded: fault.Timeout,
		io.ErrUnexpectedEOF: fault.Upstream, &net.DNSError{Err: "no such host"}: fault.Upstream, &net.DNSError{IsTimeout: true}: fault.Timeout,
	} {
		if got := fault.CodeOf(&CallError{"https://lp", err}); got != want {
			t.Errorf("%v: %s, want %s", err, got, want)
		}
	}
}

// Between two ranges the nearer one is named, from either side.
func TestNearestBounds(t *testing.T) {
	low, high := Range{n(1000), n(3000)}, Range{n(9000), n(10_000)}
	for amount, want := range map[int64]Range{3001: low, 5999: low, 6001: high, 8999: high, 999: {n(1000), n(10_000)}, 10_001: {n(1000), n(10_000)}} {
		for _, ranges := range [][]Range{{low, high}, {high, low}} {
			got := Query{Amount: n(amount)}.nearest(ranges)
			if got.Min.Cmp(want.Min) != 0 || got.Max.Cmp(want.Max) != 0 {
				t.Errorf("%d: %v to %v, want %v to %v", amount, got.Min, got.Max, want.Min, want.Max)
			}
		}
	}
}

// An LP's refusal in whatever form.
func TestRefusalsAreRead(t *testing.T) {
	for text, want := range map[string]RequestError{
		`{"code":20504,"msg":"no","data":{"max":"900"}}`: {Code: 20504, Message: "no", Most: n(900)},
		`{"code":20504,"msg":"no","data":{"max":"-1"}}`:  {Code: 20504, Message: "no"},
		`{"code":20504,"msg":"no"}`:                      {Code: 20504, Message: "no"},
		`{"code":20505,"msg":"no","data":{"max":"900"}}`: {Code: 20505, Message: "no"},
		`{"code":20003,"msg":"no","data":{"min":"1"}}`:   {Code: 20003, Message: "no"},
		`{"code":20505.5,"msg":"no"}`:                    {Message: "no"},
		`{"code":"20505","msg":"no"}`:                    {Message: "no"},
		`{"code":20505,"msg":null}`:                      {Code: 20505, Message: `{"code":20505,"msg":null}`},
		`{"code":20505,"msg":7}`:                         {Code: 20505, Message: "7"},
		`{"code":20505,"msg":"{\"msg\":\"no\"}"}`:        {Code: 20505, Message: "no"},
		`busy`: {Message: "busy"},
	} {
		e, ok := errors.AsType[*RequestError](refusal("https://lp", 400, text))
		if !ok || e.Code != want.Code || e.Message != want.Message || (e.Most == nil) != (want.Most == nil) || e.Most != nil && e.Most.Cmp(want.Most) != 0 {
			t.Errorf("%s is %+v", text, e)
		}
	}
	for _, code := range []int{codeTooLow, codeTooHigh} {
		text := refusalText(code)
		if _, bounded := errors.AsType[*OutOfBoundsError](refusal("https://lp", 400, text)); !bounded {
			t.Errorf("%s has no bounds", text)
		}
		if _, bounded := errors.AsType[*OutOfBoundsError](plainRefusal("https://lp", 400, text)); bounded {
			t.Errorf("%s has bounds where they do not count", text)
		}
	}
	if _, bounded := errors.AsType[*OutOfBoundsError](refusal("https://lp", 400, refusalText(20005))); bounded {
		t.Error("any code has bounds")
	}
}

func refusalText(code int) string {
	return `{"code":` + n(int64(code)).String() + `,"msg":"no","data":{"min":"1","max":"2"}}`
}

// What we ask for: caps on routing, the watchtower's share, gas.
func TestLimitsOfRequests(t *testing.T) {
	if units, err := MaxRoutingUnits(n(10_000), 5, 3000, whole, 8); err != nil || units.Int64() != 35 {
		t.Errorf("%v, %v", units, err)
	}
	if _, err := MaxRoutingUnits(n(10_000), 5, 3000, n(0), 8); err == nil {
		t.Error("a cap at a price of nothing")
	}

	sats := Payout{ExactIn: true, NativeDecimals: 8, NativePrice: whole} // a base unit of gas is a sat
	bought := Payout{Decimals: 8, Price: whole, NativeDecimals: 8, NativePrice: whole}
	native := Payout{TokenIsNative: true}
	with := func(p Payout, amount int64) Payout { p.Amount = n(amount); return p }
	for name, x := range map[string]struct {
		fee   int64
		of    Payout
		share int64 // -1: too little, -2: another error
	}{
		"nothing":                   {5, with(sats, 0), 0},
		"free":                      {0, with(sats, 100), 0},
		"free, and nothing":         {0, with(bought, 0), 0},
		"free, no price":            {0, with(Payout{Decimals: 8}, 100), 0},
		"half":                      {50, with(sats, 100), 100_000},
		"rounded up":                {1, with(bought, 300_000), 1},
		"exactly one":               {3, with(bought, 300_000), 1},
		"more than one":             {4, with(bought, 300_000), 2},
		"of the native token":       {1, with(native, 100), 1000},
		"all but one":               {99, with(sats, 100), maxShare},
		"all":                       {100, with(sats, 100), -1},
		"more than all":             {101, with(sats, 100), -1},
		"the most that fits":        {1_048_575, with(bought, 100_000), maxShare},
		"more than fits":            {1_048_577, with(bought, 100_000), maxShare},
		"worth less than a unit":    {1, with(Payout{NativePrice: n(1e12), Decimals: 8, Price: whole}, 1), -1},
		"no price":                  {1, with(Payout{Decimals: 8, NativeDecimals: 8, NativePrice: whole}, 100), -2},
		"no price of native tokens": {1, with(Payout{ExactIn: true}, 100), -2},
	} {
		share, err := CallerShare(n(x.fee), x.of)
		switch {
		case x.share >= 0 && (err != nil || int64(share) != x.share),
			x.share == -1 && (!errors.Is(err, ErrTooLittle) || share != 0), // settled by its owner
			x.share == -2 && (err == nil || errors.Is(err, ErrTooLittle)):
			t.Errorf("%s: %d, %v", name, share, err)
		}
	}

	info := chains.Info{Native: gasCoin}
	for name, x := range map[string]struct {
		dropNative bool
		bought     tokens.Token
		gas        *big.Int
		ok         bool
	}{
		"none": {false, gasCoin, nil, true}, "zero": {false, gasCoin, n(0), true}, "negative": {false, coin, n(-1), false},
		"of another token": {false, coin, n(1), true}, "of itself": {false, gasCoin, n(1), false}, "of itself, possible": {true, gasCoin, n(1), true},
	} {
		info.GasDropNative = x.dropNative
		err := CheckGasDrop(info, x.bought, x.gas)
		if e, _ := errors.AsType[*fault.Error](err); (err == nil) != x.ok || err != nil && (e == nil || e.Field != "gasAmount" || e.Code != fault.InvalidInput) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
