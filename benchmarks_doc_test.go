package swapper_test

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/swapper-go/swapper/internal/trial"
)

// measured is a command of docs/benchmarks.md.
type measured struct {
	text     string
	packages []string
	bench    string // what -bench says; "" for a test that measures
	run      string // what -run says, else
}

func measuredCommands(t *testing.T) (all []measured) {
	t.Helper()
	text := trial.Must(os.ReadFile("docs/benchmarks.md"))(t)
	for _, span := range regexp.MustCompile("`[^`]*`").FindAllString(string(text), -1) {
		_, arguments, found := strings.Cut(strings.Trim(span, "`"), "go test ")
		if !found {
			if strings.Contains(span, "-bench ") {
				t.Errorf("%s: name the whole command, with its packages", span)
			}
			continue
		}
		c := measured{text: strings.Trim(span, "`")}
		words := strings.Fields(strings.ReplaceAll(arguments, "'", ""))
		for i, w := range words {
			switch {
			case i > 0 && words[i-1] == "-bench":
				c.bench = w
			case i > 0 && words[i-1] == "-run":
				c.run = w
			case w == "." || strings.HasPrefix(w, "./"):
				c.packages = append(c.packages, w)
			}
		}
		all = append(all, c)
	}
	return all
}

var runBenchmarks = flag.Bool("benchmarks", false, "run each command of docs/benchmarks.md")

// Every command of docs/benchmarks.md names benchmarks, or tests, that are there: each
// alternative is in one of its packages, and each package has one of them. With
// -benchmarks each command is run, which takes a quarter of an hour, and measures something
// of each of its packages.
func TestBenchmarksDocument(t *testing.T) {
	commands := measuredCommands(t)
	if len(commands) < 25 {
		t.Fatalf("docs/benchmarks.md names %d commands", len(commands))
	}
	for _, c := range commands {
		t.Run(c.text, func(t *testing.T) {
			kind, pattern := "Benchmark", c.bench
			if pattern == "" {
				kind, pattern = "Test", c.run
			}
			if len(c.packages) == 0 {
				t.Fatal("no packages are named")
			}
			var names []string // of all packages
			for _, p := range c.packages {
				here := namesOf(t, p, kind)
				if !slices.ContainsFunc(here, matching(t, pattern)) {
					t.Errorf("%s has no %s that %q names; it has %v", p, kind, pattern, here)
				}
				names = append(names, here...)
			}
			for one := range strings.SplitSeq(pattern, "|") {
				if !slices.ContainsFunc(names, matching(t, one)) {
					t.Errorf("no %s is named by %q", kind, one)
				}
			}
			if c.bench != "" && !t.Failed() && *runBenchmarks {
				c.measure(t)
			}
		})
	}
}

// namesOf returns the functions of a package's tests that begin with a word.
func namesOf(t *testing.T, folder, word string) (names []string) {
	t.Helper()
	files := trial.Must(filepath.Glob(filepath.Join(folder, "*_test.go")))(t)
	for _, file := range files {
		text := trial.Must(os.ReadFile(file))(t)
		for _, m := range regexp.MustCompile(`(?m)^func (`+word+`\w*)\(`).FindAllStringSubmatch(string(text), -1) {
			names = append(names, m[1])
		}
	}
	return names
}

// matching is how go test chooses functions: by what stands before the first slash.
func matching(t *testing.T, pattern string) func(string) bool {
	t.Helper()
	first, _, _ := strings.Cut(pattern, "/")
	chosen := trial.Must(regexp.Compile(first))(t)
	return chosen.MatchString
}

// measure runs the command once, and demands a result of each package. Of those of
// e2e/scale, each of which starts a whole network, the first function is enough.
func (c measured) measure(t *testing.T) {
	t.Helper()
	pattern := c.bench
	if _, within, _ := strings.Cut(pattern, "/"); c.packages[0] == "./e2e/scale" {
		names := namesOf(t, c.packages[0], "Benchmark")
		pattern = "^" + names[slices.IndexFunc(names, matching(t, pattern))] + "$/" + within
	}
	arguments := append([]string{"test", "-run", "^$", "-bench", pattern, "-benchtime", "1x"}, c.packages...)
	out, err := exec.Command("go", arguments...).CombinedOutput()
	if strings.Contains(string(out), "NOT TESTED against PostgreSQL") {
		t.Skip("NOT TESTED: these benchmarks need PostgreSQL, which is not installed here; $SWAPPER_POSTGRES names a server")
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	results, at := map[string]int{}, ""
	for line := range strings.Lines(string(out)) {
		if name, ok := strings.CutPrefix(strings.TrimSpace(line), "pkg: "+module); ok {
			at = "." + name
		}
		if regexp.MustCompile(`^Benchmark\S+\s+1\s+\d`).MatchString(line) {
			results[at]++
		}
	}
	for _, p := range c.packages {
		if results[p] == 0 {
			t.Errorf("%s measures nothing:\n%s", p, out)
		}
	}
}
