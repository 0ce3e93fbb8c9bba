package fault_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/big"
	"testing"

	"github.com/swapper-go/swapper/fault"
)

func TestCodeOf(t *testing.T) {
	for _, tt := range []struct {
		name string
		err  error
		want fault.Code
	}{
		{"nil", nil, ""},
		{"plain", io.EOF, fault.Internal},
		{"coded", fault.Invalid("amount", "must be positive"), fault.InvalidInput},
		{"wrapped", fmt.Errorf("create swap: %w", fault.New(fault.NotFound, "no swap %q", "x")), fault.NotFound},
		{"outermost wins", fault.New(fault.Upstream, "lp: %w", fault.New(fault.Timeout, "late")), fault.Upstream},
		{"deadline", fmt.Errorf("tip: %w", context.DeadlineExceeded), fault.Timeout},
		{"cancelled", context.Canceled, fault.Timeout},
	} {
		if got := fault.CodeOf(tt.err); got != tt.want {
			t.Errorf("%s: code %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestErrorText(t *testing.T) {
	err := fault.Invalid("signedTxs[1]", "not a transaction: %w", io.ErrUnexpectedEOF)
	if got, want := err.Error(), "signedTxs[1]: not a transaction: unexpected EOF"; got != want {
		t.Errorf("text %q, want %q", got, want)
	}
	if !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Error("the cause is lost")
	}
}

func TestOutOfBoundsCopies(t *testing.T) {
	min := big.NewInt(5)
	err := fault.OutOfBounds("amount", nil, min, nil)
	min.SetInt64(6)
	if err.Min.Int64() != 5 || err.Max != nil {
		t.Errorf("bounds %v, %v; want 5, none", err.Min, err.Max)
	}
}

// TestOutOfBoundsText begins the texts as the reference service does.
func TestOutOfBoundsText(t *testing.T) {
	n := big.NewInt
	for _, c := range []struct {
		field            string
		amount, min, max *big.Int
		want             string
	}{
		{"amount", n(4), n(5), n(9), "Swap amount too low! It must be from 5 to 9 base units"},
		{"amount", n(10), n(5), n(9), "Swap amount too high! It must be from 5 to 9 base units"},
		{"amount", n(4), n(5), nil, "Swap amount too low! It must be at least 5 base units"},
		{"amount", n(10), nil, n(9), "Swap amount too high! It must be at most 9 base units"},
		{"amount", nil, n(5), n(9), "Swap amount too high or too low! It must be from 5 to 9 base units"},
		{"amount", nil, nil, nil, "Swap amount too high or too low! It must be within bounds"},
		{"gasAmount", n(10), nil, n(9), "gasAmount must be at most 9 base units"},
	} {
		err := fault.OutOfBounds(c.field, c.amount, c.min, c.max)
		if err.Error() != c.want || err.Public() != c.want || err.Field != c.field {
			t.Errorf("%s %v: text %q about %q, want %q", c.field, c.amount, err.Error(), err.Field, c.want)
		}
	}
}

func TestAt(t *testing.T) {
	plain := errors.New("x")
	found := fault.New(fault.Unsupported, "no such chain")
	if got := fault.At("token", found); got.Error() != "token: no such chain" || fault.CodeOf(got) != fault.Unsupported || found.Field != "" {
		t.Errorf("got %v from %+v", got, found)
	}
	for _, err := range []error{nil, plain, fault.Invalid("amount", "zero"), fmt.Errorf("wrapped: %w", found)} {
		if got := fault.At("token", err); got != err {
			t.Errorf("%v became %v", err, got)
		}
	}
}
