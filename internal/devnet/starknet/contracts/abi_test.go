package contracts

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"
)

// TestABI compares the entry points that ABIs name with those that there are.
func TestABI(t *testing.T) {
	without := 0
	for _, c := range Classes(Rules{}) {
		if c.ABI == "" {
			without++
			continue
		}
		type param struct{ Name, Type, Kind string }
		var items []struct {
			Type, Name, Kind string
			Inputs, Members  []param
			Variants         []param
			Items            []struct {
				Name            string
				Inputs, Outputs []param
			}
		}
		if err := json.Unmarshal([]byte(c.ABI), &items); err != nil {
			t.Errorf("%s: %v", c.Name, err)
			continue
		}
		var names []string
		constructor := false
		for _, i := range items {
			constructor = constructor || i.Type == "constructor"
			for _, f := range i.Items {
				names = append(names, f.Name)
				for _, p := range append(f.Inputs, f.Outputs...) {
					if !strings.Contains(p.Type, "::") {
						t.Errorf("%s.%s: %s is of type %q", c.Name, f.Name, p.Name, p.Type)
					}
				}
			}
			if i.Type == "event" && i.Kind == "struct" && slices.ContainsFunc(i.Members, func(m param) bool { return m.Kind != "key" && m.Kind != "data" || strings.Contains(m.Name, " ") }) {
				t.Errorf("%s: event %+v", c.Name, i)
			}
		}
		slices.Sort(names)
		want := slices.Sorted(maps.Keys(c.Entries))
		if c.Hash == ClassArgent {
			want = slices.DeleteFunc(want, func(s string) bool { return s == "__validate_deploy__" }) // takes signers, whose kinds an ABI of lines cannot say
		}
		if !slices.Equal(names, want) {
			t.Errorf("%s: the ABI has %v, the contract %v", c.Name, names, want)
		}
		if constructor && c.Constructor == nil {
			t.Errorf("%s has no constructor", c.Name)
		}
	}
	if without > 2 {
		t.Errorf("%d classes have no ABI", without)
	}
}

func TestABIOfWrongLines(t *testing.T) {
	for _, line := range []string{"", "view", "view x", "view x(", "look x()", "view x(a)", "view x(a: thing)", "view x() -> Array<thing>"} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%q was taken", line)
				}
			}()
			abi("X", line)
		}()
	}
}
