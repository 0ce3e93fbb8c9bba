package discovery

import (
	"context"
	"errors"
	"io"
	"math/big"
	"net"
	"os"
	"testing"

	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/lp"
)

// Whose fault a refusal is, at the bounds that the LP names and beyond.
func TestCallersFaultAtTheBounds(t *testing.T) {
	bounds := &lp.OutOfBoundsError{RequestError: lp.RequestError{Code: lp.CodeTooLow, Message: "no"}, Min: n(100), Max: n(200)}
	gas := func(most *big.Int) error { return &lp.RequestError{Code: lp.CodeGasTooHigh, Message: "no", Most: most} }
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
		{"our bounds", n(1), nil, fault.OutOfBounds("amount", nil, n(2), n(3)), fault.AmountOutOfBounds, "amount"},
		{"without a field", n(1), nil, fault.New(fault.InvalidInput, "is wrong"), "", ""},
		{"out of bounds without a field", n(1), nil, &fault.Error{Code: fault.AmountOutOfBounds}, "", ""},
		{"another fault with a field", n(1), nil, &fault.Error{Code: fault.Timeout, Field: "amount"}, "", ""},
		{"no fault at all", n(1), nil, errors.New("reset"), "", ""},
		{"a lie", n(1), nil, lp.Lie("", "total is 5"), "", ""},
		{"no words", n(1), nil, &lp.RequestError{Code: 29999}, "", ""},
	}
	for _, x := range tests {
		t.Run(x.name, func(t *testing.T) {
			for _, err := range []error{x.err, wrapped(x.err)} {
				e := CallersFault(Query{Service: lp.ToBTC, Amount: x.amount, Gas: x.gas}, err)
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
	ours, call := Failure{Err: errors.New("x")}, Failure{Err: &lp.CallError{LP: "https://lp", Err: context.DeadlineExceeded}}
	for _, x := range []struct {
		failures []Failure
		want     fault.Code
	}{
		{[]Failure{ours}, fault.Internal},
		{[]Failure{call, ours}, fault.Timeout},
		{[]Failure{{Err: lp.Lie("", "x")}, ours, ours}, fault.Upstream},
		{[]Failure{{Err: lp.Lie("", "x")}, call}, fault.Timeout}, // the last
	} {
		if got := fault.CodeOf(&roundError{x.failures}); got != x.want {
			t.Errorf("%v: %s, want %s", x.failures, got, x.want)
		}
	}
	for err, want := range map[error]fault.Code{
		context.DeadlineExceeded: fault.Timeout, context.Canceled: fault.Timeout, os.ErrDeadlineExceeded: fault.Timeout,
		io.ErrUnexpectedEOF: fault.Upstream, &net.DNSError{Err: "no such host"}: fault.Upstream, &net.DNSError{IsTimeout: true}: fault.Timeout,
	} {
		if got := fault.CodeOf(&lp.CallError{LP: "https://lp", Err: err}); got != want {
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
