package bounds

import (
	"crypto/rand"
	"hash/fnv"
	"testing"
)

func TestOf(t *testing.T) {
	count := make([]int, Shards)
	for range 64_000 {
		id := rand.Text()
		h := fnv.New64a()
		h.Write([]byte(id))
		if sum := h.Sum64(); Shard(id) != int((sum>>32^sum)%Shards) {
			t.Fatalf("%s: shard %d", id, Shard(id))
		}
		count[Shard(id)]++
	}
	for n, got := range count {
		if got < 800 || got > 1200 {
			t.Errorf("shard %d has %d of 64,000 swaps", n, got)
		}
	}
	// Stored with each swap: a change would leave swaps that no process follows.
	for id, want := range map[string]string{"": "01", "a": "00", "swap": "17"} {
		if got := ShardText(Shard(id)); got != want {
			t.Errorf("%q: %s, want %s", id, got, want)
		}
	}
}
