package trial_test

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// begins is a statement that uses nothing of what the step returns.
var begins = regexp.MustCompile(`(?m)^\t+trial\.Must2?\(`)

// Everywhere the step is asked whether it succeeded: trial.Must(f()) compiles, and would check nothing.
func TestIsAsked(t *testing.T) {
	asked := 0
	err := filepath.WalkDir("../..", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(name, ".go") {
			return err
		}
		text, err := os.ReadFile(name)
		if err != nil || !bytes.Contains(text, []byte("/internal/trial\"")) || !begins.Match(text) {
			return err
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, name, text, 0)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if s, ok := n.(*ast.ExprStmt); ok {
				asked++
				if call, ok := s.X.(*ast.CallExpr); ok && isStep(call.Fun) {
					t.Errorf("%s: nothing asks whether the step has succeeded; (t) must follow", files.Position(s.Pos()))
				}
			}
			return true
		})
		return nil
	})
	if err != nil || asked == 0 {
		t.Errorf("%d statements read: %v", asked, err)
	}
}

func isStep(fun ast.Expr) bool {
	s, ok := fun.(*ast.SelectorExpr)
	if !ok || s.Sel.Name != "Must" && s.Sel.Name != "Must2" {
		return false
	}
	of, ok := s.X.(*ast.Ident)
	return ok && of.Name == "trial"
}
