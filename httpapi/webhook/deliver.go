package webhook

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/httpx"
	"github.com/swapper-go/swapper/storage"
)

// schedule is how long after a failed attempt the next one follows, the example of
// the scheme.
var schedule = []time.Duration{5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour, 10 * time.Hour, 14 * time.Hour, 20 * time.Hour, 24 * time.Hour}

// hold is for how long a process has a message for itself: longer than a request and
// what is stored after it may take.
const hold = timeout + 10*time.Second

// unready is after how long it is tried again to say how a swap stands.
const unready = 30 * time.Second

// deliver makes one attempt with a record that is due. Its errors are those of the
// store: a failed attempt is noted in the record.
func (e *endpoint) deliver(ctx context.Context, r *record) error {
	if ctx.Err() != nil || e.pausedUntil().After(e.Now()) {
		return nil
	}
	m, err := e.take(ctx, r)
	if err != nil || m == nil {
		return err
	}
	// What is under way when the process is to end may still arrive.
	sending, cancel := context.WithTimeout(context.WithoutCancel(ctx), timeout)
	defer cancel()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(5*time.Second, cancel) })()
	got := e.send(sending, m)
	if got.problem != "" && ctx.Err() != nil && sending.Err() != nil {
		return nil // the attempt was interrupted by our own shutdown or time limit: it counts as no failure, and is repeated
	}
	storing, stored := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer stored()
	return e.settle(storing, r.Swap, m, got)
}

// take stores that an attempt is about to be made, and what will be sent, before
// anything is. It returns nil if nothing is to be sent, or another process does it.
func (e *endpoint) take(ctx context.Context, r *record) (*message, error) {
	now := e.Now()
	if r.Message == nil || r.Message.Attempts > 0 && r.Version > r.Message.Version { // nothing yet, or old news
		switch m, err := e.compose(ctx, r); {
		case fault.CodeOf(err) == fault.NotFound: // an unused quote that was deleted
			return nil, e.delete(ctx, r)
		case err != nil:
			if ctx.Err() != nil {
				return nil, nil
			}
			e.Logger.Warn("a swap could not be looked at for its webhook", "endpoint", e.Name, "swap", storage.Label(r.Swap), "err", err)
			r.Next = now.Add(unready).UnixMilli()
			return nil, lost(e.put(ctx, r))
		case r.Message != nil && r.Message.Print == m.Print: // looks as before: the same message
			r.Message.Version = m.Version
		case r.Delivered != nil && r.Delivered.Print == m.Print:
			r.Message, r.Next, r.Busy, r.Done = nil, 0, 0, now.UnixMilli()
			r.Version = max(r.Version, m.Version)
			return nil, lost(e.put(ctx, r))
		default:
			r.Message = m
		}
		r.Version = max(r.Version, r.Message.Version)
		now = e.Now()
	}
	r.Message.Attempts++
	r.Busy = now.Add(hold).UnixMilli()
	r.Next = r.Busy
	if err := e.put(ctx, r); err != nil {
		return nil, lost(err)
	}
	return r.Message, nil
}

// lost drops the error of a write that another process, or a new change, came before: the
// record is read again in the next round.
func lost(err error) error {
	if errors.Is(err, storage.ErrConflict) || errors.Is(err, storage.ErrNotFound) {
		return nil
	}
	return err
}

// body is what is sent, in the form of the scheme.
type body struct {
	Type      string                       `json:"type"`
	Timestamp time.Time                    `json:"timestamp"`
	Data      *swapper.GetSwapStatusOutput `json:"data"`
}

// eventType is the type of every message.
const eventType = "swap.updated"

// compose makes the message of how a swap stands now.
func (e *endpoint) compose(ctx context.Context, r *record) (m *message, err error) {
	defer func() {
		if p := recover(); p != nil {
			m, err = nil, fmt.Errorf("panic: %v", p)
		}
	}()
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	p, err := e.source.Progress(ctx, r.Swap)
	if err != nil {
		return nil, err
	}
	at := p.At.Time
	if at.IsZero() {
		at = e.Now()
	}
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(body{Type: eventType, Timestamp: at.UTC(), Data: p.Status}); err != nil {
		return nil, fmt.Errorf("encode the message: %w", err)
	}
	print := p.Fingerprint()
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%s\x00%d\x00%s", e.Name, r.Swap, p.Version, print))
	return &message{ID: "msg_" + hex.EncodeToString(sum[:16]), Version: p.Version, Print: print, Body: bytes.TrimSpace(text.Bytes())}, nil
}

// result is the outcome of an attempt.
type result struct {
	problem string        // "": delivered
	gone    bool          // 410
	after   time.Duration // Retry-After
}

// maxReply is how much of a reply is read: nothing in it matters, but a connection is
// used again only when it was read.
const maxReply = 4 << 10

// maxAfter bounds how long an endpoint may put us off: what it says holds up all of its
// messages, and may be a mistake.
const maxAfter = time.Hour

// send makes the request. The problem never holds the URL, which may be secret.
func (e *endpoint) send(ctx context.Context, m *message) result {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, e.URL, bytes.NewReader(m.Body))
	if err != nil {
		return result{problem: "the URL cannot be requested"}
	}
	at := time.Now() // receivers compare it with their clocks, whatever ours is set to
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("User-Agent", "swapper-webhook")
	request.Header.Set("webhook-id", m.ID)
	request.Header.Set("webhook-timestamp", strconv.FormatInt(at.Unix(), 10))
	request.Header.Set("webhook-signature", signature(e.keys, m.ID, at, m.Body))
	response, err := e.http.Do(request)
	if err != nil {
		return result{problem: problemOf(err)}
	}
	_, _ = io.Copy(io.Discard, io.LimitReader(response.Body, maxReply))
	_ = response.Body.Close()
	if response.StatusCode >= 200 && response.StatusCode <= 299 {
		return result{}
	}
	return result{problem: fmt.Sprintf("HTTP status %d", response.StatusCode), gone: response.StatusCode == http.StatusGone,
		after: retryAfter(response.Header.Get("Retry-After"), at)}
}

// problemOf says why a request failed, without the URL and without the address that a
// name has.
func problemOf(err error) string {
	if _, private := errors.AsType[*httpx.AddressError](err); private {
		return "the host is not public"
	}
	if fault.CodeOf(err) == fault.Timeout {
		return "no reply in time"
	}
	if e, ok := errors.AsType[*url.Error](err); ok {
		if e.Timeout() {
			return "no reply in time"
		}
	}
	return "the endpoint could not be reached"
}

// retryAfter reads the header: seconds or a date.
func retryAfter(text string, now time.Time) time.Duration {
	var wait time.Duration
	if seconds, err := strconv.ParseUint(text, 10, 31); err == nil {
		wait = time.Duration(seconds) * time.Second
	} else if at, err := http.ParseTime(text); err == nil {
		wait = at.Sub(now)
	}
	return min(max(wait, 0), maxAfter)
}

// settle stores the outcome of an attempt.
func (e *endpoint) settle(ctx context.Context, swapID string, m *message, got result) error {
	if e.judge(got) {
		e.Logger.Error("the endpoint is gone (HTTP status 410 for an hour): what it is to be told waits until it is enabled or its URL is changed", "endpoint", e.Name)
		if _, err := e.stand(ctx, func(s *standing) bool { s.Gone = hashOf(e.URL); return true }); err != nil {
			return err
		}
	}
	gaveUp := false
	err := e.change(ctx, swapID, func(r *record) *record {
		if r == nil {
			return nil
		}
		now := e.Now()
		if r.Message != nil && r.Message.ID != m.ID { // another process took over, though the hold was long
			return nil
		}
		sent := *m
		sent.Problem = got.problem
		r.Busy, r.Next, r.Done, gaveUp = 0, 0, 0, false
		switch {
		case got.problem == "":
			r.Delivered, r.Message = sent.outcome(now), nil
		case m.Attempts > len(schedule):
			r.GivenUp, r.Message, gaveUp = sent.outcome(now), nil, true
		default:
			wait := schedule[m.Attempts-1]
			wait += rand.N(wait/4 + 1)
			r.Message = &sent
			r.Next = now.Add(max(wait, got.after)).UnixMilli()
		}
		switch {
		case r.Message != nil && r.Version == m.Version:
		case r.Version > m.Version: // it changed meanwhile
			r.Next = now.Add(got.after).UnixMilli()
		default:
			r.Done = now.UnixMilli()
		}
		return r
	})
	if gaveUp && err == nil {
		e.mu.Lock()
		e.givenUp++
		e.mu.Unlock()
		e.Logger.Error("a webhook was given up", "endpoint", e.Name, "message", m.ID, "swap", storage.Label(swapID), "attempts", m.Attempts, "problem", got.problem)
	}
	return err
}

// patience is how many failures in a row an endpoint has before it is spared, longest
// how long it is spared at most, and goneAfter for how long it must have answered nothing
// but 410 to be believed: a proxy says so too while what is behind it is replaced.
const (
	patience  = 3
	longest   = 10 * time.Minute
	goneAfter = time.Hour
)

// judge notes how the endpoint does, and reports whether it is gone.
func (e *endpoint) judge(got result) (gone bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.problem = got.problem; got.problem == "" {
		if e.failures >= patience {
			e.Logger.Info("the endpoint takes webhooks again", "endpoint", e.Name)
		}
		e.failures, e.paused, e.goneSince = 0, time.Time{}, time.Time{}
		return false
	}
	e.failures++
	now := e.Now()
	switch {
	case !got.gone:
		e.goneSince = time.Time{}
	case e.goneSince.IsZero():
		e.goneSince = now
	default:
		gone = e.failures >= patience && now.Sub(e.goneSince) >= goneAfter
	}
	wait := got.after
	if e.failures >= patience {
		wait = max(wait, min(5*time.Second<<min(e.failures-patience, 10), longest))
	}
	if e.failures == patience {
		e.Logger.Warn("the endpoint fails again and again; it is asked more rarely", "endpoint", e.Name, "problem", got.problem)
	}
	if until := now.Add(wait); until.After(e.paused) {
		e.paused = until
	}
	return gone
}

func (e *endpoint) pausedUntil() time.Time {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.paused
}

// atOnce is how many messages are sent at the same time, and in a round: one probe to an
// endpoint that is failing.
func (e *endpoint) atOnce() (parallel, round int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.failures > 0 {
		return 1, 1
	}
	return concurrent, perRound
}
