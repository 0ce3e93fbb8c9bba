package lphttp

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/swapper-go/swapper/internal/lp"
)

// A refusal is an answer, a gateway's error is none, and what our caller gave up
// counts for nothing. Names that callers make up take no memory without bound.
func TestTally(t *testing.T) {
	var c Client
	noon := time.Unix(1_760_000_000, 0)
	for _, err := range []error{nil, &lp.RequestError{Status: 400, Code: 20003}, &lp.RequestError{Status: 502}, &lp.CallError{LP: "x", Err: errors.New("cut")}, fmt.Errorf("gone: %w", context.Canceled)} {
		c.tally.note(lp.Host("https://lp.example"), noon, time.Second, err)
	}
	if got, want := c.Calls("https://lp.example/tobtc"), (Calls{Answered: 1, Refused: 1, Failed: 2, Took: 2 * time.Second, Last: noon}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	for i := range 3 * mostTallied {
		c.tally.note(fmt.Sprint("host", i), noon, time.Second, nil)
	}
	if len(c.tally.hosts) > mostTallied {
		t.Errorf("%d LPs are counted", len(c.tally.hosts))
	}
}
