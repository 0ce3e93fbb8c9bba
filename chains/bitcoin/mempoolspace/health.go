package mempoolspace

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
)

// health is what the last answers of a source say about the next one. The zero
// value is a source that nothing is known about, which is as good as a well one.
type health struct {
	state  state
	until  time.Time // when a source that is not well may be asked again like a well one
	why    error     // the last failure, nil after an answer
	limits int       // how often it has limited us since its last answer
}

type state uint8

const (
	well    state = iota
	slow          // another one answered sooner
	down          // did not answer, or not truthfully
	limited       // asked for a rest (429)
)

// shortestRest is how long a source that limits its callers is left alone if it
// does not say how long. The only one there is rests firstRest, and twice as long each time
// it does so again without an answer in between, up to shortestRest: many that limit refuse
// now and then what they take a moment later.
const (
	shortestRest = 5 * time.Second
	firstRest    = 100 * time.Millisecond
	shortRest    = time.Second // one that a question waits for
)

// order returns the sources to ask, best first: the well ones, and those whose
// time has come, in the order of the options; then the slow and the down ones.
// Sources that asked for a rest are left out while it lasts.
func (c *Client) order() []*source {
	now := time.Now()
	var first, second []*source
	for _, s := range c.sources {
		switch s.condition(now) {
		case well:
			first = append(first, s)
		case slow, down:
			second = append(second, s)
		}
	}
	return slices.Concat(first, second)
}

// awake is order once a source may be asked: a short rest of all is waited for. None after
// a longer one has begun.
func (c *Client) awake(ctx context.Context) ([]*source, error) {
	for {
		order := c.order()
		if len(order) > 0 {
			return order, nil
		}
		rest := shortestRest
		for _, s := range c.sources {
			s.mu.Lock()
			rest = min(rest, time.Until(s.health.until))
			s.mu.Unlock()
		}
		if rest > shortRest {
			return nil, nil
		}
		timer := time.NewTimer(max(rest, time.Millisecond))
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return nil, context.Cause(ctx)
		}
	}
}

// condition returns the state for the next question. A source whose time has
// come counts as well for this question only: should it fail to answer, no other
// question has been held up.
func (s *source) condition(now time.Time) state {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.health.state == well || now.Before(s.health.until) {
		return s.health.state
	}
	s.health.until = now.Add(s.client.o.Recheck)
	if s.health.state == limited {
		s.health.state = down
	}
	return well
}

func (s *source) succeeded() {
	s.mu.Lock()
	before := s.health.state
	s.health = health{}
	s.mu.Unlock()
	if before == down || before == limited {
		s.client.log.Info("Bitcoin server is responding again", "url", s.name())
	}
}

// outrun notes that the source was silent while another one answered.
func (s *source) outrun() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.health.state == well {
		s.health = health{state: slow, until: time.Now().Add(s.client.o.Recheck)}
	}
}

func (s *source) failed(err error) {
	if refused(err) {
		s.succeeded()
		return
	}
	rest, next, limits := s.client.o.Recheck, down, 0
	if e, ok := errors.AsType[*statusError](err); ok && (e.status == http.StatusTooManyRequests || e.wait > 0) {
		s.mu.Lock()
		limits = s.health.limits + 1
		s.mu.Unlock()
		rest, next = max(e.wait, shortestRest), limited
		if e.wait == 0 && len(s.client.sources) == 1 {
			rest = min(firstRest<<min(limits-1, 10), shortestRest)
		}
	} else if _, ok := errors.AsType[*networkError](err); ok {
		rest *= 10
	}
	s.mu.Lock()
	before := s.health.state
	s.health = health{next, time.Now().Add(rest), err, limits}
	s.mu.Unlock()
	if before != next {
		s.client.log.Warn("Bitcoin server failed", "url", s.name(), "error", err, "rest", rest.String())
	}
}

// refused reports whether err is a server's considered refusal: it is well, but
// another one may think otherwise.
func refused(err error) bool {
	if _, ok := errors.AsType[*bitcoin.RejectedError](err); ok {
		return true
	}
	e, ok := errors.AsType[*statusError](err)
	if !ok || e.status < 400 || e.status > 499 {
		return false
	}
	return e.status != http.StatusRequestTimeout && e.status != http.StatusTooEarly && e.status != http.StatusTooManyRequests
}

// unanswered returns the error of a round in which no source answered. If all
// sources refused, it is final.
func unanswered(what string, order []*source, errs []error) error {
	said := make([]string, len(order))
	final := true
	for i, s := range order {
		said[i] = s.name() + ": " + errs[i].Error()
		final = final && refused(errs[i])
	}
	silent := &silence{what + ": " + strings.Join(said, "; "), errs}
	err := fault.New(fault.Upstream, "no Bitcoin server answered%w", silent)
	if final {
		return finalError{err}
	}
	return err
}

// silence is what the sources of a round were asked, and what each said instead of an answer.
type silence struct {
	said string
	errs []error
}

func (e *silence) Error() string { return " " + e.said }

// Public returns nothing: names and paths are the operator's.
func (e *silence) Public() string { return "" }

func (e *silence) Unwrap() []error { return e.errs }

// allResting is the error of a round in which every source had asked for a rest.
func (c *Client) allResting(what string) error {
	said := make([]string, len(c.sources))
	for i, s := range c.sources {
		s.mu.Lock()
		rest := time.Until(s.health.until)
		s.mu.Unlock()
		said[i] = fmt.Sprintf("%s: rate limit for another %s", s.name(), rest.Round(time.Second))
	}
	return fault.New(fault.Upstream, "no Bitcoin server answered%s", fault.Hidden(" "+what+": "+strings.Join(said, "; ")))
}

// describe says what each source did last.
func (c *Client) describe() string {
	said := make([]string, len(c.sources))
	for i, s := range c.sources {
		s.mu.Lock()
		why := s.health.why
		s.mu.Unlock()
		said[i] = s.name() + ": no response yet"
		if why != nil {
			said[i] = s.name() + ": " + why.Error()
		}
	}
	return strings.Join(said, "; ")
}

// name is the host of the base URL: user, password and path may be an access key, and
// errors are logged.
func (s *source) name() string {
	u, err := url.Parse(s.base)
	if err != nil {
		return "invalid URL"
	}
	return u.Host
}
