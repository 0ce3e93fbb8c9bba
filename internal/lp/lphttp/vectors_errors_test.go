package lphttp

import (
	"encoding/json"
	"errors"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/lp"
	"github.com/swapper-go/swapper/internal/vectors"
)

func TestVectorsErrors(t *testing.T) {
	vectors.Each(t, "lp-protocol", "errors", func(t *testing.T, c *vectors.Case) {
		var in struct {
			Text   *string
			Status int
			Msg    string
			Cause  json.RawMessage
		}
		var want struct {
			Class, Message string
			HTTPCode       int
			Min, Max       *string
		}
		c.Input(t, &in)
		c.Expected(t, &want)
		if in.Text == nil {
			// An error about the LP's answer carries what was found.
			var cause struct{ Message string }
			if json.Unmarshal(in.Cause, &cause) != nil {
				_ = json.Unmarshal(in.Cause, &cause.Message)
			}
			found := errors.New(cause.Message)
			err := lp.Lie("", "%s: %w", in.Msg, found)
			if want.Class != "" || !errors.Is(err, found) || !strings.Contains(err.Error(), in.Msg) || !strings.Contains(err.Error(), cause.Message) {
				t.Errorf("error %v", err)
			}
			return
		}
		outOfBounds := want.Class == "OutOfBoundsError"
		if !outOfBounds && (want.Class != "RequestError" || want.Min != nil || want.Max != nil) {
			t.Errorf("the reference says %+v", want)
		}
		if fields := fieldsOf([]byte(*in.Text)); outOfBounds && fields != nil {
			if id := strictly(fields["data"], nil, "min", "max"); id != "" {
				c.Differ(t, id) // without bounds that can be read it is a mere refusal
				outOfBounds = false
			}
		}
		compareRefusal(t, lp.Refusal("https://lp", in.Status, *in.Text), outOfBounds, want.HTTPCode, want.Min, want.Max, want.Message)
	})
}

func TestVectorsLPError(t *testing.T) {
	vectors.Each(t, "utilities", "lp_error", func(t *testing.T, c *vectors.Case) {
		var in struct {
			Status int
			Body   string
		}
		var want struct {
			Kind, Message string
			Status        int
			Min, Max      *string
		}
		c.Input(t, &in)
		c.Expected(t, &want)
		outOfBounds := want.Kind == "out_of_bounds"
		var body struct {
			Data struct{ Min, Max json.RawMessage }
		}
		if outOfBounds && json.Unmarshal([]byte(in.Body), &body) == nil {
			switch bounds := string(body.Data.Min) + " " + string(body.Data.Max); {
			case !wholeNumber.Match(body.Data.Min) || !wholeNumber.Match(body.Data.Max):
				c.Differ(t, "lp-strict-numbers")
				outOfBounds = false
			case strings.Contains(bounds, "-"):
				c.Differ(t, "lp-negative")
				outOfBounds = false
			}
		}
		compareRefusal(t, lp.Refusal("https://lp", in.Status, in.Body), outOfBounds, want.Status, want.Min, want.Max, want.Message)
	})
}

// wholeNumber is a big integer as LPs send it, in JSON.
var wholeNumber = regexp.MustCompile(`^("-?[0-9]+"|-?[0-9]+(e\+[0-9]+)?)$`)

func compareRefusal(t *testing.T, err error, outOfBounds bool, status int, min, max *string, message string) {
	t.Helper()
	e, ok := errors.AsType[*lp.RequestError](err)
	if !ok || e.Status != status {
		t.Fatalf("error %#v, want a refusal with status %d", err, status)
	}
	if message != "" && e.Message != message {
		t.Errorf("message %q, want %q", e.Message, message)
	}
	b, is := errors.AsType[*lp.OutOfBoundsError](err)
	if is != outOfBounds {
		t.Fatalf("error %v, out of bounds: want %v", err, outOfBounds)
	}
	if is && (b.Min.String() != *min || b.Max.String() != *max) {
		t.Errorf("bounds %v to %v, want %s to %s", b.Min, b.Max, *min, *max)
	}
	want := fault.Upstream
	if is {
		want = fault.AmountOutOfBounds
	}
	if fault.CodeOf(err) != want {
		t.Errorf("code %s, want %s", fault.CodeOf(err), want)
	}
}

func TestErrorsNameTheLP(t *testing.T) {
	for _, err := range []error{
		lp.Refusal("https://lp.example", http.StatusBadRequest, `{"code":20002,"msg":"no funds"}`),
		&lp.LPError{LP: "https://lp.example", Reason: "total is 5, expected 4"},
		&lp.CallError{LP: "https://lp.example", Err: errors.New("connection reset")},
	} {
		f, ok := errors.AsType[*fault.Error](err)
		if !ok || !strings.Contains(err.Error(), "https://lp.example") || !strings.Contains(f.Message, "https://lp.example") {
			t.Errorf("error %v", err)
		}
	}
	long := lp.Refusal("https://lp", 500, strings.Repeat("ž", 100000))
	if len(long.Error()) > 500 {
		t.Errorf("the LP's words are kept at %d bytes", len(long.Error()))
	}
}
