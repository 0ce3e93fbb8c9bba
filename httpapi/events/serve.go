package events

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/httpapi"
	"github.com/swapper-go/swapper/internal/httpx"
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
		return q, &httpx.Refusal{Status: http.StatusRequestURITooLong, Err: fault.Invalid("query", "must be at most 32 KiB long")}
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
		in := swapper.ListSwapsInput{Signer: q.signer, ChainID: q.chainID}
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
		httpapi.WriteError(w, r, s.Logger, &httpx.Refusal{Status: http.StatusMethodNotAllowed, Allow: http.MethodGet, Err: &fault.Error{Code: fault.Unsupported, Field: "method", Message: "must be one of GET"}})
		return
	}
	err := s.serve(w, r)
	if err == nil {
		return
	}
	httpapi.WriteError(w, r, s.Logger, err)
}

// serve returns an error only if nothing has been written.
func (s *Streams) serve(w http.ResponseWriter, r *http.Request) error {
	q, err := parseQuery(r.URL.RawQuery, r.Header.Get("Last-Event-ID"))
	if err != nil {
		return err
	}
	leave, err := s.enter(w, r)
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
	present, gap, end, err := begin(ctx, st, q)
	if err != nil {
		if s.ctx.Err() != nil {
			err = swapper.ErrClosed
		}
		return err
	}
	defer end()
	if !out.begin(r, s.Retry) || gap && !out.send(fmt.Appendf(nil, "event: reset\ndata: {\"since\":%d}\n\n", q.last.at.UnixMilli())) {
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
		if !q.resumes || gap || e.place.print != q.last.print {
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
func (s *Streams) beginSwap(ctx context.Context, st *stream, q query) (present []string, gap bool, end func(), err error) {
	p, err := s.progress(ctx, q.swapID)
	if err != nil {
		return nil, false, nil, err
	}
	e, err := encode(p)
	if err != nil {
		return nil, false, nil, err
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
	return nil, false, end, nil
}

// beginSigner begins the stream of a signer: with what has changed since the reader was
// here, or with the pending swaps. A gap is what it does not tell of the former: whatever
// happened meanwhile, and whoever made it happen, a stream that begins takes a bounded look.
func (s *Streams) beginSigner(ctx context.Context, st *stream, q query) (present []string, gap bool, end func(), err error) {
	if st.accounts, err = s.source.Accounts(q.signer, q.chainID); err != nil {
		return nil, false, nil, err
	}
	end = s.register(st) // first: a swap that changes now is sent twice, not never
	defer func() {
		if err != nil {
			end()
		}
	}()
	if q.resumes {
		changed, whole, err := s.changed(ctx, st.accounts, q.last)
		if err != nil {
			return nil, false, nil, err
		}
		for _, c := range latest(changed, s.MaxPending) {
			present = append(present, c.Swap.SwapID)
		}
		if gap = !whole || len(changed) > s.MaxPending; whole {
			return present, gap, end, nil
		}
	}
	swaps, err := s.source.ListPendingSwaps(ctx, swapper.ListSwapsInput{Signer: q.signer, ChainID: q.chainID, Limit: s.MaxPending})
	if err != nil {
		return nil, false, nil, err
	}
	present = nil
	for _, one := range slices.Backward(swaps) { // the oldest first, as they came
		present = append(present, one.SwapID)
	}
	return present, gap, end, nil
}

// looked through of what has changed, for one swap that is told.
const perPending = 4

// changed returns what has changed in the eyes of a reader who was here before, or that
// this is too long ago, or too much, to be looked through.
func (s *Streams) changed(ctx context.Context, accounts []swapper.Account, last place) (all []swapper.Change, whole bool, err error) {
	if s.Now().Sub(last.at.Time) > s.MaxAge {
		return nil, false, nil
	}
	for _, a := range accounts {
		for c, err := range s.source.Changes(ctx, a, last.since()) {
			if err != nil {
				return nil, false, err
			}
			if len(all) == perPending*s.MaxPending {
				return nil, false, nil
			}
			all = append(all, c)
		}
	}
	return all, true, nil
}

// latest returns the n latest changes, in their order.
func latest(changed []swapper.Change, n int) []swapper.Change {
	slices.SortStableFunc(changed, func(a, b swapper.Change) int { return a.At.Compare(b.At.Time) })
	return changed[max(0, len(changed)-n):]
}

// enter counts a stream; leave ends it.
func (s *Streams) enter(w http.ResponseWriter, r *http.Request) (leave func(), err error) {
	if s.ctx.Err() != nil {
		return nil, swapper.ErrClosed
	}
	if leave, err = s.inside.Enter(s.Sender(r)); err != nil {
		w.Header().Set("Retry-After", "30")
		return nil, &httpx.Refusal{Status: http.StatusTooManyRequests, Err: &fault.Error{Code: "rate_limited", Message: "too many streams of events are open; close one or try again later"}}
	}
	return leave, nil
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
