package evm

import (
	"testing"
	"time"

	"github.com/swapper-go/swapper/internal/jsonrpc"
	"github.com/swapper-go/swapper/internal/trial"
)

func TestMain(m *testing.M) {
	trial.SideBySide()
	if !trial.Full() {
		jsonrpc.Greeting = 2 * time.Second
	}
	m.Run()
}
