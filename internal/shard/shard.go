// Package shard divides swaps among processes: each id belongs to one shard, for all
// processes and for ever, since it is stored with the swap.
package shard

import "fmt"

// Count is the number of shards.
const Count = 64

// Of returns the shard of a swap's id, below Count: its FNV-1a hash of 64 bits, of
// which the upper half is folded into the lower.
func Of(id string) int {
	h := uint64(14695981039346656037)
	for i := range len(id) {
		h = (h ^ uint64(id[i])) * 1099511628211
	}
	return int((h>>32 ^ h) % Count)
}

// Value returns what an index holds for a shard: two hexadecimal digits.
func Value(n int) string { return fmt.Sprintf("%02x", n) }
