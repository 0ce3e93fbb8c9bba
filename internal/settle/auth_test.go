package settle

import (
	"testing"
	"time"

	"github.com/swapper-go/swapper/chains"
)

// An authorisation lasts to its last second.
func TestAuthorizationLimits(t *testing.T) {
	now := time.Unix(1_760_000_000, 0)
	grace := int64(chains.AuthGrace / time.Second)
	for late, want := range map[int64]int64{-1: 0, 0: now.UnixMilli(), 1: now.UnixMilli() + 1000} {
		a := chains.Auth{Timeout: now.Unix() + grace + late}
		if got := AuthUsableUntil(a, now); got != want {
			t.Errorf("%d s after: usable until %d, want %d", late, got, want)
		}
	}
	for late, over := range map[int64]bool{0: false, 1: true} {
		if AuthOver(chains.Auth{Timeout: 50}, 50+late) != over {
			t.Errorf("%d s after the timeout it is over: %v", late, !over)
		}
	}
}
