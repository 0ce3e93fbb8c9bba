package simulate

import (
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ethereum/go-ethereum/core"

	"github.com/swapper-go/swapper/internal/devnet"
	"github.com/swapper-go/swapper/internal/devnet/loopback"
)

// TestMain starts what is made once for a process and would else belong to the first
// bubble that needs it.
func TestMain(m *testing.M) {
	core.SenderCacher()
	os.Exit(m.Run())
}

// The local network runs where time is virtual.
func TestNetworkInVirtualTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))) // after Bitcoin's first block
		n, err := devnet.Start(t.Context(), devnet.Options{Network: new(loopback.Network), Watchtower: true})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		if err := n.Close(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute) // until the databases have let go
	})
}
