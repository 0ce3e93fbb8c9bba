//go:build js

package main

import (
	"bytes"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/swapper-go/swapper/fault"
)

// strictly reads JSON. A member that is not known is refused, since it could be a bound, as is
// one of another type, both with the path to it. path is that of the whole, "" for the
// configuration.
func strictly(path string, text []byte, into any) error {
	return fill(path, text, reflect.ValueOf(into).Elem())
}

func fill(path string, text []byte, into reflect.Value) error {
	switch of := into.Type(); {
	case reads(of):
	case of.Kind() == reflect.Pointer && string(bytes.TrimSpace(text)) != "null":
		into.Set(reflect.New(of.Elem()))
		return fill(path, text, into.Elem())
	case of.Kind() == reflect.Struct:
		var members map[string]json.RawMessage
		if err := decode(path, text, &members); err != nil {
			return err
		}
		known := reflect.VisibleFields(of)
		for _, name := range slices.Sorted(maps.Keys(members)) {
			at := strings.TrimPrefix(path+"."+name, ".")
			i := slices.IndexFunc(known, func(f reflect.StructField) bool { return f.IsExported() && strings.EqualFold(nameOf(f), name) })
			if i < 0 {
				return fault.Invalid(at, "is not known")
			}
			if err := fill(at, members[name], into.FieldByIndex(known[i].Index)); err != nil {
				return err
			}
		}
		return nil
	case of.Kind() == reflect.Slice && of.Elem().Kind() != reflect.Uint8:
		var all []json.RawMessage
		if err := decode(path, text, &all); err != nil {
			return err
		}
		into.Set(reflect.MakeSlice(of, len(all), len(all)))
		for i, one := range all {
			if err := fill(fmt.Sprintf("%s[%d]", path, i), one, into.Index(i)); err != nil {
				return err
			}
		}
		return nil
	}
	return decode(path, text, into.Addr().Interface())
}

// reads reports whether a type reads its text itself.
func reads(t reflect.Type) bool {
	p := reflect.PointerTo(t)
	return p.Implements(reflect.TypeFor[json.Unmarshaler]()) || p.Implements(reflect.TypeFor[encoding.TextUnmarshaler]())
}

// nameOf is the name of a member as encoding/json writes it.
func nameOf(f reflect.StructField) string {
	if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" {
		return name
	}
	return f.Name
}

// decode reads a part of which no member has a name of its own.
func decode(path string, text []byte, into any) error {
	err := json.Unmarshal(text, into)
	if err == nil {
		return nil
	}
	if path == "" {
		path = "config"
	}
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		kind := kinds[wrong.Type.Kind()]
		if kind == "" {
			kind = "a " + wrong.Type.String()
		}
		return fault.Invalid(path, "must be %s, got %s", kind, wrong.Value)
	}
	return fault.Invalid(path, "%w", err)
}

// kinds are the words of JSON for what a member holds.
var kinds = map[reflect.Kind]string{reflect.String: "a string", reflect.Bool: "true or false", reflect.Int64: "a whole number", reflect.Uint64: "a whole number from 0", reflect.Slice: "an array", reflect.Map: "an object"}
