package jsonrpc

import (
	"context"
	"errors"
	"slices"
)

// errAlone says that calls have to be sent in a request of their own.
var errAlone = errors.New("the calls were not answered together with others")

// part is what one caller puts into a request that several share.
type part struct {
	ctx     context.Context
	texts   []string
	replies []*reply
	err     error
	done    chan struct{}
}

// together sends calls at once while the node has a place for a request. While it has
// none, the calls of all who wait are collected, and sent in one request as soon as one
// comes back; what several ask in the same words is asked once. So no caller waits for
// others, and the busier a node is, the more it is asked at a time. A shared request
// that the node finds too large or does not answer in full is errAlone for whom that
// concerns.
func (e *endpoint) together(ctx context.Context, texts []string) ([]*reply, error) {
	p := &part{ctx: ctx, texts: texts, done: make(chan struct{})}
	e.mu.Lock()
	e.waiting = append(e.waiting, p)
	e.mu.Unlock()
	e.carry()
	select {
	case <-p.done:
		return p.replies, p.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// carry sends what waits, if there is a place.
func (e *endpoint) carry() {
	select {
	case e.places <- struct{}{}:
		e.leave()
	default: // whoever leaves next carries on
	}
}

// leave gives a place up, to those who wait together if there are any.
func (e *endpoint) leave() {
	if parts, texts := e.collect(); len(parts) > 0 {
		go func() {
			defer e.leave()
			e.share(parts, texts)
		}()
		return
	}
	<-e.places
	e.mu.Lock()
	late := len(e.waiting) > 0 // came after the look, and found no place
	e.mu.Unlock()
	if late {
		e.carry()
	}
}

// collect takes parts from the queue, as many as fit into one request, and returns them
// with their calls, each once. Those whose callers have left are dropped.
func (e *endpoint) collect() (parts []*part, texts []string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	place := map[string]bool{}
	for len(e.waiting) > 0 {
		p := e.waiting[0]
		if p.ctx.Err() != nil {
			e.waiting = e.waiting[1:]
			continue
		}
		more := slices.DeleteFunc(slices.Clone(p.texts), func(t string) bool { return place[t] })
		if len(parts) > 0 && len(texts)+len(more) > e.most {
			break
		}
		for _, t := range more {
			place[t] = true
		}
		texts = append(texts, more...)
		parts = append(parts, p)
		e.waiting = e.waiting[1:]
	}
	if len(e.waiting) == 0 {
		e.waiting = nil
	}
	return parts, texts
}

// share sends a request for several callers and hands the replies out. It ends when all of
// them have left.
func (e *endpoint) share(parts []*part, texts []string) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(parts[0].ctx))
	defer cancel()
	ended := make(chan struct{})
	defer close(ended)
	go func() {
		for _, p := range parts {
			select {
			case <-p.ctx.Done():
			case <-ended:
				return
			}
		}
		cancel()
	}()
	replies, err := e.post(ctx, texts)
	refused, partly := len(parts) > 1 && err != nil && tooMany(err), false
	at := map[string]*reply{}
	for i, t := range texts {
		if err == nil {
			at[t] = replies[i]
			partly = partly || isLeftOut(replies[i])
		}
	}
	if refused || partly && len(texts) > 1 {
		e.mu.Lock()
		e.most = max(1, min(e.most, smaller(err, len(texts))))
		e.mu.Unlock()
	}
	if refused {
		err = errAlone
	}
	for _, p := range parts {
		p.err = err
		for _, t := range p.texts {
			if err != nil {
				break
			}
			r := at[t]
			if len(parts) > 1 && isLeftOut(r) {
				p.replies, p.err = nil, errAlone
				break
			}
			p.replies = append(p.replies, r)
		}
		close(p.done)
	}
}
