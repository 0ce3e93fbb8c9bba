package engine

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/flowtest"
	"github.com/swapper-go/swapper/internal/swap"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/storage"
)

// failing is a store that fails to read or to update a swap while get or update
// return an error.
type failing struct {
	storage.Store
	get, update func(id string) error
}

func (s *failing) Get(ctx context.Context, id string) (storage.Entry, error) {
	if s.get != nil {
		if err := s.get(id); err != nil {
			return storage.Entry{}, err
		}
	}
	return s.Store.Get(ctx, id)
}

func (s *failing) Update(ctx context.Context, e storage.Entry) error {
	if s.update != nil {
		if err := s.update(e.ID); err != nil {
			return err
		}
	}
	return s.Store.Update(ctx, e)
}

var errDisk = errors.New("the disk is gone")

// A swap in progress is stored whatever keys other swaps hold, each of them; a new
// one is refused for them.
func TestRestoredSwapIsStoredBesideTheHolderOfItsKeys(t *testing.T) {
	_, g := engineOn(t, done)
	holder := quoted(t, g, swap.FromBTCLNAuto, "a", "11")
	holder.Request = "order"
	write(t, g, holder, holder.Clone())
	second := holder.Clone()
	second.ID, second.Version = "b", 0
	if err := g.Create(t.Context(), second.Clone()); fault.CodeOf(err) != fault.InvalidState {
		t.Errorf("a new swap: %v", err)
	}
	if _, err := g.Load(t.Context(), "b"); fault.CodeOf(err) != fault.NotFound {
		t.Errorf("the refused swap is stored: %v", err)
	}
	if err := g.Restore(t.Context(), second); err != nil {
		t.Fatalf("a swap in progress: %v", err)
	}
	if slices.Sort(second.Shared); !slices.Equal(second.Shared, []string{swap.ByHash, swap.ByRequest}) {
		t.Errorf("shares %v", second.Shared)
	}
	for index, value := range map[string]string{swap.ByHash: "11", swap.ByRequest: "order"} {
		if ids := g.found(t, index, value); !slices.Equal(slices.Sorted(slices.Values(ids)), []string{"a", "b"}) {
			t.Errorf("%s finds %v", index, ids)
		}
	}
}

// A submission is refused for a key that it claims and another swap holds. It is
// taken if the swap held that key before, which is the same value of the same index.
func TestWhichKeyRefusesASubmission(t *testing.T) {
	vault := func(tx byte) *swap.Record {
		r := newToy("b")
		r.Type, r.Vault, r.Bitcoin = swap.SPVFromBTC, &swap.VaultPart{}, &swap.BitcoinPart{}
		if tx != 0 {
			r.Bitcoin.TxID = bitcoin.Hash{tx}
		}
		return r
	}
	invoice := func() *swap.Record {
		r := newToy("b")
		r.Type, r.Escrow, r.Lightning = swap.ToBTCLN, &swap.EscrowPart{}, &swap.LightningPart{Hash: "11"}
		return r
	}
	paying := func(r *swap.Record) { r.Submission = &swap.Submission{} }
	for name, c := range map[string]struct {
		holder, before *swap.Record
		change         func(next *swap.Record)
		taken          bool
	}{
		"claims the key":                      {func() *swap.Record { r := invoice(); paying(r); return r }(), invoice(), paying, false},
		"held it before":                      {func() *swap.Record { r := invoice(); paying(r); return r }(), func() *swap.Record { r := invoice(); paying(r); return r }(), paying, true},
		"held its value in another index":     {func() *swap.Record { r := invoice(); paying(r); return r }(), func() *swap.Record { r := invoice(); r.Request = "11"; return r }(), paying, false},
		"held another value of its index":     {vault(2), vault(1), func(next *swap.Record) { next.Bitcoin.TxID = bitcoin.Hash{2} }, false},
		"held none":                           {vault(2), vault(0), func(next *swap.Record) { next.Bitcoin.TxID = bitcoin.Hash{2} }, false},
		"held the same value of its index":    {vault(2), vault(2), func(next *swap.Record) { next.Problem = "again" }, true},
		"claims a key that nobody else holds": {vault(2), vault(1), func(next *swap.Record) { next.Bitcoin.TxID = bitcoin.Hash{3} }, true},
	} {
		t.Run(name, func(t *testing.T) {
			g := newEngine(t, Config{Flows: []*swap.Flow{flowtest.Flow(swap.ToBTCLN), flowtest.Flow(swap.SPVFromBTC)}})
			holder, r := c.holder, c.before
			holder.ID = "a"
			for _, r := range []*swap.Record{holder, r} {
				restore(t, g, r)
			}
			next := r.Clone()
			c.change(next)
			err := g.write(t.Context(), r, next, &swap.Move{On: swap.OnSubmit})
			if (err == nil) != c.taken || err != nil && fault.CodeOf(err) != fault.InvalidState {
				t.Errorf("%v, want it taken: %v", err, c.taken)
			}
			if stored, err := g.Load(t.Context(), "b"); err != nil || (stored.Version > r.Version) != c.taken {
				t.Errorf("version %d after %d, %v", stored.Version, r.Version, err)
			}
		})
	}
}

// A key that is shared because another swap holds it is claimed again with the next
// write, once that one has given it up.
func TestSharedKeyIsClaimedAgain(t *testing.T) {
	_, g := engineOn(t, done)
	a := quoted(t, g, swap.FromBTCLNAuto, "a", "11")
	b := a.Clone()
	b.ID, b.Version = "b", 0
	if err := g.Restore(t.Context(), b); err != nil || !slices.Equal(b.Shared, []string{swap.ByHash}) {
		t.Fatalf("shares %v, %v", b.Shared, err)
	}
	trial.Do(t, g.Store.Delete(t.Context(), "a", a.Version))
	next := b.Clone()
	if err := g.write(t.Context(), b, next, nil); err != nil || len(next.Shared) != 0 {
		t.Errorf("shares %v, %v", next.Shared, err)
	}
	a.Version = 0
	if err := g.Create(t.Context(), a); fault.CodeOf(err) != fault.InvalidState {
		t.Errorf("the key is anybody's: %v", err)
	}
}

// What is written is compared with the version it was made from, whatever version
// the new record names.
func TestWriteIsOverTheVersionItWasMadeFrom(t *testing.T) {
	g := toyEngine(t, new(storage.Memory), &toyReader{}, &toyExecutor{}, lamp())
	r := create(t, g, "a")
	next := r.Clone()
	next.Version, next.Problem = 99, "x"
	if err := g.write(t.Context(), r, next, nil); err != nil || next.Version != r.Version+1 {
		t.Errorf("version %d after %d, %v", next.Version, r.Version, err)
	}
	again := next.Clone()
	again.Problem = "y"
	if err := g.write(t.Context(), r, again, nil); !errors.Is(err, storage.ErrConflict) {
		t.Errorf("over a version that was written over: %v", err)
	}
}

// A record that cannot be encoded is not stored, and the error says so without its id.
func TestRecordThatCannotBeEncoded(t *testing.T) {
	const id = "0123456789abcdef0123456789abcdef"
	g := toyEngine(t, new(storage.Memory), &toyReader{}, &toyExecutor{}, lamp())
	broken := newToy(id)
	broken.Escrow = &swap.EscrowPart{Real: &chains.Escrow{Data: []byte("{")}}
	if err := g.Create(t.Context(), broken); err == nil || !strings.Contains(err.Error(), "encode swap") || strings.Contains(err.Error(), id) {
		t.Errorf("created: %v", err)
	}
	if _, err := g.Store.Get(t.Context(), id); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("stored: %v", err)
	}
	f := lamp()
	f.Fill = func(_ swap.Decision, next *swap.Record) { next.Escrow = broken.Escrow }
	g = toyEngine(t, new(storage.Memory), &toyReader{}, &toyExecutor{}, f)
	create(t, g, id)
	if _, err := g.Advance(t.Context(), id, nil); err == nil {
		t.Error("a pass that cannot store what it found says nothing")
	}
	if r, err := g.Load(t.Context(), id); err != nil || r.Version != 1 || r.Escrow != nil {
		t.Errorf("%+v, %v", r, err)
	}
}

// Errors of the store say what was done to which swap; a refusal is for the caller,
// and speaks for itself.
func TestErrorsOfTheStore(t *testing.T) {
	const id = "0123456789abcdef0123456789abcdef"
	s := &failing{Store: new(storage.Memory)}
	g := toyEngine(t, s, &toyReader{}, &toyExecutor{}, lamp())
	r := create(t, g, id)
	r.Request = "order"
	write(t, g, r, r.Clone())
	second := newToy("b")
	second.Request = "order"
	if err := g.Create(t.Context(), second); fault.CodeOf(err) != fault.InvalidState || strings.HasPrefix(err.Error(), "store swap") {
		t.Errorf("a refusal: %v", err)
	}
	says := func(what string, err error, want ...string) {
		t.Helper()
		if !errors.Is(err, errDisk) || strings.Contains(err.Error(), id) || fault.CodeOf(err) != fault.Internal {
			t.Errorf("%s: %v", what, err)
			return
		}
		for _, w := range want {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%s: %v, want %q in it", what, err, w)
			}
		}
	}
	s.update = func(string) error { return errDisk }
	says("an update", g.write(t.Context(), r, r.Clone(), nil), "write swap", storage.Label(id))
	s.get = func(string) error { return errDisk }
	_, err := g.Load(t.Context(), id)
	says("a read", err, "read swap", storage.Label(id))
	_, err = g.Advance(t.Context(), id, nil)
	says("a pass", err)
	s.get = func(string) error { return storage.ErrInvalid }
	if _, err := g.Load(t.Context(), "an id that no store takes"); fault.CodeOf(err) != fault.NotFound {
		t.Errorf("of what cannot be an id: %v", err)
	}
	s.get = nil
	for _, none := range []string{"", "nobody", strings.Repeat("x", 1<<16)} {
		if _, err := g.Load(t.Context(), none); fault.CodeOf(err) != fault.NotFound {
			t.Errorf("of %.20q: %v", none, err)
		}
	}
}

// A swap is in the list of pending ones while its state is one that waits for
// something and its quote, if nothing more happened, has not expired.
func TestWhatIsPending(t *testing.T) {
	f := lamp()
	f.States = append(f.States, swap.StateRow{Number: 5, Name: "QUIET", Watched: true}, swap.StateRow{Number: 6, Name: "DONE", Pending: true, Finished: true})
	f.Unpaid = func(r *swap.Record) bool { return r.Problem == "unpaid" }
	now := time.Unix(1_800_000_000, 0)
	for name, c := range map[string]struct {
		state  int
		expiry time.Duration
		unpaid bool
		want   bool
	}{
		"a quote":                  {0, time.Millisecond, true, true},
		"a quote at its expiry":    {0, 0, true, false},
		"an expired quote":         {0, -time.Hour, true, false},
		"paid, and expired":        {0, -time.Hour, false, true},
		"nothing to wait for":      {5, time.Hour, false, false},
		"nothing to wait for, new": {5, time.Hour, true, false},
		"finished":                 {6, time.Hour, false, false},
		"a state of no table":      {99, time.Hour, false, false},
	} {
		g := toyEngine(t, new(storage.Memory), &toyReader{}, &toyExecutor{}, f)
		g.Now = func() time.Time { return now }
		r := newToy("a")
		r.State, r.Expiry = c.state, swap.At(now.Add(c.expiry))
		if c.unpaid {
			r.Problem = "unpaid"
		}
		add(t, g, r)
		if got := len(g.found(t, swap.ByPending, swap.SignerValue("CITREA", "0x1"))) == 1; got != c.want {
			t.Errorf("%s: pending %v, want %v", name, got, c.want)
		}
		g.Close()
	}
}

// The LP of a swap that was recovered is found by its address, as soon as it is known.
func TestLPIsFoundByItsAddress(t *testing.T) {
	known := false
	g := newEngine(t, Config{Flows: []*swap.Flow{lamp()},
		LPAt: func(chain, address string) string {
			if known && chain == "CITREA" && address == "0x2" {
				return "https://lp"
			}
			return ""
		}})
	for id, lp := range map[string]swap.LP{"recovered": {Address: "0x2"}, "made": {URL: "https://other", Address: "0x2"}, "unknown": {Address: "0x3"}} {
		r := newToy(id)
		r.LP = lp
		restore(t, g, r)
	}
	for _, want := range []map[string]string{{"recovered": "", "made": "https://other", "unknown": ""}, {"recovered": "https://lp", "made": "https://other", "unknown": ""}} {
		for id, url := range want {
			if r, err := g.Load(t.Context(), id); err != nil || r.LP.URL != url {
				t.Errorf("%s: %+v, %v; want %q", id, r, err, url)
			}
		}
		known = true
	}
}
