package swap

import (
	"fmt"
	"strings"
)

// Diagram returns the type's table of states and moves as Markdown with a
// mermaid diagram. It is generated from the table that is executed, so the two
// cannot disagree.
func (f *Flow) Diagram() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\nMade from the table in package internal/swap.\n\n", f.Type)
	b.WriteString("```mermaid\nstateDiagram-v2\n")
	for _, s := range f.States {
		fmt.Fprintf(&b, "    state \"%s %d\" as s%s\n", s.Name, s.Number, id(s.Number))
	}
	if first, ok := f.State(0); ok {
		fmt.Fprintf(&b, "    [*] --> s%s: quote accepted\n", id(first.Number))
	}
	for _, m := range f.Moves {
		for _, from := range m.From {
			to := m.To
			if to == stay {
				to = from
			}
			fmt.Fprintf(&b, "    s%s --> s%s: %s\n", id(from), id(to), m.Why)
		}
	}
	b.WriteString("```\n\n| No. | Name | Meaning | Finished | Success | Failed | Pending list | Watched |\n|---|---|---|---|---|---|---|---|\n")
	for _, s := range f.States {
		fmt.Fprintf(&b, "| %d | %s | %s | %s | %s | %s | %s | %s |\n", s.Number, s.Name, s.Description,
			mark(s.Finished), mark(s.Success), mark(s.Failed), mark(s.Pending && !s.Finished), mark(s.Watched))
	}
	return b.String()
}

func id(number int) string { return strings.ReplaceAll(fmt.Sprint(number), "-", "m") }

func mark(is bool) string {
	if is {
		return "yes"
	}
	return ""
}
