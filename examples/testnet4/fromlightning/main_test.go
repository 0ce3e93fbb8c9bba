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

func TestSwap(t *testing.T) { trial.Settles(t, swap, "PR_CREATED", "CLAIM_COMMITED") }

func TestSettledByHand(t *testing.T) { trial.SettlesByHand(t, swap) }
