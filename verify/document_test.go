package verify_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/swapper-go/swapper/internal/trial"
)

// Each row of the table in docs/verify.md names its test, and what the document names is there.
func TestDocumentNamesItsTests(t *testing.T) {
	text := trial.Must(os.ReadFile("../docs/verify.md"))(t)
	var sources strings.Builder
	for _, pattern := range []string{"*_test.go", "js/*_test.go", "internal/reference/*_test.go", "../internal/lp/verify/*_test.go", "../internal/btc/psbt/*_test.go", "../chains/*/*_test.go", "../chains/chaintest/*.go", "../e2e/*_test.go", "../examples/wallet/*_test.go"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %d files, %v", pattern, len(files), err)
		}
		for _, name := range files {
			source := trial.Must(os.ReadFile(name))(t)
			sources.Write(source)
		}
	}
	names := regexp.MustCompile("`((?:Test|Fuzz)[A-Za-z]+)`").FindAllStringSubmatch(string(text), -1)
	parts := regexp.MustCompile(`parts? ("[^|]*")`).FindAllStringSubmatch(string(text), -1)
	if len(names) < 60 || len(parts) < 30 {
		t.Fatalf("the document names %d tests and %d times parts of them", len(names), len(parts))
	}
	for _, n := range names {
		if !strings.Contains(sources.String(), "\nfunc "+n[1]+"(") {
			t.Errorf("there is no %s", n[1])
		}
	}
	for _, p := range parts {
		for _, name := range regexp.MustCompile(`"[^"]+"`).FindAllString(p[1], -1) {
			if !strings.Contains(sources.String(), "{"+name+", ") {
				t.Errorf("no test has a part %s", name)
			}
		}
	}
	_, table, _ := strings.Cut(string(text), "## What is verified")
	table, _, _ = strings.Cut(table, "## What is refused")
	rows := regexp.MustCompile(`(?m)^\|.*\|$`).FindAllString(table, -1)
	if len(rows) < 60 {
		t.Fatalf("the table has %d rows", len(rows))
	}
	for _, row := range rows[2:] { // after the head
		if cells := strings.Split(row, " | "); !regexp.MustCompile("`(Test|Fuzz)").MatchString(cells[len(cells)-1]) && !strings.HasSuffix(row, "as above |") {
			t.Errorf("a row names no test: %s", row)
		}
	}
}
