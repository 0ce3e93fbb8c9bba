package simulate

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/swapper-go/swapper/internal/devnet"
	"github.com/swapper-go/swapper/internal/devnet/loopback"
)

func TestSmoke(t *testing.T) {
	real := time.Now()
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)))
		n, err := devnet.Start(t.Context(), devnet.Options{Network: new(loopback.Network), Watchtower: true})
		if err != nil {
			t.Fatal(err)
		}
		t.Log(time.Now())
		time.Sleep(time.Minute)
		if err := n.Close(); err != nil {
			t.Fatal(err)
		}
	})
	_ = real
}
