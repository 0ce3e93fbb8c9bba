package swapper

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/chains/bitcoin/mempoolspace"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/storage/bolt"
)

// hanging is a client that knows one liquidity provider, which never answers.
func hanging(t *testing.T, change func(*Config)) *Client {
	t.Helper()
	wait := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-wait:
		case <-r.Context().Done():
		}
	}))
	t.Cleanup(server.Close)
	t.Cleanup(func() { close(wait) })
	store := trial.Must(bolt.Open(t.Context(), filepath.Join(t.TempDir(), "swaps.db"), bolt.Options{}))(t)
	t.Cleanup(func() { store.Close() })
	backend := trial.Must(mempoolspace.New(mempoolspace.Options{Network: bitcoin.Regtest, URLs: []string{server.URL}}))(t)
	t.Cleanup(func() { backend.Close() })
	config := Config{Network: bitcoin.Regtest, Store: store, Bitcoin: backend, LPs: LPs{URLs: []string{server.URL}}}
	if change != nil {
		change(&config)
	}
	c := trial.Must(Open(t.Context(), config))(t)
	t.Cleanup(func() { c.Close() })
	return c
}

// A second Run is refused, whatever the store; after the first has ended, another begins.
func TestOneRun(t *testing.T) {
	c := hanging(t, nil)
	for range 2 {
		ctx, stop := context.WithCancel(t.Context())
		ran := make(chan error, 1)
		go func() { ran <- c.Run(ctx) }()
		for !c.running.Load() {
			time.Sleep(time.Millisecond)
		}
		if err := c.Run(t.Context()); fault.CodeOf(err) != fault.InvalidState {
			t.Errorf("the second Run: got %v, want %s", err, fault.InvalidState)
		}
		stop()
		if err := <-ran; !errors.Is(err, context.Canceled) {
			t.Errorf("the first Run ended with %v, want %v", err, context.Canceled)
		}
	}
}

// Every method says that the client is closed, whatever it was given: a new one
// too, which is found here by its name.
func TestEveryMethodSaysThatTheClientIsClosed(t *testing.T) {
	c := hanging(t, nil)
	trial.Do(t, c.Close())
	if err := c.Close(); err != nil {
		t.Errorf("closed twice: %v", err)
	}
	asked := 0
	client := reflect.TypeFor[*Client]()
	for i := range client.NumMethod() {
		m := client.Method(i)
		if m.Name == "Close" || m.Name == "Instances" { // that one only counts
			continue
		}
		in := []reflect.Value{reflect.ValueOf(c)}
		for n := 1; n < m.Type.NumIn(); n++ {
			if m.Type.In(n) == reflect.TypeFor[context.Context]() {
				in = append(in, reflect.ValueOf(t.Context()))
			} else {
				in = append(in, reflect.Zero(m.Type.In(n)))
			}
		}
		out := m.Func.Call(in)
		if len(out) == 1 && out[0].Type().CanSeq2() { // a sequence says it with its first element
			for _, failed := range out[0].Seq2() {
				out = append(out, failed)
				break
			}
		}
		if len(out) == 0 {
			t.Errorf("%s returns no error", m.Name)
			continue
		}
		asked++
		if err, _ := out[len(out)-1].Interface().(error); !errors.Is(err, ErrClosed) {
			t.Errorf("%s: %v", m.Name, err)
		}
	}
	if asked < 17 {
		t.Errorf("%d methods were asked", asked)
	}
}

// Calls that wait for somebody end with Close, which waits for them.
func TestCloseEndsWhatIsUnderWay(t *testing.T) {
	c := hanging(t, nil)
	calls := map[string]func() error{
		"run": func() error { return c.Run(context.Background()) },
		"subscribe": func() (last error) {
			for _, last = range c.Subscribe(context.Background()) {
			}
			return last
		},
		"ready": func() error { _, err := c.Ready(context.Background()); return err },
		"tokens": func() error {
			_, err := c.GetSupportedTokens(context.Background(), GetSupportedTokensInput{Side: SideInput})
			return err
		},
	}
	type result struct {
		name string
		err  error
	}
	ended := make(chan result, len(calls))
	for name, call := range calls {
		go func() { ended <- result{name, call()} }()
	}
	select {
	case r := <-ended:
		t.Fatalf("%s ended before: %v", r.name, r.err)
	case <-time.After(100 * time.Millisecond):
	}
	began := time.Now()
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	for range calls {
		select {
		case r := <-ended:
			if !errors.Is(r.err, ErrClosed) {
				t.Errorf("%s: %v", r.name, r.err)
			}
		case <-time.After(30 * time.Second):
			t.Fatal("a call goes on after Close")
		}
	}
	if took := time.Since(began); took > 30*time.Second {
		t.Errorf("closing took %v", took)
	}
}
