package vectors

import (
	"encoding/json"
	"os"
	"testing"
)

// Report is one line of the file that SWAPPER_VECTORS_REPORT names: the outcome
// of one test over one vector file. Cases = Passed + len(Different) +
// len(Failed) + len(NotRun).
type Report struct {
	Area      string      `json:"area"`
	File      string      `json:"file"`
	Test      string      `json:"test"`
	Cases     int         `json:"cases"`
	Passed    int         `json:"passed"`    // equal to the reference
	Different []Different `json:"different"` // the project's own answer, checked, with the reason for it
	Failed    []string    `json:"failed"`    // names of cases
	NotRun    []NotRun    `json:"notRun"`    // cases of a part that does not exist
}

// Different is a case whose answer differs from the reference's on purpose.
type Different struct {
	Case   string `json:"case"`
	Reason string `json:"reason"` // id in docs/differences.md
}

// NotRun is a case that could not be run.
type NotRun struct {
	Case string `json:"case"`
	Why  string `json:"why"`
}

func (f *File) report(test string) Report {
	r := Report{Area: f.Area, File: f.Name, Test: test, Cases: len(f.Cases),
		Different: []Different{}, Failed: []string{}, NotRun: []NotRun{}}
	for _, c := range f.Cases {
		switch {
		case c.failed:
			r.Failed = append(r.Failed, c.Name)
		case c.notRun != "":
			r.NotRun = append(r.NotRun, NotRun{c.Name, c.notRun})
		case c.differ != "":
			r.Different = append(r.Different, Different{c.Name, c.differ})
		default:
			r.Passed++
		}
	}
	return r
}

func appendReport(t *testing.T, f *File) {
	t.Helper()
	path, err := named("SWAPPER_VECTORS_REPORT")
	if err != nil {
		t.Fatal(err)
	}
	if path == "" {
		return
	}
	line, err := json.Marshal(f.report(t.Name()))
	if err != nil {
		t.Fatal(err)
	}
	// One write of a short line in append mode: test processes of several packages share the file.
	out, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := out.Write(append(line, '\n')); err != nil {
		t.Error(err)
	}
	if err := out.Close(); err != nil {
		t.Error(err)
	}
}
