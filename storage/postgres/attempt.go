package postgres

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/swapper-go/swapper/storage"
)

const (
	// A call is tried so often if the database asks for it (it could not put
	// transactions into an order, or two waited for each other), or if the
	// connection was lost at a moment when nothing can have been written.
	attempts  = 10
	reconnect = 5

	firstPause = 5 * time.Millisecond // doubles with each attempt
	maxPause   = 500 * time.Millisecond

	// How long a write whose context has ended waits for the outcome of a
	// commit that was sent.
	outcomeGrace = time.Second
)

// again is an error after which the call is made anew.
type again struct{ error }

func (a again) Unwrap() error { return a.error }

// unsure is an error after which the write may have been made.
type unsure struct{ error }

func (u unsure) Unwrap() error { return u.error }

// code returns the server's code of an error, or "".
func code(err error) string {
	if e := (*pgconn.PgError)(nil); errors.As(err, &e) {
		return e.Code
	}
	return ""
}

// do runs f on a connection of the pool, until it succeeds or fails for a reason
// that does not pass. f must leave nothing behind when it fails, except as unsure
// says; a transaction that it leaves open is rolled back.
func (s *Store) do(ctx context.Context, f func(context.Context, *pgx.Conn) error) error {
	lost, start := 0, time.Now()
	for n := 1; ; n++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		if s.closed.Load() {
			return storage.ErrClosed
		}
		err := s.attempt(ctx, f)
		switch {
		case err == nil:
			return nil
		case errors.As(err, &unsure{}):
			return ended(ctx, fmt.Errorf("%w: %v", storage.ErrUnknown, err)) // a deadline in err is not always the caller's
		case !errors.As(err, &again{}):
			return ended(ctx, err)
		}
		if code(err) == "" || disconnected(code(err)) {
			lost++
		}
		if n == attempts || lost == reconnect || lost > 0 && time.Since(start) > s.timeout {
			return ended(ctx, fmt.Errorf("given up after %d attempts: %w", n, err))
		}
		pause := min(firstPause<<n, maxPause)
		select {
		case <-time.After(pause/2 + rand.N(pause)):
		case <-ctx.Done():
			return ended(ctx, err)
		}
	}
}

// ended makes sure that an error of a call whose context has ended says so, and no other does.
func ended(ctx context.Context, err error) error {
	reason := ctx.Err()
	switch {
	case reason == nil && (errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)): // of ours
		return errors.New(err.Error())
	case reason == nil, errors.Is(err, reason):
		return err
	}
	return fmt.Errorf("%w: %w", err, reason)
}

// attempt runs f once. Errors that pass by themselves come back as again.
func (s *Store) attempt(ctx context.Context, f func(context.Context, *pgx.Conn) error) error {
	timed, cancel := context.WithTimeout(ctx, s.timeout+outcomeGrace)
	defer cancel()
	conn, err := s.pool.Acquire(timed)
	switch e := code(err); {
	case err == nil:
	case s.closed.Load():
		return storage.ErrClosed
	case ctx.Err() != nil, e != "" && !disconnected(e): // as a wrong password
		return fmt.Errorf("connect: %w", err)
	case timed.Err() != nil:
		return s.late(err)
	default:
		return again{fmt.Errorf("connect: %w", err)}
	}
	defer conn.Release()
	c := conn.Conn()
	if err = f(timed, c); err == nil {
		return nil
	}
	s.settle(ctx, c, err)
	switch e := code(err); {
	case errors.As(err, &unsure{}), errors.As(err, &again{}):
		return err
	case e == "40001", e == "40P01", disconnected(e):
		return again{err}
	case e != "", ctx.Err() != nil:
		return err
	case timed.Err() != nil:
		return s.late(err)
	case c.IsClosed():
		return again{err}
	}
	return err
}

// late is the error of an attempt that took too long; the caller's context has not ended.
func (s *Store) late(err error) error {
	return fmt.Errorf("the server did not answer within %s: %v", s.timeout+outcomeGrace, err)
}

// disconnected: the server is going away, is not there yet, has no room, or may not be written.
func disconnected(code string) bool {
	switch code {
	case "57P01", "57P02", "57P03", "57P05", "53300", "25006":
		return true
	}
	return len(code) == 5 && code[:2] == "08"
}

// settle leaves a connection that can be used by others, or none.
func (s *Store) settle(ctx context.Context, c *pgx.Conn, err error) {
	if c.IsClosed() {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), outcomeGrace)
	defer cancel()
	if code(err) == "25006" { // a server that may no longer be written: another has taken over
		_ = c.Close(ctx)
		return
	}
	if c.PgConn().TxStatus() != 'I' {
		_, _ = c.Exec(ctx, "rollback") // a connection that does not take it is not used again
	}
}

// outliving returns a context for what must not be left unfinished: it ends some
// time after ctx does.
func (s *Store) outliving(ctx context.Context) (context.Context, context.CancelFunc) {
	lasting, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.timeout+outcomeGrace)
	stop := context.AfterFunc(ctx, func() {
		select {
		case <-time.After(outcomeGrace):
			cancel()
		case <-lasting.Done():
		}
	})
	return lasting, func() { stop(); cancel() }
}
