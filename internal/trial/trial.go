// Package trial says how much the tests of this module try, and how fast, and ends one at a
// step that has to succeed. Only tests import it.
//
// `go test ./...` tells a broken change of every package within minutes. What takes
// longer, the same flow with every fault, on every chain and from every point at which a
// process can be lost, runs with SWAPPER_DEPTH=full in the environment, as in .ci/run.
package trial

import (
	"flag"
	"os"
	"runtime/debug"
	"testing"
)

// Full reports whether everything is tried.
func Full() bool { return os.Getenv("SWAPPER_DEPTH") == "full" }

// OnlyFull skips a test that runs at full depth only.
func OnlyFull(t testing.TB) {
	t.Helper()
	if !Full() {
		t.Skip("runs with SWAPPER_DEPTH=full")
	}
}

// Of returns what a test tries: all cases at full depth, else the first n.
func Of[T any](n int, cases []T) []T {
	if Full() || len(cases) < n {
		return cases
	}
	return cases[:n]
}

// SideBySide lets more tests of a package run at once than there are processors, for those
// that wait for blocks and polls more than they compute. TestMain calls it; -test.parallel
// says otherwise.
func SideBySide() {
	_ = flag.Set("test.parallel", "8")
}

// Roomy lets the tests of a package use more memory and less of the processors, a tenth of which
// they would spend on giving back local networks. TestMain calls it where no test measures memory; GOGC says otherwise.
func Roomy() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(300)
	}
}
