// Command unused fails for functions that only tests call, and lists them: those of the
// module that nothing of its public surface, of its programs or of its local network comes
// to. Exported names of packages below internal are not part of the public surface. It fails
// for those of them, too, that no other package uses. It counts the functions that the
// local network (internal/devnet) alone calls, by package, and lists them with -v: they
// are the other half of an encoding that production has, or belong to the network.
//
//	cd tools && go run ./unused
package main

import (
	"errors"
	"flag"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

const module = "github.com/swapper-go/swapper"

func main() {
	verbose := flag.Bool("v", false, "list what the local network alone calls")
	flag.Parse()
	if flag.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "unused: %q is one argument too many; it takes none\n", flag.Arg(0))
		os.Exit(2)
	}
	tests, network, exports, err := run("..")
	if err != nil {
		fmt.Fprintln(os.Stderr, "unused:", err)
		os.Exit(1)
	}
	for _, folder := range slices.Sorted(maps.Keys(network)) {
		fmt.Printf("%s: only the local network calls %d of its functions\n", folder, len(network[folder]))
		if *verbose {
			fmt.Println("\t" + strings.Join(slices.Sorted(slices.Values(network[folder])), "\n\t"))
		}
	}
	slices.Sort(tests)
	for _, line := range tests {
		fmt.Fprintf(os.Stderr, "%s: no program and no public function comes to it\n", line)
	}
	slices.Sort(exports)
	for _, line := range exports {
		fmt.Fprintf(os.Stderr, "%s: exported from an internal package, and no other package uses it\n", line)
	}
	if len(tests)+len(exports) > 0 {
		os.Exit(1)
	}
}

// run returns the functions that tests alone call, those that the local network calls
// besides, by folder, and the exported names of internal packages that no other package uses.
func run(root string) (tests []string, network map[string][]string, exports []string, err error) {
	if root, err = filepath.Abs(root); err != nil {
		return nil, nil, nil, err
	}
	loaded, err := packages.Load(&packages.Config{
		Dir:  root,
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedSyntax | packages.NeedTypes | packages.NeedTypesInfo | packages.NeedImports,
	}, "./...")
	if err != nil {
		return nil, nil, nil, err
	}
	g := newGraph(loaded)
	if len(g.errs) > 0 {
		return nil, nil, nil, errors.Join(g.errs...)
	}
	used := g.reach(production)
	besides := g.reach(func(p *packages.Package) bool { return production(p) || local(p) })
	network = map[string][]string{}
	for f, at := range g.funcs {
		if !production(at) || used[f] {
			continue
		}
		pos := at.Fset.Position(f.Pos())
		file, err := filepath.Rel(root, pos.Filename)
		if err != nil {
			return nil, nil, nil, err
		}
		line := fmt.Sprintf("%s:%d: %s", file, pos.Line, f.FullName()[strings.LastIndexByte(f.FullName(), '/')+1:])
		if besides[f] {
			network[filepath.Dir(file)] = append(network[filepath.Dir(file)], line)
		} else {
			tests = append(tests, line)
		}
	}
	outside, err := readMentions(root, loaded)
	if err != nil {
		return nil, nil, nil, err
	}
	exports = g.exports(loaded, outside)
	for i, line := range exports {
		if exports[i], err = filepath.Rel(root, line); err != nil {
			return nil, nil, nil, err
		}
	}
	return tests, network, exports, nil
}

// forTests says whether a package is there for tests alone: it uses package testing
// itself, or makes what tests need.
func forTests(p *packages.Package) bool {
	_, kit := p.Imports["testing"]
	return kit || within(p, "internal/vectors")
}

// production says whether a package is one that a program with the library is made of.
// Examples show the public packages and call nothing else.
func production(p *packages.Package) bool {
	return !forTests(p) && !local(p) && !within(p, "examples")
}

// local says whether a package belongs to the local network.
func local(p *packages.Package) bool {
	return within(p, "internal/devnet") || within(p, "swappertest")
}

func within(p *packages.Package, folder string) bool {
	return p.PkgPath == module+"/"+folder || strings.HasPrefix(p.PkgPath, module+"/"+folder+"/")
}

// public says whether the exported names of a package are for importers.
func public(p *packages.Package) bool {
	return !strings.Contains(p.PkgPath+"/", "/internal/")
}

// graph says which declarations name which others.
type graph struct {
	funcs map[*types.Func]*packages.Package
	names map[types.Object][]types.Object
	types map[*types.TypeName]*types.Named
	roots map[*packages.Package][]types.Object
	// interfaces by the names of their methods: a method may be called through any of
	// those that its type has all of.
	interfaces map[string][]*types.Interface
	errs       []error
}

func newGraph(loaded []*packages.Package) *graph {
	g := &graph{
		funcs: map[*types.Func]*packages.Package{}, names: map[types.Object][]types.Object{}, types: map[*types.TypeName]*types.Named{},
		roots: map[*packages.Package][]types.Object{}, interfaces: map[string][]*types.Interface{},
	}
	g.addInterface(types.Universe.Lookup("error").Type())
	seen := map[*types.Package]bool{}
	for _, p := range loaded {
		for _, err := range p.Errors {
			g.errs = append(g.errs, err)
		}
		g.foreign(p.Types, seen)
		for e, t := range p.TypesInfo.Types {
			if _, ok := e.(*ast.InterfaceType); ok {
				g.addInterface(t.Type)
			}
		}
		for _, file := range p.Syntax {
			for _, decl := range file.Decls {
				g.declare(p, decl)
			}
		}
	}
	return g
}

// foreign collects the interfaces of a package and of all that it imports.
func (g *graph) foreign(p *types.Package, seen map[*types.Package]bool) {
	if seen[p] {
		return
	}
	seen[p] = true
	for _, name := range p.Scope().Names() {
		if t, ok := p.Scope().Lookup(name).(*types.TypeName); ok {
			g.addInterface(t.Type())
		}
	}
	for _, i := range p.Imports() {
		g.foreign(i, seen)
	}
}

func (g *graph) addInterface(t types.Type) {
	i, ok := t.Underlying().(*types.Interface)
	if !ok {
		return
	}
	for m := range i.Methods() {
		g.interfaces[m.Name()] = append(g.interfaces[m.Name()], i)
	}
}

// hidden are methods that the standard library calls through interfaces that it does
// not export.
var hidden = []string{"Unwrap", "Is", "As", "Timeout", "Temporary"}

func (g *graph) declare(p *packages.Package, decl ast.Decl) {
	switch d := decl.(type) {
	case *ast.FuncDecl:
		f := p.TypesInfo.Defs[d.Name].(*types.Func)
		g.funcs[f] = p
		g.uses(p, f, d)
		if f.Name() == "init" || f.Name() == "main" && p.Name == "main" || local(p) || public(p) && f.Exported() && exportedReceiver(f) {
			g.roots[p] = append(g.roots[p], f)
		}
	case *ast.GenDecl:
		for _, s := range d.Specs {
			switch s := s.(type) {
			case *ast.TypeSpec:
				g.define(p, s.Name, s)
			case *ast.ValueSpec:
				for _, name := range s.Names {
					g.define(p, name, s)
				}
			}
		}
		if d.Tok == token.VAR {
			g.uses(p, nil, d)
		}
	}
}

// define notes what a type, a variable or a constant names.
func (g *graph) define(p *packages.Package, name *ast.Ident, at ast.Node) {
	o := p.TypesInfo.Defs[name]
	g.uses(p, o, at)
	if t, ok := o.(*types.TypeName); ok {
		if named, ok := types.Unalias(t.Type()).(*types.Named); ok {
			g.types[t] = named.Origin()
			if t.Exported() && public(p) && named.Obj() != t { // the methods of another type are shown under this name
				for m := range named.Origin().Methods() {
					if m.Exported() {
						g.names[o] = append(g.names[o], m)
					}
				}
			}
		}
	}
	if name.Name == "_" || o.Exported() && public(p) {
		g.roots[p] = append(g.roots[p], o)
	}
}

// uses notes the objects that a declaration names.
func (g *graph) uses(p *packages.Package, from types.Object, at ast.Node) {
	ast.Inspect(at, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			switch o := p.TypesInfo.Uses[id].(type) {
			case *types.Func:
				g.names[from] = append(g.names[from], o.Origin())
			case *types.TypeName, *types.Var, *types.Const:
				g.names[from] = append(g.names[from], o)
			}
		}
		return true
	})
}

func exportedReceiver(f *types.Func) bool {
	r := f.Signature().Recv()
	if r == nil {
		return true
	}
	t := r.Type()
	if p, ok := t.(*types.Pointer); ok {
		t = p.Elem()
	}
	named, ok := t.(*types.Named)
	return ok && named.Obj().Exported()
}

// reach returns all that the roots of some packages come to.
func (g *graph) reach(from func(*packages.Package) bool) map[types.Object]bool {
	reached := map[types.Object]bool{}
	var queue []types.Object
	add := func(o types.Object) {
		if !reached[o] {
			reached[o] = true
			queue = append(queue, o)
		}
	}
	for p, roots := range g.roots {
		if from(p) {
			for _, o := range roots {
				add(o)
			}
		}
	}
	for len(queue) > 0 {
		o := queue[0]
		queue = queue[1:]
		for _, next := range g.names[o] {
			add(next)
		}
		if t, ok := o.(*types.TypeName); ok && g.types[t] != nil {
			for m := range g.types[t].Methods() {
				if g.called(g.types[t], m) {
					add(m)
				}
			}
		}
	}
	return reached
}

// called says whether a method may be called through an interface.
func (g *graph) called(t *types.Named, m *types.Func) bool {
	if slices.Contains(hidden, m.Name()) {
		return true
	}
	if t.TypeParams().Len() > 0 {
		return len(g.interfaces[m.Name()]) > 0
	}
	return slices.ContainsFunc(g.interfaces[m.Name()], func(i *types.Interface) bool {
		return types.Implements(types.NewPointer(t), i)
	})
}
