package swapper

import (
	"bytes"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/swapper-go/swapper/internal/trial"
)

var update = flag.Bool("update", false, "write the golden files")

// publicAPI is the file that a change of the public surface has to change too.
const publicAPI = "docs/public-api.txt"

// TestPublicAPI prints every exported name of the module, so that a change of
// the surface is seen in review.
func TestPublicAPI(t *testing.T) {
	var all []string
	for _, dir := range publicDirs(t) {
		all = append(all, exported(t, dir)...)
	}
	got := fmt.Sprintf("%s\n\n%s\n", counts(all), strings.Join(all, "\n"))
	if *update {
		trial.Do(t, os.WriteFile(publicAPI, []byte(got), 0o644))
		return
	}
	want := trial.Must(os.ReadFile(publicAPI))(t)
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("the public API has changed; if that is meant, run .ci/texts (-want +got):\n%s", diff)
	}
}

// counts is the head of the file: how much an importer can name.
func counts(lines []string) string {
	var top, methods, fields int
	for _, line := range lines {
		_, what, _ := strings.Cut(line, ": ")
		switch {
		case strings.HasPrefix(what, "field "):
			fields++
		case strings.HasPrefix(what, "method "), strings.HasPrefix(what, "func ("):
			methods++
		default:
			top++
		}
	}
	return fmt.Sprintf("%d top-level identifiers, %d methods, %d fields", top, methods, fields)
}

// What a public package offers can be written down by whoever imports it: no signature
// and no field names a type below internal.
func TestPublicAPINamesNoInternalType(t *testing.T) {
	for _, dir := range publicDirs(t) {
		files := trial.Must(filepath.Glob(filepath.Join(dir, "*.go")))(t)
		for _, file := range files {
			f := trial.Must(parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly))(t)
			lines := exportedBy(t, file)
			for _, i := range f.Imports {
				path := strings.Trim(i.Path.Value, `"`)
				if !strings.Contains(path, "/internal/") {
					continue
				}
				name := filepath.Base(path)
				if i.Name != nil {
					name = i.Name.Name
				}
				for _, line := range lines {
					if regexp.MustCompile(`\b` + name + `\.[A-Z]`).MatchString(line) {
						t.Errorf("%s: names a type of an internal package", line)
					}
				}
			}
		}
	}
}

// publicDirs are the folders of the packages that others may import.
func publicDirs(t *testing.T) []string {
	t.Helper()
	var dirs []string
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		switch name := d.Name(); {
		case path != "." && (strings.HasPrefix(name, ".") || name == "internal" || name == "testdata" || name == "examples" || name == "e2e" || name == "tools" || name == "docs"):
			return filepath.SkipDir
		}
		dirs = append(dirs, path)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return dirs
}

// exported returns a line for each exported function, method, type, field,
// constant and variable of a package.
func exported(t *testing.T, dir string) (lines []string) {
	t.Helper()
	files := trial.Must(filepath.Glob(filepath.Join(dir, "*.go")))(t)
	for _, file := range files {
		lines = append(lines, exportedBy(t, file)...)
	}
	slices.Sort(lines)
	return lines
}

// exportedBy returns the lines of one file; a test and a program have none.
func exportedBy(t *testing.T, file string) (lines []string) {
	t.Helper()
	fset := token.NewFileSet()
	f := trial.Must(parser.ParseFile(fset, file, nil, 0))(t)
	if strings.HasSuffix(file, "_test.go") || f.Name.Name == "main" {
		return nil
	}
	text := func(n any) string {
		var b bytes.Buffer
		trial.Do(t, printer.Fprint(&b, fset, n))
		return strings.Join(strings.Fields(b.String()), " ")
	}
	add := func(format string, args ...any) {
		lines = append(lines, filepath.Dir(file)+": "+fmt.Sprintf(format, args...))
	}
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Name.IsExported() && (d.Recv == nil || ast.IsExported(receiver(d.Recv.List[0].Type))) {
				d.Body, d.Doc = nil, nil
				add("%s", text(d))
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					if s.Name.IsExported() {
						add("type %s%s", s.Name.Name, ofType(s, text, add))
					}
				case *ast.ValueSpec:
					for _, n := range s.Names {
						if n.IsExported() {
							add("%s %s", d.Tok, n.Name)
						}
					}
				}
			}
		}
	}
	return lines
}

// ofType describes a type in a line and adds its exported members.
func ofType(s *ast.TypeSpec, text func(any) string, add func(string, ...any)) string {
	switch u := s.Type.(type) {
	case *ast.StructType:
		for _, f := range u.Fields.List {
			for _, n := range f.Names {
				if n.IsExported() {
					add("field %s.%s %s", s.Name.Name, n.Name, text(f.Type))
				}
			}
			if len(f.Names) == 0 && ast.IsExported(receiver(f.Type)) {
				add("field %s embeds %s", s.Name.Name, text(f.Type))
			}
		}
		return " struct"
	case *ast.InterfaceType:
		for _, f := range u.Methods.List {
			for _, n := range f.Names {
				if n.IsExported() {
					add("method %s.%s%s", s.Name.Name, n.Name, strings.TrimPrefix(text(f.Type), "func"))
				}
			}
		}
		return " interface"
	default:
		if s.Assign.IsValid() {
			return " = " + text(s.Type)
		}
		return " " + text(s.Type)
	}
}

// receiver is the name of a type without pointer, package and parameters.
func receiver(e ast.Expr) string {
	switch x := e.(type) {
	case *ast.StarExpr:
		return receiver(x.X)
	case *ast.IndexExpr:
		return receiver(x.X)
	case *ast.IndexListExpr:
		return receiver(x.X)
	case *ast.SelectorExpr:
		return x.Sel.Name
	case *ast.Ident:
		return x.Name
	}
	return ""
}
