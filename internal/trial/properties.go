package trial

import (
	"flag"
	"strconv"
)

// Properties has each property of a package be checked with n random cases unless
// everything is tried, which is with a hundred. TestMain calls it; -rapid.checks says otherwise.
func Properties(n int) {
	if !Full() {
		_ = flag.Set("rapid.checks", strconv.Itoa(n))
	}
}
