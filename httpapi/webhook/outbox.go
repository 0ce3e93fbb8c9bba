package webhook

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/storage"
)

// outbox is what the store holds for one endpoint: a record for each swap, and notes on
// how far the changes were read and whether the endpoint is gone.
type outbox struct {
	store storage.Store
	name  string
}

// Index names. An entry has one key: it waits for its moment, or is done.
const (
	byDue  = "webhook/due"  // endpoint; by the moment of the next attempt
	byDone = "webhook/done" // endpoint; by the moment of the last one
)

// schema is the number of the form of records, which a change raises that older programs
// must not read, or would lose by writing a record anew. 0 is not written.
const schema = 0

// record is a swap as an endpoint is told about it.
type record struct {
	Schema    int      `json:"schema,omitempty"`
	Swap      string   `json:"swap"`
	Version   uint64   `json:"version"`             // the newest that is to be told, or was
	Message   *message `json:"message,omitempty"`   // not yet delivered
	Delivered *outcome `json:"delivered,omitempty"` // the last that arrived
	GivenUp   *outcome `json:"givenUp,omitempty"`   // the last that never did

	Next int64 `json:"next,omitempty"` // ms; when it is due; 0: it is done
	Busy int64 `json:"busy,omitempty"` // ms; until when the process that sends it has it for itself
	Done int64 `json:"done,omitempty"` // ms; since when nothing is due

	entry storage.Entry // as it was read
}

// message is what is sent. It is stored before its first attempt, and stays the same.
type message struct {
	ID       string          `json:"id"` // webhook-id
	Version  uint64          `json:"version"`
	Print    string          `json:"print"` // fingerprint of the status
	Body     json.RawMessage `json:"body"`
	Attempts int             `json:"attempts"` // begun; counted before each
	Problem  string          `json:"problem,omitempty"`
}

// outcome is the end of a message.
type outcome struct {
	ID       string `json:"id"`
	Version  uint64 `json:"version"`
	Print    string `json:"print"`
	Attempts int    `json:"attempts"`
	At       int64  `json:"at"` // ms
	Problem  string `json:"problem,omitempty"`
}

func (m *message) outcome(now time.Time) *outcome {
	return &outcome{ID: m.ID, Version: m.Version, Print: m.Print, Attempts: m.Attempts, At: now.UnixMilli(), Problem: m.Problem}
}

// entryID returns an id that begins with NUL, as no swap's id does.
func (o outbox) entryID(swapID string) string {
	sum := sha256.Sum256([]byte(swapID))
	return "\x00webhook\x00" + o.name + "\x00" + hex.EncodeToString(sum[:])
}

// get returns the record of a swap, nil if there is none.
func (o outbox) get(ctx context.Context, swapID string) (*record, error) {
	e, err := o.store.Get(ctx, o.entryID(swapID))
	if errors.Is(err, storage.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return decode(e)
}

// errNewer is the error of records that only newer programs read.
var errNewer = errors.New("it was written by a newer version")

func decode(e storage.Entry) (*record, error) {
	var form struct{ Schema int } // of any number: the rest may have another form by then
	if json.Unmarshal(e.Body, &form) == nil && form.Schema > schema {
		return nil, fmt.Errorf("read the record of a message: %w: its schema is %d and this version reads up to %d; run the version that wrote it or a newer one", errNewer, form.Schema, schema)
	}
	r := &record{entry: e}
	if err := json.Unmarshal(e.Body, r); err != nil {
		return nil, fmt.Errorf("read the record of a message: %w", err)
	}
	return r, nil
}

// put stores a record by compare-and-set.
func (o outbox) put(ctx context.Context, r *record) error {
	r.Schema = schema
	body, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("encode the record of a message: %w", err)
	}
	key := storage.Key{Index: byDone, Value: o.name, Order: r.Done}
	if r.Next != 0 {
		key = storage.Key{Index: byDue, Value: o.name, Order: r.Next}
	}
	e := storage.Entry{ID: o.entryID(r.Swap), Version: r.entry.Version, Body: body, Keys: []storage.Key{key}}
	if r.entry.ID == "" {
		err = o.store.Create(ctx, e)
	} else {
		err = o.store.Update(ctx, e)
	}
	if err == nil {
		e.Version++
		r.entry = e
	}
	return err
}

func (o outbox) delete(ctx context.Context, r *record) error {
	err := o.store.Delete(ctx, r.entry.ID, r.entry.Version)
	if errors.Is(err, storage.ErrNotFound) {
		return nil
	}
	return err
}

// maxTries is how often a record that others write too is read again.
const maxTries = 8

// change applies edit to the record of a swap, again if another writer was first. edit
// is told nil if there is no record, and returns what to store, nil for nothing.
func (o outbox) change(ctx context.Context, swapID string, edit func(*record) *record) error {
	for tries := 1; ; tries++ {
		r, err := o.get(ctx, swapID)
		if err != nil {
			return err
		}
		if r = edit(r); r == nil {
			return nil
		}
		err = o.put(ctx, r)
		if tries < maxTries && (errors.Is(err, storage.ErrConflict) || errors.Is(err, storage.ErrExists) || errors.Is(err, storage.ErrNotFound)) {
			continue
		}
		return err
	}
}

// note makes a change of a swap due, unless it is known.
func (o outbox) note(ctx context.Context, c swapper.Change, now time.Time) error {
	return o.change(ctx, c.Swap.SwapID, func(r *record) *record {
		if r == nil {
			r = &record{Swap: c.Swap.SwapID}
		}
		if r.Version >= c.Version {
			return nil
		}
		r.Version = c.Version
		if r.Busy <= now.UnixMilli() { // else who sends it sees to it
			r.Next, r.Done = now.UnixMilli(), 0
		}
		return r
	})
}

// due returns records whose moment has come, at most n, and when the next one's comes.
func (o outbox) due(ctx context.Context, now time.Time, n int) (all []*record, next time.Time, err error) {
	for e, err := range o.store.Find(ctx, storage.Query{Index: byDue, Value: o.name}) {
		if err != nil && e.ID == "" {
			return nil, time.Time{}, err
		}
		if err != nil {
			continue // damaged: the store says so wherever it is asked
		}
		r, err := decode(e)
		if err != nil {
			continue // a newer program's, which delivers it, or damaged
		}
		if at := time.UnixMilli(r.Next); at.After(now) || len(all) == n {
			return all, at, nil
		}
		all = append(all, r)
	}
	return all, time.Time{}, nil
}

// hurry has all that waits tried now.
func (o outbox) hurry(ctx context.Context, now time.Time) error {
	for e, err := range o.store.Find(ctx, storage.Query{Index: byDue, Value: o.name, Range: &storage.Range{Min: now.UnixMilli() + 1, Max: math.MaxInt64}}) {
		if err != nil && e.ID == "" {
			return err
		}
		r, err := decode(e)
		if err != nil || r.Busy > now.UnixMilli() { // not ours, or being sent
			continue
		}
		r.Next = now.UnixMilli()
		if err := o.put(ctx, r); lost(err) != nil {
			return err
		}
	}
	return nil
}

// clear deletes the records whose moment in an index was before another.
func (o outbox) clear(ctx context.Context, index string, before time.Time) error {
	q := storage.Query{Index: index, Value: o.name, Range: &storage.Range{Min: math.MinInt64, Max: before.UnixMilli()}}
	for e, err := range o.store.Find(ctx, q) {
		if err != nil && e.ID == "" {
			return err
		}
		if err := o.store.Delete(ctx, e.ID, e.Version); err != nil && !errors.Is(err, storage.ErrNotFound) && !errors.Is(err, storage.ErrConflict) {
			return err
		}
	}
	return nil
}

// standing is the endpoint's note.
type standing struct {
	From  int64  `json:"from"`           // ms; what changed before is not told
	Since int64  `json:"since"`          // ms; changes up to here have a record
	Gone  string `json:"gone,omitempty"` // hash of the URL that answered 410 for an hour

	version uint64
}

// resume has the endpoint told again, of what changed since a moment.
func (s *standing) resume(since time.Time) {
	s.Gone, s.From, s.Since = "", max(s.From, since.UnixMilli()), max(s.Since, since.UnixMilli())
}

func (o outbox) noteName() string { return "webhook/" + o.name }

func (o outbox) standing(ctx context.Context) (standing, error) {
	data, version, err := o.store.Note(ctx, o.noteName())
	s := standing{version: version}
	if err == nil && data != nil {
		err = json.Unmarshal(data, &s)
	}
	if err != nil {
		return s, fmt.Errorf("read the note of an endpoint: %w", err)
	}
	return s, nil
}

// stand changes the endpoint's note, again if another writer was first.
func (o outbox) stand(ctx context.Context, edit func(*standing) bool) (standing, error) {
	for tries := 1; ; tries++ {
		s, err := o.standing(ctx)
		if err != nil || !edit(&s) {
			return s, err
		}
		data, err := json.Marshal(s)
		if err != nil {
			return s, err
		}
		err = o.store.SetNote(ctx, o.noteName(), data, s.version)
		if err == nil || tries == maxTries || !errors.Is(err, storage.ErrConflict) {
			return s, err
		}
	}
}

func hashOf(url string) string {
	sum := sha256.Sum256([]byte(url))
	return hex.EncodeToString(sum[:])
}
