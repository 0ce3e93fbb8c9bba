package main

import (
	"encoding"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v3"
)

// The configuration is read strictly into Go values: a key that nothing knows is an
// error that names its line, since one that is mistyped and ignored may be the one that
// protects. Keys are the names of the fields; case does not matter. All errors of a file are
// found together (see [findings]). No error shows a value, which may be a secret.

// fromYAML is a type that reads itself.
type fromYAML interface {
	fromYAML(n *yaml.Node, path string) error
}

// short is a type whose mapping may be given as a list, which is that of one key.
type short interface {
	listKey() string
}

// inFull returns what is given for a value of type t as a mapping, if a list stands for it.
func inFull(n *yaml.Node, t reflect.Type) *yaml.Node {
	own, ok := reflect.New(t).Interface().(short)
	if !ok || n.Kind != yaml.SequenceNode {
		return n
	}
	list := *n
	key := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: own.listKey(), Line: n.Line}
	return &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Line: n.Line, Content: []*yaml.Node{key, &list}}
}

// tree is the file's top. A text without keys has an empty one.
func tree(text []byte) (*yaml.Node, error) {
	var document yaml.Node
	if err := yaml.Unmarshal(text, &document); err != nil {
		return nil, err
	}
	if len(document.Content) > 0 && document.Content[0].Tag != "!!null" {
		return document.Content[0], nil
	}
	return &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}, nil
}

// parse reads a text into v, a pointer, with the overrides of the environment over it.
func parse(text []byte, environ []string, v any) error {
	root, err := tree(text)
	if err != nil {
		return err
	}
	return into(root, environ, v)
}

// into reads a tree into v, a pointer, with the overrides of the environment over it.
func into(root *yaml.Node, environ []string, v any) error {
	return errors.Join(fromEnvironment(root, reflect.TypeOf(v).Elem(), environ), decode(root, reflect.ValueOf(v).Elem(), ""))
}

// decode reads a node into v, which can be set.
func decode(n *yaml.Node, v reflect.Value, path string) error {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if own, ok := v.Addr().Interface().(fromYAML); ok {
		return own.fromYAML(n, path)
	}
	n = inFull(n, v.Type())
	if n.Tag == "!!null" {
		return nil // as if it were absent
	}
	if own, ok := v.Addr().Interface().(encoding.TextUnmarshaler); ok && v.Kind() != reflect.Pointer {
		if n.Kind != yaml.ScalarNode {
			return wrong(n, path, "must be a text")
		}
		if err := own.UnmarshalText([]byte(n.Value)); err != nil {
			return wrong(n, path, "%s", rightForm(own, err))
		}
		return nil
	}
	var all []error
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		return decode(n, v.Elem(), path)
	case reflect.Struct:
		return decodeStruct(n, v, path)
	case reflect.Map:
		if n.Kind != yaml.MappingNode {
			return wrong(n, path, "must be a mapping")
		}
		v.Set(reflect.MakeMap(v.Type()))
		for i := 0; i < len(n.Content); i += 2 {
			value := reflect.New(v.Type().Elem()).Elem()
			all = append(all, decode(n.Content[i+1], value, join(path, n.Content[i].Value)))
			key := reflect.ValueOf(n.Content[i].Value)
			if v.MapIndex(key).IsValid() {
				all = append(all, wrong(n.Content[i], join(path, n.Content[i].Value), "is given twice"))
			}
			v.SetMapIndex(key, value)
		}
		return errors.Join(all...)
	case reflect.Slice:
		if n.Kind != yaml.SequenceNode {
			return wrong(n, path, "must be a list")
		}
		v.Set(reflect.MakeSlice(v.Type(), len(n.Content), len(n.Content)))
		for i, item := range n.Content {
			all = append(all, decode(item, v.Index(i), fmt.Sprintf("%s[%d]", path, i)))
		}
		return errors.Join(all...)
	case reflect.String:
		if n.Kind != yaml.ScalarNode {
			return wrong(n, path, "must be a text")
		}
		v.SetString(n.Value)
		return nil
	}
	whole := v.CanInt() || v.CanUint()
	if err := n.Decode(v.Addr().Interface()); err != nil || whole && n.ShortTag() != "!!int" {
		what := "true or false"
		switch {
		case whole:
			what = "a whole number"
		case v.CanFloat():
			what = "a number"
		}
		return wrong(n, path, "must be %s", what)
	}
	return nil
}

// rightForm says what a text must be, where the error of who reads it does not.
func rightForm(of any, err error) string {
	switch of.(type) {
	case *slog.Level:
		return "must be debug, info, warn or error"
	case *netip.Prefix:
		return "must be a network such as 10.0.0.0/8, of one host as 10.0.0.1/32 or ::1/128"
	}
	return err.Error()
}

func decodeStruct(n *yaml.Node, v reflect.Value, path string) error {
	if n.Kind != yaml.MappingNode {
		if own, ok := v.Addr().Interface().(short); ok {
			return wrong(n, path, "must be a mapping, or a list in place of {%s: a list}", own.listKey())
		}
		return wrong(n, path, "must be a mapping")
	}
	seen := map[string]bool{}
	var all []error
	for i := 0; i < len(n.Content); i += 2 {
		key := n.Content[i]
		at := join(path, key.Value)
		field, ok := fieldOf(v.Type(), key.Value)
		switch {
		case !ok:
			all = append(all, wrong(key, at, "is not a key; there are %s", strings.Join(keysOf(v.Type()), ", ")))
		case seen[field.Name]:
			all = append(all, wrong(key, at, "is given twice"))
		default:
			seen[field.Name] = true
			all = append(all, decode(n.Content[i+1], v.FieldByIndex(field.Index), at))
		}
	}
	return errors.Join(all...)
}

// fieldsOf returns what keys can set, those of embedded structs among them.
func fieldsOf(t reflect.Type) (out []reflect.StructField) {
	for _, f := range reflect.VisibleFields(t) {
		if f.IsExported() && !f.Anonymous {
			out = append(out, f)
		}
	}
	return out
}

func fieldOf(t reflect.Type, key string) (reflect.StructField, bool) {
	for _, f := range fieldsOf(t) {
		if strings.EqualFold(f.Name, key) {
			return f, true
		}
	}
	return reflect.StructField{}, false
}

func keysOf(t reflect.Type) (out []string) {
	for _, f := range fieldsOf(t) {
		out = append(out, keyOf(f.Name))
	}
	slices.Sort(out)
	return out
}

// keyOf is how a field's name is written as a key: rpc, maxBaseFee, lps, apiKey.
func keyOf(name string) string {
	letters := []rune(name)
	n := 0
	for n < len(letters) && !unicode.IsLower(letters[n]) {
		n++
	}
	switch rest := string(letters[n:]); {
	case n == len(letters), rest == "s": // RPC, URLs
		n = len(letters)
	case n > 1: // APIKey: the last capital begins the next word
		n--
	}
	return strings.ToLower(string(letters[:n])) + string(letters[n:])
}

func join(path, key string) string { return strings.TrimPrefix(path+"."+key, ".") }

// prefix begins the names of environment variables that stand over the file, and
// separates the parts of a path: two, so that variables that others set, such as
// Kubernetes for a service of this name, are not taken for keys.
const prefix, separator = "SWAPPER__", "__"

// fromEnvironment puts the values of variables such as SWAPPER__RATELIMIT__MAXREQUESTS=50,
// SWAPPER__CHAINS__CITREA__RPC=[https://rpc.example] or SWAPPER__AUTH__0__APIKEY=...
// into the tree. A variable that leads nowhere is an error.
func fromEnvironment(root *yaml.Node, t reflect.Type, environ []string) error {
	var all []error
	for _, pair := range slices.Sorted(slices.Values(environ)) {
		name, value, _ := strings.Cut(pair, "=")
		rest, ok := strings.CutPrefix(name, prefix)
		if !ok {
			continue
		}
		if err := place(root, t, rest, value); err != nil {
			all = append(all, fmt.Errorf("environment variable %s: %w", name, err))
		}
	}
	return errors.Join(all...)
}

// place puts a value where the rest of a variable's name leads.
func place(n *yaml.Node, t reflect.Type, rest, value string) error {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if rest == "" {
		return assign(n, t, value)
	}
	if t == reflect.TypeFor[entryLimit]() {
		t = reflect.TypeFor[rateConfig]()
	}
	if n.Kind == yaml.AliasNode { // what it stands for stays as it is elsewhere
		*n = *copied(n.Alias)
	}
	*n = *inFull(n, t)
	if n.Kind == yaml.ScalarNode { // nothing is there yet
		n.Kind, n.Tag, n.Value = yaml.MappingNode, "!!map", ""
		if t.Kind() == reflect.Slice {
			n.Kind, n.Tag = yaml.SequenceNode, "!!seq"
		}
	}
	word, after, _ := strings.Cut(rest, separator)
	switch {
	case t == reflect.TypeFor[chainsConfig]():
		return place(child(n, word), chainsConfig{}.member(word), after, value)
	case t.Kind() == reflect.Map:
		return place(child(n, word), t.Elem(), after, value)
	case t.Kind() == reflect.Slice:
		i, err := strconv.Atoi(word)
		if err != nil || i < 0 || i > len(n.Content) || n.Kind != yaml.SequenceNode {
			return fmt.Errorf("%s must be a number from 0 to %d, of an item of the list", word, len(n.Content))
		}
		if i == len(n.Content) {
			n.Content = append(n.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null"})
		}
		return place(n.Content[i], t.Elem(), after, value)
	case t.Kind() == reflect.Struct && n.Kind == yaml.MappingNode:
		if f, ok := fieldOf(t, word); ok {
			return place(child(n, keyOf(f.Name)), f.Type, after, value)
		}
		return fmt.Errorf("%s is not a key; there are %s", word, strings.Join(keysOf(t), ", "))
	}
	return fmt.Errorf("%s is not a key", word)
}

// copied returns a node that shares nothing with another one but the targets of aliases.
func copied(n *yaml.Node) *yaml.Node {
	out := *n
	out.Content = nil
	for _, c := range n.Content {
		out.Content = append(out.Content, copied(c))
	}
	return &out
}

// child returns the value of a key, which is added if it is not there.
func child(n *yaml.Node, key string) *yaml.Node {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if strings.EqualFold(n.Content[i].Value, key) {
			return n.Content[i+1]
		}
	}
	value := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null"}
	n.Content = append(n.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: key}, value)
	return value
}

// assign replaces a node by a value: a text where the field is one, else YAML.
func assign(n *yaml.Node, t reflect.Type, value string) error {
	if _, text := reflect.New(t).Interface().(encoding.TextUnmarshaler); text || t.Kind() == reflect.String {
		*n = yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: value}
		return nil
	}
	var document yaml.Node
	if yaml.Unmarshal([]byte(value), &document) != nil || len(document.Content) != 1 {
		return fmt.Errorf("the value must be YAML, such as 5, true, [a, b] or {a: b}")
	}
	*n = *document.Content[0]
	unplaced(n)
	return nil
}

// unplaced takes the lines off what is not in the file.
func unplaced(n *yaml.Node) {
	n.Line = 0
	for _, c := range n.Content {
		unplaced(c)
	}
}

// decodeInto reads a node into what v points to.
func decodeInto(n *yaml.Node, v any, path string) error {
	return decode(n, reflect.ValueOf(v).Elem(), path)
}
