//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/swapper-go/swapper/internal/pgtest"
	"github.com/swapper-go/swapper/internal/trial"
)

// shippedEnvironment is what the unit or the image sets, in folders of a test.
func shippedEnvironment(t *testing.T, file, etc, state string) (pairs []string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range regexp.MustCompile(`(?m)^(?:Environment=|ENV )(.*)$`).FindAllStringSubmatch(string(text), -1) {
		pairs = append(pairs, strings.Fields(strings.NewReplacer("/etc/swapper", etc, "/var/lib/swapper", state).Replace(line[1]))...)
	}
	if len(pairs) < 2 {
		t.Fatalf("%s sets only %q", file, pairs)
	}
	return pairs
}

// The unit of systemd and the image serve with a file and with a database, whichever of both the
// configuration or the environment names, and write nothing beside the configuration. At full depth
// each does all of it.
func TestShippedEnvironments(t *testing.T) {
	database, v, whole := pgtest.Start(t), newTown(t), t
	at, err := pgx.ParseConfig(database.DSN())
	if err != nil {
		t.Fatal(err)
	}
	dsn := (&url.URL{Scheme: "postgres", User: url.User(at.User), Path: "/" + at.Database, RawQuery: url.Values{"host": {at.Host}}.Encode()}).String()
	// tables counts and removes those of the swaps.
	tables := func(t *testing.T) (n int) {
		t.Helper()
		c, err := pgx.ConnectConfig(t.Context(), at)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close(t.Context())
		if err := c.QueryRow(t.Context(), "select count(*) from information_schema.tables where table_schema = 'swapper'").Scan(&n); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Exec(t.Context(), "drop schema if exists swapper cascade"); err != nil {
			t.Fatal(err)
		}
		return n
	}
	cases := map[string]struct {
		settings map[string]any
		more     []string // of the environment
		file     string   // of the swaps; "": they are in the database
	}{
		"a file that is not named":         {settings: map[string]any{}, file: usualStore},
		"a file, and copies of it":         {settings: map[string]any{"store": "other.db", "backup": map[string]any{"folder": "backups"}}, file: "other.db"},
		"a database in the file":           {settings: map[string]any{"database": map[string]string{"dsn": dsn}}},
		"a database's URL in the file":     {settings: map[string]any{"store": dsn}},
		"a database in the environment":    {settings: map[string]any{}, more: []string{"SWAPPER__DATABASE__DSN=" + dsn}},
		"a database over the shipped file": {settings: map[string]any{"store": usualStore}, more: []string{"SWAPPER__STORE=" + dsn}},
	}
	for i, name := range slices.Sorted(maps.Keys(cases)) {
		c, both := cases[name], []string{"swapper.service", "Containerfile"}
		if i%2 == 1 {
			slices.Reverse(both)
		}
		for _, shipped := range trial.Of(1, both) {
			t.Run(name+", "+shipped, func(t *testing.T) {
				v.T = t
				defer func() { v.T = whole }()
				state := t.TempDir()
				v.environ = append(shippedEnvironment(t, shipped, v.dir, state), c.more...)
				for _, pair := range v.environ {
					if key, value, _ := strings.Cut(pair, "="); !strings.HasPrefix(key, prefix) {
						t.Setenv(key, value)
					}
				}
				if got := os.Getenv("SWAPPER_CONFIG"); got != filepath.Join(v.dir, "config.yaml") {
					t.Errorf("the configuration is %s", got)
				}
				v.write("local.json", json.RawMessage(v.text))
				c.settings["local"] = "local.json"
				v.serve(c.settings)
				v.create(v.fromLightning())
				if err := v.end(); err != nil {
					t.Error(err)
				}
				if n := tables(t); (n > 0) != (c.file == "") {
					t.Errorf("the database has %d tables", n)
				}
				if _, err := os.Stat(filepath.Join(state, c.file)); err != nil {
					t.Error(err)
				}
				beside, err := filepath.Glob(filepath.Join(v.dir, "*"))
				if want := []string{filepath.Join(v.dir, "config.yaml"), filepath.Join(v.dir, "local.json")}; err != nil || !slices.Equal(beside, want) {
					t.Errorf("beside the configuration are %q, want %q", beside, want)
				}
			})
		}
	}
}

// systemd takes the unit as it is, without a word.
func TestUnitIsValid(t *testing.T) {
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("NOT TESTED: the unit needs systemd-analyze, which this machine does not have")
	}
	unit, err := os.ReadFile("swapper.service")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "swapper.service")
	if err := os.WriteFile(path, bytes.ReplaceAll(unit, []byte("/usr/local/bin/swapper"), []byte(os.Args[0])), 0o600); err != nil {
		t.Fatal(err)
	}
	if said, err := exec.CommandContext(t.Context(), analyze, "verify", path).CombinedOutput(); err != nil || len(said) > 0 {
		t.Errorf("%v: %s", err, said)
	}
}
