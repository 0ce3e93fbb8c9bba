package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// corpus are the unpacked vectors.
type corpus struct {
	dir   string
	names []string // <area>/<file>
}

func unpack(dir string) (corpus, error) {
	c := corpus{dir: filepath.Join(dir, "vectors")}
	packed, err := filepath.Glob("internal/vectors/testdata/*/*.json.gz")
	if err != nil || len(packed) == 0 {
		return c, fmt.Errorf("no vectors below internal/vectors/testdata: run this in the module's root (%v)", err)
	}
	for _, path := range packed {
		data, err := os.ReadFile(path)
		if err != nil {
			return c, err
		}
		r, err := gzip.NewReader(bytes.NewReader(data))
		if err != nil {
			return c, err
		}
		if data, err = io.ReadAll(r); err != nil {
			return c, err
		}
		name := filepath.Base(filepath.Dir(path)) + "/" + strings.TrimSuffix(filepath.Base(path), ".json.gz")
		c.names = append(c.names, name)
		if err := write(filepath.Join(c.dir, name+".json"), data); err != nil {
			return c, err
		}
	}
	return c, nil
}

func write(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, data, 0o644)
}

// miss is a change that no test has noticed.
type miss struct {
	File, Case, Leaf string
	Path             string
	Why              string // of a case whose answer differs on purpose, or that is not run
	From, To         any
}

// look is the search through one file.
type look struct {
	name   string
	runs   []testRun
	all    corpus
	rounds int
	seed   uint64
	dir    string

	tried, seen int
}

// try is one changed answer.
type try struct {
	leaf  leaf
	text  json.RawMessage // of the whole case
	to    any
	index int // of the case
}

func (l *look) look(ctx context.Context) ([]miss, error) {
	data, err := os.ReadFile(filepath.Join(l.all.dir, l.name+".json"))
	if err != nil {
		return nil, err
	}
	var head map[string]json.RawMessage
	var cases []map[string]json.RawMessage
	if err := json.Unmarshal(data, &head); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(head["cases"], &cases); err != nil {
		return nil, err
	}
	tries, err := l.tries(cases)
	if err != nil {
		return nil, err
	}
	names := make([]string, len(cases))
	for i, c := range cases {
		_ = json.Unmarshal(c["name"], &names[i])
	}
	folder, err := l.folder()
	if err != nil {
		return nil, err
	}
	why := l.reasons()
	var missed []miss
	for round := range l.rounds {
		var now []try
		for i := range cases {
			if round < len(tries[i]) {
				now = append(now, tries[i][round])
			}
		}
		if len(now) == 0 {
			break
		}
		unseen, err := l.round(ctx, folder, head, cases, names, now)
		if err != nil {
			return nil, err
		}
		l.tried += len(now)
		l.seen += len(now) - len(unseen)
		for _, t := range unseen {
			missed = append(missed, miss{File: l.name, Case: names[t.index], Leaf: t.leaf.kind, Path: fmt.Sprint(t.leaf.path), Why: why[names[t.index]], From: t.leaf.value, To: t.to})
		}
	}
	return missed, nil
}

// tries lists the changes of each case, in random order, those of other kinds first.
func (l *look) tries(cases []map[string]json.RawMessage) ([][]try, error) {
	known := map[string][]any{}
	answers := make([]map[string]any, len(cases))
	for i, c := range cases {
		answers[i] = map[string]any{}
		for _, member := range []string{"expected", "better"} {
			raw, ok := c[member]
			if !ok {
				continue
			}
			d := json.NewDecoder(bytes.NewReader(raw))
			d.UseNumber()
			var v any
			if err := d.Decode(&v); err != nil {
				return nil, err
			}
			if m, ok := v.(map[string]any); ok && member == "better" {
				delete(m, "why")
			}
			answers[i][member] = v
			valuesOf(v, member, known)
		}
	}
	random := rand.New(rand.NewPCG(l.seed, 0))
	count := map[string]int{}
	out := make([][]try, len(cases))
	for i, c := range cases {
		var all []leaf
		for member, v := range answers[i] {
			all = append(all, leavesOf(v, []any{member}, member)...)
		}
		slices.SortFunc(all, func(a, b leaf) int { return strings.Compare(fmt.Sprint(a.path), fmt.Sprint(b.path)) })
		random.Shuffle(len(all), func(a, b int) { all[a], all[b] = all[b], all[a] })
		slices.SortStableFunc(all, func(a, b leaf) int { return count[a.kind] - count[b.kind] })
		for _, f := range all[:min(len(all), l.rounds)] {
			count[f.kind]++
			member := f.path[0].(string)
			changed := change(answers[i], f.path, f, known).(map[string]any)[member]
			if member == "better" {
				changed.(map[string]any)["why"] = "changed"
			}
			fields := map[string]any{}
			for name, raw := range c {
				fields[name] = raw
			}
			fields[member] = changed
			text, err := json.Marshal(fields)
			if err != nil {
				return nil, err
			}
			out[i] = append(out[i], try{f, text, other(f, known), i})
		}
	}
	return out, nil
}

// folder is a copy of the vectors in which this file can be changed.
func (l *look) folder() (string, error) {
	dir := filepath.Join(l.dir, "changed", strings.ReplaceAll(l.name, "/", "_"))
	if err := os.RemoveAll(dir); err != nil {
		return "", err
	}
	for _, name := range l.all.names {
		if name == l.name {
			continue
		}
		to := filepath.Join(dir, name+".json")
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return "", err
		}
		if err := os.Symlink(filepath.Join(l.all.dir, name+".json"), to); err != nil {
			return "", err
		}
	}
	return dir, nil
}

// reasons are those of the cases that no test compares with the reference.
func (l *look) reasons() map[string]string {
	why := map[string]string{}
	for _, r := range l.runs {
		for _, d := range r.told.Different {
			why[d.Case] = "differs: " + d.Reason
		}
		for _, n := range r.told.NotRun {
			why[n.Case] = "not run: " + n.Why
		}
	}
	return why
}

// round runs the tests on the file with the given changes and returns those that
// no test has noticed. A test that panics is run again on half of the changes.
func (l *look) round(ctx context.Context, folder string, head map[string]json.RawMessage, cases []map[string]json.RawMessage, names []string, now []try) ([]try, error) {
	texts := make([]any, len(cases))
	for i, c := range cases {
		texts[i] = c
	}
	for _, t := range now {
		texts[t.index] = t.text
	}
	file := map[string]any{}
	for name, raw := range head {
		file[name] = raw
	}
	file["cases"] = texts
	data, err := json.Marshal(file)
	if err != nil {
		return nil, err
	}
	if err := write(filepath.Join(folder, l.name+".json"), data); err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	for _, r := range l.runs {
		told, failed, err := r.run(ctx, match(r.test), folder)
		if err != nil {
			return nil, err
		}
		if len(told) == 0 && failed != "" { // it has not come to its end
			if len(now) == 1 {
				return nil, nil
			}
			half := len(now) / 2
			a, err := l.round(ctx, folder, head, cases, names, now[:half])
			if err != nil {
				return nil, err
			}
			b, err := l.round(ctx, folder, head, cases, names, now[half:])
			return append(a, b...), err
		}
		for _, t := range told {
			if t.Area+"/"+t.File == l.name {
				for _, name := range t.Failed {
					seen[name] = true
				}
			}
		}
	}
	var unseen []try
	for _, t := range now {
		if !seen[names[t.index]] {
			unseen = append(unseen, t)
		}
	}
	return unseen, nil
}
