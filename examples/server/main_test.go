package main

import (
	"testing"

	"github.com/swapper-go/swapper/internal/trial"
)

func TestMain(m *testing.M) {
	trial.SideBySide()
	m.Run()
}
