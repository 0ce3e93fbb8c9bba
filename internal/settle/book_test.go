package settle

import (
	"testing"
	"time"

	"github.com/swapper-go/swapper/fault"
)

const me = "me"

var bookBegan = time.Unix(1000, 0)

// What was sent lately is counted though the node has not heard of it.
func TestNext(t *testing.T) {
	b, now := newNonceBook(), bookBegan
	next := func(what string, pending, want uint64) {
		t.Helper()
		if got := b.Next(me, pending, now); got != want {
			t.Errorf("%s: %d, want %d", what, got, want)
		}
	}
	next("nothing was sent", 4, 4)
	b.Sent(me, 6, nil, now)
	next("one was sent", 4, 7)
	next("the node is ahead", 9, 9)
	b.Sent(me, 5, nil, now)
	next("an older one was sent again", 4, 7)
	now = now.Add(SendTimeout)
	next("it was dropped", 4, 4)
	b.Sent(me, 4, nil, now)
	next("an older one after that", 4, 5)
	if got := b.Next("other", 4, now); got != 4 {
		t.Errorf("of another account: %d", got)
	}
}

// A swap that asks again gets the nonce that it had, while that can be used and is not
// used for something else.
func TestFirst(t *testing.T) {
	b, now := newNonceBook(), bookBegan
	one, two := []Deed{{1}, {2}}, []Deed{{3}}
	ask := func(what, swap string, deeds []Deed, lowest, pending, want uint64) {
		t.Helper()
		got := b.First(me, swap, deeds, lowest, pending, now)
		if got != want {
			t.Errorf("%s: %d, want %d", what, got, want)
		}
		b.Give(me, swap, deeds, got)
	}
	ask("at first", "a", one, 5, 5, 5)
	ask("the same again while it waits", "a", one, 5, 7, 5)
	ask("another swap", "b", two, 5, 7, 7)
	ask("without a swap", "", one, 5, 7, 7)
	ask("once it is used", "a", one, 6, 7, 7)
	b.Sent(me, 8, &two[0], now)
	ask("one of its numbers was sent for something else", "a", one, 5, 9, 9)
	ask("that was sent by itself", "c", two, 5, 9, 9)
	b.Sent(me, 9, &two[0], now)
	ask("its own was sent", "c", two, 5, 10, 9)
	ask("nothing", "a", nil, 5, 10, 10)
}

// A transaction that comes before missing ones is refused for good after a while only.
func TestGap(t *testing.T) {
	b, now := newNonceBook(), bookBegan
	if b.Follows(me, 5, now) {
		t.Error("nothing is known")
	}
	b.Sent(me, 4, nil, now)
	if !b.Follows(me, 5, now) || b.Follows(me, 6, now) {
		t.Error("what follows the last one that was sent")
	}
	b.Reached(me, 9)
	if !b.Follows(me, 9, now) {
		t.Error("what was handed out")
	}
	b.Sent(me, 20, &Deed{1}, now.Add(-SendTimeout))
	if !b.Follows(me, 20, now) {
		t.Error("what was sent before")
	}
	for wait, want := range map[time.Duration]fault.Code{0: fault.Upstream, SendTimeout - 1: fault.Upstream, SendTimeout: fault.InvalidState} {
		b := newNonceBook()
		_ = b.Gap("x", 7, 5, now)
		if err := b.Gap("x", 7, 5, now.Add(wait)); fault.CodeOf(err) != want {
			t.Errorf("after %v: %v", wait, err)
		}
		if err := b.Gap("y", 7, 5, now.Add(wait)); fault.CodeOf(err) != fault.Upstream {
			t.Errorf("another one: %v", err)
		}
	}
}
