// Package named finds the operation that a path asks for, so that callers cannot choose the
// names under which requests are counted and traced.
package named

import (
	"reflect"
	"slices"
	"strings"

	"github.com/swapper-go/swapper"
)

// Operations are the operations below a base path.
type Operations struct {
	Names []string
	base  string // "" or /base
}

// New returns the operations of [swapper.Service] and more, below a base path as
// httpapi.Mount takes it.
func New(base string, more ...string) Operations {
	o := Operations{Names: slices.Clone(more)}
	if base = strings.Trim(base, "/"); base != "" {
		o.base = "/" + base
	}
	service := reflect.TypeFor[swapper.Service]()
	for i := range service.NumMethod() {
		name := service.Method(i).Name
		o.Names = append(o.Names, strings.ToLower(name[:1])+name[1:])
	}
	return o
}

// Of returns the name of the operation that a path asks for, and false for any other path.
func (o Operations) Of(path string) (name string, ok bool) {
	name, ok = strings.CutPrefix(path, o.base+"/")
	return name, ok && slices.Contains(o.Names, name)
}

// Path returns the path of an operation.
func (o Operations) Path(name string) string { return o.base + "/" + name }
