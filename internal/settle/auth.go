package settle

import (
	"time"

	"github.com/swapper-go/swapper/chains"
)

// AuthUsableUntil returns the Unix time in milliseconds until which a transaction with the
// authorisation may be sent; 0 if that has passed.
func AuthUsableUntil(a chains.Auth, now time.Time) int64 {
	const most = 1 << 50 // seconds; contracts take any number
	until := (min(a.Timeout, most) - int64(chains.AuthGrace/time.Second)) * 1000
	if until < now.UnixMilli() {
		return 0
	}
	return until
}

// AuthOver reports that the authorisation can never be used again, given the time of a
// block that is final. Until then a pending transaction may still succeed.
func AuthOver(a chains.Auth, blockTime int64) bool { return blockTime > a.Timeout }
