package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/swapper-go/swapper/internal/trial"
)

// attacked is a server, and the address that strangers reach it by.
type attacked struct {
	*town
	address string
}

func newAttacked(t *testing.T) *attacked {
	t.Helper()
	v := newTown(t)
	v.write("local.json", json.RawMessage(v.text))
	v.serve(map[string]any{"local": "local.json", "auth": []any{map[string]any{"type": "none", "name": "public", "rateLimit": nil}},
		"limits": map[string]int{"perSender": 512, "perAddress": 4096}}) // here strangers and others have one address
	return &attacked{v, strings.TrimPrefix(v.base, "http://")}
}

// dial opens a connection, which the test closes.
func (a *attacked) dial() *net.TCPConn {
	a.Helper()
	c, err := net.Dial("tcp", a.address)
	if err != nil {
		a.Fatal(err)
	}
	_ = c.SetDeadline(time.Now().Add(2 * time.Minute)) // of the test's own patience
	return c.(*net.TCPConn)
}

// answers reads n answers from a connection.
func (a *attacked) answers(c net.Conn, n int) []*http.Response {
	a.Helper()
	var all []*http.Response
	for r := bufio.NewReader(c); len(all) < n; {
		answer, err := http.ReadResponse(r, nil)
		if err != nil {
			a.Fatalf("after %d answers: %v", len(all), err)
		}
		text, err := io.ReadAll(answer.Body)
		if err != nil {
			a.Fatal(err)
		}
		answer.Body.Close()
		answer.Body = io.NopCloser(bytes.NewReader(text))
		all = append(all, answer)
	}
	return all
}

// others fails the test unless somebody else is answered, by the operations too.
func (a *attacked) others(what string) {
	a.Helper()
	for _, path := range []string{"/healthz", "/api/parseAddress?address=" + a.me()} {
		if status, text := get(a.T, a.base+path, nil); status != http.StatusOK {
			a.Errorf("%s: others get %d %s", what, status, text)
		}
	}
}

// rest is how many goroutines there are, and how many bytes are in use.
func rest() (goroutines int, heap int64) {
	http.DefaultClient.CloseIdleConnections()
	var mem runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&mem)
	return runtime.NumGoroutine(), int64(mem.HeapAlloc)
}

// back waits until the process is at rest as it was.
func (a *attacked) back(what string, goroutines int, heap int64) {
	a.Helper()
	for late := time.Now().Add(2 * time.Minute); ; time.Sleep(100 * time.Millisecond) {
		g, h := rest()
		if g <= goroutines+20 && h <= heap+32<<20 { // the local network's own come and go
			return
		}
		if time.Now().After(late) {
			a.Fatalf("%s left %d goroutines, before %d, and %d MB in use, before %d", what, g, goroutines, h>>20, heap>>20)
		}
	}
}

const createHead = "POST /api/createSwap HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"

// Whatever strangers send, or do not send, others are answered meanwhile, and what it took
// of the process is given back.
func TestAttacks(t *testing.T) {
	a := newAttacked(t)
	a.others("before")
	goroutines, heap := rest()
	try := func(what string, attack func()) {
		t.Helper()
		attack()
		a.others(what)
		a.back(what, goroutines, heap)
	}

	try("connections that say nothing", func() {
		var all []net.Conn
		for len(all) < 2000 {
			c, err := net.Dial("tcp", a.address)
			if err != nil && len(all) >= 200 { // both ends are files of this process, which may be allowed no more
				t.Logf("%d connections: %v", len(all), err)
				break
			} else if err != nil {
				t.Fatal(err)
			}
			all = append(all, c)
		}
		for _, c := range all[len(all)-20:] { // room for what asks meanwhile
			c.Close()
		}
		a.others("silent connections")
		for _, c := range all {
			c.Close()
		}
	})

	try("connections that idle after an answer", func() {
		var all []net.Conn
		for range 500 {
			c := a.dial()
			_, _ = io.WriteString(c, "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
			a.answers(c, 1)
			all = append(all, c)
		}
		a.others("500 idle connections")
		for _, c := range all {
			c.Close()
		}
	})

	try("headers and bodies that come slowly", func() {
		if !trial.Full() { // it takes as long as headers may; serve.TestSlowRequestsAreCut has the rule
			return
		}
		var dripping sync.WaitGroup
		var all []net.Conn
		for i := range 300 {
			c := a.dial()
			all = append(all, c)
			dripping.Go(func() {
				head := "GET /healthz HTTP/1.1\r\nHost: x\r\nX-Slow: "
				if i%2 == 0 {
					head = createHead + "Content-Length: 1000\r\n\r\n{"
				}
				for _, err := io.WriteString(c, head); err == nil; _, err = io.WriteString(c, "x") {
					time.Sleep(200 * time.Millisecond)
				}
			})
		}
		a.others("300 slow senders")
		for i, c := range all {
			if i%2 == 1 { // headers have 5 seconds
				if text, err := io.ReadAll(c); isTimeout(err) {
					t.Errorf("a slow header is still read: %q %v", text, err)
				}
			}
			c.Close()
		}
		dripping.Wait()
	})

	try("large bodies and headers", func() {
		for head, want := range map[string]int{
			createHead + "Content-Length: 1000000000000\r\n\r\n":         http.StatusRequestEntityTooLarge,
			createHead + "Transfer-Encoding: chunked\r\n\r\n2000000\r\n": http.StatusRequestEntityTooLarge,
			"GET /healthz HTTP/1.1\r\nHost: x\r\nX-Large: ":              http.StatusRequestHeaderFieldsTooLarge,
			"GET /api/parseAddress?address=":                             http.StatusRequestHeaderFieldsTooLarge,
		} {
			answered := 0
			for range 20 {
				c := a.dial()
				sent := make(chan struct{})
				go func() {
					defer close(sent)
					_, err := io.WriteString(c, head)
					for i := 0; i < 64 && err == nil; i++ { // 32 MB, as far as they are read
						_, err = io.WriteString(c, strings.Repeat("x", 512<<10))
					}
				}()
				// The answer is lost where the connection is cut under what is still sent.
				if answer, err := http.ReadResponse(bufio.NewReader(c), nil); err == nil {
					if answered++; answer.StatusCode != want {
						t.Errorf("%.60q: %d, want %d", head, answer.StatusCode, want)
					}
				} else if isTimeout(err) {
					t.Errorf("%.60q: neither answered nor cut off", head)
				}
				c.Close()
				<-sent
			}
			if answered == 0 {
				t.Errorf("%.60q: never answered", head)
			}
		}
		if status, text := get(t, a.base+"/api/parseAddress?address="+strings.Repeat("x", 40<<10), nil); status != http.StatusRequestURITooLong {
			t.Errorf("a query of 40 KiB: %d %s", status, text)
		}
		a.others("large requests")
	})

	try("requests that do not wait for answers", func() {
		for range 20 {
			c := a.dial()
			go func() {
				_, _ = io.WriteString(c, strings.Repeat("GET /api/parseAddress?address=x HTTP/1.1\r\nHost: x\r\n\r\n", 200))
			}()
			for i, answer := range a.answers(c, 200) {
				if answer.StatusCode != http.StatusBadRequest {
					t.Fatalf("answer %d: %s", i, answer.Status)
				}
			}
			c.Close()
		}
		never := a.dial() // reads nothing of what it asks for
		defer never.Close()
		for err := error(nil); err == nil; {
			_ = never.SetDeadline(time.Now().Add(200 * time.Millisecond))
			_, err = io.WriteString(never, strings.Repeat("GET /api/openapi.json HTTP/1.1\r\nHost: x\r\n\r\n", 100))
		}
		a.others("pipelined requests")
	})

	try("connections that are half closed", func() {
		for range 100 {
			c := a.dial() // has said all, and listens
			_, _ = io.WriteString(c, "GET /api/parseAddress?address=x HTTP/1.1\r\nHost: x\r\n\r\n")
			_ = c.CloseWrite()
			if got := a.answers(c, 1)[0].StatusCode; got != http.StatusBadRequest {
				t.Errorf("half closed after the request: %d", got)
			}
			c.Close()
			c = a.dial() // in the middle of a body
			_, _ = io.WriteString(c, createHead+"Content-Length: 1000\r\n\r\n{")
			_ = c.CloseWrite()
			if got := a.answers(c, 1)[0].StatusCode; got != http.StatusBadRequest {
				t.Errorf("half closed in the body: %d", got)
			}
			c.Close()
			c = a.dial() // in the middle of a header
			_, _ = io.WriteString(c, "GET /healthz HTTP/1.1\r\nHost")
			_ = c.CloseWrite()
			_, _ = io.Copy(io.Discard, c)
			c.Close()
		}
		a.others("half closed connections")
	})

	try("bodies that are packed", func() {
		var bomb bytes.Buffer
		w, _ := gzip.NewWriterLevel(&bomb, gzip.BestCompression)
		for range 64 {
			_, _ = w.Write(make([]byte, 1<<20))
		}
		_ = w.Close()
		for _, encoding := range []string{"gzip", "deflate", "br", "identity", "gzip, gzip"} {
			r, err := http.NewRequest(http.MethodPost, a.base+"/api/createSwap", bytes.NewReader(bomb.Bytes()))
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Content-Type", "application/json")
			r.Header.Set("Content-Encoding", encoding)
			answer, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			text, _ := io.ReadAll(answer.Body)
			answer.Body.Close()
			if answer.StatusCode != http.StatusUnsupportedMediaType || !strings.Contains(string(text), "content-type") {
				t.Errorf("%s: %d %s", encoding, answer.StatusCode, text)
			}
		}
	})

	try("bodies that are not framed as HTTP has it", func() {
		second := "GET /api/getSupportedTokens?side=INPUT HTTP/1.1\r\nHost: x\r\n\r\n" // must never be answered as a request of its own
		for _, rest := range []string{
			"Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n",
			"Transfer-Encoding: chunked\r\n\r\n-1\r\n{}\r\n0\r\n\r\n",
			"Transfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n{}\r\n0\r\n\r\n",
			"Transfer-Encoding: chunked\r\n\r\n2\r\n{}0\r\n\r\n",
			"Transfer-Encoding: chunked\r\n\r\n2;" + strings.Repeat("x", 64<<10) + "\r\n{}\r\n0\r\n\r\n",
			"Transfer-Encoding: chunked, chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
			"Transfer-Encoding: gzip, chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
			"Transfer-Encoding: xchunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
			"Transfer-Encoding : chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
			"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{} ",
			"Content-Length: -1\r\n\r\n{}",
			"Content-Length: +2\r\n\r\n{}",
			"Content-Length: 0x2\r\n\r\n{}",
		} {
			c := a.dial()
			go func() { _, _ = io.WriteString(c, createHead+rest+second) }()
			text, err := io.ReadAll(c) // the connection is closed: nobody knows where the next request begins
			if isTimeout(err) {
				t.Errorf("%.60q: the connection is open", rest)
			}
			if status := fmt.Sprintf("%.12s", text); status != "HTTP/1.1 400" && status != "HTTP/1.1 501" || strings.Contains(string(text), "LIGHTNING-BTC") {
				t.Errorf("%.60q: answered %.300q", rest, text)
			}
			c.Close()
		}
		a.others("illegal bodies")
	})
	a.settle(a.fromLightning())
}

func isTimeout(err error) bool {
	e, ok := err.(net.Error)
	return ok && e.Timeout()
}
