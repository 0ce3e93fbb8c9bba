package webhook_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/httpapi/webhook"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/storage"
	"github.com/swapper-go/swapper/storage/bolt"
)

// durable is a source in the same file as the messages, as a client's swaps are.
type durable struct {
	store storage.Store
	mu    sync.Mutex
	tell  func(swapper.Change) bool
}

const byChange = "change"

func read(e storage.Entry) (*swapper.Progress, error) {
	p := &swapper.Progress{Version: e.Version, At: swapper.Timestamp{Time: time.UnixMilli(e.Keys[0].Order)}, Status: &swapper.GetSwapStatusOutput{}}
	p.Status.SwapID = e.ID
	return p, json.Unmarshal(e.Body, &p.Status.State.Number)
}

func (d *durable) Subscribe(ctx context.Context) iter.Seq2[swapper.Change, error] {
	return func(yield func(swapper.Change, error) bool) {
		told := make(chan swapper.Change)
		d.mu.Lock()
		d.tell = func(c swapper.Change) bool { return tell(ctx, told, c) }
		d.mu.Unlock()
		listen(ctx, told, yield)
	}
}

func (d *durable) Changes(ctx context.Context, _ swapper.Account, since time.Time) iter.Seq2[swapper.Change, error] {
	return func(yield func(swapper.Change, error) bool) {
		for e, err := range d.store.Find(ctx, storage.Query{Index: byChange, Range: &storage.Range{Min: since.UnixMilli(), Max: math.MaxInt64}}) {
			var c swapper.Change
			if err == nil {
				var p *swapper.Progress
				if p, err = read(e); err == nil {
					c = change(p)
				}
			}
			if !yield(c, err) {
				return
			}
		}
	}
}

func (d *durable) Progress(ctx context.Context, id string) (*swapper.Progress, error) {
	e, err := d.store.Get(ctx, id)
	if errors.Is(err, storage.ErrNotFound) {
		return nil, fault.New(fault.NotFound, "no swap has the id %q", id)
	}
	if err != nil {
		return nil, err
	}
	return read(e)
}

// move changes a swap, and tells the sender only now and then: a process may die in
// between.
func (d *durable) move(ctx context.Context, id string) (int, error) {
	e, err := d.store.Get(ctx, id)
	state := -1
	if err == nil {
		err = json.Unmarshal(e.Body, &state)
	}
	if err != nil && !errors.Is(err, storage.ErrNotFound) {
		return 0, err
	}
	state++
	e.ID, e.Body, e.Keys = id, fmt.Append(nil, state), []storage.Key{{Index: byChange, Order: time.Now().UnixMilli()}}
	if state == 0 {
		err = d.store.Create(ctx, e)
	} else {
		err = d.store.Update(ctx, e)
	}
	if err != nil {
		return 0, err
	}
	e.Version++
	d.mu.Lock()
	tell := d.tell
	d.mu.Unlock()
	if p, err := read(e); err == nil && tell != nil && rand.N(2) == 0 {
		tell(change(p))
	}
	return state, nil
}

// Variables of the process that is killed: it changes swaps all the time, once or, as a
// quiet one, never.
const (
	killFile   = "WEBHOOK_KILL_FILE"
	killURL    = "WEBHOOK_KILL_URL"
	killSecret = "WEBHOOK_KILL_SECRET"
	killQuiet  = "WEBHOOK_KILL_QUIET"
	killSwaps  = 5
)

// TestKilledProcess is the process that TestKilled kills; it prints what is durable.
func TestKilledProcess(t *testing.T) {
	file := os.Getenv(killFile)
	if file == "" {
		t.Skip("TestKilled runs it, as a process of its own")
	}
	ctx := t.Context()
	store := trial.Must(bolt.Open(ctx, file, bolt.Options{}))(t)
	d := &durable{store: store}
	sender, err := webhook.New(d, webhook.Options{Store: store, AllowLocal: true, Poll: 50 * time.Millisecond, Now: func() time.Time {
		if os.Getenv(killQuiet) == "quiet" { // a minute later: what a killed process held is free
			return time.Now().Add(time.Minute)
		}
		return time.Now()
	},
		Endpoints: []webhook.Endpoint{{Name: "shop", URL: os.Getenv(killURL), Secrets: []string{os.Getenv(killSecret)}}}})
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = sender.Run(ctx) }()
	for {
		if _, version, err := store.Note(ctx, "webhook/shop"); err == nil && version > 0 {
			break
		}
		time.Sleep(time.Millisecond)
	}
	time.Sleep(2 * time.Millisecond)
	if os.Getenv(killQuiet) == "once" {
		trial.Must(d.move(ctx, "swap 0"))(t)
	}
	for os.Getenv(killQuiet) == "" {
		id := fmt.Sprint("swap ", rand.N(killSwaps))
		state := trial.Must(d.move(ctx, id))(t)
		fmt.Printf("\ndurable %s %d\n", strings.TrimPrefix(id, "swap "), state)
		time.Sleep(time.Duration(rand.N(20)) * time.Millisecond)
	}
	<-ctx.Done()
}

// Whenever the process is killed, the endpoint gets the last state of every swap, each
// message of a swap after the one before, and a message that comes twice is the same.
func TestKilled(t *testing.T) {
	t.Parallel()
	trial.OnlyFull(t) // it starts and kills ten processes
	secret := webhook.NewSecret()
	r := receive(t, secret)
	r.mu.Lock()
	r.open = nil // a killed process leaves its request behind
	r.mu.Unlock()
	r.answers(func(http.ResponseWriter, *http.Request) { time.Sleep(20 * time.Millisecond) }) // time to be killed in
	file := filepath.Join(t.TempDir(), "swaps")
	last := map[string]int{}
	start := func(quiet string) (*exec.Cmd, *bufio.Scanner) { return process(t, r, file, secret, quiet) }
	for range 10 {
		cmd, lines := start("")
		begun := false
		timer := time.AfterFunc(20*time.Second, func() { _ = cmd.Process.Kill() })
		for lines.Scan() {
			var swap string
			var state int
			if n, _ := fmt.Sscanf(lines.Text(), "durable %s %d", &swap, &state); n == 2 {
				if !begun { // some time after it has begun
					begun = timer.Reset(time.Duration(rand.N(400)) * time.Millisecond)
				}
				last["swap "+swap] = max(last["swap "+swap], state)
			}
		}
		_ = cmd.Wait() // killed
		timer.Stop()
	}
	if len(last) == 0 {
		t.Fatal("the processes did nothing")
	}
	cmd, _ := start("quiet")
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}()
	told, bodies := map[string]int{}, map[string]string{}
	arrived := func() bool {
		for swap, state := range last {
			if n, ok := told[swap]; !ok || n < state {
				return false
			}
		}
		return true
	}
	for end := time.After(90 * time.Second); !arrived(); {
		select {
		case g := <-r.all:
			var m struct{ Data swapper.GetSwapStatusOutput }
			trial.Do(t, json.Unmarshal([]byte(g.body), &m))
			if before, ok := bodies[g.id]; ok && before != g.body {
				t.Errorf("%s: two bodies", g.id)
			}
			bodies[g.id] = g.body
			if state := m.Data.State.Number; state < told[g.swap] {
				t.Errorf("%s: %d after %d", g.swap, state, told[g.swap])
			} else {
				told[g.swap] = state
			}
		case <-end:
			t.Fatalf("told %v, want %v", told, last)
		}
	}
}

// process starts a process that changes swaps unless it is to be quiet, or changes one
// once.
func process(t *testing.T, r *receiver, file, secret, quiet string) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestKilledProcess$")
	cmd.Env = append(os.Environ(), killFile+"="+file, killURL+"="+r.server.URL, killSecret+"="+secret, killQuiet+"="+quiet)
	out := trial.Must(cmd.StdoutPipe())(t)
	cmd.Stderr = io.Discard
	trial.Do(t, cmd.Start())
	return cmd, bufio.NewScanner(out)
}

// A process that dies before it has the reply sends the same message again.
func TestKilledBeforeTheReply(t *testing.T) {
	t.Parallel()
	secret := webhook.NewSecret()
	r := receive(t, secret)
	r.mu.Lock()
	r.open = nil
	r.mu.Unlock()
	killed := make(chan struct{})
	r.answers(func(http.ResponseWriter, *http.Request) { <-killed })
	file := filepath.Join(t.TempDir(), "swaps")
	cmd, _ := process(t, r, file, secret, "once")
	var first got
	select {
	case first = <-r.all:
	case <-time.After(time.Minute):
		t.Error("no message")
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	close(killed)
	if t.Failed() {
		return
	}
	cmd, _ = process(t, r, file, secret, "quiet")
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}()
	select {
	case again := <-r.all:
		if again != first {
			t.Errorf("%+v, before %+v", again, first)
		}
	case <-time.After(time.Minute):
		t.Fatal("the message is lost")
	}
}
