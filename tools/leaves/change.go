package main

import (
	"fmt"
	"maps"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"encoding/json"
)

// leaf is one place of an answer that can be changed.
type leaf struct {
	path  []any  // member names and indices
	kind  string // the path with [*] for indices
	value any
	drop  bool // the last element of the list at the path is dropped
}

// leavesOf lists what can be changed in v: each value that is not a list or an
// object, each empty one, and the length of each list.
func leavesOf(v any, path []any, kind string) (out []leaf) {
	at := func(step any) []any { return append(slices.Clone(path), step) }
	switch v := v.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			out = append(out, leavesOf(v[name], at(name), kind+"."+name)...)
		}
		if len(v) > 0 {
			return out
		}
	case []any:
		for i, e := range v {
			out = append(out, leavesOf(e, at(i), kind+"[*]")...)
		}
		if len(v) > 0 {
			return append(out, leaf{path: path, kind: kind + "[#]", value: v, drop: true})
		}
	}
	return append(out, leaf{path: path, kind: kind, value: v})
}

// change returns v with another value at the leaf. known has the values that
// other cases have at leaves of the same kind.
func change(v any, path []any, l leaf, known map[string][]any) any {
	if len(path) == 0 {
		return other(l, known)
	}
	switch step := path[0].(type) {
	case string:
		m := maps.Clone(v.(map[string]any))
		m[step] = change(m[step], path[1:], l, known)
		return m
	default:
		s := slices.Clone(v.([]any))
		s[step.(int)] = change(s[step.(int)], path[1:], l, known)
		return s
	}
}

var decimal = regexp.MustCompile(`^-?[0-9]+$`)

// other is a value near l's that differs from it in what it means.
func other(l leaf, known map[string][]any) any {
	switch v := l.value.(type) {
	case bool:
		return !v
	case json.Number:
		if n, ok := new(big.Int).SetString(v.String(), 10); ok {
			return json.Number(n.Add(n, big.NewInt(1)).String())
		}
		f, _ := strconv.ParseFloat(v.String(), 64)
		return json.Number(fmt.Sprint(f*1.01 + 1))
	case string:
		if decimal.MatchString(v) && (v[0] != '0' || v == "0") {
			n, _ := new(big.Int).SetString(v, 10)
			return n.Add(n, big.NewInt(1)).String()
		}
		return otherText(v)
	case []any:
		if l.drop {
			return v[:len(v)-1]
		}
	}
	for _, k := range known[l.kind] {
		switch k := k.(type) {
		case nil:
		case []any:
			if len(k) > 0 {
				return k
			}
		case map[string]any:
			if len(k) > 0 {
				return k
			}
		default:
			return k
		}
	}
	if _, list := l.value.([]any); list {
		return []any{"changed"}
	}
	if _, object := l.value.(map[string]any); object {
		return map[string]any{"changed": "1"}
	}
	return "changed"
}

// otherText changes one letter or digit of a text, in a way that is more than
// another case of letters, and keeps hex hex.
func otherText(s string) string {
	at := len(s) / 2
	for i := range len(s) { // outwards from the middle
		p := at + (i+1)/2*(1-2*(i%2))
		if p < 0 || p >= len(s) {
			continue
		}
		switch c := s[p]; {
		case strings.IndexByte("012345678abcdeABCDE", c) >= 0:
			return s[:p] + string(c+1) + s[p+1:]
		case c == '9', c == 'f', c == 'F':
			return s[:p] + string(c-1) + s[p+1:]
		case c >= 'a' && c < 'z', c >= 'A' && c < 'Z':
			return s[:p] + string(c+1) + s[p+1:]
		case c == 'z', c == 'Z':
			return s[:p] + string(c-1) + s[p+1:]
		}
	}
	return s + "x"
}

// valuesOf adds the whole values of v, lists and objects too, by kind.
func valuesOf(v any, kind string, to map[string][]any) {
	to[kind] = append(to[kind], v)
	switch v := v.(type) {
	case map[string]any:
		for name, m := range v {
			valuesOf(m, kind+"."+name, to)
		}
	case []any:
		for _, e := range v {
			valuesOf(e, kind+"[*]", to)
		}
	}
}
