package lp

import (
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"time"
)

// ParseFault reads the names of faults that need no more than a name, separated
// by commas: the switches of [Fault], Stall and StallWithin for an hour, Status for
// 503. "" is an honest LP.
func ParseFault(names string) (f Fault, err error) {
	for name := range strings.SplitSeq(names, ",") {
		name = strings.TrimSpace(name)
		if name == "" {
			continue
		}
		switch v := reflect.ValueOf(&f).Elem().FieldByName(name); {
		case !v.IsValid():
			return Fault{}, fmt.Errorf("unknown fault %q; there are %s", name, strings.Join(faults(), ", "))
		case v.Kind() == reflect.Bool:
			v.SetBool(true)
		case v.Type() == reflect.TypeFor[time.Duration]():
			v.SetInt(int64(time.Hour))
		case v.Kind() == reflect.Int:
			v.SetInt(http.StatusServiceUnavailable)
		default:
			return Fault{}, fmt.Errorf("the fault %q needs more than a name", name)
		}
	}
	return f, nil
}

// faults are the names that ParseFault knows.
func faults() (names []string) {
	for _, field := range reflect.VisibleFields(reflect.TypeFor[Fault]()) {
		if _, err := ParseFault(field.Name); err == nil {
			names = append(names, field.Name)
		}
	}
	return names
}

// LieText is [Lie] with a value that is written as a text: it becomes of the type
// that the true one has. "" leaves the field out.
func LieText(on, field, value string) func(path string, answer map[string]any) {
	return Change(on, field, func(truth any) any {
		if value == "" {
			return nil
		}
		if _, isText := truth.(string); isText || !json.Valid([]byte(value)) {
			return value
		}
		return json.RawMessage(value)
	})
}
