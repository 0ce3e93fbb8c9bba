// Package quote asks liquidity providers for swaps, verifies what they answer, and
// stores the best as a new record: one file per type.
package quote
