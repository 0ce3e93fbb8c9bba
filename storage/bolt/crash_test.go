//go:build unix

package bolt

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/storage"
)

// The tests that need a process to lose run this test binary once more.
const (
	crashStore  = "SWAPPER_TEST_CRASH_STORE"
	crashRound  = "SWAPPER_TEST_CRASH_ROUND"
	fullStore   = "SWAPPER_TEST_FULL_STORE"
	heldStore   = "SWAPPER_TEST_HELD_STORE"
	sharedStore = "SWAPPER_TEST_SHARED_STORE"
	faultStore  = "SWAPPER_TEST_FAULT_STORE" // the path, a blank, and the name of the fault
)

func TestMain(m *testing.M) {
	switch {
	case os.Getenv(crashStore) != "":
		writeUntilKilled(os.Getenv(crashStore), os.Getenv(crashRound))
	case os.Getenv(fullStore) != "":
		fillDisk(os.Getenv(fullStore))
	case os.Getenv(heldStore) != "":
		holdStore(os.Getenv(heldStore))
	case os.Getenv(faultStore) != "":
		failingDisk(os.Getenv(faultStore))
	case os.Getenv(sharedStore) != "":
		shareStore(os.Getenv(sharedStore), os.Getenv(crashRound))
	default:
		trial.SideBySide()
		os.Exit(m.Run())
	}
}

// holdStore is a process that has the store open until it is killed.
func holdStore(path string) {
	s, err := Open(context.Background(), path, Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("held")
	time.Sleep(time.Hour)
	s.Close() // until here it is in use
}

// TestHeldByAnotherProcess opens a store that another process has: it is refused
// in the time that is allowed, and had once the other is dead.
func TestHeldByAnotherProcess(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "swaps")
	command := exec.CommandContext(t.Context(), os.Args[0])
	command.Env = append(os.Environ(), heldStore+"="+path)
	out := trial.Must(command.StdoutPipe())(t)
	trial.Do(t, command.Start())
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "held\n" {
		t.Fatalf("the other process said %q, %v", line, err)
	}
	for name, options := range map[string]Options{"write": {LockTimeout: 50 * time.Millisecond}, "read": {LockTimeout: 50 * time.Millisecond, ReadOnly: true}} {
		if _, err := Open(t.Context(), path, options); !errors.Is(err, ErrInUse) {
			t.Errorf("%s: got %v, want ErrInUse", name, err)
		}
	}
	trial.Do(t, command.Process.Kill())
	_ = command.Wait() // says that it was killed
	if err := openTest(t, path, Options{}).Verify(t.Context()); err != nil {
		t.Error(err)
	}
}

// shareStore is a process that opens the store again and again, for a few writes each time.
func shareStore(path, name string) {
	for i := range sharedTurns {
		err := func() error {
			s, err := Open(context.Background(), path, Options{LockTimeout: time.Minute})
			if err != nil {
				return err
			}
			_, version, err := s.Note(context.Background(), "turns")
			return errors.Join(err, s.SetNote(context.Background(), "turns", []byte(name), version),
				s.Create(context.Background(), crashEntry(fmt.Sprintf("%s-%d", name, i), 0)), s.Close())
		}()
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
	}
}

const sharedTurns = 12

// TestProcessesTakeTurns lets processes open one file, which is not there yet, again and
// again: each has it alone, and what one has written the next one finds.
func TestProcessesTakeTurns(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "swaps")
	const processes = 4
	var group sync.WaitGroup
	for i := range processes {
		group.Go(func() {
			command := exec.CommandContext(t.Context(), os.Args[0])
			command.Env = append(os.Environ(), sharedStore+"="+path, fmt.Sprintf("%s=p%d", crashRound, i))
			if out, err := command.CombinedOutput(); err != nil {
				t.Errorf("%v:\n%s", err, out)
			}
		})
	}
	group.Wait()
	s := openTest(t, path, Options{})
	if err := s.Verify(t.Context()); err != nil {
		t.Error(err)
	}
	if _, version, err := s.Note(t.Context(), "turns"); version != processes*sharedTurns || err != nil {
		t.Errorf("%d turns, %v, want %d", version, err, processes*sharedTurns)
	}
	for p := range processes {
		for i := range sharedTurns {
			want := crashEntry(fmt.Sprintf("p%d-%d", p, i), 0)
			if got, err := s.Get(t.Context(), want.ID); err != nil || !bytes.Equal(got.Body, want.Body) {
				t.Errorf("%s: %v", want.ID, err)
			}
		}
	}
}

// Each writer of a round makes the same endless sequence of writes: step n
// creates, changes four times and deletes its entry n/7, and adds one to its note.
const (
	crashWriters = 8
	stepsEach    = 7
)

func crashID(round string, writer, step int) string {
	return fmt.Sprintf("%s-%d-%d", round, writer, step/stepsEach)
}

// crashEntry returns an entry as it is at a version: all of it follows from these.
func crashEntry(id string, version uint64) storage.Entry {
	h := fnv.New64a()
	fmt.Fprint(h, id, version)
	r := rand.New(rand.NewPCG(h.Sum64(), 0))
	e := storage.Entry{ID: id, Version: version, Body: bytes.Repeat([]byte(fmt.Sprintf("%s at %d. ", id, version)), 1+r.IntN(600))}
	for i := range r.IntN(5) {
		e.Keys = append(e.Keys, storage.Key{Index: "shared", Value: fmt.Sprint(i, r.IntN(3)), Order: r.Int64()})
		e.Keys = append(e.Keys, storage.Key{Index: "unique", Value: fmt.Sprint(id, i, r.IntN(2)), Order: r.Int64(), Unique: true})
	}
	return e
}

func crashStep(s *Store, round string, writer, step int) error {
	ctx := context.Background()
	switch k := step % stepsEach; k {
	case 0:
		e := crashEntry(crashID(round, writer, step), 1)
		e.Version = 0
		return s.Create(ctx, e)
	case 5:
		if step/stepsEach%3 != 0 { // most entries stay
			return nil
		}
		return s.Delete(ctx, crashID(round, writer, step), 5)
	case 6:
		n := uint64(step / stepsEach)
		return s.SetNote(ctx, fmt.Sprintf("%s-%d", round, writer), fmt.Append(nil, n), n)
	default:
		e := crashEntry(crashID(round, writer, step), uint64(k)+1)
		e.Version--
		return s.Update(ctx, e)
	}
}

// writeUntilKilled is the process that is killed. It prints a line for each
// acknowledged step.
func writeUntilKilled(path, round string) {
	s, err := Open(context.Background(), path, Options{LockTimeout: 10 * time.Second})
	if err != nil {
		fmt.Println("error", err)
		return
	}
	var mu sync.Mutex
	var group sync.WaitGroup
	for w := range crashWriters {
		group.Go(func() {
			for step := 0; ; step++ {
				err := crashStep(s, round, w, step)
				mu.Lock()
				if err != nil {
					fmt.Println("error", err)
				}
				fmt.Println("done", w, step)
				mu.Unlock()
			}
		})
	}
	group.Wait()
}

// TestCrash kills a writing process many times, and afterwards finds all that
// it had acknowledged, nothing torn, and keys that fit the entries.
func TestCrash(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "swaps")
	r := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 0))
	crashRounds := 16
	if trial.Full() {
		crashRounds = 40
	}
	type writer struct {
		round  string
		number int
	}
	steps := map[writer]int{} // number of acknowledged steps
	for n := range crashRounds {
		round := fmt.Sprint(n)
		for w := range crashWriters {
			steps[writer{round, w}] = 0
		}
		command := exec.Command(os.Args[0])
		command.Env = append(os.Environ(), crashStore+"="+path, crashRound+"="+round)
		out := trial.Must(command.StdoutPipe())(t)
		trial.Do(t, command.Start())
		lines := bufio.NewReader(out)
		if n%4 != 0 { // else it may die while it opens or creates the store
			if _, err := lines.Peek(1); err != nil {
				t.Fatal(err)
			}
		}
		killed := make(chan error, 1)
		time.AfterFunc(time.Duration(r.IntN(60_000))*time.Microsecond, func() { killed <- command.Process.Kill() })
		for {
			line, err := lines.ReadString('\n')
			if err == io.EOF {
				break // a last line without its end was not acknowledged
			} else if err != nil {
				t.Fatal(err)
			}
			var w, step int
			if _, err := fmt.Sscanf(line, "done %d %d\n", &w, &step); err != nil {
				t.Fatalf("the process said %q", line)
			}
			if steps[writer{round, w}] != step {
				t.Fatalf("writer %d: step %d after %d", w, step, steps[writer{round, w}])
			}
			steps[writer{round, w}] = step + 1
		}
		if err := <-killed; err != nil {
			t.Fatal(err)
		}
		command.Wait() // says that it was killed
	}

	s := openTest(t, path, Options{})
	trial.Do(t, s.Verify(t.Context()))
	total := 0
	for w, done := range steps {
		total += done
		// Each entry must be as after the acknowledged steps, or one step on.
		for entry := 0; entry*stepsEach <= done; entry++ {
			id := crashID(w.round, w.number, entry*stepsEach)
			before, after := crashState(entry, done), crashState(entry, done+1)
			e, err := s.Get(t.Context(), id)
			switch {
			case errors.Is(err, storage.ErrNotFound):
				e.Version = 0
			case err != nil:
				t.Fatal(err)
			default:
				want := crashEntry(id, e.Version)
				if !bytes.Equal(want.Body, e.Body) || fmt.Sprint(want.Keys) != fmt.Sprint(e.Keys) {
					t.Errorf("%s is torn at version %d", id, e.Version)
				}
			}
			if e.Version != before && e.Version != after {
				t.Errorf("%s is at version %d, want %d or %d after %d steps", id, e.Version, before, after, done)
			}
		}
		_, version, err := s.Note(t.Context(), fmt.Sprintf("%s-%d", w.round, w.number))
		if err != nil || version != uint64(done/stepsEach) && version != uint64((done+1)/stepsEach) {
			t.Errorf("note of %v is at version %d, %v, after %d steps", w, version, err, done)
		}
	}
	t.Logf("%d acknowledged steps in %d rounds", total, crashRounds)
	if total < crashRounds*crashWriters {
		t.Errorf("only %d steps: the test has shown little", total)
	}
}

// crashState returns the version of a writer's entry after some steps; 0 if it is not there.
func crashState(entry, steps int) uint64 {
	n := steps - entry*stepsEach
	switch {
	case n <= 0:
		return 0
	case n > 5 && entry%3 == 0:
		return 0
	}
	return uint64(min(n, 5))
}
