package verify_test

import (
	"testing"

	"github.com/swapper-go/swapper/internal/depth"
)

func TestMain(m *testing.M) {
	depth.SideBySide()
	depth.Roomy()
	m.Run()
}
