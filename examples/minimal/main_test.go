package main

import (
	"testing"

	"github.com/swapper-go/swapper/internal/depth"
)

// The example makes a swap in each direction on each chain, or ends the test's process.
func TestMinimal(t *testing.T) {
	depth.OnlyFull(t)
	main()
}
