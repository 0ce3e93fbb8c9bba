//go:build unix

package e2e

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/devnet/control"
	"github.com/swapper-go/swapper/storage/bolt"
)

// life is one swap of a user whose client dies once, at a point, and is started
// again on the same store. The user, who is not killed, goes on: repeats what was
// not answered, and does what the swap asks for.
type life struct {
	*stage
	*person
	dieIn int    // phase
	dieAt string // "": nowhere
	often bool   // each process dies, the n-th one at its n-th point

	store   string
	urls    []string // of LPs
	in      swapper.CreateSwapInput
	process *process
	deaths  int
	failed  bool
	passed  [][]string // points, by phase

	id       string
	quote    swapper.SwapQuote
	paid     bool     // what is paid once, whatever is asked
	unsent   []string // signed, and not acknowledged
	claims   bool     // was asked to settle
	settling int      // times that an LNURL-withdraw was asked for
	asked    bool     // for the swap, by one who never comes back
	revealed bool     // the secret is given with each look
}

// name says which life this is.
func (l *life) name() string {
	switch {
	case l.often:
		return "killed again and again"
	case l.dieAt == "":
		return "unharmed"
	}
	return fmt.Sprintf("killed in phase %d at %q", l.dieIn, l.dieAt)
}

// alive returns the process, which is started if there is none. The store of one
// that died is looked through first.
func (l *life) alive(ctx context.Context, phase int) (*process, error) {
	if l.process != nil {
		select {
		case <-l.process.ended:
		default:
			return l.process, nil
		}
		if !l.process.killed() {
			return nil, fmt.Errorf("the process ended by itself: %w\n%s", l.process.err, l.process.log.Bytes())
		}
		l.buried()
		if err := l.verify(ctx); err != nil {
			return nil, err
		}
	}
	o := l.mortal(l.store, l.urls)
	switch {
	case l.often:
		o.DieAfter = l.deaths + 1
	case phase == l.dieIn && l.deaths == 0:
		o.DieAt = l.dieAt
	}
	p, err := spawn(ctx, o)
	if err != nil {
		return nil, err
	}
	l.process = p
	if p.Service == nil { // killed before it was ready
		return l.alive(ctx, phase)
	}
	return p, nil
}

// verify has the store check itself while nobody uses it.
func (l *life) verify(ctx context.Context) error {
	s, err := bolt.Open(ctx, l.store, bolt.Options{LockTimeout: 20 * time.Second})
	if err != nil {
		return err
	}
	return errors.Join(s.Verify(ctx), s.Close())
}

// live brings the swap through a phase of its flow.
func (l *life) live(ctx context.Context, phase int) error {
	l.passed = append(l.passed, nil)
	last := phase == len(l.flow.phases)-1
	var end *swapper.GetSwapStatusOutput
	for done := false; !done; {
		p, err := l.alive(ctx, phase)
		if err != nil {
			return err
		}
		if end == nil {
			if end, err = l.step(ctx, p, phase); err != nil {
				end = nil
			}
			done = end != nil && (!last || l.flow.forgotten)
		} else {
			err = l.listed(ctx, p)
			done = err == nil
		}
		if err != nil && !(p.gone() && p.killed()) {
			return fmt.Errorf("%w; swap %s, points %v", err, l.id, p.points())
		}
	}
	if err := l.process.stop(); err != nil {
		return err
	}
	l.buried()
	if err := l.verify(ctx); err != nil || !last {
		return err
	}
	if l.flow.forgotten {
		return l.counted(ctx, 0, 0, 0)
	}
	if end.IsSuccess != (l.flow.end == "") || !end.IsSuccess && end.State.Name != l.flow.end {
		return fmt.Errorf("ended as %s", end.State.Name)
	}
	return l.flow.check(ctx, l, end)
}

// buried forgets a process that is gone, but for the points that it passed.
func (l *life) buried() {
	last := len(l.passed) - 1
	l.passed[last] = append(l.passed[last], l.process.points()...)
	if l.process.killed() {
		l.deaths++
	}
	l.process = nil
}

// listed makes sure that the swap is in the lists, alone, and that the request
// for it, made once more, leads to the same one.
func (l *life) listed(ctx context.Context, p *process) error {
	again, err := l.flow.create(ctx, l, p)
	if err != nil {
		return fmt.Errorf("createSwap, repeated: %w", err)
	}
	var list []swapper.ListSwapOutput
	if in := (swapper.ListSwapsInput{Signer: l.address()}); l.flow.gas {
		err = p.beside(ctx, gasListPath, in, &list)
	} else {
		list, err = p.ListSwaps(ctx, in)
	}
	if err != nil {
		return err
	}
	if again.SwapID != l.id || len(list) != 1 || list[0].SwapID != l.id {
		return fmt.Errorf("swap %s is repeated as %s and listed as %+v", l.id, again.SwapID, list)
	}
	return nil
}

// step does one thing for the swap. It returns the status once the phase is over.
func (l *life) step(ctx context.Context, p *process, phase int) (*swapper.GetSwapStatusOutput, error) {
	if l.flow.forgotten {
		return l.forget(ctx, p, phase)
	}
	if l.id == "" {
		s, err := l.flow.create(ctx, l, p)
		if err != nil {
			return nil, fmt.Errorf("createSwap: %w", err)
		}
		l.id, l.quote = s.SwapID, s.Quote
	}
	if l.unsent != nil {
		_, err := p.SubmitTransaction(ctx, swapper.SubmitTransactionInput{SwapID: l.id, SignedTxs: l.unsent})
		if fault.CodeOf(err) == fault.Timeout && ctx.Err() == nil {
			return nil, nil // not yet: handed in again with the next step
		}
		if err != nil && !((l.flow.raced || l.claims && !l.flow.noTower) && fault.CodeOf(err) == fault.InvalidState) {
			return nil, fmt.Errorf("submitTransaction: %w", err)
		}
		l.unsent = nil
	}
	l.Swaps = p
	s, err := l.Look(ctx, l.id)
	if err != nil {
		return nil, fmt.Errorf("getSwapStatus: %w", err)
	}
	if s.RequiresSecretReveal != nil && *s.RequiresSecretReveal {
		l.revealed = true
	}
	if l.flow.phases[phase](s) {
		return s, nil
	}
	if s.IsFinished {
		return nil, fmt.Errorf("ended early as %s", s.State.Name)
	}
	if a := s.CurrentAction; a != nil {
		if err := l.do(ctx, p, s); err != nil {
			return nil, err
		}
	}
	select {
	case <-ctx.Done():
		return nil, fmt.Errorf("%w in state %s", control.ErrUnfinished, s.State.Name)
	case <-time.After(150 * time.Millisecond):
	}
	return nil, nil
}

func (l *life) do(ctx context.Context, p *process, s *swapper.GetSwapStatusOutput) (err error) {
	switch a := s.CurrentAction.(type) {
	case *swapper.SendToAddress:
		if !l.flow.withdraw {
			if !l.paid {
				err = l.Do(ctx, l.id, a)
				l.paid = err == nil
			}
			break
		}
		l.settling++
		link := l.link
		if s.LNURL != nil && s.LNURL.Withdraw != "" { // the swap has it
			link = ""
		}
		if _, err = p.SettleWithLnurl(ctx, swapper.SettleWithLnurlInput{SwapID: l.id, LnurlWithdraw: link}); err != nil {
			err = fmt.Errorf("settleWithLnurl: %w", err)
		}
	case *swapper.SignSmartChainTransaction:
		l.unsent, err = l.Sign(a)
		l.claims = l.claims || a.Name == "Settle manually"
	case *swapper.SignPSBT:
		l.unsent, err = l.SignPSBT(a)
	}
	return err
}

// forget is the step of a user who asked for a swap and never came back, not even
// for the answer. What was stored of it expires, and is deleted in the end.
func (l *life) forget(ctx context.Context, p *process, phase int) (*swapper.GetSwapStatusOutput, error) {
	over := &swapper.GetSwapStatusOutput{}
	switch {
	case phase == 0 && !l.asked:
		l.asked = true
		_, err := l.flow.create(ctx, l, p)
		return over, err
	case phase == 0:
		return over, nil
	case phase == 1:
		list, err := p.ListSwaps(ctx, swapper.ListSwapsInput{Signer: l.address()})
		if err != nil || len(list) == 0 {
			return over, err
		}
	case l.count("create 1 after") == 0 || l.count("delete 1 after") > 0 || slices.Contains(p.points(), "delete 1 after"):
		return over, nil
	}
	select {
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case <-time.After(100 * time.Millisecond):
	}
	return nil, nil
}

// count returns how often what begins so was passed in the whole life.
func (l *life) count(what string) (n int) {
	for _, points := range l.passed {
		for _, p := range points {
			if strings.HasPrefix(p, what) {
				n++
			}
		}
	}
	return n
}
