package bolt

import (
	"bytes"
	"cmp"
	"math"
	"strings"
	"testing"

	"github.com/swapper-go/swapper/storage"
)

func FuzzKey(f *testing.F) {
	f.Add("signer", "CITREA/0x01", int64(1), "id", "signer", "CITREA/0x0", int64(-1), "1id")
	f.Add("a", "b", int64(0), "x", "ab", "", int64(math.MinInt64), "x")
	f.Add("a", "\x00", int64(math.MaxInt64), "\x00", "a\x00", "", int64(-1), "\xff")
	f.Fuzz(func(t *testing.T, index, value string, order int64, id, index2, value2 string, order2 int64, id2 string) {
		valid := func(index, value, id string) bool {
			return storage.Entry{ID: id, Keys: []storage.Key{{Index: index, Value: value}}}.Validate() == nil
		}
		if !valid(index, value, id) || !valid(index2, value2, id2) {
			return // Put refuses such an entry, so it never gets a key
		}
		at, at2 := storage.Position{Order: order, ID: id}, storage.Position{Order: order2, ID: id2}
		key, key2 := appendPlace(scope(index, value), at), appendPlace(scope(index2, value2), at2)

		gotIndex, gotValue, rest, ok := splitScope(key)
		gotAt, ok2 := parsePlace(rest)
		if !ok || !ok2 || gotIndex != index || gotValue != value || gotAt != at {
			t.Errorf("%q was written for %q, %q, %v and read as %q, %q, %v", key, index, value, at, gotIndex, gotValue, gotAt)
		}
		sameScope := index == index2 && value == value2
		if bytes.Equal(key, key2) != (sameScope && at == at2) {
			t.Errorf("keys %q and %q", key, key2)
		}
		if !sameScope && (bytes.HasPrefix(scope(index, value), scope(index2, value2)) || bytes.HasPrefix(key, scope(index2, value2))) {
			t.Errorf("%q begins with the scope of %q, %q", key, index2, value2)
		}
		want := cmp.Or(cmp.Compare(order, order2), strings.Compare(id, id2))
		if sameScope && bytes.Compare(key, key2) != want {
			t.Errorf("%q and %q compare as %d, want %d", key, key2, bytes.Compare(key, key2), want)
		}
		if end := after(scope(index, value)); bytes.Compare(key, end) >= 0 || !sameScope && bytes.Compare(scope(index, value), key2) < 0 && bytes.Compare(key2, end) < 0 {
			t.Errorf("the scope of %q ends with %q, which holds %q", key, end, key2)
		}
	})
}

// FuzzParseKey reads arbitrary bytes: what it accepts must be what it writes.
func FuzzParseKey(f *testing.F) {
	f.Add(appendPlace(scope("i", "v"), storage.Position{Order: -5, ID: "id"}))
	f.Add([]byte{0xff, 0xff, 0})
	f.Fuzz(func(t *testing.T, key []byte) {
		index, value, rest, ok := splitScope(key)
		if !ok {
			return
		}
		at, ok := parsePlace(rest)
		if !ok {
			return
		}
		if again := appendPlace(scope(index, value), at); !bytes.Equal(again, key) {
			t.Errorf("%q is read as %q, %q, %v, which is written %q", key, index, value, at, again)
		}
	})
}
