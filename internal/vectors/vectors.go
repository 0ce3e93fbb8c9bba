// Package vectors loads the conformance vectors: inputs and outputs of the
// reference implementation, one JSON file per topic, under <area>/<file>.
//
// The vectors are kept compressed beside this package. When the environment
// variable SWAPPER_VECTORS names a folder, <folder>/<area>/<file>.json is read
// instead. When SWAPPER_VECTORS_REPORT names a file, one JSON line per vector
// file that a test has run is appended to it; see [Report]. Relative paths are
// meant from the module's root.
//
// Every test that uses vectors is named TestVectors..., so that
//
//	go test ./... -run ^TestVectors
//
// runs them all. Only tests import this package.
//
// [Drawn] makes values of what a fuzzer supplies, so that a fuzz target is about
// what is well-formed and slightly wrong instead of about bytes. Only tests import it.
package vectors

import (
	"bytes"
	"compress/gzip"
	"embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

//go:embed testdata
var own embed.FS

// File is one vector file.
type File struct {
	Area, Name string // as in bitcoin, addresses
	Cases      []*Case
	Head       map[string]json.RawMessage // the file's other members: description, source, records, now, ...
}

// Member decodes a member of the file's head into v; the test fails if it is absent.
func (f *File) Member(t testing.TB, name string, v any) {
	t.Helper()
	decodeMember(t, f.Head, name, v)
}

// Load reads a vector file, failing the test if it cannot. A file that the
// folder named by SWAPPER_VECTORS does not have skips the test. Fuzz targets
// take their seeds through it too.
func Load(t testing.TB, area, name string) *File {
	t.Helper()
	data, err := read(area, name)
	if errors.Is(err, fs.ErrNotExist) && os.Getenv("SWAPPER_VECTORS") != "" {
		t.Skipf("the vector folder has no %s/%s.json", area, name)
	}
	if err != nil {
		t.Fatalf("vectors %s/%s: %v", area, name, err)
	}
	f := &File{Area: area, Name: name}
	if err := json.Unmarshal(data, &f.Head); err != nil {
		t.Fatalf("vectors %s/%s: %v", area, name, err)
	}
	var cases []map[string]json.RawMessage
	f.Member(t, "cases", &cases)
	delete(f.Head, "cases")
	for i, fields := range cases {
		c := &Case{fields: fields}
		if err := json.Unmarshal(fields["name"], &c.Name); err != nil {
			t.Fatalf("vectors %s/%s: case %d has no name: %v", area, name, i, err)
		}
		f.Cases = append(f.Cases, c)
	}
	if len(f.Cases) == 0 {
		t.Fatalf("vectors %s/%s: no cases", area, name)
	}
	return f
}

func read(area, name string) ([]byte, error) {
	if dir, err := named("SWAPPER_VECTORS"); dir != "" || err != nil {
		if err != nil {
			return nil, err
		}
		if _, err := os.Stat(dir); err != nil {
			return nil, fmt.Errorf("SWAPPER_VECTORS: %s", err) // a wrong folder is an error, not an absent file
		}
		return os.ReadFile(filepath.Join(dir, area, name+".json"))
	}
	packed, err := own.Open("testdata/" + area + "/" + name + ".json.gz")
	if err != nil {
		return nil, err
	}
	defer packed.Close()
	plain, err := gzip.NewReader(packed)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(plain)
}

// named returns the path that an environment variable holds, "" if none. Tests
// run in the folders of their packages, so a relative path is meant from the
// module's root.
func named(variable string) (string, error) {
	path := os.Getenv(variable)
	if path == "" || filepath.IsAbs(path) {
		return path, nil
	}
	root, err := moduleRoot()
	return filepath.Join(root, path), err
}

// moduleRoot is the folder of go.mod, above the running test's.
func moduleRoot() (string, error) {
	dir, err := os.Getwd()
	for ; err == nil; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", errors.New("no go.mod above the test's folder")
		}
	}
	return "", err
}

// Each runs check on every case of area/name, each as a subtest named after the
// case, and reports the outcome.
func Each(t *testing.T, area, name string, check func(t *testing.T, c *Case)) {
	t.Helper()
	Load(t, area, name).Each(t, check)
}

// Each runs check on every case of the file, each as a subtest, and reports the
// outcome.
func (f *File) Each(t *testing.T, check func(t *testing.T, c *Case)) {
	t.Helper()
	known := differences(t)
	for _, c := range f.Cases {
		c.file, c.known = f, known
		c.notRun = "left out by the pattern of -run"
		t.Run(c.Name, func(t *testing.T) {
			c.notRun = ""
			defer func() {
				c.failed = t.Failed()
				if t.Skipped() && c.notRun == "" {
					c.notRun = "skipped"
				}
			}()
			c.failed = true // stands if check panics or leaves through Fatal
			c.wellFormed(t)
			check(t, c)
		})
	}
	appendReport(t, f)
}

// Of leaves the cases whose input names one of some functions (fn): those that a test
// is for. Another test runs the others.
func (f *File) Of(t testing.TB, functions ...string) *File {
	t.Helper()
	return f.keep(t, functions, true)
}

// But leaves the cases whose input names none of some functions.
func (f *File) But(t testing.TB, functions ...string) *File {
	t.Helper()
	return f.keep(t, functions, false)
}

func (f *File) keep(t testing.TB, functions []string, named bool) *File {
	t.Helper()
	kept := *f
	kept.Cases = nil
	for _, c := range f.Cases {
		var in struct{ Fn string }
		c.Input(t, &in)
		if slices.Contains(functions, in.Fn) == named {
			kept.Cases = append(kept.Cases, c)
		}
	}
	if len(kept.Cases) == 0 {
		t.Fatalf("vectors %s/%s: no cases of %v", f.Area, f.Name, functions)
	}
	return &kept
}

// Case is one case of a vector file.
type Case struct {
	Name string

	fields map[string]json.RawMessage
	file   *File
	known  map[string]bool
	differ string
	notRun string
	failed bool
}

// Input decodes the case's input into v.
func (c *Case) Input(t testing.TB, v any) {
	t.Helper()
	decodeMember(t, c.fields, "input", v)
}

// Expected decodes what the reference did into v.
func (c *Case) Expected(t testing.TB, v any) {
	t.Helper()
	decodeMember(t, c.fields, "expected", v)
}

// Member decodes another member of the case into v and reports whether it is there.
func (c *Case) Member(t testing.TB, name string, v any) bool {
	t.Helper()
	if _, ok := c.fields[name]; !ok {
		return false
	}
	decodeMember(t, c.fields, name, v)
	return true
}

// Want returns the JSON that the project must produce: the better answer where
// the case has one (`better: {expected, why}`), else what the reference did. A
// better answer counts as the intended difference with the id <area>/<file>.
func (c *Case) Want(t *testing.T) json.RawMessage {
	t.Helper()
	var better struct{ Expected json.RawMessage }
	if c.Member(t, "better", &better) && better.Expected != nil {
		c.Differ(t, c.file.Area+"/"+c.file.Name)
		return better.Expected
	}
	return c.fields["expected"]
}

// Refused reports whether want, as returned by [Case.Want], is a refusal:
// an object with `"error": true`.
func Refused(want json.RawMessage) bool {
	var e struct {
		Error any `json:"error"`
	}
	if json.Unmarshal(want, &e) != nil {
		return false
	}
	refused, _ := e.Error.(bool)
	return refused
}

// Refuses reports whether the reference refused: so must the project, with err. Of what the reference
// takes an error fails the case.
func (c *Case) Refuses(t *testing.T, err error) bool {
	t.Helper()
	var want json.RawMessage
	c.Expected(t, &want)
	if Refused(want) {
		if err == nil {
			t.Error("no error; the reference refuses this")
		}
		return true
	}
	if err != nil {
		t.Fatal(err)
	}
	return false
}

// wellFormed fails a case that neither refuses nor answers: a refusal says
// `"error": true`, an approval `"ok": true`, and nothing else says false.
func (c *Case) wellFormed(t *testing.T) {
	t.Helper()
	var better struct{ Expected json.RawMessage }
	_ = json.Unmarshal(c.fields["better"], &better)
	for _, answer := range []json.RawMessage{c.fields["expected"], better.Expected} {
		var says struct {
			Error, OK any
			NotAToken bool
		}
		if json.Unmarshal(answer, &says) != nil {
			continue // a text, a number or a list
		}
		if says.OK == false || says.Error == false && !says.NotAToken {
			t.Errorf("neither a refusal nor an answer: %.200s", answer)
		}
	}
}

// Differ says that the project answers this case otherwise than the reference,
// on purpose, for the reason with the given id in docs/differences.md. The test
// must check the answer that it gives instead.
func (c *Case) Differ(t *testing.T, id string) {
	t.Helper()
	if !c.known[id] {
		t.Fatalf("no difference %q in docs/differences.md", id)
	}
	c.differ = id
}

// NotRun says that the case needs a part of the project that does not exist, and
// ends its test. It is reported as not run, never as passed.
func (c *Case) NotRun(t *testing.T, why string) {
	t.Helper()
	c.notRun = why
	t.Skip("not run: " + why)
}

// NotOurs says that the case shows a rule of the reference that the project has no use
// for, under the given id in docs/differences.md, and ends its test. It is reported as
// not run.
func (c *Case) NotOurs(t *testing.T, id string) {
	t.Helper()
	if !c.known[id] {
		t.Fatalf("no row %q in docs/differences.md", id)
	}
	c.NotRun(t, "not ours: "+id)
}

func decodeMember(t testing.TB, m map[string]json.RawMessage, name string, v any) {
	t.Helper()
	raw, ok := m[name]
	if !ok {
		t.Fatalf("no member %q", name)
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if err := d.Decode(v); err != nil {
		t.Fatalf("member %q: %v", name, err)
	}
}

// differences returns the ids of docs/differences.md: what stands between
// backquotes in the first cell of a table row.
func differences(t *testing.T) map[string]bool {
	t.Helper()
	dir, err := moduleRoot()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "docs", "differences.md"))
	if err != nil {
		t.Fatal(err)
	}
	ids := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "| `"); ok {
			if id, _, ok := strings.Cut(rest, "` |"); ok {
				ids[id] = true
			}
		}
	}
	return ids
}

// Unhex decodes hex digits of a vector.
func Unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Inputs returns a text member of every case's input, as seeds for fuzzing.
func Inputs(f *testing.F, area, name, member string) []string {
	f.Helper()
	var seeds []string
	for _, c := range Load(f, area, name).Cases {
		var input map[string]any
		c.Input(f, &input)
		if s, ok := input[member].(string); ok {
			seeds = append(seeds, s)
		}
	}
	if len(seeds) == 0 {
		f.Fatalf("no %s in %s/%s", member, area, name)
	}
	return seeds
}
