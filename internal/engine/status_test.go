package engine

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/swap"
	"github.com/swapper-go/swapper/storage"
)

// failingBuilder fails to build with an error, if there is one.
type failingBuilder struct {
	Checker
	err error
}

func (b failingBuilder) BuildAction(context.Context, *swap.Record, swap.Action, swap.Caller) (swap.BuiltAction, error) {
	return swap.BuiltAction{}, b.err
}

func anybody(*swap.Record) (swap.Caller, error) { return swap.Caller{}, nil }

// A preimage is stored if it is that of the swap, and may be given again; another one,
// and one of a caller who is refused, changes nothing.
func TestStatusTakesThePreimageOfTheSwap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		preimage, other := chains.Preimage{1}, chains.Preimage{2}
		hash := sha256.Sum256(preimage[:])
		_, g := engineOn(t, done)
		quoted(t, g, swap.FromBTCLNAuto, "a", hex.EncodeToString(hash[:]))
		stored := func() chains.Preimage {
			t.Helper()
			r := load(t, g, "a")
			return r.Lightning.Preimage
		}
		ask := func(id string, p *chains.Preimage, who func(*swap.Record) (swap.Caller, error)) error {
			_, err := g.Status(t.Context(), failingBuilder{}, StatusRequest{ID: id, Preimage: p, Caller: who})
			return err
		}
		e, ok := errors.AsType[*fault.Error](ask("a", &other, anybody))
		if !ok || e.Code != fault.InvalidInput || e.Field != "secret" || !stored().IsZero() {
			t.Errorf("another preimage: %v, stored %x", e, stored())
		}
		if err := ask("a", &preimage, func(*swap.Record) (swap.Caller, error) { return swap.Caller{}, errGone }); !errors.Is(err, errGone) || !stored().IsZero() {
			t.Errorf("a caller who is refused: %v, stored %x", err, stored())
		}
		if err := ask("none", &preimage, anybody); fault.CodeOf(err) != fault.NotFound {
			t.Errorf("of no swap: %v", err)
		}
		for range 2 {
			if err := ask("a", &preimage, anybody); err != nil || stored() != preimage {
				t.Errorf("its own: %v, stored %x", err, stored())
			}
		}
		bare := newToy("bare")
		if err := g.reveal(t.Context(), bare, preimage); fault.CodeOf(err) != fault.InvalidInput {
			t.Errorf("of a swap without a payment hash: %v", err)
		}
	})
}

// What the caller can mend is an error; other failures to build an action are told
// beside the state, and what is internal is not told at all.
func TestStatusWhoseActionCannotBeBuilt(t *testing.T) {
	for name, c := range map[string]struct {
		err     error
		refused bool
		problem fault.Code
	}{
		"built":               {nil, false, ""},
		"the wallet":          {fault.Invalid("bitcoinAddress", "is no address"), true, ""},
		"the fee rate":        {fault.Invalid("bitcoinFeeRate", "is too low"), true, ""},
		"another member":      {fault.Invalid("amount", "is too small"), false, fault.InvalidInput},
		"a node":              {fault.New(fault.Upstream, "does not answer"), false, fault.Upstream},
		"something of itself": {errors.New("secret internals"), false, fault.Internal},
	} {
		inBubble(t, name, func(t *testing.T) {
			l, g := engineOn(t, done)
			refundable(t, l, g)
			s, err := g.Status(t.Context(), failingBuilder{err: c.err}, StatusRequest{ID: "a", Caller: anybody})
			waits := false
			if s != nil {
				_, waits = s.Built.Action.(*swap.Wait)
			}
			switch {
			case c.refused:
				if !errors.Is(err, c.err) || s != nil {
					t.Errorf("%+v, %v", s, err)
				}
			case err != nil || fault.CodeOf(s.Problem) != c.problem || s.Record.ID != "a":
				t.Errorf("%+v, %v", s, err)
			case c.problem == fault.Internal && errors.Is(s.Problem, c.err):
				t.Errorf("tells %v", s.Problem)
			case waits != (c.err != nil): // not nothing: the refund is left
				t.Errorf("to do: %+v", s.Built)
			}
		})
	}
}

// A status whose pass takes too long shows what the store has; one whose caller has
// left, or whose store fails, is an error.
func TestStatusOfASilentWorld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &failing{Store: new(storage.Memory)}
		g := toyEngine(t, s, &toyReader{delay: 20 * time.Second}, &toyExecutor{}, lamp())
		create(t, g, "a")
		began := time.Now()
		res, err := g.latest(t.Context(), "a")
		if err != nil || res.Record.ID != "a" || res.Observation.Escrow.Asked || time.Since(began) != patience || res.At.IsZero() {
			t.Errorf("%+v, %v after %s", res, err, time.Since(began))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if res, err := g.latest(ctx, "a"); err == nil {
			t.Errorf("a caller who left: %+v", res)
		}
		s.get = func(string) error { return errDisk }
		if res, err := g.latest(t.Context(), "a"); !errors.Is(err, errDisk) {
			t.Errorf("%+v, %v", res, err)
		}
		if res, err := g.latest(t.Context(), "none"); err == nil {
			t.Errorf("of no swap: %+v", res)
		}
		s.get = nil
		time.Sleep(time.Minute)
		if res, err := g.latest(t.Context(), "a"); err != nil || res.Record.ID != "a" {
			t.Errorf("later: %+v, %v", res, err)
		}
	})
}

// Who asks again within the moment that a pass serves does not make the store read; what
// was written beside the pass, and a preimage, does.
func TestStatusAskedAgainReadsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		preimage := chains.Preimage{1}
		hash := sha256.Sum256(preimage[:])
		_, g := engineOn(t, done)
		quoted(t, g, swap.FromBTCLNAuto, "a", hex.EncodeToString(hash[:]))
		reads := 0
		g.Store = &failing{Store: g.Store, get: func(string) error { reads++; return nil }}
		ask := func(id string, p *chains.Preimage) error {
			t.Helper()
			reads = 0
			s, err := g.Status(t.Context(), failingBuilder{}, StatusRequest{ID: id, Preimage: p, Caller: anybody})
			if err == nil && s.Record.ID != id {
				t.Errorf("the status of %s", s.Record.ID)
			}
			return err
		}
		if err := ask("a", nil); err != nil || reads == 0 {
			t.Errorf("the first time: %v, %d reads", err, reads)
		}
		time.Sleep(snapshotLife - time.Millisecond)
		if err := ask("a", nil); err != nil || reads != 0 {
			t.Errorf("again: %v, %d reads", err, reads)
		}
		if err := ask("b", nil); fault.CodeOf(err) != fault.NotFound {
			t.Errorf("another swap: %v", err)
		}
		g.forget("a")
		if err := ask("a", nil); err != nil || reads == 0 {
			t.Errorf("after a write beside the pass: %v, %d reads", err, reads)
		}
		if err := ask("a", &preimage); err != nil || reads == 0 {
			t.Errorf("with a preimage: %v, %d reads", err, reads)
		}
		if err := ask("a", nil); err != nil || reads != 0 {
			t.Errorf("after the preimage: %v, %d reads", err, reads)
		}
		if s, err := g.Status(t.Context(), failingBuilder{}, StatusRequest{ID: "a", Caller: anybody}); err != nil || s.Record.Lightning.Preimage != preimage {
			t.Errorf("after the preimage: %+v, %v", s, err)
		}
		time.Sleep(snapshotLife)
		if err := ask("a", nil); err != nil || reads == 0 {
			t.Errorf("a moment later: %v, %d reads", err, reads)
		}
	})
}
