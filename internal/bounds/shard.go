package bounds

import "fmt"

// Count is the number of shards.
const Shards = 64

// Of returns the shard of a swap's id, below Count: its FNV-1a hash of 64 bits, of
// which the upper half is folded into the lower.
func Shard(id string) int {
	h := uint64(14695981039346656037)
	for i := range len(id) {
		h = (h ^ uint64(id[i])) * 1099511628211
	}
	return int((h>>32 ^ h) % Shards)
}

// Value returns what an index holds for a shard: two hexadecimal digits.
func ShardText(n int) string { return fmt.Sprintf("%02x", n) }
