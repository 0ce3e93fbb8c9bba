package main

import (
	"maps"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// keys lists what a configuration may have, as README.md writes it, in lower case.
func keys(of reflect.Type, prefix string, into map[string]bool) {
	switch {
	case of == reflect.TypeFor[chainsConfig]():
		keys(reflect.TypeFor[evmConfig](), prefix+".<id>", into)
		keys(reflect.TypeFor[solanaConfig](), prefix+".solana", into)
	case of.Kind() == reflect.Pointer:
		keys(of.Elem(), prefix, into)
	case of.Kind() == reflect.Slice && of.Elem().Kind() == reflect.Struct && of.Elem().PkgPath() == reflect.TypeFor[config]().PkgPath():
		keys(of.Elem(), prefix+"[]", into)
	case of.Kind() == reflect.Struct && of.PkgPath() != "net/netip":
		for i := range of.NumField() {
			f := of.Field(i)
			at := strings.TrimPrefix(prefix+"."+strings.ToLower(f.Name), ".")
			if f.Anonymous {
				at = prefix
			} else if !f.IsExported() {
				continue
			}
			keys(f.Type, at, into)
		}
	default:
		into[prefix] = true
	}
}

// README.md describes every key, and no other.
func TestEveryKeyIsDescribed(t *testing.T) {
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	described := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		if cells := strings.Split(line, "|"); len(cells) > 3 {
			for _, key := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(cells[1], -1) {
				described[strings.ToLower(key[1])] = true
			}
		}
	}
	known := map[string]bool{}
	keys(reflect.TypeFor[config](), "", known)
	for key := range known {
		if !described[key] {
			t.Errorf("%s is not described", key)
		}
	}
	whole := map[string]bool{"auth": true, "lps": true, "chains.<id>": true, "chains.<id>.contracts[]": true, "chains.solana": true, "chains.solana.programs[]": true} // that have members
	for _, key := range slices.Sorted(maps.Keys(described)) {
		if !known[key] && !whole[key] {
			t.Errorf("%s is described and does not exist", key)
		}
	}
}

// The examples can be read by the server, but for what is not on this machine.
func TestExamples(t *testing.T) {
	t.Setenv("SWAPPER_API_KEY", "secret")
	for _, name := range []string{"config.example.json", "config.private.json"} {
		c, err := load(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := newGate(c.Auth, c.RateLimit); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		s, err := c.swaps(quiet())
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}
