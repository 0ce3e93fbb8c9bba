package main

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v3"
)

// findings are all errors of a configuration, in the order of their lines: each has the file, the line
// and the path of the key, and says what would be right.
type findings []finding

// finding is one of them; line 0 is that of what the file does not have.
type finding struct {
	line int
	text string
}

// Error has one line for each finding.
func (f findings) Error() string {
	var lines []string
	for _, one := range f {
		lines = append(lines, one.text)
	}
	return strings.Join(lines, "\n")
}

// misread is an error of the form at a place of the file.
type misread struct {
	line       int // 0: of the environment
	path, what string
}

func (m *misread) Error() string {
	if m.line > 0 {
		return fmt.Sprintf("line %d: %s: %s", m.line, m.path, m.what)
	}
	return m.path + ": " + m.what
}

// wrong is an error at a place of the file.
func wrong(n *yaml.Node, path, format string, args ...any) error {
	return &misread{n.Line, cmp.Or(path, "the file"), fmt.Sprintf(format, args...)}
}

// found gathers the errors of reading a file's form and those of its meaning. What is said of the
// meaning of a part whose form is wrong is left out: it was judged without what could not be read.
func found(file string, root *yaml.Node, form, meaning error) (all findings) {
	add := func(line int, text string) {
		one := finding{line, fmt.Sprintf("%s: %s", file, text)}
		if line > 0 {
			one.text = fmt.Sprintf("%s:%d: %s", file, line, text)
		}
		if !slices.Contains(all, one) {
			all = append(all, one)
		}
	}
	var broken []string
	for _, err := range leaves(form) {
		text := err.Error()
		if m, ok := errors.AsType[*misread](err); ok {
			broken = append(broken, part(m.path))
			if m == err {
				text = m.path + ": " + m.what
				if m.line == 0 && m.path != "the file" {
					text += "; it is set by the environment"
				}
				add(m.line, text)
				continue
			}
		}
		add(0, text)
	}
	for _, err := range leaves(meaning) {
		if at := part(err.Error()); !slices.ContainsFunc(broken, func(b string) bool { return strings.HasPrefix(at, b) || strings.HasPrefix(b, at) }) {
			add(locate(root, err.Error()), err.Error())
		}
	}
	slices.SortStableFunc(all, func(a, b finding) int { return cmp.Compare(a.line, b.line) })
	return all
}

// part is what a text with a path at its beginning says something of as a whole: a key of the top,
// an entry of auth, a chain.
func part(text string) string {
	words := steps(text)
	if len(words) > 1 && (words[0] == "auth" || words[0] == "chains") {
		return words[0] + "." + words[1] + "."
	}
	return strings.Join(words[:min(len(words), 1)], "") + "."
}

// leaves are the errors that were joined into one.
func leaves(err error) []error {
	joined, ok := err.(interface{ Unwrap() []error })
	switch {
	case err == nil:
		return nil
	case !ok || errors.Join(joined.Unwrap()...).Error() != err.Error(): // it says more than they do
		return []error{err}
	}
	var out []error
	for _, e := range joined.Unwrap() {
		out = append(out, leaves(e)...)
	}
	return out
}

// steps are the words of the path with which a text begins: auth, 0, name.
func steps(text string) []string {
	beyond := func(c rune) bool {
		return !unicode.IsLetter(c) && !unicode.IsDigit(c) && !strings.ContainsRune("_-.[]", c)
	}
	if end := strings.IndexFunc(text, beyond); end >= 0 {
		text = text[:end]
	}
	return strings.FieldsFunc(text, func(c rune) bool { return strings.ContainsRune(".[]", c) })
}

// locate returns the line of the key with which a text begins, or of what would hold it; 0 if the file
// has neither.
func locate(n *yaml.Node, text string) (line int) {
	for _, word := range steps(text) {
		if n.Kind == yaml.AliasNode {
			n = n.Alias
		}
		var next *yaml.Node
		switch i, err := strconv.Atoi(word); {
		case n.Kind == yaml.SequenceNode && err == nil && i < len(n.Content):
			next, line = n.Content[i], n.Content[i].Line
		case n.Kind == yaml.MappingNode:
			for i := 0; i+1 < len(n.Content); i += 2 {
				if strings.EqualFold(n.Content[i].Value, word) {
					next, line = n.Content[i+1], cmp.Or(n.Content[i].Line, n.Content[i+1].Line)
				}
			}
		}
		if next == nil {
			return line
		}
		n = next
	}
	return line
}
