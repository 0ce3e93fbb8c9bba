package evm

import (
	"testing"
	"time"

	"github.com/swapper-go/swapper/internal/depth"
	"github.com/swapper-go/swapper/internal/jsonrpc"
)

func TestMain(m *testing.M) {
	depth.SideBySide()
	if !depth.Full() {
		jsonrpc.Greeting = 2 * time.Second
	}
	m.Run()
}
