package main

import (
	"testing"

	"github.com/swapper-go/swapper/internal/trial"
)

func TestMain(m *testing.M) {
	trial.SideBySide()
	m.Run()
}

func TestToBTC(t *testing.T) {
	t.Parallel()
	settles(t, toBTC, "CREATED", "COMMITED")
	varied(t, toBTC)
	comesBack(t, toBTC)
}

func TestToLightning(t *testing.T) {
	t.Parallel()
	settles(t, toLightning, "CREATED", "COMMITED")
	if trial.Full() {
		varied(t, toLightning)
		comesBack(t, toLightning)
	}
}

func TestFromBTC(t *testing.T) {
	t.Parallel()
	settles(t, fromBTC, "CREATED", "BROADCASTED", "BTC_TX_CONFIRMED")
	if trial.Full() {
		varied(t, fromBTC)
	}
	t.Run("by hand", func(t *testing.T) { settlesByHand(t, fromBTC) })
}

func TestFromLightning(t *testing.T) {
	t.Parallel()
	settles(t, fromLightning, "PR_CREATED", "CLAIM_COMMITED")
	varied(t, fromLightning)
	t.Run("by hand", func(t *testing.T) { settlesByHand(t, fromLightning) })
}
