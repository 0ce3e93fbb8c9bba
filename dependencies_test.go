package swapper

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/swapper-go/swapper/internal/trial"
)

// TestDependenciesAreExplained makes sure that docs/architecture.md says of each
// direct dependency, and of no other, what it is for and what it costs.
func TestDependenciesAreExplained(t *testing.T) {
	mod := trial.Must(os.ReadFile("go.mod"))(t)
	var direct []string
	for line := range strings.Lines(string(mod)) {
		if f := strings.Fields(line); len(f) == 2 && strings.HasPrefix(f[1], "v") && strings.HasPrefix(line, "\t") {
			direct = append(direct, f[0])
		}
	}
	doc := trial.Must(os.ReadFile("docs/architecture.md"))(t)
	_, table, ok := strings.Cut(string(doc), "\n| Module | What for |")
	if !ok {
		t.Fatal("docs/architecture.md has no table of dependencies")
	}
	table, _, _ = strings.Cut(table, "\n\n")
	var explained []string
	for _, row := range regexp.MustCompile("(?m)^\\| `([^`]+)` \\| [^|]{5,} \\| [^|]+ \\| [^|]+ \\|$").FindAllStringSubmatch(table, -1) {
		explained = append(explained, row[1])
	}
	for _, m := range direct {
		if !slices.Contains(explained, m) {
			t.Errorf("%s has no row", m)
		}
	}
	for _, m := range explained {
		if !slices.Contains(direct, m) {
			t.Errorf("%s has a row and is not a direct dependency", m)
		}
	}
	if len(direct) < 10 {
		t.Errorf("go.mod has only %d direct dependencies", len(direct))
	}
}
