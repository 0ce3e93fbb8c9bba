package watchtower

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/storage"
)

// record is something to be claimed, as it is stored until it has ended.
type record struct {
	id    string
	entry uint64 // version of the stored entry
	body  []byte // of the stored entry
	kept  int64  // Next in it

	Version  string          `json:"version"` // of the contracts
	Own      bool            `json:"own,omitempty"`
	Escrow   json.RawMessage `json:"escrow,omitempty"`
	Preimage chains.Preimage `json:"preimage"`
	// Instead of the preimage: the bitcoin payment that opens the escrow, or a withdrawal.
	Payment    *Payment    `json:"payment,omitempty"`
	Withdrawal *Withdrawal `json:"withdrawal,omitempty"`
	Seed       chains.Seed `json:"seed"`               // also tells this record from a later one with its id
	Since      int64       `json:"since"`              // Unix milliseconds
	Next       int64       `json:"next"`               // when to look again, Unix milliseconds; 0: at once, before all others
	Failures   int         `json:"failures,omitempty"` // in a row
	Open       int64       `json:"open,omitempty"`     // since when it can be claimed, Unix milliseconds; 0: it cannot
	Refused    bool        `json:"refused,omitempty"`  // its claim did not pay, by the policy, when it was looked at last
	Attempts   []attempt   `json:"attempts,omitempty"` // oldest first
}

// attempt is a claim that was signed. It is stored before any of it is sent.
type attempt struct {
	At   int64           `json:"at"`             // Unix milliseconds
	Txs  []chains.Signed `json:"txs"`            // each is sent once the one before is executed
	Pay  [][]amount      `json:"pay"`            // what each of the last of them earns
	Dead bool            `json:"dead,omitempty"` // is not sent again
}

// Bounds of what is stored.
const (
	maxForeign  = 10_000 // records of others on a chain
	maxAttempts = 8      // of a record
	maxReverts  = 3      // executed without effect, of a record: no more are sent then
)

// index finds records by chain, in the order of when to look at them.
const index = "watchtower"

func (c *claimer) key(r *record) []storage.Key {
	order := r.Next
	if order == 0 {
		order = r.Since - 1<<50
	}
	return []storage.Key{{Index: index, Value: c.id, Order: order}, {Index: index + "/whose", Value: c.whose(r.Own)}}
}

func (c *claimer) whose(own bool) string { return fmt.Sprintf("%s %t", c.id, own) }

func (c *claimer) recordID(r *record, hash []byte) string {
	return index + "/" + c.id + "/" + r.Version + "/" + hex.EncodeToString(hash)
}

func (c *claimer) write(r *record) (storage.Entry, error) {
	body, err := json.Marshal(r)
	return storage.Entry{ID: r.id, Version: r.entry, Body: body, Keys: c.key(r)}, err
}

func read(e storage.Entry) (*record, error) {
	r := &record{id: e.ID, entry: e.Version, body: e.Body}
	if err := json.Unmarshal(e.Body, r); err != nil {
		return nil, fmt.Errorf("stored record %s: %w: %w", storage.Label(e.ID), storage.ErrCorrupt, err)
	}
	r.kept = r.Next
	return r, nil
}

// adopt stores a new record. One that is known already becomes the operator's own if the
// new one is.
func (c *claimer) adopt(ctx context.Context, r record, hash []byte) error {
	r.id = c.recordID(&r, hash)
	r.Since = c.now().UnixMilli()
	if !r.Own {
		r.Next = r.Since
	}
	if _, err := io.ReadFull(c.config.Rand, r.Seed[:]); err != nil {
		return fmt.Errorf("generate randomness: %w", err)
	}
	e, err := c.write(&r)
	if err != nil {
		return err
	}
	for range 3 {
		if err = c.config.Store.Create(ctx, e); !errors.Is(err, storage.ErrExists) {
			break
		}
		if !r.Own {
			return nil
		}
		if err = c.own(ctx, r.id); !errors.Is(err, storage.ErrNotFound) { // a round has just forgotten it
			break
		}
	}
	if err == nil && r.Own {
		c.wake()
	}
	return err
}

// own marks a stored record as the operator's own.
func (c *claimer) own(ctx context.Context, id string) (err error) {
	for range 3 {
		var e storage.Entry
		if e, err = c.config.Store.Get(ctx, id); err != nil {
			return err
		}
		r, err := read(e)
		if err != nil || r.Own {
			return err
		}
		r.Own, r.Next = true, 0
		if err = c.save(ctx, r); !errors.Is(err, storage.ErrConflict) {
			return err
		}
	}
	return err
}

// rest is until when a record is not looked at, as long as nothing else of it changes.
type rest struct {
	entry uint64 // version of the stored entry
	until int64  // Unix milliseconds
}

// longestRest is the longest time for which a record is put off without storing it. All that
// rest are read in each round.
const longestRest = time.Minute

// rests puts a record off in memory alone, if nothing else of it has changed.
func (c *claimer) rests(r *record) bool {
	next := r.Next
	if r.kept == 0 || next > c.now().Add(longestRest).UnixMilli() {
		return false
	}
	r.Next = r.kept
	body, err := json.Marshal(r)
	r.Next = next
	if err != nil || !bytes.Equal(body, r.body) {
		return false
	}
	c.resting[r.id] = rest{r.entry, next}
	return true
}

// save stores a record that was read before, if more than its next time has changed.
func (c *claimer) save(ctx context.Context, r *record) error {
	if c.rests(r) {
		return nil
	}
	e, err := c.write(r)
	if err != nil {
		return err
	}
	if err := c.config.Store.Update(ctx, e); err != nil {
		return err
	}
	r.entry, r.body, r.kept = r.entry+1, e.Body, r.Next
	return nil
}

// later says when to look at a record again.
func (r *record) later(now time.Time, pause time.Duration) { r.Next = now.Add(pause).UnixMilli() }

// failed says so after a failure: the pause doubles.
func (r *record) failed(now time.Time, pause time.Duration) {
	r.Failures++
	r.later(now, min(pause<<min(r.Failures, 16), longestPause))
}

// longestPause is between two looks at something that fails.
const longestPause = 10 * time.Minute

// live is the newest attempt that may still be executed, nil if there is none.
func (r *record) live() *attempt {
	if n := len(r.Attempts); n > 0 && !r.Attempts[n-1].Dead {
		return &r.Attempts[n-1]
	}
	return nil
}

// lastSent is when the last attempt was signed; zero if none was.
func (r *record) lastSent() time.Time {
	if n := len(r.Attempts); n > 0 {
		return time.UnixMilli(r.Attempts[n-1].At)
	}
	return time.Time{}
}

// sent are all transactions that may have been sent.
func (r *record) sent() (all []chains.Signed) {
	for _, a := range r.Attempts {
		all = append(all, a.Txs...)
	}
	return all
}

// foreign counts the stored records of others, at most max.
func (c *claimer) foreign(ctx context.Context, max int) (n int, err error) {
	for _, err := range c.config.Store.Find(ctx, storage.Query{Index: index + "/whose", Value: c.whose(false)}) {
		if err != nil && !errors.Is(err, storage.ErrCorrupt) {
			return n, err
		}
		if n++; n >= max {
			break
		}
	}
	return n, nil
}

// due returns records of a range that are to be looked at now, at most perLook, the longest waiting first.
func (c *claimer) due(ctx context.Context, in storage.Range) (all []*record, err error) {
	now := c.now().UnixMilli()
	for e, err := range c.config.Store.Find(ctx, storage.Query{Index: index, Value: c.id, Range: &in, Ahead: perLook}) {
		if err == nil {
			if rests := c.resting[e.ID]; rests.entry == e.Version && rests.until > now && rests.until-now <= longestRest.Milliseconds() {
				continue
			}
			delete(c.resting, e.ID)
			var r *record
			if r, err = read(e); err == nil {
				all = append(all, r)
			}
		}
		if err != nil && !errors.Is(err, storage.ErrCorrupt) {
			return nil, err
		}
		if err != nil {
			c.log.Error("a record cannot be read", "record", storage.Label(e.ID), "err", err)
		}
		if len(all) == perLook {
			break
		}
	}
	return slices.Clip(all), nil
}
