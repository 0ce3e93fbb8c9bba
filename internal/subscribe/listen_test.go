package subscribe

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/trial"
)

// node is a WebSocket server. It answers the calls, names the subscriptions "heads" and "logs",
// and then does what the test wants.
type node struct {
	*testing.T
	url      string
	accepted atomic.Int32
	asked    chan string // methods that were called
}

func serve(t *testing.T, answer func(method string, id uint64) string, then func(ctx context.Context, send func(string) error)) *node {
	n := &node{T: t, asked: make(chan string, 1000)}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n.accepted.Add(1)
		conn, err := websocket.Accept(w, r, nil)
		if err != nil {
			return
		}
		defer conn.CloseNow()
		send := func(text string) error { return conn.Write(r.Context(), websocket.MessageText, []byte(text)) }
		for range 3 {
			_, text, err := conn.Read(r.Context())
			if err != nil {
				return
			}
			var call struct {
				ID     uint64
				Method string
			}
			if err := json.Unmarshal(text, &call); err != nil {
				n.Errorf("the call %s: %v", text, err)
				return
			}
			n.asked <- call.Method
			if send(answer(call.Method, call.ID)) != nil {
				return
			}
		}
		then(r.Context(), send)
	}))
	t.Cleanup(server.Close)
	n.url = "ws" + strings.TrimPrefix(server.URL, "http")
	return n
}

func good(method string, id uint64) string {
	result := map[string]string{"which": `"ours"`, "logs": "17", "heads": `"0x1"`}[method]
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":%s}`, id, result)
}

func head(behind bool) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","method":"news","params":{"subscription":"0x1","result":{"behind":%t}}}`, behind)
}

const logNews = `{"jsonrpc":"2.0","method":"news","params":{"subscription_id":17,"result":{}}}`

func options(urls ...string) Options {
	return Options{URLs: urls, Identity: "which", Silence: time.Second, Log: slog.New(slog.DiscardHandler),
		Check: func(a json.RawMessage) error {
			if string(a) != `"ours"` {
				return errors.New("serves another network")
			}
			return nil
		},
		Channels: []Channel{{Method: "logs", Params: []any{map[string]any{"address": "0x01"}}}, {Method: "heads", Beat: func(r json.RawMessage) error {
			var h struct{ Behind bool }
			if err := json.Unmarshal(r, &h); err != nil {
				return err
			}
			if h.Behind {
				return errors.New("the node is behind")
			}
			return nil
		}}},
	}
}

// start listens until the test's end.
func start(t *testing.T, o Options) *Nodes {
	t.Helper()
	n := trial.Must(New(o))(t)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { n.run(ctx); close(done) }()
	t.Cleanup(func() {
		cancel()
		select {
		case <-done:
		case <-time.After(time.Minute):
			t.Error("it does not end with its context")
		}
	})
	return n
}

func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if holds() {
			return
		}
	}
	t.Fatalf("not in time: %s", what)
}

func TestListens(t *testing.T) {
	t.Parallel()
	more := make(chan string)
	s := serve(t, good, func(ctx context.Context, send func(string) error) {
		for {
			select {
			case <-ctx.Done():
				return
			case text := <-more:
				if send(text) != nil {
					return
				}
			}
		}
	})
	o := options(s.url)
	o.Silence = time.Minute
	n := start(t, o)
	more <- logNews
	eventually(t, "the hint is counted", func() bool { return n.counted() == 1 })
	if n.anyAlive() {
		t.Error("it is alive without a beat")
	}
	more <- head(true)
	more <- head(false)
	eventually(t, "the beat makes it alive", n.anyAlive)
	if got := n.States()[0]; got != (bitcoin.Subscription{Alive: true, Messages: 2}) {
		t.Errorf("the state is %+v; the head of the node that is behind does not count", got)
	}
	for _, want := range []string{"which", "logs", "heads"} {
		if got := <-s.asked; got != want {
			t.Errorf("it called %s, want %s", got, want)
		}
	}
	more <- `{"jsonrpc":"2.0","method":"reorganised","params":{"subscription_id":"other","result":{}}}`
	eventually(t, "news of an unknown subscription are a hint", func() bool { return n.counted() == 2 })
	more <- `{"jsonrpc":"2.0","id":99,"result":true}` // means nothing
	more <- `no JSON`
	eventually(t, "it is lost", func() bool { return !n.anyAlive() && n.States()[0].Lost == 1 })
	eventually(t, "it comes back by itself", func() bool {
		select {
		case more <- head(false): // the old connection may take one
		default:
		}
		return n.anyAlive()
	})
}

// News that come before the answer that names their subscription count.
func TestListensToEarlyNews(t *testing.T) {
	s := serve(t, func(method string, id uint64) string { return good(method, id) }, func(ctx context.Context, send func(string) error) {
		<-ctx.Done()
	})
	early := serve(t, func(method string, id uint64) string {
		if method == "heads" {
			return head(false)
		}
		return good(method, id)
	}, func(ctx context.Context, send func(string) error) {
		_ = send(good("heads", 3))
		<-ctx.Done()
	})
	o := options(s.url, early.url)
	o.Silence = time.Minute
	n := start(t, o)
	eventually(t, "the early head counts", n.anyAlive)
	if got := n.States(); got[0].Alive || !got[1].Alive {
		t.Errorf("the states are %+v", got)
	}
}

func TestBadNodesAreNotAlive(t *testing.T) {
	t.Parallel()
	idle := func(ctx context.Context, _ func(string) error) { <-ctx.Done() }
	beating := func(ctx context.Context, send func(string) error) {
		for send(head(false)) == nil && ctx.Err() == nil {
			time.Sleep(20 * time.Millisecond)
		}
	}
	for name, c := range map[string]struct {
		answer func(string, uint64) string
		then   func(context.Context, func(string) error)
	}{
		"another network": {func(m string, id uint64) string {
			return strings.Replace(good(m, id), "ours", "theirs", 1)
		}, beating},
		"refuses": {func(m string, id uint64) string {
			if m == "logs" {
				return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"error":{"code":-32601,"message":"no"}}`, id)
			}
			return good(m, id)
		}, beating},
		"no result": {func(m string, id uint64) string {
			if m == "logs" {
				return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":null}`, id)
			}
			return good(m, id)
		}, beating},
		"one name for two": {func(m string, id uint64) string { return strings.Replace(good(m, id), "17", `"0x1"`, 1) }, beating},
		"another answer":   {func(m string, id uint64) string { return good(m, id+1) }, beating},
		"garbage":          {func(string, uint64) string { return "<html>" }, beating},
		"silent":           {good, idle},
		"huge": {good, func(ctx context.Context, send func(string) error) {
			_ = send(`{"jsonrpc":"2.0","method":"` + strings.Repeat("a", maxSize) + `"}`)
			<-ctx.Done()
		}},
		"closes": {good, func(context.Context, func(string) error) {}},
		"only behind": {good, func(ctx context.Context, send func(string) error) {
			for send(head(true)) == nil && ctx.Err() == nil {
				time.Sleep(20 * time.Millisecond)
			}
		}},
		"news and no answer": {func(m string, id uint64) string {
			if m == "heads" {
				return logNews
			}
			return good(m, id)
		}, func(ctx context.Context, send func(string) error) {
			for send(logNews) == nil && ctx.Err() == nil {
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := start(t, options(serve(t, c.answer, c.then).url))
			eventually(t, "the connection is given up", func() bool {
				if n.anyAlive() {
					t.Error("it is alive")
				}
				return n.States()[0].Lost > 0
			})
		})
	}
	t.Run("redirects", func(t *testing.T) {
		t.Parallel()
		other := serve(t, good, beating)
		server := httptest.NewServer(http.RedirectHandler(strings.Replace(other.url, "ws", "http", 1), http.StatusTemporaryRedirect))
		t.Cleanup(server.Close)
		n := start(t, options("ws"+strings.TrimPrefix(server.URL, "http")))
		eventually(t, "the connection is given up", func() bool { return n.States()[0].Lost > 0 })
		if other.accepted.Load() > 0 {
			t.Error("it followed a redirect")
		}
	})
	t.Run("falls silent", func(t *testing.T) {
		t.Parallel()
		n := start(t, options(serve(t, good, func(ctx context.Context, send func(string) error) {
			_ = send(head(false))
			<-ctx.Done()
		}).url))
		eventually(t, "it is alive", n.anyAlive)
		eventually(t, "it is not any more", func() bool { return n.States()[0].Lost > 0 })
	})
}

func TestURLs(t *testing.T) {
	many := make([]string, maxURLs+1)
	for i := range many {
		many[i] = "ws://127.0.0.1"
	}
	for name, urls := range map[string][]string{"http": {"http://127.0.0.1"}, "no host": {"ws:"}, "not a URL": {"ws://%"}, "too many": many} {
		if _, err := New(options(urls...)); fault.CodeOf(err) != fault.InvalidInput {
			t.Errorf("%s: %v", name, err)
		}
	}
}
