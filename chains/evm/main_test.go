package evm

import (
	"testing"
	"time"

	"github.com/swapper-go/swapper/internal/depth"
)

func TestMain(m *testing.M) {
	depth.SideBySide()
	if !depth.Full() {
		openPatience = 2 * time.Second
	}
	m.Run()
}
