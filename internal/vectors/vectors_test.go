package vectors

import (
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/swapper-go/swapper/internal/trial"
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
	trial.Do(t, os.Mkdir(filepath.Join(dir, "a"), 0o755))
	text := `{"description":"d","now":5,"cases":[
		{"name":"same","input":1,"expected":{"x":"1"}},
		{"name":"refused","input":2,"expected":{"error":true,"message":"no"}},
		{"name":"other chain","input":3,"expected":1},
		{"name":"skipped","input":4,"expected":1}]}`
	trial.Do(t, os.WriteFile(filepath.Join(dir, "a", "b.json"), []byte(text), 0o644))
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
			case 4:
				t.Skip("this case skips itself, to show that a skipped case is never reported as passed")
			}
		})
	}
	lines := trial.Must(os.ReadFile(report))(t)
	var r Report
	first, rest, _ := strings.Cut(string(lines), "\n")
	if err := json.Unmarshal([]byte(first), &r); err != nil || strings.Count(rest, "\n") != 1 {
		t.Fatalf("report %q: %v", lines, err)
	}
	if r.Area != "a" || r.File != "b" || r.Cases != 4 || r.Passed != 2 || len(r.NotRun) != 2 || len(r.Failed) != 0 {
		t.Errorf("report %+v", r)
	}
}

// A case that the pattern of -run leaves out is not counted as passed.
func TestLeftOutIsNotPassed(t *testing.T) {
	const child = "SWAPPER_TEST_LEFT_OUT"
	if os.Getenv(child) != "" {
		Each(t, "a", "b", func(t *testing.T, c *Case) {
			if c.Name != "one" {
				t.Errorf("%s is run", c.Name)
			}
		})
		return
	}
	dir := t.TempDir()
	trial.Do(t, os.Mkdir(filepath.Join(dir, "a"), 0o755))
	trial.Do(t, os.WriteFile(filepath.Join(dir, "a", "b.json"), []byte(`{"cases":[{"name":"one"},{"name":"two"}]}`), 0o644))
	report := filepath.Join(dir, "report")
	run := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^TestLeftOutIsNotPassed$/^one$")
	run.Env = append(os.Environ(), child+"=1", "SWAPPER_VECTORS="+dir, "SWAPPER_VECTORS_REPORT="+report)
	if out, err := run.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	line := trial.Must(os.ReadFile(report))(t)
	var r Report
	if err := json.Unmarshal(line, &r); err != nil || r.Cases != 2 || r.Passed != 1 || len(r.NotRun) != 1 || r.NotRun[0].Case != "two" {
		t.Errorf("report %s: %v", line, err)
	}
}

// unused are the vector files that no test reads, with the reason.
var unused = map[string]string{}

// Every vector file is named in some test beside its area, unless it is known
// that none can read it yet.
func TestEveryFileIsUsed(t *testing.T) {
	root := filepath.Join("..", "..")
	var tests []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, "_test.go") && !strings.Contains(path, filepath.Join("internal", "vectors")) {
			var text []byte
			text, err = os.ReadFile(path)
			tests = append(tests, string(text))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	files := trial.Must(fs.Glob(own, "testdata/*/*.json.gz"))(t)
	for _, path := range files {
		area, name, _ := strings.Cut(strings.TrimSuffix(strings.TrimPrefix(path, "testdata/"), ".json.gz"), "/")
		read := slices.ContainsFunc(tests, func(text string) bool {
			return strings.Contains(text, `"`+area+`"`) && strings.Contains(text, `"`+name+`"`)
		})
		known := unused[area] != "" || unused[area+"/"+name] != ""
		if read == known && unused[area] == "" || !read && !known {
			t.Errorf("%s/%s: read by a test: %v, listed as unused: %v", area, name, read, known)
		}
	}
}
