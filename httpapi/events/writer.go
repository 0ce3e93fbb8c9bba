package events

import (
	"fmt"
	"net/http"
	"time"
)

// writer sends to one reader. What it returns false for could not be sent in time: the
// stream has ended.
type writer struct {
	w       http.ResponseWriter
	control *http.ResponseController
	timeout time.Duration
}

// begin sends the headers and how long the reader waits before it comes again.
func (o *writer) begin(r *http.Request, retry time.Duration) bool {
	h := o.w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Accel-Buffering", "no") // for a proxy that would keep events back
	if r.ProtoMajor == 1 {
		h.Set("Connection", "close") // the deadlines of this connection are the stream's
	}
	// The server's deadline for reading a request would end the stream, by ending its
	// context. What wraps the writer may be unable to move it; then the stream is short.
	_ = o.control.SetReadDeadline(time.Time{})
	o.w.WriteHeader(http.StatusOK)
	return o.send(fmt.Appendf(nil, "retry: %d\n\n", retry.Milliseconds()))
}

// drain sends what is waiting. It returns false if the stream is to end.
func (o *writer) drain(st *stream) bool {
	for {
		e, some, over := st.take()
		if !some {
			return !over
		}
		if !o.send(e.text) {
			return false
		}
	}
}

func (o *writer) send(text []byte) bool {
	_ = o.control.SetWriteDeadline(time.Now().Add(o.timeout))
	if _, err := o.w.Write(text); err != nil {
		return false
	}
	return o.control.Flush() == nil
}
