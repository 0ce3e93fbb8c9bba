package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
)

// named is a row of the table: leaves that no test compares, of which cases, and why.
type named struct {
	file, cases string
	leaves      []string
	reason      string
	used        []bool // by leaf
}

func readNamed(path string) ([]*named, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var out []*named
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(strings.TrimSpace(line), "|")
		if len(cells) != 6 || !strings.HasPrefix(strings.TrimSpace(cells[1]), "`") {
			continue
		}
		for i, c := range cells {
			cells[i] = strings.TrimSpace(c)
		}
		n := &named{file: strings.Trim(cells[1], "`"), cases: strings.Trim(cells[2], "`"), reason: cells[4]}
		n.leaves = strings.Split(strings.Trim(cells[3], "`"), "` `")
		n.used = make([]bool, len(n.leaves))
		out = append(out, n)
	}
	return out, nil
}

// covers reports whether a row names the leaf. A * in a row is any part of a name,
// but for [*], which is any element of a list.
func (n *named) covers(m miss) bool {
	file, err := path.Match(n.file, m.File)
	if err != nil || !file || n.cases != "all" && !glob(n.cases, m.Why) {
		return false
	}
	i := slices.IndexFunc(n.leaves, func(leaf string) bool {
		return glob(strings.ReplaceAll(leaf, "[*]", "[element]"), strings.ReplaceAll(m.Leaf, "[*]", "[element]"))
	})
	if i >= 0 {
		n.used[i] = true
	}
	return i >= 0
}

// glob matches with * for any text.
func glob(pattern, s string) bool {
	head, rest, more := strings.Cut(pattern, "*")
	if !strings.HasPrefix(s, head) {
		return false
	}
	s = s[len(head):]
	if !more {
		return s == ""
	}
	for i := range len(s) + 1 {
		if glob(rest, s[i:]) {
			return true
		}
	}
	return false
}

// report prints what goes unnoticed in a file and returns how many changes are
// neither compared nor named.
func report(name string, l *look, found []miss, rows []*named) (left int) {
	type group struct {
		leaf, why string
	}
	groups := map[group][]miss{}
	var order []group
	for _, m := range found {
		if slices.ContainsFunc(rows, func(n *named) bool { return n.covers(m) }) {
			continue
		}
		left++
		g := group{m.Leaf, m.Why}
		if groups[g] == nil {
			order = append(order, g)
		}
		groups[g] = append(groups[g], m)
	}
	fmt.Printf("%s: %d changes, %d noticed, %d named\n", name, l.tried, l.seen, l.tried-l.seen-left)
	slices.SortFunc(order, func(a, b group) int { return cmp.Or(cmp.Compare(a.why, b.why), cmp.Compare(a.leaf, b.leaf)) })
	for _, g := range order {
		ms := groups[g]
		fmt.Printf("    %3d  %-50s %s  e.g. %q: %.40v -> %.40v\n", len(ms), g.leaf, g.why, ms[0].Case, ms[0].From, ms[0].To)
	}
	return left
}
