package postgres

import (
	"testing"

	"github.com/swapper-go/swapper/internal/trial"
)

func TestMain(m *testing.M) {
	trial.SideBySide()
	trial.Properties(25)
	m.Run()
}
