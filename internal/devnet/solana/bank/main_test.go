package bank_test

import (
	"testing"

	"github.com/swapper-go/swapper/internal/depth"
)

func TestMain(m *testing.M) {
	depth.Properties(30)
	m.Run()
}
