package swapper

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/swapper-go/swapper/internal/trial"
)

// TestSecurityNamesWhatExists makes sure that the files and tests that
// docs/security.md names are there.
func TestSecurityNamesWhatExists(t *testing.T) {
	text := trial.Must(os.ReadFile(filepath.Join("docs", "security.md")))(t)
	files, tests := 0, 0
	test := regexp.MustCompile(`^([a-z0-9_/]+)\.((?:Test|Fuzz)\w+)$`)
	for _, m := range regexp.MustCompile("`([^`\n]+)`").FindAllStringSubmatch(string(text), -1) {
		if strings.HasSuffix(m[1], ".go") {
			files++
			if _, err := os.Stat(filepath.FromSlash(m[1])); err != nil {
				t.Errorf("no file %s", m[1])
			}
		}
		if name := test.FindStringSubmatch(m[1]); name != nil {
			tests++
			if folder := strings.TrimPrefix(name[1], "swapper"); !hasTest(t, filepath.Join(".", folder), name[2]) {
				t.Errorf("no test %s", m[1])
			}
		}
	}
	if rows := strings.Count(string(text), "\n| "); files < 30 || tests < 60 || rows < 30 {
		t.Errorf("%d files, %d tests, %d rows are named", files, tests, rows)
	}
}

func hasTest(t *testing.T, folder, name string) bool {
	t.Helper()
	all := trial.Must(filepath.Glob(filepath.Join(folder, "*_test.go")))(t)
	for _, path := range all {
		text := trial.Must(os.ReadFile(path))(t)
		if strings.Contains(string(text), "\nfunc "+name+"(") {
			return true
		}
	}
	return false
}
