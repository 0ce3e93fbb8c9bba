package lp

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"
)

// A refusal is an answer, a gateway's error is none, and what our caller gave up
// counts for nothing. Names that callers make up take no memory without bound.
func TestTally(t *testing.T) {
	var c Client
	for _, err := range []error{nil, &RequestError{Status: 400, Code: 20003}, &RequestError{Status: 502}, &CallError{"x", errors.New("cut")}, fmt.Errorf("gone: %w", context.Canceled)} {
		c.tally.note(Host("https://lp.example"), noon, time.Second, err)
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
	var p penalties
	for i := range 3 * mostStruck {
		p.punish(box{url: fmt.Sprint("host", i)}, "lie", noon)
	}
	if len(p.strikes) > mostStruck {
		t.Errorf("the lies of %d LPs are counted", len(p.strikes))
	}
	p.punish(box{url: "host1"}, "lie", noon)
	p.punish(box{url: "host1", pair: Pair{ToBTC, "CITREA", "T"}}, "lie", noon)
	if got := p.struck("host1"); got < 2 {
		t.Errorf("%d lies", got)
	}
}
