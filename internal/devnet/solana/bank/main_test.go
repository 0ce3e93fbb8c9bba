package bank_test

import (
	"testing"

	"github.com/swapper-go/swapper/internal/trial"
)

func TestMain(m *testing.M) {
	trial.Properties(30)
	m.Run()
}
