package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/swapper-go/swapper/fault"
)

// clock goes with the system's, ahead of it by as much as a service says. It is
// for test networks whose clock is moved; see GET /clock of examples/devnet.
type clock struct {
	url   *url.URL
	log   *slog.Logger
	ahead atomic.Int64 // milliseconds
}

func newClock(text string, log *slog.Logger) (*clock, error) {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fault.Invalid("", "must be an http or https URL")
	}
	return &clock{url: u, log: log}, nil
}

// Now returns the time.
func (c *clock) Now() time.Time {
	return time.Now().Add(time.Duration(c.ahead.Load()) * time.Millisecond)
}

// clockPatience bounds one question; the service answers sooner, and at once when
// the clock is moved.
const clockPatience = time.Minute

// start sets the clock and follows the service until stop is called.
func (c *clock) start(ctx context.Context) (stop func(), err error) {
	if err := c.ask(ctx, false); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		c.follow(ctx)
	}()
	return func() { cancel(); <-ended }, nil
}

// follow asks until ctx ends. It does not return before.
func (c *clock) follow(ctx context.Context) {
	for ctx.Err() == nil {
		if err := c.ask(ctx, true); err != nil && ctx.Err() == nil {
			c.log.Warn("the clock goes on as it was", "err", err)
			select {
			case <-ctx.Done():
			case <-time.After(time.Second):
			}
		}
	}
}

// ask sets the clock; with wait the answer comes when it is another one than what
// is known, or after a while.
func (c *clock) ask(ctx context.Context, wait bool) error {
	u := *c.url
	if wait {
		q := u.Query()
		q.Set("ahead", strconv.FormatInt(c.ahead.Load(), 10))
		u.RawQuery = q.Encode()
	}
	var answer struct {
		Ahead *int64 // milliseconds
	}
	ctx, cancel := context.WithTimeout(ctx, clockPatience)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answers %s", c.url.Host, response.Status)
	}
	if err := json.NewDecoder(io.LimitReader(response.Body, 4096)).Decode(&answer); err != nil {
		return fmt.Errorf("%s: %w", c.url.Host, err)
	}
	if answer.Ahead == nil || *answer.Ahead < 0 {
		return fmt.Errorf("%s does not say how far it is ahead", c.url.Host)
	}
	c.ahead.Store(*answer.Ahead)
	return nil
}
