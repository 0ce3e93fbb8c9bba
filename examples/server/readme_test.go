package main

import (
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// keys lists what a configuration may have, in lower case.
func keys(of reflect.Type, prefix string, into map[string]bool) {
	switch {
	case of == reflect.TypeFor[chainsConfig]():
		keys(reflect.TypeFor[evmConfig](), prefix+".mychain", into)
		keys(reflect.TypeFor[solanaConfig](), prefix+".solana", into)
		keys(reflect.TypeFor[starknetConfig](), prefix+".starknet", into)
	case of == reflect.TypeFor[entryLimit]():
		keys(reflect.TypeFor[rateConfig](), prefix, into)
	case of.Kind() == reflect.Pointer:
		keys(of.Elem(), prefix, into)
	case of.Kind() == reflect.Slice && of.Elem().Kind() == reflect.Struct && of.Elem().PkgPath() == reflect.TypeFor[config]().PkgPath():
		keys(of.Elem(), prefix+"[]", into)
	case of.Kind() == reflect.Struct && of.PkgPath() != "net/netip":
		for _, f := range fieldsOf(of) {
			keys(f.Type, join(prefix, strings.ToLower(keyOf(f.Name))), into)
		}
	default:
		into[prefix] = true
	}
}

// given lists the keys of a file in the same way.
func given(n *yaml.Node, prefix string, known, into map[string]bool) {
	if prefix != "" {
		into[prefix] = true
		if known[prefix] { // a value, of whatever form
			return
		}
	}
	switch n.Kind {
	case yaml.MappingNode:
		for i := 0; i < len(n.Content); i += 2 {
			given(n.Content[i+1], join(prefix, strings.ToLower(n.Content[i].Value)), known, into)
		}
	case yaml.SequenceNode:
		for _, item := range n.Content {
			given(item, prefix+"[]", known, into)
		}
	}
}

// The example has every key, and no other; with every key uncommented it can be read.
func TestExampleHasEveryKey(t *testing.T) {
	text, err := os.ReadFile("config.example.yaml")
	if err != nil {
		t.Fatal(err)
	}
	whole := regexp.MustCompile(`(?m)^( *)#(\S)`).ReplaceAll(text, []byte("$1$2"))
	var c config
	if err := parse(whole, nil, &c); err != nil {
		t.Fatal(err)
	}
	var document yaml.Node
	if err := yaml.Unmarshal(whole, &document); err != nil {
		t.Fatal(err)
	}
	known, shown := map[string]bool{}, map[string]bool{}
	keys(reflect.TypeFor[config](), "", known)
	given(document.Content[0], "", known, shown)
	for _, key := range slices.Sorted(maps.Keys(known)) {
		if !shown[key] {
			t.Errorf("%s is not in the example", key)
		}
	}
	if len(known) < 90 {
		t.Errorf("only %d keys are known", len(known))
	}
}

// The examples can be read by the server as they are, but for what is not on this
// machine.
func TestExamples(t *testing.T) {
	t.Setenv("SWAPPER_API_KEY", "0123456789abcdef")
	for _, name := range []string{"config.example.yaml", "config.private.yaml"} {
		c, err := load(name, os.Environ())
		if err == nil {
			err = run(t.Context(), c, true, quiet())
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	all, err := filepath.Glob("config.*.yaml")
	if err != nil || len(all) != 3 { // that of the local network is tried by .ci/readme
		t.Errorf("%v, %v", all, err)
	}
}
