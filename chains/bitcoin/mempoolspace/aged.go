package mempoolspace

import "time"

// aged is a fact and when it was learned.
type aged[T any] struct {
	value T
	at    time.Time
}

// fresh returns the value of a cache hit that is not too old.
func fresh[T any](a aged[T], ok bool) (T, bool) {
	return a.value, ok && time.Since(a.at) < finalAge
}
