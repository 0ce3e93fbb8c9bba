// Package bounds has the limits of what a store keeps. They are far above what a swap needs,
// and within what any ordered database can index.
package bounds

// Limits in bytes, MaxKeys in keys and MaxLeases in names.
const (
	MaxID     = 256
	MaxIndex  = 64
	MaxValue  = 512
	MaxKeys   = 64
	MaxBody   = 8 << 20 // of an entry and of a note
	MaxName   = 256     // of a note, and of a lease and its owner
	MaxLeases = 1024    // in one call
)
