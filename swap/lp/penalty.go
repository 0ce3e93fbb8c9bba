package lp

import (
	"sync"
	"time"
)

// Length of penalties. Each lie of an LP doubles the next one, until it has
// behaved for a day.
const (
	firstPenalty = time.Minute
	mostPenalty  = 6 * time.Hour
	forgiveness  = 24 * time.Hour
)

// penalties says which LPs are left alone, and until when. Unlike a removal
// from the list it ends by itself, and a reload does not end it (protocol:
// lp-protocol.md §9 no. 14).
type penalties struct {
	mu  sync.Mutex
	lps map[string]penalty
}

type penalty struct {
	strikes int
	last    time.Time // when the last lie was told
	until   time.Time
	reason  string
}

// punish notes a lie and returns the end of the penalty.
func (p *penalties) punish(url, reason string, now time.Time) time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	for url, x := range p.lps { // nobody is remembered for ever
		if now.Sub(x.last) > forgiveness && now.After(x.until) {
			delete(p.lps, url)
		}
	}
	x := p.lps[url]
	length := mostPenalty
	if x.strikes < 9 { // 2^9 minutes are beyond the longest
		length = min(firstPenalty<<x.strikes, mostPenalty)
	}
	x.strikes++
	x.last, x.until, x.reason = now, now.Add(length), reason
	if p.lps == nil {
		p.lps = map[string]penalty{}
	}
	p.lps[url] = x
	return x.until
}

// free reports whether an LP may be asked.
func (p *penalties) free(url string, now time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return !now.Before(p.lps[url].until)
}

// Penalty is an LP that is left alone for a while.
type Penalty struct {
	URL    string
	Until  time.Time
	Reason string // its last lie
}

func (p *penalties) list(now time.Time) []Penalty {
	p.mu.Lock()
	defer p.mu.Unlock()
	var out []Penalty
	for url, x := range p.lps {
		if now.Before(x.until) {
			out = append(out, Penalty{url, x.until, x.reason})
		}
	}
	return out
}
