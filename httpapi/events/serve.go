package events

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/httpapi"
	"github.com/swapper-go/swapper/storage"
)

// query is what a reader asks for.
type query struct {
	swapID, signer, chainID string
	last                    place
	resumes                 bool
}

// maxQuery bounds the query string, as for the operations.
const maxQuery = 32 << 10

// parseQuery reads a request strictly, as the operations do. The id of the last event
// counts as none if it is not one of ours.
func parseQuery(raw, lastEventID string) (query, error) {
	var q query
	if len(raw) > maxQuery {
		return q, httpapi.WithStatus(http.StatusRequestURITooLong, fault.Invalid("query", "must be at most 32 KiB long"))
	}
	values, err := url.ParseQuery(raw)
	if err != nil { // its text would repeat the value
		return q, fault.Invalid("query", "has a pair that is not escaped correctly")
	}
	for _, f := range []struct {
		name string
		at   *string
	}{{"swapId", &q.swapID}, {"signer", &q.signer}, {"chainId", &q.chainID}, {"lastEventId", &lastEventID}} {
		given := values[f.name]
		delete(values, f.name)
		switch {
		case len(given) > 1:
			return query{}, fault.Invalid(f.name, "is given twice")
		case len(given) == 1 && (f.name != "lastEventId" || lastEventID == ""): // the header is the later one
			*f.at = given[0]
		}
	}
	for name := range values {
		if name == "" {
			name = `""`
		}
		return query{}, fault.Invalid(fmt.Sprintf("%.64s", name), "is not a field of this operation")
	}
	switch {
	case q.swapID == "" && q.signer == "":
		return query{}, fault.Invalid("swapId", "is required, or a signer")
	case q.swapID != "" && q.signer != "":
		return query{}, fault.Invalid("signer", "must not be given together with swapId")
	case q.swapID != "" && q.chainID != "":
		return query{}, fault.Invalid("chainId", "must not be given together with swapId")
	case q.swapID != "":
		in := swapper.GetSwapStatusInput{SwapID: q.swapID}
		err = in.Validate()
	default:
		in := swapper.ListPendingSwapsInput{Signer: q.signer, ChainID: q.chainID}
		err = in.Validate()
	}
	if err != nil {
		return query{}, err
	}
	q.last, q.resumes = parsePlace(lastEventID)
	return q, nil
}

// ServeHTTP implements [http.Handler]. It answers at any path.
func (s *Streams) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet {
		w.Header().Set("Allow", "GET")
		httpapi.WriteError(w, r, httpapi.WithStatus(http.StatusMethodNotAllowed, &swapper.Error{Code: swapper.CodeUnsupported, Field: "method", Message: "must be one of GET"}))
		return
	}
	err := s.serve(w, r)
	if err == nil {
		return
	}
	if fault.CodeOf(err) == fault.Internal && !errors.Is(err, swapper.ErrClosed) {
		s.Logger.ErrorContext(r.Context(), "a stream of events could not begin", "err", err)
	}
	httpapi.WriteError(w, r, err)
}

// serve returns an error only if nothing has been written.
func (s *Streams) serve(w http.ResponseWriter, r *http.Request) error {
	q, err := parseQuery(r.URL.RawQuery, r.Header.Get("Last-Event-ID"))
	if err != nil {
		return err
	}
	leave, err := s.enter(w, swapper.CallerOf(r.Context()))
	if err != nil {
		return err
	}
	defer leave()
	ctx, cancel := context.WithTimeout(r.Context(), s.Lifetime)
	defer cancel()
	defer context.AfterFunc(s.ctx, cancel)()
	st := newStream()
	out := &writer{w: w, control: http.NewResponseController(w), timeout: s.WriteTimeout}
	begin := s.beginSigner
	if q.swapID != "" {
		begin = s.beginSwap
	}
	present, end, err := begin(ctx, st, q)
	if err != nil {
		if s.ctx.Err() != nil {
			err = swapper.ErrClosed
		}
		return err
	}
	defer end()
	if !out.begin(r, s.Retry) {
		return nil
	}
	for _, id := range present {
		p, err := s.progress(ctx, id)
		if fault.CodeOf(err) == fault.NotFound { // deleted meanwhile
			continue
		}
		var e event
		if err == nil {
			e, err = encode(p)
		}
		if err != nil {
			if ctx.Err() == nil {
				s.Logger.Warn("a stream of events could not tell the present", "swap", storage.Label(id), "err", err)
			}
			return nil // its reader comes again
		}
		if !q.resumes || e.place.print != q.last.print {
			st.offer(e)
		}
		if !out.drain(st) {
			return nil
		}
	}
	s.run(ctx, st, out)
	return nil
}

// run sends what comes until the stream ends.
func (s *Streams) run(ctx context.Context, st *stream, out *writer) {
	beat := time.NewTimer(s.Heartbeat)
	defer beat.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-st.wake:
			if !out.drain(st) {
				return
			}
		case <-beat.C:
			if !out.send([]byte(":\n\n")) {
				return
			}
		}
		beat.Reset(s.Heartbeat)
	}
}

// beginSwap begins the stream of a swap with how it stands.
func (s *Streams) beginSwap(ctx context.Context, st *stream, q query) (present []string, end func(), err error) {
	p, err := s.progress(ctx, q.swapID)
	if err != nil {
		return nil, nil, err
	}
	e, err := encode(p)
	if err != nil {
		return nil, nil, err
	}
	st.swap, st.accounts = q.swapID, []swapper.Account{p.Account}
	if q.resumes && p.Version >= q.last.version { // an older one is of a store that was restored
		st.sent.Add(q.swapID, q.last)
	}
	end = s.register(st)
	st.offer(e)
	s.mu.Lock()
	s.lookLocked(q.swapID, p.Account) // for what changed between the two, and to plan the next look
	s.mu.Unlock()
	return nil, end, nil
}

// beginSigner begins the stream of a signer: with what has changed since the reader was
// here, or with the pending swaps.
func (s *Streams) beginSigner(ctx context.Context, st *stream, q query) (present []string, end func(), err error) {
	if st.accounts, err = s.source.Accounts(q.signer, q.chainID); err != nil {
		return nil, nil, err
	}
	end = s.register(st) // first: a swap that changes now is sent twice, not never
	if !q.resumes {
		swaps, err := s.source.ListPendingSwaps(ctx, swapper.ListPendingSwapsInput{Signer: q.signer, ChainID: q.chainID, Limit: s.MaxPending})
		if err != nil {
			end()
			return nil, nil, err
		}
		for _, one := range slices.Backward(swaps) { // the oldest first, as they came
			present = append(present, one.SwapID)
		}
		return present, end, nil
	}
	var changed []swapper.Change
	for _, a := range st.accounts {
		for c, err := range s.source.Changes(ctx, a, q.last.since()) {
			if err != nil {
				end()
				return nil, nil, err
			}
			if changed = append(changed, c); len(changed) == 2*s.MaxPending { // the latest are kept
				changed = latest(changed, s.MaxPending)
			}
		}
	}
	for _, c := range latest(changed, s.MaxPending) {
		present = append(present, c.Swap.SwapID)
	}
	return present, end, nil
}

// latest returns the n latest changes, in their order.
func latest(changed []swapper.Change, n int) []swapper.Change {
	slices.SortStableFunc(changed, func(a, b swapper.Change) int { return cmp.Compare(a.At, b.At) })
	return changed[max(0, len(changed)-n):]
}

// enter counts a stream; leave ends it.
func (s *Streams) enter(w http.ResponseWriter, caller string) (leave func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, swapper.ErrClosed
	}
	if s.streams >= s.MaxStreams || caller != "" && s.callers[caller] >= s.MaxPerCaller {
		w.Header().Set("Retry-After", "30")
		return nil, httpapi.WithStatus(http.StatusTooManyRequests, &swapper.Error{Code: "rate_limited", Message: "too many streams of events are open; close one or try again later"})
	}
	s.streams++
	s.callers[caller]++
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.streams--
		if s.callers[caller]--; s.callers[caller] == 0 {
			delete(s.callers, caller)
		}
	}, nil
}

// register has a stream told what concerns it, until end.
func (s *Streams) register(st *stream) (end func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if st.swap != "" {
		add(s.bySwap, st.swap, st)
	}
	for _, a := range st.accounts {
		if st.swap == "" {
			add(s.byAccount, a, st)
		}
		w := s.watched[a]
		if w == nil {
			w = &watch{since: s.Now().Add(-overlap), known: map[string]uint64{}}
			s.watched[a] = w
		}
		w.streams++
	}
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if st.swap != "" {
			remove(s.bySwap, st.swap, st)
		}
		for _, a := range st.accounts {
			if st.swap == "" {
				remove(s.byAccount, a, st)
			}
			if w := s.watched[a]; w.streams == 1 {
				delete(s.watched, a)
			} else {
				w.streams--
			}
		}
	}
}

func add[K comparable](all map[K]set, key K, st *stream) {
	if all[key] == nil {
		all[key] = set{}
	}
	all[key][st] = struct{}{}
}

func remove[K comparable](all map[K]set, key K, st *stream) {
	if delete(all[key], st); len(all[key]) == 0 {
		delete(all, key)
	}
}
