package postgres

import (
	"testing"

	"github.com/swapper-go/swapper/internal/depth"
)

func TestMain(m *testing.M) {
	depth.SideBySide()
	depth.Properties(25)
	m.Run()
}
