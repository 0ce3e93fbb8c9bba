package events

import (
	"log/slog"
	"net/http"
	"time"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/httpapi/limit"
)

// Options bounds streams. A zero field means its default.
type Options struct {
	Heartbeat    time.Duration // a comment is sent after so long without an event, so that proxies keep the stream; 15 s
	Lifetime     time.Duration // a stream ends after this, and its reader connects again; 1 h
	WriteTimeout time.Duration // a reader that takes longer to take an event is cut off; 10 s
	Retry        time.Duration // how long readers are told to wait before they connect again; 3 s

	// Poll is how often the store is asked for what other processes have changed, and a
	// swap that somebody listens to is looked at while it is not finished; a swap to which
	// nothing happens for long is looked at less often, once a minute in the end. 5 s.
	Poll time.Duration

	MaxStreams   int // at the same time, of each crowd that Sender names; 1000
	MaxPerCaller int // of one sender; those without a name have MaxStreams alone; 20
	// Sender says whose a stream is. nil: all are one crowd's, and a sender is the caller by
	// [swapper.CallerOf], who must then not be able to choose his name, nor one of many.
	Sender func(*http.Request) limit.Sender

	// MaxPending is with how many swaps a stream of a signer begins, the newest, and MaxAge
	// how far back it goes on for a reader that comes again; 100 and 24 h. What it leaves out,
	// because that is older or very many swaps have changed, an event named reset says.
	MaxPending int
	MaxAge     time.Duration

	Now    func() time.Time // the client's clock, by which stored changes are dated; nil: time.Now
	Logger *slog.Logger     // nil: slog.Default()
}

func (o Options) orDefault() Options {
	for _, d := range []struct {
		at    *time.Duration
		usual time.Duration
	}{{&o.Heartbeat, 15 * time.Second}, {&o.Lifetime, time.Hour}, {&o.WriteTimeout, 10 * time.Second}, {&o.Retry, 3 * time.Second}, {&o.Poll, 5 * time.Second}, {&o.MaxAge, 24 * time.Hour}} {
		if *d.at <= 0 {
			*d.at = d.usual
		}
	}
	for _, n := range []struct {
		at    *int
		usual int
	}{{&o.MaxStreams, 1000}, {&o.MaxPerCaller, 20}, {&o.MaxPending, 100}} {
		if *n.at <= 0 {
			*n.at = n.usual
		}
	}
	if o.Sender == nil {
		o.Sender = func(r *http.Request) limit.Sender { return limit.Named("", swapper.CallerOf(r.Context())) }
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	return o
}
