package devnet

import (
	"hash/fnv"
	"os"
	"testing"
)

// Version is the version of the network's LPs that a network has.
type Version int

const (
	Older Version = iota // what runs today (docs/protocol/lp-protocol.md)
	Newer                // what comes next (docs/protocol/lp-next.md)
)

func (v Version) String() string { return [...]string{"older", "newer"}[v] }

// Versions are all of them, for what is tested with each.
var Versions = []Version{Older, Newer}

// VersionOf picks the version that a test has for LPs: by its name, so that a
// suite runs on both without running twice. LP_VERSION=older and LP_VERSION=newer
// decide for all.
func VersionOf(t testing.TB) Version {
	for _, v := range Versions {
		if os.Getenv("LP_VERSION") == v.String() {
			return v
		}
	}
	h := fnv.New32a()
	_, _ = h.Write([]byte(t.Name()))
	v := Versions[h.Sum32()%2]
	t.Logf("LPs of the %s version", v)
	return v
}
