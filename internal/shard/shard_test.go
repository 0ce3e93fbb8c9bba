package shard

import (
	"crypto/rand"
	"hash/fnv"
	"testing"
)

func TestOf(t *testing.T) {
	count := make([]int, Count)
	for range 64_000 {
		id := rand.Text()
		h := fnv.New64a()
		h.Write([]byte(id))
		if sum := h.Sum64(); Of(id) != int((sum>>32^sum)%Count) {
			t.Fatalf("%s: shard %d", id, Of(id))
		}
		count[Of(id)]++
	}
	for n, got := range count {
		if got < 800 || got > 1200 {
			t.Errorf("shard %d has %d of 64,000 swaps", n, got)
		}
	}
	// Stored with each swap: a change would leave swaps that no process follows.
	for id, want := range map[string]string{"": "01", "a": "00", "swap": "17"} {
		if got := Value(Of(id)); got != want {
			t.Errorf("%q: %s, want %s", id, got, want)
		}
	}
}
