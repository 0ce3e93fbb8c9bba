package lp

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"
)

// streamedCall answers a call whose parameters are streamed. What it returns is
// the data of code 20000, or an error.
type streamedCall func(r *reader, early func(object) error) (data any, err error)

// bodyTime is how long the body of a streamed call may take (protocol:
// lp-protocol.md §3.3).
const bodyTime = 10 * time.Second

// serveStreamed makes an endpoint out of a call.
func serveStreamed(call streamedCall, bodyTime time.Duration, mutate func(*http.Request, object) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, req *http.Request) {
		accept := req.Header.Get("Accept")
		if accept == "" {
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		ctx, cancel := context.WithTimeout(req.Context(), 2*bodyTime)
		defer cancel()
		// Without this the first write would wait for the end of the body.
		control := http.NewResponseController(w)
		_ = control.EnableFullDuplex()                                // HTTP/2 is so anyway
		_ = control.SetReadDeadline(time.Now().Add(bodyTime))         // the client's connection decides
		in := newParams(req.Header.Get("Content-Type") == streamType) // the exact text: with a charset the body is read whole
		bodyEnd := make(chan error, 1)
		go func() {
			err := in.read(req.Body)
			if err != nil {
				cancel()
			}
			bodyEnd <- err
		}()
		if !in.streamed {
			if err := <-bodyEnd; err != nil {
				panic(http.ErrAbortHandler) // the connection is destroyed
			}
			bodyEnd <- nil
		}
		out := &reply{w: w, streamed: strings.Contains(accept, streamType)}
		if out.streamed {
			w.Header()["Content-Type"] = []string{streamType}
		}
		if mutate != nil {
			out.mutate = func(o object) (any, error) { return mutate(req, o) }
		}
		answer := answerOf(call(&reader{ctx: ctx, url: req.URL.Query(), params: in}, out.send))
		if broken(in) {
			<-bodyEnd
			panic(http.ErrAbortHandler)
		}
		err := out.finish(answer)
		if bad := <-bodyEnd; bad != nil || err != nil {
			panic(http.ErrAbortHandler)
		}
	}
}

// broken reports whether the body ended badly.
func broken(p *params) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.err != nil
}

// answerOf is the last part of an answer.
func answerOf(data any, err error) object {
	if err == nil {
		return object{{"code", 20000}, {"msg", "Success"}, {"data", data}}
	}
	answer, _ := errorAnswer(err)
	return answer
}

// errorAnswer is what a client hears of an error, and the HTTP status where the
// call is not streamed.
func errorAnswer(err error) (object, int) {
	var r *refusal
	if !errors.As(err, &r) {
		return object{{"code", 0}, {"msg", "Internal server error"}}, http.StatusInternalServerError
	}
	answer, status := object{{"code", r.Code}, {"msg", r.Msg}}, r.HTTP
	if r.Data != nil {
		answer = append(answer, member{"data", r.Data})
	}
	if status == 0 {
		status = http.StatusBadRequest
	}
	return answer, status
}

// plainCall answers a call without streaming: the whole answer, or an error.
type plainCall func(r *reader) (object, error)

// servePlain makes an endpoint that takes GET, and POST with JSON.
func servePlain(call plainCall, mutate func(*http.Request, object) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, req *http.Request) {
		in := newParams(false)
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(bodyTime))
		query := queryParams(req.URL.Query())
		in.put(query.values) // the query wins
		if err := in.read(req.Body); err != nil {
			panic(http.ErrAbortHandler)
		}
		status := http.StatusOK
		answer, err := call(&reader{ctx: req.Context(), url: req.URL.Query(), params: in})
		if err != nil {
			answer, status = errorAnswer(err)
		}
		var v any = answer
		if mutate != nil {
			if v, err = mutate(req, answer); err != nil {
				panic(http.ErrAbortHandler)
			}
		}
		if writeJSON(w, status, v) != nil {
			panic(http.ErrAbortHandler)
		}
	}
}
