package vectors

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestEveryFileLoads(t *testing.T) {
	t.Setenv("SWAPPER_VECTORS", "")
	files, err := fs.Glob(own, "testdata/*/*.json.gz")
	if err != nil || len(files) == 0 {
		t.Fatalf("no vectors: %v", err)
	}
	for _, path := range files {
		parts := strings.Split(path, "/")
		Load(t, parts[1], strings.TrimSuffix(parts[2], ".json.gz"))
	}
}

func TestOtherFolderAndReport(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "a"), 0o755); err != nil {
		t.Fatal(err)
	}
	text := `{"description":"d","now":5,"cases":[
		{"name":"same","input":1,"expected":{"x":"1"}},
		{"name":"refused","input":2,"expected":{"error":true,"message":"no"}},
		{"name":"other chain","input":3,"expected":1}]}`
	if err := os.WriteFile(filepath.Join(dir, "a", "b.json"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	report := filepath.Join(dir, "report")
	t.Setenv("SWAPPER_VECTORS", dir)
	t.Setenv("SWAPPER_VECTORS_REPORT", report)
	for range 2 {
		Each(t, "a", "b", func(t *testing.T, c *Case) {
			var in int
			c.Input(t, &in)
			switch in {
			case 1:
				SameJSON(t, c.Want(t), map[string]string{"x": "1"})
			case 2:
				if !Refused(c.Want(t)) {
					t.Error("not read as a refusal")
				}
			case 3:
				c.NotRun(t, "no such chain")
			}
		})
	}
	lines, err := os.ReadFile(report)
	if err != nil {
		t.Fatal(err)
	}
	var r Report
	first, rest, _ := strings.Cut(string(lines), "\n")
	if err := json.Unmarshal([]byte(first), &r); err != nil || strings.Count(rest, "\n") != 1 {
		t.Fatalf("report %q: %v", lines, err)
	}
	if r.Area != "a" || r.File != "b" || r.Cases != 3 || r.Passed != 2 || len(r.NotRun) != 1 || len(r.Failed) != 0 {
		t.Errorf("report %+v", r)
	}
}
