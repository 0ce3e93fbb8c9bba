package discovery

import (
	"sync"
	"time"

	"github.com/swapper-go/swapper/internal/lp"
)

// Length of penalties. Each lie of an LP doubles the next one, until it has
// behaved for a day.
const (
	firstPenalty = time.Minute
	mostPenalty  = 6 * time.Hour
	forgiveness  = 24 * time.Hour
	mostStruck   = 1024 // LPs whose lies are counted
)

// Pair returns what the query is about.
func (q Query) Pair() lp.Pair { return lp.Pair{Service: q.Service, Chain: q.Chain, Token: q.Token} }

// penalties says which LPs are left alone for what, and until when. Unlike a
// removal from the list it ends by itself, and neither a reload nor a restart ends it
// (protocol: lp-protocol.md §9 no. 14).
type penalties struct {
	mu      sync.Mutex
	boxes   map[box]penalty
	strikes map[string]int // that are remembered, by URL
	stored  stored
}

type box struct {
	url  string
	pair lp.Pair
}

type penalty struct {
	strikes int
	last    time.Time // when the last lie was told
	until   time.Time
	reason  string
}

// offence is a lie that was told.
type offence struct {
	box    box
	reason string
	at     time.Time
}

// punish notes a lie and returns the end of the penalty.
func (p *penalties) punish(b box, reason string, now time.Time) time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	l := offence{b, reason, now}
	p.stored.add(l)
	return p.add(l)
}

// add counts a lie. p.mu is held.
func (p *penalties) add(l offence) time.Time {
	for b, x := range p.boxes { // entries expire
		if l.at.Sub(x.last) > forgiveness && l.at.After(x.until) {
			delete(p.boxes, b)
		}
	}
	x := p.boxes[l.box]
	length := mostPenalty
	if x.strikes < 9 { // 2^9 minutes are beyond the longest
		length = min(firstPenalty<<x.strikes, mostPenalty)
	}
	x.strikes++
	if p.strikes == nil || len(p.strikes) >= mostStruck && p.strikes[l.box.url] == 0 {
		p.strikes = map[string]int{} // a crowd of false names must not fill the memory
	}
	p.strikes[l.box.url]++
	x.last, x.until, x.reason = l.at, l.at.Add(length), l.reason
	if p.boxes == nil {
		p.boxes = map[box]penalty{}
	}
	p.boxes[l.box] = x
	return x.until
}

// struck returns how many lies of an LP are remembered.
func (p *penalties) struck(url string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.strikes[url]
}

// free reports whether an LP may be asked about a pair.
func (p *penalties) free(url string, pair lp.Pair, now time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return !now.Before(p.boxes[box{url, pair}].until) && !now.Before(p.boxes[box{url: url}].until)
}

// Penalty is an LP that is left alone for a while.
type Penalty struct {
	URL    string
	Pair   lp.Pair // zero: it is not asked at all
	Until  time.Time
	Reason string // its last lie
}

func (p *penalties) list(now time.Time) []Penalty {
	p.mu.Lock()
	defer p.mu.Unlock()
	var out []Penalty
	for b, x := range p.boxes {
		if now.Before(x.until) {
			out = append(out, Penalty{b.url, b.pair, x.until, x.reason})
		}
	}
	return out
}

// scope returns what an LP is left alone for after err: the pair, unless the lie
// shows that it means to steal, or is not who it says it is. Then it is believed
// about nothing.
func scope(e *lp.LPError, p lp.Pair) lp.Pair {
	switch e.Check {
	case lp.CheckEscrow, lp.CheckAuth, lp.CheckLPKey, lp.CheckPaymentHash, lp.CheckVaultOwner, lp.CheckSecret, lp.CheckPayout, lp.CheckCommitted, lp.CheckTooLate:
		return lp.Pair{}
	}
	return p
}
