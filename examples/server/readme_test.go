package main

import (
	"maps"
	"net/netip"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
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

// example is the example as it is shipped, and with every key uncommented.
func example(t *testing.T) (shipped, whole []byte) {
	t.Helper()
	shipped, err := os.ReadFile("config.example.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return shipped, regexp.MustCompile(`(?m)^( *)#(\S)`).ReplaceAll(shipped, []byte("$1$2"))
}

// The example has every key, and no other; with every key uncommented it can be read.
func TestExampleHasEveryKey(t *testing.T) {
	_, whole := example(t)
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

// Every key that the example shows can be set by the environment too, over the file as it is
// shipped and over an empty one.
func TestEnvironmentHasEveryKey(t *testing.T) {
	shipped, whole := example(t)
	var document yaml.Node
	if err := yaml.Unmarshal(whole, &document); err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	keys(reflect.TypeFor[config](), "", known)
	var want config
	if err := parse(whole, nil, &want); err != nil {
		t.Fatal(err)
	}
	environ := variables(t, document.Content[0], "", "", known)
	if len(environ) < 100 {
		t.Errorf("only %d variables: %q", len(environ), environ)
	}
	for name, file := range map[string][]byte{"over the shipped file": shipped, "over an empty file": nil} {
		var got config
		if err := parse(file, environ, &got); err != nil {
			t.Errorf("%s: %v", name, err)
		} else if diff := cmp.Diff(want, got, cmp.Exporter(func(reflect.Type) bool { return true }), cmp.Comparer(func(a, b netip.Prefix) bool { return a == b })); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// variables say what a node says, each one key.
func variables(t *testing.T, n *yaml.Node, key, name string, known map[string]bool) (out []string) {
	t.Helper()
	switch {
	case n.Kind == yaml.ScalarNode:
		return []string{prefix + name + "=" + n.Value}
	case known[key], n.Kind == yaml.SequenceNode && n.Content[0].Kind == yaml.ScalarNode:
		n.Style = yaml.FlowStyle
		text, err := yaml.Marshal(n)
		if err != nil {
			t.Fatal(err)
		}
		return []string{prefix + name + "=" + strings.TrimSpace(string(text))}
	case n.Kind == yaml.MappingNode:
		for i := 0; i < len(n.Content); i += 2 {
			word := n.Content[i].Value
			out = append(out, variables(t, n.Content[i+1], join(key, strings.ToLower(word)), strings.TrimPrefix(name+separator+word, separator), known)...)
		}
	default:
		for i, item := range n.Content {
			out = append(out, variables(t, item, key+"[]", name+separator+strconv.Itoa(i), known)...)
		}
	}
	return out
}

// The variables that the documents name can be set over each file that is shipped.
func TestDocumentedVariables(t *testing.T) {
	documents := []string{"README.md", "config.example.yaml", "swapper.service", "Containerfile", "../../docs/operate.md"}
	named := map[string]bool{}
	for _, name := range documents {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range regexp.MustCompile(prefix+`[A-Z0-9_]+=[^\s`+"`"+`]*[^\s`+"`"+`,;]`).FindAllString(string(text), -1) {
			named[v] = true
		}
	}
	for _, want := range []string{"SWAPPER__CHAINS__CITREA__RPC=[https://rpc.example]", "SWAPPER__AUTH__0__NAME=public", "SWAPPER__LISTEN=:8080"} {
		if !named[want] {
			t.Errorf("%s is not among %q", want, slices.Sorted(maps.Keys(named)))
		}
	}
	for _, file := range []string{"config.example.yaml", "config.private.yaml", "config.local.yaml"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for v := range named {
			var c config
			if err := parse(text, []string{v}, &c); err != nil {
				t.Errorf("%s: %v", file, err)
			}
		}
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
