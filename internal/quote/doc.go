// Package quote asks liquidity providers for quotes, verifies their answers, and
// stores the best one as a new record. It has one file per type.
package quote
