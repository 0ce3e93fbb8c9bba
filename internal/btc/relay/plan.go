package relay

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/swapper-go/swapper/chains/bitcoin"
)

// makePlan cuts headers into the transactions that store them in a relay
// (protocol: bitcoin.md §16).
//
// tip is the relay's best header, known the highest one of its main chain that
// Bitcoin's best chain shares. headers is Bitcoin's best chain above known,
// ascending. If known is the tip the relay is merely behind. Otherwise it sits
// on a stale branch, and the headers become a fork until their work exceeds the
// tip's; which branch wins is a matter of work, not of height, as blocks of
// minimum difficulty on testnets show.
//
// The plan ends with the header of height until, or of what a fork needs to
// win; 0 means all headers. It is an error if the headers do not follow from
// known by the rules of network n ([bitcoin.CheckHeaders]), if they end below until, or
// if they hold less work than the relay's tip: then the backend is behind the
// relay.
func makePlan(n bitcoin.Network, tip, known Header, headers []bitcoin.Header, rules Rules, until uint32) (plan, error) {
	if rules.Main < 1 || rules.Fork < 1 || rules.ShortFork < 0 || rules.Work == nil {
		return plan{}, errors.New("the relay's rules have no limits or no measure of work")
	}
	if tip.Work == nil || known.Work == nil {
		return plan{}, errors.New("the relay's chain work is unknown")
	}
	if known.Header != tip.Header && !rules.beats(tip, known) {
		return plan{}, errors.New("the relay's tip does not have more work than a header below it")
	}
	if err := bitcoin.CheckHeaders(n, known.Header, headers); err != nil {
		return plan{}, fmt.Errorf("get headers for the relay: %w", err)
	}
	if top := known.Header.Height + uint32(len(headers)); until > top {
		return plan{}, fmt.Errorf("headers end at height %d, but are needed up to %d", top, until)
	}
	until = cmp.Or(until, known.Header.Height+uint32(len(headers)))
	p := planner{rules: rules, plan: plan{Base: known, Top: known}, rest: headers}
	if known.Header != tip.Header {
		if err := p.fork(tip); err != nil {
			return plan{}, err
		}
	}
	for len(p.rest) > 0 && p.plan.Top.Header.Height < until {
		p.add(SaveMain, int(min(int64(rules.Main), int64(until-p.plan.Top.Header.Height))))
	}
	return p.plan, nil
}

type planner struct {
	rules Rules
	plan  plan
	rest  []bitcoin.Header // not planned yet
}

// add makes a batch of at most limit headers.
func (p *planner) add(op Op, limit int) {
	n := min(limit, len(p.rest))
	b := Batch{Op: op, Base: p.plan.Top, Headers: p.rest[:n:n]}
	p.plan.Batches = append(p.plan.Batches, b)
	p.plan.Top = b.top(p.rules)
	p.rest = p.rest[n:]
}

// fork adds batches until they outweigh the relay's tip.
func (p *planner) fork(tip Header) error {
	if short := p.shortFork(tip); short > 0 {
		p.add(SaveShortFork, short)
		p.plan.Batches[0].Wins = true
		return nil
	}
	for op := SaveNewFork; !p.rules.beats(p.plan.Top, tip); op = SaveFork {
		if len(p.rest) == 0 {
			return errors.New("the Bitcoin backend has less chain work than the relay: it is behind, or the relay is on another network")
		}
		p.add(op, p.rules.Fork)
	}
	if last := len(p.plan.Batches) - 1; last >= 0 {
		p.plan.Batches[last].Wins = true
	}
	return nil
}

// shortFork returns how many headers a short fork takes, 0 if it could not win.
func (p *planner) shortFork(tip Header) int {
	n := min(p.rules.ShortFork, len(p.rest))
	top := Batch{Base: p.plan.Top, Headers: p.rest[:n]}.top(p.rules)
	if n == 0 || !p.rules.beats(top, tip) {
		return 0
	}
	return n
}
