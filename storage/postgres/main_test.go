package postgres

import (
	"flag"
	"testing"

	"github.com/swapper-go/swapper/internal/depth"
)

func TestMain(m *testing.M) {
	depth.SideBySide()
	if !depth.Full() {
		_ = flag.Set("rapid.checks", "25") // -rapid.checks says otherwise
	}
	m.Run()
}
