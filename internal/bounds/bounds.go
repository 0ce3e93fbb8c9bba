// Package bounds has limits that several packages hold callers to, and a [Cache] with a limit.
//
// [Shard] divides swaps among processes: each id belongs to one shard, for all
// processes and for ever, since it is stored with the swap.
package bounds

// Bounds of the rates (sat/vB) and factors that callers give: far above what is ever paid, and
// small enough that no number that follows from them is without meaning.
const (
	MaxFeeMultiplier = 1000
	MaxFeeRate       = 1_000_000
)

// What a store keeps, in bytes, MaxKeys in keys and MaxLeases in names: far above what a swap
// needs, and within what any ordered database can index.
const (
	MaxID     = 256
	MaxIndex  = 64
	MaxValue  = 512
	MaxKeys   = 64
	MaxBody   = 8 << 20 // of an entry and of a note
	MaxName   = 256     // of a note, and of a lease and its owner
	MaxLeases = 1024    // in one call
)
