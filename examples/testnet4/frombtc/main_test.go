package main

import (
	"testing"

	"github.com/swapper-go/swapper/examples/testnet4/internal/trial"
	"github.com/swapper-go/swapper/internal/depth"
)

func TestMain(m *testing.M) {
	depth.SideBySide()
	m.Run()
}

func TestSwap(t *testing.T) { trial.Settles(t, swap, "CREATED", "BROADCASTED", "BTC_TX_CONFIRMED") }

func TestSettledByHand(t *testing.T) { trial.SettlesByHand(t, swap) }
