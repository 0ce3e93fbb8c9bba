package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"path"
	"path/filepath"
	"strings"

	"golang.org/x/tools/go/packages"
)

// mentions are the names that files which are not among the loaded ones mention: tests, and files
// for other systems. They are read without types, so that a name counts as used rather once too often.
type mentions struct {
	of map[string]map[string]bool // by the path of each package that such a file imports
	in map[string]map[string]bool // by the path of the package that the file belongs to
}

// readMentions reads the Go files below root that are not among the loaded ones.
func readMentions(root string, loaded []*packages.Package) (*mentions, error) {
	known := map[string]bool{}
	for _, p := range loaded {
		for _, file := range p.CompiledGoFiles {
			known[file] = true
		}
	}
	m := &mentions{of: map[string]map[string]bool{}, in: map[string]map[string]bool{}}
	set := token.NewFileSet()
	return m, filepath.WalkDir(root, func(file string, entry fs.DirEntry, err error) error {
		if err != nil || known[file] || !strings.HasSuffix(file, ".go") {
			return err
		}
		parsed, err := parser.ParseFile(set, file, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		folder, err := filepath.Rel(root, filepath.Dir(file))
		if err != nil {
			return err
		}
		own := path.Join(module, filepath.ToSlash(folder))
		if strings.HasSuffix(parsed.Name.Name, "_test") {
			own += "_test"
		}
		m.add(own, parsed)
		return nil
	})
}

func (m *mentions) add(own string, file *ast.File) {
	into := []map[string]bool{entry(m.in, own)}
	for _, spec := range file.Imports {
		into = append(into, entry(m.of, strings.Trim(spec.Path.Value, `"`)))
	}
	note := func(name string) {
		for _, names := range into {
			names[name] = true
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			note(n.Sel.Name)
		case *ast.Field: // a method of an interface, or an embedded type
			for _, name := range n.Names {
				note(name.Name)
			}
		}
		return true
	})
}

func entry(of map[string]map[string]bool, key string) map[string]bool {
	if of[key] == nil {
		of[key] = map[string]bool{}
	}
	return of[key]
}

// elsewhere says whether such a file outside of a package mentions the name of one of its methods.
func (m *mentions) elsewhere(pkg, name string) bool {
	for own, names := range m.in {
		if own != pkg && names[name] {
			return true
		}
	}
	return false
}

// exports returns the exported names of internal packages that no other package uses: those that
// no other package names, directly or as a part of what it names, and methods that no interface needs.
func (g *graph) exports(loaded []*packages.Package, m *mentions) (lines []string) {
	used := map[types.Object]bool{}
	var queue []types.Object
	add := func(o types.Object) {
		if o != nil && !used[o] {
			used[o] = true
			queue = append(queue, o)
		}
	}
	for _, p := range loaded {
		for _, o := range p.TypesInfo.Uses {
			if o.Pkg() != nil && o.Pkg() != p.Types {
				if f, ok := o.(*types.Func); ok {
					o = f.Origin()
				}
				add(o)
			}
		}
	}
	all := map[types.Object]*packages.Package{}
	for _, p := range loaded {
		if public(p) || p.Name == "main" {
			continue
		}
		for _, name := range p.Types.Scope().Names() {
			o := p.Types.Scope().Lookup(name)
			if t, ok := o.(*types.TypeName); ok && !t.IsAlias() {
				if named, ok := t.Type().(*types.Named); ok {
					for method := range named.Methods() {
						if method.Exported() && t.Exported() {
							all[method] = p
						}
						if g.called(named, method) || m.elsewhere(p.PkgPath, method.Name()) {
							add(method)
						}
					}
				}
			}
			if o.Exported() {
				all[o] = p
				if m.of[p.PkgPath][name] {
					add(o)
				}
			}
		}
	}
	for len(queue) > 0 {
		o := queue[0]
		queue = queue[1:]
		shown(o, add)
	}
	for o, p := range all {
		if used[o] || enumerated(o, used) {
			continue
		}
		pos := p.Fset.Position(o.Pos())
		lines = append(lines, fmt.Sprintf("%s:%d: %s", pos.Filename, pos.Line, nameOf(o)))
	}
	return lines
}

// shown calls add for the types that the user of a name is shown by it.
func shown(o types.Object, add func(types.Object)) {
	seen := map[types.Type]bool{}
	var walk func(t types.Type)
	walk = func(t types.Type) {
		if seen[t] {
			return
		}
		seen[t] = true
		switch t := t.(type) {
		case *types.Alias:
			add(t.Obj())
			walk(t.Rhs())
		case *types.Named:
			add(t.Obj())
			for arg := range t.TypeArgs().Types() {
				walk(arg)
			}
		case interface{ Elem() types.Type }: // pointers, slices, arrays, channels, maps
			walk(t.Elem())
			if m, ok := t.(*types.Map); ok {
				walk(m.Key())
			}
		case *types.Signature:
			walk(t.Params())
			walk(t.Results())
		case *types.Tuple:
			for v := range t.Variables() {
				walk(v.Type())
			}
		case *types.Struct:
			for f := range t.Fields() {
				if f.Exported() || f.Embedded() {
					walk(f.Type())
				}
			}
		case *types.Interface:
			for m := range t.Methods() {
				walk(m.Type())
			}
			for e := range t.EmbeddedTypes() {
				walk(e)
			}
		}
	}
	if t, ok := o.(*types.TypeName); ok {
		walk(t.Type().Underlying())
		if named, ok := t.Type().(*types.Named); ok && named.TypeParams() != nil {
			for p := range named.TypeParams().TypeParams() {
				walk(p.Constraint())
			}
		}
		return
	}
	walk(o.Type())
}

// enumerated says whether a constant is one value of a type that others use: such a list is
// exported as a whole.
func enumerated(o types.Object, used map[types.Object]bool) bool {
	c, ok := o.(*types.Const)
	if !ok {
		return false
	}
	named, ok := c.Type().(*types.Named)
	return ok && used[named.Obj()]
}

// nameOf writes a name as its package's users do.
func nameOf(o types.Object) string {
	name := o.Pkg().Name() + "."
	if f, ok := o.(*types.Func); ok && f.Signature().Recv() != nil {
		t := f.Signature().Recv().Type()
		if p, ok := t.(*types.Pointer); ok {
			t = p.Elem()
		}
		name += t.(*types.Named).Obj().Name() + "."
	}
	return name + o.Name()
}
