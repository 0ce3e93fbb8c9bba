//go:build unix

package postgres

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"golang.org/x/sync/errgroup"

	"github.com/swapper-go/swapper/internal/pgtest"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/storage/bolt"
)

// moveCommand builds examples/move, which can import no package for tests.
func moveCommand(t testing.TB) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "move")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", name, "../../examples/move").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return name
}

// asURL writes a connection string as the command takes it.
func asURL(t testing.TB, dsn string) string {
	t.Helper()
	if strings.HasPrefix(dsn, "postgres") {
		return dsn
	}
	c := trial.Must(pgxpool.ParseConfig(dsn))(t)
	return fmt.Sprintf("postgres://%s@/%s?host=%s&port=%d&sslmode=disable", c.ConnConfig.User, c.ConnConfig.Database, c.ConnConfig.Host, c.ConnConfig.Port)
}

// TestMoveThereAndBack goes from a file to a database, where the command is killed
// several times, from there to another schema, and back to a file. It is the same
// everywhere, and the file it began with has not changed by a byte.
func TestMoveThereAndBack(t *testing.T) {
	t.Parallel()
	dsn := pgtest.DSN(t)
	command, url := moveCommand(t), asURL(t, dsn)
	one, two := pgtest.Schema(t, dsn), pgtest.Schema(t, dsn)
	path, back := filepath.Join(t.TempDir(), "swaps.db"), filepath.Join(t.TempDir(), "back.db")
	entries, notes := 1000, 40
	if trial.Full() {
		entries = 3000
	}
	fill(t, path, entries, notes)
	before := trial.Must(os.ReadFile(path))(t)

	there := []string{"-from", path, "-to", url, "-to-schema", one}
	killed := 0
	for range 4 {
		c := exec.CommandContext(t.Context(), command, there...)
		trial.Do(t, c.Start())
		time.Sleep(time.Duration(50+rand.IntN(150)) * time.Millisecond)
		_ = c.Process.Kill() // it may have ended
		if c.Wait() != nil {
			killed++
		}
	}
	for _, args := range [][]string{
		there,
		{"-from", url, "-from-schema", one, "-to", url, "-to-schema", two},
		{"-from", url, "-from-schema", two, "-to", back},
		{"-check", "-from", path, "-to", back},
	} {
		out, err := exec.CommandContext(t.Context(), command, args...).CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
		if want := fmt.Sprintf("verified: %d entries and %d notes are the same in both", entries, notes); !strings.Contains(string(out), want) {
			t.Errorf("%v says %q", args, out)
		}
		t.Logf("%s", bytes.TrimSpace(out))
	}
	if after, err := os.ReadFile(path); err != nil || !bytes.Equal(before, after) {
		t.Errorf("the source was changed: %v", err)
	}
	if killed == 0 {
		t.Error("it was never killed: the test has shown little")
	}

	// A difference is found.
	s := openTest(t, dsn, Options{Schema: one})
	if err := s.Delete(t.Context(), "7-entry", 8); err != nil { // stored by a Create that carried 7
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), command, "-check", "-from", path, "-to", url, "-to-schema", one).CombinedOutput(); err == nil {
		t.Errorf("a difference is not noticed: %s", out)
	}
}

// fill makes a file with entries at several versions, with keys and bodies of all sizes, and notes.
func fill(t *testing.T, path string, entries, notes int) {
	t.Helper()
	s := trial.Must(bolt.Open(t.Context(), path, bolt.Options{}))(t)
	defer s.Close()
	var group errgroup.Group
	group.SetLimit(64)
	for i := range entries {
		e := entryAt(fmt.Sprintf("%d-entry", i), uint64(i%9))
		if i%500 == 0 {
			e.ID, e.Body = fmt.Sprintf("\xff\x00%d", i), make([]byte, 2<<20)
		}
		group.Go(func() error { return s.Create(t.Context(), e) })
	}
	trial.Do(t, group.Wait())
	for i := range notes {
		for version := range uint64(i%3 + 1) {
			trial.Do(t, s.SetNote(t.Context(), fmt.Sprint("note ", i), fmt.Append(nil, i, version), version))
		}
	}
}
