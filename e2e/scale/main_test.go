//go:build unix

package scale

import (
	"flag"
	"fmt"
	"os"
	"testing"
	"time"

	"math/big"

	"github.com/swapper-go/swapper/internal/engine"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/price"
)

var (
	scale   = flag.String("scale", "small", "small, as in go test ./..., or full")
	number  = flag.Int("swaps", 0, "how many swaps; 0: as the scale says")
	hearing = flag.Bool("hear", false, "let the processes of the soak and the chaos hear of blocks and logs over WebSocket; those of the chaos are also lied to, and flooded")
	lasting = flag.Duration("for", 0, "how long a soak or the chaos lasts; 0: as the scale says")
)

// elsewhereEnv has the processes look at swaps as seldom as on networks that are not local.
const elsewhereEnv = "SWAPPER_SCALE_ELSEWHERE"

func TestMain(m *testing.M) {
	flag.Parse()
	if flag.Lookup("test.bench").Value.String() != "" || *scale == "full" {
		_ = os.Setenv(elsewhereEnv, "yes") // inherited by the processes that are started
	}
	if os.Getenv(elsewhereEnv) != "" {
		engine.LocalFresh = time.Second
	}
	for env, live := range map[string]func(string) error{childEnv: live, serviceEnv: serve} {
		text := os.Getenv(env)
		if text == "" {
			continue
		}
		if err := live(text); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	trial.SideBySide()
	os.Exit(m.Run())
}

// sized picks what the scale says.
func sized[T any](t testing.TB, small, full T) T {
	t.Helper()
	switch *scale {
	case "small":
		return small
	case "full":
		return full
	}
	t.Fatalf("-scale is %q; it must be small or full", *scale)
	return small
}

// beside lets small tests run side by side: they wait more than they compute.
func beside(t *testing.T) {
	if *scale == "small" {
		t.Parallel()
	}
}

// swapsOf is how many swaps a test has.
func swapsOf(t testing.TB, small, full int) int {
	t.Helper()
	if *number > 0 {
		return *number
	}
	return sized(t, small, full)
}

// timeOf is how long a test goes on.
func timeOf(t testing.TB, small, full time.Duration) time.Duration {
	t.Helper()
	if *lasting > 0 {
		return *lasting
	}
	return sized(t, small, full)
}

// prices of the local network: the native coin and WBTC of the EVM chain are worth a bitcoin.
var prices = price.Fixed{Prices: map[string]*big.Int{"CITREA-CBTC": big.NewInt(1e14), "CITREA-WBTC": big.NewInt(1e14), "CITREA-USDC": big.NewInt(1e9),
	"SOLANA-SOL": big.NewInt(16e10), "SOLANA-WBTC": big.NewInt(1e14), "SOLANA-USDC": big.NewInt(1e9),
	"STARKNET-STRK": big.NewInt(13e7), "STARKNET-WBTC": big.NewInt(1e14), "STARKNET-USDC": big.NewInt(1e9)}, USD: 0.001}
