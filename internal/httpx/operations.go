package httpx

import (
	"reflect"
	"slices"
	"strings"
)

// Operations are the operations below a base path. A path is looked up in them so that callers
// cannot choose the names under which requests are counted and traced.
type Operations struct {
	Names []string
	base  string // "" or /base
}

// NewOperations returns the operations of a service, the methods of an interface, and more, below a
// base path as httpapi.Mount takes it.
func NewOperations(service reflect.Type, base string, more ...string) Operations {
	o := Operations{Names: slices.Clone(more)}
	if base = strings.Trim(base, "/"); base != "" {
		o.base = "/" + base
	}
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
