package storagetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/swapper-go/swapper/internal/bounds"
	"github.com/swapper-go/swapper/storage"
)

// RunLeases runs the suite of [storage.Leaser]. open must return one without leases on
// each call, and release its resources with t.Cleanup.
func RunLeases(t *testing.T, open func(t *testing.T) storage.Leaser) {
	for _, test := range []struct {
		name string
		run  func(*leaseSuite)
	}{
		{"TwoOwners", (*leaseSuite).twoOwners},
		{"Names", (*leaseSuite).names},
		{"Prefixes", (*leaseSuite).prefixes},
		{"End", (*leaseSuite).end},
		{"Renewal", (*leaseSuite).renewal},
		{"Limits", (*leaseSuite).limits},
		{"EndedContext", (*leaseSuite).endedContext},
		{"Concurrent", (*leaseSuite).concurrent},
		{"ConcurrentTurns", (*leaseSuite).turns},
	} {
		t.Run(test.name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
			defer cancel()
			test.run(&leaseSuite{T: t, ctx: ctx, leaser: open(t)})
		})
	}
}

type leaseSuite struct {
	*testing.T
	ctx    context.Context
	leaser storage.Leaser
}

// long outlasts a test, short does not.
const (
	long  = time.Hour
	short = 300 * time.Millisecond
)

// takes demands that owner, who asks for all names, holds these.
func (s *leaseSuite) takes(owner string, ttl time.Duration, names []string, want ...string) {
	s.Helper()
	held, err := s.leaser.Lease(s.ctx, owner, ttl, names...)
	if err != nil {
		s.Fatal(err)
	}
	slices.Sort(held)
	slices.Sort(want)
	if diff := same(want, held); diff != "" {
		s.Errorf("%q holds (-want +got):\n%s", owner, diff)
	}
}

func (s *leaseSuite) releases(owner string, names ...string) {
	s.Helper()
	if err := s.leaser.Release(s.ctx, owner, names...); err != nil {
		s.Fatal(err)
	}
}

// lists demands these leases.
func (s *leaseSuite) lists(prefix string, want map[string]string) {
	s.Helper()
	got, err := s.leaser.Leases(s.ctx, prefix)
	if err != nil {
		s.Fatal(err)
	}
	if diff := same(want, got); diff != "" {
		s.Errorf("leases with prefix %q (-want +got):\n%s", prefix, diff)
	}
}

func (s *leaseSuite) twoOwners() {
	s.lists("", nil)
	s.takes("a", long, nil)
	s.releases("a")
	s.releases("a", "x") // it is free
	s.takes("a", long, []string{"x", "y"}, "x", "y")
	s.takes("b", long, []string{"y", "z", "x", "z"}, "z")
	s.takes("a", long, []string{"x", "z"}, "x")
	s.lists("", map[string]string{"x": "a", "y": "a", "z": "b"})
	s.releases("b", "x", "z", "z")
	s.lists("", map[string]string{"x": "a", "y": "a"})
	s.releases("a", "x", "z")
	s.takes("b", long, []string{"x", "y", "z"}, "x", "z")
	s.lists("", map[string]string{"x": "b", "y": "a", "z": "b"})
}

// names are arbitrary bytes.
func (s *leaseSuite) names() {
	names := []string{"\x00", "\x00\x00", "a", "a\x00", "A", "\xff", "\xff\xff", "%", "_", "\\", "'", strings.Repeat("n", bounds.MaxName), strings.Repeat("\xff", bounds.MaxName)}
	owners := []string{"o\x00", "o", strings.Repeat("\xff", bounds.MaxName)}
	want := map[string]string{}
	for i, name := range names {
		s.takes(owners[i%len(owners)], long, []string{name}, name)
		want[name] = owners[i%len(owners)]
	}
	s.lists("", want)
	for i, name := range names {
		s.takes(owners[(i+1)%len(owners)], long, []string{name})
		s.lists(name, within(want, name))
	}
	for i := range owners {
		s.releases(owners[i], names...)
	}
	s.lists("", nil)
	many := make([]string, bounds.MaxLeases)
	for i := range many {
		many[i] = fmt.Sprint("shard ", i)
	}
	s.takes("a", long, many, many...)
	s.takes("a", long, many, many...)
	s.takes("b", long, many)
}

// within returns what begins with a prefix.
func within(all map[string]string, prefix string) map[string]string {
	some := map[string]string{}
	for name, owner := range all {
		if strings.HasPrefix(name, prefix) {
			some[name] = owner
		}
	}
	return some
}

func (s *leaseSuite) prefixes() {
	s.takes("a", long, []string{"member/1", "member/2", "members", "swaps/00", "m"}, "member/1", "member/2", "members", "swaps/00", "m")
	s.lists("member/", map[string]string{"member/1": "a", "member/2": "a"})
	s.lists("member/1", map[string]string{"member/1": "a"})
	s.lists("m%", nil)
	s.lists("_", nil)
	s.lists("Member", nil)
	s.lists(strings.Repeat("m", bounds.MaxName+1), nil)
}

// end has leases end by time: then anybody takes them, and each has its own end.
func (s *leaseSuite) end() {
	s.takes("a", long, []string{"stays"}, "stays")
	begun := time.Now()
	s.takes("a", short, []string{"x", "y", "z"}, "x", "y", "z")
	both := []string{"stays", "x", "y"}
	for tries := 0; ; tries++ {
		asked := time.Now()
		held, err := s.leaser.Lease(s.ctx, "b", long, both...)
		if err != nil {
			s.Fatal(err)
		}
		slices.Sort(held)
		switch {
		case len(held) == 0:
			if asked.Sub(begun) > short+30*time.Second {
				s.Fatal("leases do not end")
			}
			time.Sleep(20 * time.Millisecond)
			continue
		case time.Since(begun) < short:
			s.Error("leases ended before their time")
		}
		if diff := same([]string{"x", "y"}, held); diff != "" {
			s.Errorf("taken over (-want +got):\n%s", diff)
		}
		break
	}
	s.takes("a", long, both, "stays")
	s.releases("a", both...)

	for ; ; time.Sleep(20 * time.Millisecond) {
		live, err := s.leaser.Leases(s.ctx, "z")
		if err != nil {
			s.Fatal(err)
		}
		if len(live) == 0 {
			break
		} else if time.Since(begun) > short+30*time.Second {
			s.Fatal("a lease that has ended is listed")
		}
	}
	s.lists("", map[string]string{"x": "b", "y": "b"})
	s.takes("b", long, []string{"z"}, "z")
	s.releases("a", "z")
	s.lists("z", map[string]string{"z": "b"})
}

// renewal: a lease is as long as the latest call says, which may be shorter.
func (s *leaseSuite) renewal() {
	s.takes("a", short, []string{"x", "y"}, "x", "y")
	s.takes("a", long, []string{"x", "z"}, "x", "z")
	s.takes("a", short, []string{"z"}, "z")
	time.Sleep(2 * short)
	s.lists("z", nil)
	s.takes("b", long, []string{"x", "y", "z"}, "y", "z")
}

func (s *leaseSuite) limits() {
	lease := func(owner string, ttl time.Duration, names ...string) error {
		_, err := s.leaser.Lease(s.ctx, owner, ttl, names...)
		return err
	}
	long256 := strings.Repeat("n", bounds.MaxName+1)
	for what, err := range map[string]error{
		"no owner":               lease("", long, "x"),
		"a long owner":           lease(long256, long, "x"),
		"an empty name":          lease("a", long, "x", ""),
		"a long name":            lease("a", long, "x", long256),
		"no time":                lease("a", 0, "x"),
		"less than none":         lease("a", -time.Second, "x"),
		"too short":              lease("a", time.Millisecond-1, "x"),
		"too many":               lease("a", long, make([]string, bounds.MaxLeases+1)...),
		"release: no owner":      s.leaser.Release(s.ctx, "", "x"),
		"release: an empty name": s.leaser.Release(s.ctx, "a", ""),
	} {
		if !errors.Is(err, storage.ErrInvalid) {
			s.Errorf("%s: got %v, want ErrInvalid", what, err)
		}
	}
	s.lists("", nil)
}

func (s *leaseSuite) endedContext() {
	s.takes("a", long, []string{"x"}, "x")
	ctx, cancel := context.WithCancel(s.ctx)
	cancel()
	_, leaseErr := s.leaser.Lease(ctx, "a", long, "y")
	_, listErr := s.leaser.Leases(ctx, "")
	for what, err := range map[string]error{"Lease": leaseErr, "Release": s.leaser.Release(ctx, "a", "x"), "Leases": listErr} {
		if !errors.Is(err, context.Canceled) {
			s.Errorf("%s: got %v, want context.Canceled", what, err)
		}
	}
	s.lists("", map[string]string{"x": "a"})
}

// concurrent lets many want the same names in different orders: each has one owner, and
// all say so.
func (s *leaseSuite) concurrent() {
	var names []string
	for i := range 64 {
		names = append(names, strconv.Itoa(i))
	}
	for range 5 {
		var mu sync.Mutex
		owners := map[string]string{}
		var all errgroup.Group
		for i := range writers {
			all.Go(func() error {
				owner := fmt.Sprint("owner ", i)
				mine := slices.Clone(names)
				if i%2 == 1 {
					slices.Reverse(mine)
				}
				held, err := s.leaser.Lease(s.ctx, owner, long, mine[i%4*8:]...)
				mu.Lock()
				defer mu.Unlock()
				for _, name := range held {
					if other, taken := owners[name]; taken {
						return fmt.Errorf("%q is held by %q and by %q", name, other, owner)
					}
					owners[name] = owner
				}
				return err
			})
		}
		if err := all.Wait(); err != nil {
			s.Fatal(err)
		}
		if len(owners) != len(names) {
			s.Errorf("%d of %d names are taken", len(owners), len(names))
		}
		s.lists("", owners)
		for i := range writers {
			all.Go(func() error { return s.leaser.Release(s.ctx, fmt.Sprint("owner ", i), names...) })
		}
		if err := all.Wait(); err != nil {
			s.Fatal(err)
		}
		s.lists("", nil)
	}
}

// turns has owners take and release the same name over and over: never do two have it.
func (s *leaseSuite) turns() {
	var mu sync.Mutex
	holder, turns := "", 0
	var all errgroup.Group
	for i := range writers {
		all.Go(func() error {
			owner := fmt.Sprint("owner ", i)
			for n := 0; n < 10; {
				held, err := s.leaser.Lease(s.ctx, owner, long, "x")
				if err != nil {
					return err
				}
				if len(held) == 0 {
					continue
				}
				mu.Lock()
				other := holder
				holder = owner
				mu.Unlock()
				if other != "" {
					return fmt.Errorf("%q and %q have it at once", other, owner)
				}
				n++
				mu.Lock()
				holder, turns = "", turns+1
				mu.Unlock()
				if err := s.leaser.Release(s.ctx, owner, "x"); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err := all.Wait(); err != nil {
		s.Fatal(err)
	}
	if turns != writers*10 {
		s.Errorf("%d turns, want %d", turns, writers*10)
	}
}
