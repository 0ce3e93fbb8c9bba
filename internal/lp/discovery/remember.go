package discovery

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/swapper-go/swapper/internal/lp"
	"github.com/swapper-go/swapper/storage"
)

// Penalties are kept in a note, so that they outlast the process, and so that of several
// processes on one store all leave an LP alone that has lied to one of them. What a
// process has to add are lies, not penalties: they are counted upon whatever the
// note holds by then, so that none is lost and none counts twice.

const (
	noteName      = "penalties"
	mostBoxes     = 1024            // that are stored: those that last longest
	mostUntold    = 1024            // lies that wait for the store
	longestReason = 300             // that is stored, in bytes
	lookEvery     = 5 * time.Second // for what others have stored, and with what failed
	lastWord      = 2 * time.Second // that the store has for what is left at the end
)

// stored is what the penalties know of their note. penalties.mu guards it.
type stored struct {
	known   bool
	version uint64
	untold  []offence     // that the note does not have
	told    chan struct{} // there are some; nil: nothing is stored
}

func (s *stored) add(l offence) {
	if s.told == nil || len(s.untold) >= mostUntold {
		return
	}
	s.untold = append(s.untold, l)
	select {
	case s.told <- struct{}{}:
	default:
	}
}

// noted is the note's content.
type noted struct {
	Boxes   []notedBox     `json:"boxes"`
	Strikes map[string]int `json:"strikes"`
}

type notedBox struct {
	URL     string     `json:"url"`
	Service lp.Service `json:"service"`
	Chain   string     `json:"chain,omitempty"`
	Token   string     `json:"token,omitempty"`
	Strikes int        `json:"strikes"`
	Last    int64      `json:"last"`  // ms
	Until   int64      `json:"until"` // ms
	Reason  string     `json:"reason"`
}

// Recall reads the penalties that are stored, and stores what the note lacks. It must not
// be called twice at once.
func (d *Directory) Recall(ctx context.Context) error {
	if d.s.Notes == nil {
		return nil
	}
	p := &d.penalties
	var sent []byte // with which the version after at may have been made
	var at uint64
	count := 0 // of the lies in it
	for range 20 {
		data, version, err := d.s.Notes.Note(ctx, noteName)
		if err != nil {
			return fmt.Errorf("read the penalties of liquidity providers: %w", err)
		}
		if sent != nil && version == at+1 && bytes.Equal(data, sent) {
			p.noted(count, version)
		}
		if err := p.renew(data, version); err != nil {
			d.s.Log.Error("the stored penalties of liquidity providers are unreadable, and forgotten", "err", err)
		}
		at = version
		if sent, count, err = p.next(); err != nil || count == 0 {
			return err
		}
		switch err := d.s.Notes.SetNote(ctx, noteName, sent, version); {
		case err == nil:
			p.noted(count, version+1)
			sent = nil
		case errors.Is(err, storage.ErrConflict): // another process was first
			sent = nil
		case !errors.Is(err, storage.ErrUnknown):
			return fmt.Errorf("store the penalties of liquidity providers: %w", err)
		}
	}
	return errors.New("store the penalties of liquidity providers: others store theirs all the time; tried again shortly")
}

// Keep stores lies as they are told until ctx ends, and reads what other processes have
// stored every few seconds if the store is shared. What ctx interrupts is stored
// in the end.
func (d *Directory) Keep(ctx context.Context, shared bool) {
	if d.s.Notes == nil {
		return
	}
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	for failing := false; ; {
		select {
		case <-ctx.Done():
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastWord)
			defer cancel()
			if d.penalties.owes() {
				if err := d.Recall(ctx); err != nil {
					d.s.Log.Warn("the latest penalties of liquidity providers are lost", "err", err)
				}
			}
			return
		case <-d.penalties.stored.told:
		case <-look.C:
			if !shared && !d.penalties.owes() {
				continue
			}
		}
		err := d.Recall(ctx)
		if err != nil && ctx.Err() == nil && !failing {
			d.s.Log.Warn("penalties of liquidity providers hold in this process alone for now", "err", err)
		}
		failing = err != nil
	}
}

// owes reports whether the note was never read or lacks something.
func (p *penalties) owes() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return !p.stored.known || len(p.stored.untold) > 0
}

// noted says that the note has the first lies that were to be stored.
func (p *penalties) noted(count int, version uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stored.untold = slices.Delete(p.stored.untold, 0, count)
	p.stored.version = version
}

// renew replaces what is known by a newer note, and counts upon it what that lacks.
func (p *penalties) renew(data []byte, version uint64) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stored.known && version == p.stored.version {
		return nil
	}
	var n noted
	var err error
	if len(data) > 0 {
		err = json.Unmarshal(data, &n)
	}
	p.boxes, p.strikes = map[box]penalty{}, map[string]int{}
	if err == nil {
		for _, b := range n.Boxes {
			p.boxes[box{b.URL, lp.Pair{Service: b.Service, Chain: b.Chain, Token: b.Token}}] = penalty{b.Strikes, time.UnixMilli(b.Last), time.UnixMilli(b.Until), b.Reason}
		}
		for url, count := range n.Strikes {
			p.strikes[url] = count
		}
	}
	for _, l := range p.stored.untold {
		p.add(l)
	}
	p.stored.known, p.stored.version = true, version
	return err
}

// next returns what the note is to hold, and how many lies that it lacks are in it.
func (p *penalties) next() (data []byte, count int, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.stored.untold) == 0 {
		return nil, 0, nil
	}
	n := noted{Strikes: p.strikes}
	for b, x := range p.boxes {
		reason := x.reason
		if len(reason) > longestReason {
			reason = strings.ToValidUTF8(reason[:longestReason], "") + "..."
		}
		n.Boxes = append(n.Boxes, notedBox{b.url, b.pair.Service, b.pair.Chain, b.pair.Token, x.strikes, x.last.UnixMilli(), x.until.UnixMilli(), reason})
	}
	slices.SortFunc(n.Boxes, func(a, b notedBox) int {
		return cmp.Or(cmp.Compare(b.Until, a.Until), strings.Compare(a.URL, b.URL), cmp.Compare(a.Service, b.Service), strings.Compare(a.Chain, b.Chain), strings.Compare(a.Token, b.Token))
	})
	n.Boxes = n.Boxes[:min(len(n.Boxes), mostBoxes)]
	data, err = json.Marshal(n)
	return data, len(p.stored.untold), err
}
