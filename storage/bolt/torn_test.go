package bolt

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/storage"
)

// state is what a store holds, by id.
type state map[string]storage.Entry

// is reports whether an entry was read as it is in the state.
func (has state) is(id string, got storage.Entry, err error) bool {
	want, there := has[id]
	if !there {
		return errors.Is(err, storage.ErrNotFound)
	}
	return err == nil && got.Version == want.Version && bytes.Equal(got.Body, want.Body) && slices.Equal(got.Keys, want.Keys)
}

// holding opens a file and tells which of the states it holds, -1 if none of them. What
// is read is an entry of one of the states or of the past; what is missing, of all of
// them, is missed by Verify.
func holding(t *testing.T, path string, past []state, states ...state) (which int, opened bool) {
	t.Helper()
	s, err := Open(t.Context(), path, Options{})
	if err != nil {
		if !errors.Is(err, storage.ErrCorrupt) && !errors.Is(err, errForeign) {
			t.Errorf("got %v, want ErrCorrupt or errForeign", err)
		}
		return -1, false
	}
	defer s.Close()
	sound := s.Verify(t.Context())
	if sound != nil && !errors.Is(sound, storage.ErrCorrupt) {
		t.Errorf("verify: got %v, want ErrCorrupt", sound)
	}
	ids := map[string]bool{}
	for _, has := range slices.Concat(past, states) {
		for id := range has {
			ids[id] = true
		}
	}
	fits := make([]bool, len(states))
	for i := range fits {
		fits[i] = true
	}
	for id := range ids {
		got, err := s.Get(t.Context(), id)
		if err != nil && !errors.Is(err, storage.ErrNotFound) && !errors.Is(err, storage.ErrCorrupt) {
			t.Errorf("get: %v", err)
		}
		known := err != nil && sound != nil
		for _, has := range past {
			known = known || has.is(id, got, err)
		}
		for i, has := range states {
			same := has.is(id, got, err)
			known, fits[i] = known || same, fits[i] && same
		}
		if !known {
			t.Errorf("%s is at version %d, %v, as it was never stored", storage.Label(id), got.Version, err)
		}
	}
	return slices.Index(fits, true), true
}

// TestTornCommit cuts the power during commits, as an image of the disk: what is synced
// before the meta page may be there or not, sector by sector and in any order. Then the
// store is as before the commit, and as after it once its meta page is there. What is
// left by a disk that says that it has synced and has not is refused, or shows entries
// as they were at some time, or is found damaged.
func TestTornCommit(t *testing.T) {
	t.Parallel()
	const sector = 512
	path := filepath.Join(t.TempDir(), "swaps")
	torn := filepath.Join(t.TempDir(), "torn")
	s := openTest(t, path, Options{})
	r := rand.New(rand.NewPCG(5, 6))
	now := state{}
	var past []state
	write := func(n int) {
		for range n {
			e := kept(r.IntN(80))
			was, there := now[e.ID]
			e.Version = was.Version
			e.Body = fmt.Appendf(nil, "%s at %d %s", e.ID, e.Version+1, bytes.Repeat([]byte("."), r.IntN(3000)))
			var err error
			switch {
			case !there:
				err = s.Create(t.Context(), e)
			case r.IntN(5) == 0:
				err = s.Delete(t.Context(), e.ID, e.Version)
				delete(now, e.ID)
			default:
				err = s.Update(t.Context(), e)
			}
			if err != nil {
				t.Fatal(err)
			}
			if _, still := now[e.ID]; still || !there {
				e.Version++
				now[e.ID] = e
			}
		}
	}
	for range 60 {
		past = append(past, maps.Clone(now))
		write(1)
	}
	place := func(image []byte) string {
		trial.Do(t, os.WriteFile(torn, image, 0o600))
		return torn
	}
	refused, mixed, unharmed := 0, 0, 0
	for range 16 {
		before, was := contents(t, path), maps.Clone(now)
		past = append(past, was)
		write(1)
		after := contents(t, path)
		meta := int(s.metaBytes)
		grown := make([]byte, len(after))
		copy(grown, before)
		var changed []int // sectors behind the meta pages
		for at := meta; at < len(after); at += sector {
			if !bytes.Equal(grown[at:at+sector], after[at:at+sector]) {
				changed = append(changed, at)
			}
		}
		for range 8 {
			image := bytes.Clone(grown)
			if len(after) > len(before) && r.IntN(2) == 0 && len(changed) == 0 {
				image = image[:len(before)]
			}
			for _, at := range changed {
				if r.IntN(2) == 0 {
					copy(image[at:at+sector], after[at:at+sector])
				}
			}
			if which, opened := holding(t, place(image), nil, was); !opened || which != 0 {
				t.Fatal("a commit that was cut off has changed something")
			}
			// The disk kept its meta page, and lost some of what it should be written after.
			image = bytes.Clone(after)
			lost := changed[r.IntN(len(changed))]
			for _, at := range changed {
				if at == lost || r.IntN(16) == 0 {
					copy(image[at:at+sector], grown[at:at+sector])
				}
			}
			switch which, opened := holding(t, place(image), past, was, now); {
			case !opened:
				refused++
			case which < 0:
				mixed++
			default:
				unharmed++
			}
		}
		if which, opened := holding(t, place(after), nil, now); !opened || which != 0 {
			t.Fatal("a commit that was completed is not there")
		}
		if t.Failed() {
			return
		}
	}
	t.Logf("a disk that lies: %d images refused, %d opened with old entries or damage, %d unharmed", refused, mixed, unharmed)
	if refused+mixed == 0 {
		t.Error("no lie did any harm: the test has shown nothing")
	}
}
