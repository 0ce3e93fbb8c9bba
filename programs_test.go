package swapper_test

import (
	"bytes"
	"context"
	"errors"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/swapper-go/swapper/internal/trial"
)

// programs builds every program of a module into one folder, and returns their import paths.
func programs(t *testing.T, module, into string) (paths []string) {
	t.Helper()
	list := exec.Command("go", "list", "-f", `{{if and (eq .Name "main") .GoFiles}}{{.ImportPath}}{{end}}`, "./...")
	list.Dir = module
	out := trial.Must(list.Output())(t)
	paths = strings.Fields(string(out))
	build := exec.Command("go", append([]string{"build", "-ldflags=-s -w", "-o", into}, paths...)...)
	build.Dir = module
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return paths
}

// An argument or flag that a program does not know may be one that was to protect: it is named,
// nothing is done, and the exit status is 2.
func TestProgramsRefuseStrayArguments(t *testing.T) {
	trial.OnlyFull(t)
	t.Parallel()
	dir := t.TempDir()
	all := append(programs(t, ".", dir+"/"), programs(t, "tools", dir+"/")...)
	if len(all) < 13 {
		t.Errorf("only %d programs: %q", len(all), all)
	}
	// What stands before the stray argument; nothing, if a program is not named here.
	before := map[string][][]string{
		"cli":      {{}, {"help"}, {"completion", "bash"}, {"-url", "http://127.0.0.1:1", "tokens"}, {"-url", "http://127.0.0.1:1", "status", "0123"}},
		"import":   {{"-dry-run", "CHAIN_atomiqsdk-0-CITREA.sqlite3"}},
		"licences": {{}, {"-check"}},
		"move":     {{}, {"-from", "a.db", "-to", "b.db"}},
		"testnet4": {{"tobtc"}, {"fromlightning", "-network", "local"}},
		"server":   {{}, {"-check"}, {"-new-key"}, {"-config", "config.yaml"}},
	}
	for _, program := range all {
		name := path.Base(program)
		rows, ok := before[name]
		if !ok {
			rows = [][]string{{}}
		}
		for _, row := range append(rows, nil) {
			args, want := append(row, "stray"), `"stray"`
			if row == nil {
				args, want = []string{"-stray"}, "flag provided but not defined: -stray"
			}
			t.Run(strings.Join(append([]string{name}, args...), " "), func(t *testing.T) {
				t.Parallel()
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				cmd := exec.CommandContext(ctx, filepath.Join(dir, name), args...)
				cmd.Dir = t.TempDir()
				var said bytes.Buffer
				cmd.Stderr = &said
				err := cmd.Run()
				if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != 2 || !strings.Contains(said.String(), want) {
					t.Errorf("got %v and %.300q, want exit status 2 and %s", err, said.String(), want)
				}
				if left, _ := filepath.Glob(filepath.Join(cmd.Dir, "*")); left != nil {
					t.Errorf("it leaves %v", left)
				}
			})
		}
	}
}

// The wallet of examples/minimal makes a swap in each direction on each chain.
func TestMinimalSwaps(t *testing.T) {
	trial.OnlyFull(t)
	t.Parallel()
	if out, err := exec.CommandContext(t.Context(), "go", "run", "./examples/minimal").CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
