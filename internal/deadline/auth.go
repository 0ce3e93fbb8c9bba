package deadline

import (
	"time"

	"github.com/swapper-go/swapper/chains"
)

// UsableUntil returns the Unix time in milliseconds until which a transaction with the
// authorisation may be sent; 0 if that has passed.
func UsableUntil(a chains.Auth, now time.Time) int64 {
	const most = 1 << 50 // seconds; contracts take any number
	until := (min(a.Timeout, most) - int64(chains.AuthGrace/time.Second)) * 1000
	if until < now.UnixMilli() {
		return 0
	}
	return until
}

// Usable reports whether the authorisation lasts long enough for a transaction that is sent now.
func Usable(a chains.Auth, now time.Time) bool {
	return a.Timeout >= now.Add(chains.AuthGrace).Unix()
}

// Over reports that the authorisation can never be used again, given the time of a
// block that is final. Until then a pending transaction may still succeed.
func Over(a chains.Auth, blockTime int64) bool { return blockTime > a.Timeout }
