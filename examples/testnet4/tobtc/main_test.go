package main

import (
	"testing"

	"github.com/swapper-go/swapper/examples/testnet4/internal/trial"
)

func TestSwap(t *testing.T) { trial.Settles(t, swap, "CREATED", "COMMITED") }

func TestRefund(t *testing.T) { trial.ComesBack(t, swap) }
