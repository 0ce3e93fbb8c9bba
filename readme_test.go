package swapper_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/swapper-go/swapper/internal/trial"
)

// The Go that README.md and docs/integrate.md show is part of an example, line by line but
// for what "// ..." leaves out. Examples are compiled and, where they have an output, run.
func TestReadmeShowsExamples(t *testing.T) {
	for document, examples := range map[string]string{"README.md": "example*_test.go", "docs/integrate.md": "example_told_test.go"} {
		bodies := bodiesOf(t, examples)
		text := trial.Must(os.ReadFile(document))(t)
		blocks := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(string(text), -1)
		if len(blocks) == 0 {
			t.Fatalf("%s shows no Go", document)
		}
		for _, block := range blocks {
			if !slices.ContainsFunc(bodies, func(body string) bool { return shows(body, block[1]) }) {
				t.Errorf("%s: no example contains:\n%s", document, block[1])
			}
		}
	}
}

// bodiesOf returns what the functions of examples do, in files that match a pattern.
func bodiesOf(t *testing.T, pattern string) (bodies []string) {
	t.Helper()
	files := trial.Must(filepath.Glob(pattern))(t)
	for _, file := range files {
		text := trial.Must(os.ReadFile(file))(t)
		set := token.NewFileSet()
		parsed := trial.Must(parser.ParseFile(set, file, text, 0))(t)
		for _, d := range parsed.Decls {
			if f, ok := d.(*ast.FuncDecl); ok {
				body := string(text[set.Position(f.Body.Lbrace).Offset+1 : set.Position(f.Body.Rbrace).Offset])
				bodies = append(bodies, strings.ReplaceAll(body, "\n\t", "\n"))
			}
		}
	}
	return bodies
}

// What README.md links to, and the folders that it lists, exist.
func TestReadmeNamesWhatExists(t *testing.T) {
	text := trial.Must(os.ReadFile("README.md"))(t)
	var paths []string
	for _, link := range regexp.MustCompile(`\]\(([^)#:]+)(#[^)]*)?\)`).FindAllStringSubmatch(string(text), -1) {
		paths = append(paths, link[1])
	}
	_, folders, ok := strings.Cut(string(text), "## Where things are")
	if !ok {
		t.Fatal("README.md does not say where things are")
	}
	for line := range strings.Lines(folders) {
		if cells := strings.Split(line, "|"); len(cells) > 2 {
			for _, folder := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(cells[1], -1) {
				paths = append(paths, folder[1])
			}
		}
	}
	if len(paths) < 30 {
		t.Fatalf("only %d paths", len(paths))
	}
	for _, path := range paths {
		if _, err := os.Stat(path); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// The wallet of examples/minimal can be read at once, and has a case for every kind of
// action and for what each family of chains asks to sign.
func TestMinimalIsShortAndWhole(t *testing.T) {
	text := trial.Must(os.ReadFile("examples/minimal/main.go"))(t)
	wallet := string(text)
	if lines := strings.Count(wallet, "\n"); lines >= 250 {
		t.Errorf("it has %d lines, and must have fewer than 250", lines)
	}
	actions := trial.Must(os.ReadFile("action.go"))(t)
	kinds := regexp.MustCompile(`(?m)^func \((\*\w+)\) action\(\)`).FindAllStringSubmatch(string(actions), -1)
	if len(kinds) < 4 {
		t.Errorf("only %d kinds of actions are found", len(kinds))
	}
	for _, kind := range kinds {
		if named := strings.Replace(kind[1], "*", "*swapper.", 1); !strings.Contains(wallet, "case "+named+":") {
			t.Errorf("it has no case for %s", named)
		}
	}
	files := trial.Must(filepath.Glob("chains/*/*.go"))(t)
	families := 0
	for _, file := range files {
		if source, err := os.ReadFile(file); err != nil {
			t.Error(err)
		} else if strings.Contains(string(source), "\nfunc UnsignedTransaction(") {
			families++
			if family := filepath.Base(filepath.Dir(file)); !strings.Contains(wallet, family+".UnsignedTransaction(") {
				t.Errorf("it signs nothing of %s", family)
			}
		}
	}
	if families < 3 {
		t.Errorf("%d families of chains have transactions to sign", families)
	}
}

// shows reports whether a body has the lines of a block, in its order; a line
// "// ..." stands for any number of lines.
func shows(body, block string) bool {
	for part := range strings.SplitSeq("\n"+block, "\n// ...") {
		_, rest, found := strings.Cut(body, strings.TrimRight(part, "\n")+"\n")
		if !found {
			return false
		}
		body = "\n" + rest
	}
	return true
}
