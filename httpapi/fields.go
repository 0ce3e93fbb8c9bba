package httpapi

import (
	"math"
	"math/big"
	"slices"
	"strconv"
	"time"

	"github.com/swapper-go/swapper/fault"
)

// field is one field of an operation's input: its name and both directions
// between the wire and the structure In. set reads it in the handler; get, used by
// the client, returns what goes into a JSON body, nil when the field is not given.
type field[In any] struct {
	name     string
	required bool
	set      func(in *In, path string, v value) error
	get      func(in *In) any
}

// must makes a field required.
func (f field[In]) must() field[In] {
	f.required = true
	return f
}

// decode reads an object into an In, field by field. Null is as good as absent.
// Unknown members are refused by name unless they are accepted. path is that of
// the object itself, empty for the whole input.
func decode[In any](fields []field[In], path string, v value, acceptUnknown bool) (In, error) {
	var in In
	if v.kind != kindObject {
		if path == "" {
			path = "body"
		}
		return in, wrongKind(path, "an object", v)
	}
	if !acceptUnknown {
		for _, m := range v.members {
			if !has(fields, m.name) {
				return in, fault.Invalid(shown(join(path, m.name)), "is not a field of this operation")
			}
		}
	}
	for i := range fields {
		f := &fields[i]
		m, ok := find(v.members, f.name)
		switch {
		case ok && m.kind != kindNull:
			if err := f.set(&in, join(path, f.name), m); err != nil {
				return in, err
			}
		case f.required:
			return in, fault.Invalid(join(path, f.name), "is required")
		}
	}
	return in, nil
}

func has[In any](fields []field[In], name string) bool {
	return slices.ContainsFunc(fields, func(f field[In]) bool { return f.name == name })
}

func find(members []member, name string) (value, bool) {
	for i := range members {
		if members[i].name == name {
			return members[i].value, true
		}
	}
	return value{}, false
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// shown truncates a name that came from outside for use in an error, and puts quotes in
// the place of one that is empty.
func shown(name string) string {
	const most = 64
	if name == "" {
		return `""`
	}
	if len(name) <= most {
		return name
	}
	cut := 0
	for i := range name { // steps by characters, so that none is torn
		if i > most {
			break
		}
		cut = i
	}
	return name[:cut] + "..."
}

// The constructors below make a field of a place in In. A text, a count, a false boolean
// and an empty list are not given when they are zero, the others when they are nil.

func textField[In any, S ~string](name string, at func(*In) *S) field[In] {
	return stringField(name, at, toText)
}

// feeRateField is a text that may also be a JSON number.
func feeRateField[In any](name string, at func(*In) *string) field[In] {
	return stringField(name, at, toFeeRate)
}

func stringField[In any, S ~string](name string, at func(*In) *S, to func(string, value) (string, error)) field[In] {
	return field[In]{
		name: name,
		set: func(in *In, path string, v value) error {
			s, err := to(path, v)
			*at(in) = S(s)
			return err
		},
		get: func(in *In) any {
			if s := *at(in); s != "" {
				return string(s)
			}
			return nil
		},
	}
}

func bigIntField[In any](name string, at func(*In) **big.Int) field[In] {
	return field[In]{
		name: name,
		set: func(in *In, path string, v value) error {
			n, err := toBigInt(path, v)
			*at(in) = n
			return err
		},
		get: func(in *In) any {
			if n := *at(in); n != nil {
				return n.String()
			}
			return nil
		},
	}
}

// countField is a number of things; 0 is as good as not given.
func countField[In any](name string, at func(*In) *int) field[In] {
	return field[In]{
		name: name,
		set: func(in *In, path string, v value) error {
			n, err := toBigInt(path, v)
			if err != nil {
				return err
			}
			if !n.IsInt64() || n.Int64() > math.MaxInt32 || n.Int64() < math.MinInt32 {
				return fault.Invalid(path, "must be at most 2147483647")
			}
			*at(in) = int(n.Int64())
			return nil
		},
		get: func(in *In) any {
			if n := *at(in); n != 0 {
				return n
			}
			return nil
		},
	}
}

func numberField[In any](name string, at func(*In) **float64) field[In] {
	return field[In]{
		name: name,
		set: func(in *In, path string, v value) error {
			f, err := toNumber(path, v)
			*at(in) = &f
			return err
		},
		get: func(in *In) any {
			if f := *at(in); f != nil {
				return plain(*f)
			}
			return nil
		},
	}
}

func secondsField[In any](name string, at func(*In) **time.Duration) field[In] {
	return field[In]{
		name: name,
		set: func(in *In, path string, v value) error {
			d, err := toSeconds(path, v)
			*at(in) = &d
			return err
		},
		get: func(in *In) any {
			if d := *at(in); d != nil {
				return plain(d.Seconds())
			}
			return nil
		},
	}
}

func boolField[In any](name string, at func(*In) *bool) field[In] {
	return field[In]{
		name: name,
		set: func(in *In, path string, v value) error {
			b, err := toBool(path, v)
			*at(in) = b
			return err
		},
		get: func(in *In) any {
			if *at(in) {
				return true
			}
			return nil
		},
	}
}

func textsField[In any](name string, at func(*In) *[]string) field[In] {
	return field[In]{
		name: name,
		set: func(in *In, path string, v value) error {
			list, err := toList(path, v, toText)
			*at(in) = list
			return err
		},
		get: func(in *In) any {
			if list := *at(in); len(list) > 0 {
				return list
			}
			return nil
		},
	}
}

// plain is a number that is written without exponent, as the handler wants it.
type plain float64

func (n plain) String() string { return strconv.FormatFloat(float64(n), 'f', -1, 64) }

// MarshalJSON implements [json.Marshaler].
func (n plain) MarshalJSON() ([]byte, error) { return []byte(n.String()), nil }
