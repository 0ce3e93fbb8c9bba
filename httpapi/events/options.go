package events

import (
	"log/slog"
	"time"
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

	MaxStreams   int // at the same time; 1000
	MaxPerCaller int // of one caller, by [swapper.CallerOf]; callers without a name share MaxStreams alone; 20
	MaxPending   int // swaps with which a stream of a signer begins, the newest first; 100

	Now    func() time.Time // the client's clock, by which stored changes are dated; nil: time.Now
	Logger *slog.Logger     // nil: slog.Default()
}

func (o Options) orDefault() Options {
	for _, d := range []struct {
		at    *time.Duration
		usual time.Duration
	}{{&o.Heartbeat, 15 * time.Second}, {&o.Lifetime, time.Hour}, {&o.WriteTimeout, 10 * time.Second}, {&o.Retry, 3 * time.Second}, {&o.Poll, 5 * time.Second}} {
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
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	return o
}
