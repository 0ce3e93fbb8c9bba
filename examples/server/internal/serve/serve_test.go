package serve

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

// running is a server on a port of its own; stop ends it and returns what Run did. A limit may
// be changed before it runs.
func running(t *testing.T, o Options, change ...func(*http.Server)) (address string, stop func() error) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	o.Logger = quiet()
	if len(change) == 0 {
		go func() { ended <- Run(ctx, listener, o) }()
	} else {
		server := newServer(once(o.Handler), o.Logger)
		for _, f := range change {
			f(server)
		}
		go func() { ended <- run(ctx, listener, server, o) }()
	}
	done := false
	stop = func() error {
		cancel()
		if done {
			return nil
		}
		done = true
		return <-ended
	}
	t.Cleanup(func() { _ = stop() })
	return listener.Addr().String(), stop
}

func TestEndLetsRequestsFinish(t *testing.T) {
	asked, answer, ending := make(chan struct{}), make(chan struct{}), make(chan struct{})
	address, stop := running(t, Options{Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) { close(asked); <-answer }), Ending: func() { close(ending) }})
	answered := make(chan int, 1)
	go func() {
		response, err := http.Get("http://" + address)
		if err != nil {
			answered <- 0
			return
		}
		response.Body.Close()
		answered <- response.StatusCode
	}()
	<-asked
	ended := make(chan error, 1)
	go func() { ended <- stop() }()
	<-ending
	select {
	case err := <-ended:
		t.Errorf("ended under a request: %v", err)
	case <-time.After(50 * time.Millisecond):
	}
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) { // new ones are refused meanwhile
		if c, err := net.Dial("tcp", address); err != nil {
			break
		} else if c.Close(); time.Now().After(deadline) {
			t.Fatal("connections are accepted while the server ends")
		}
	}
	close(answer)
	if status := <-answered; status != http.StatusOK {
		t.Errorf("status %d", status)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// A request that does not end is cut off after the grace.
func TestGraceEnds(t *testing.T) {
	asked := make(chan struct{})
	address, stop := running(t, Options{Grace: 50 * time.Millisecond, Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { close(asked); <-r.Context().Done() })})
	go func() {
		if response, err := http.Get("http://" + address); err == nil {
			response.Body.Close()
		}
	}()
	<-asked
	began := time.Now()
	if err := stop(); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) > 5*time.Second {
		t.Errorf("%v after %v", err, time.Since(began))
	}
}

// Others do not wait for those that send slowly; who sends too much is refused.
func TestSlowAndLargeRequests(t *testing.T) {
	t.Parallel()
	address, _ := running(t, Options{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1000)); err != nil {
			w.WriteHeader(http.StatusRequestEntityTooLarge)
		}
	})})
	dial := func() net.Conn { return connected(t, address) }
	slowOnes(t, address)
	if response, err := http.Get("http://" + address); err != nil || response.StatusCode != http.StatusOK {
		t.Errorf("beside 200 slow ones: %v %v", response, err)
	}

	large := dial()
	go func() {
		_, _ = io.WriteString(large, "GET / HTTP/1.1\r\nHost: x\r\n")
		for range 200 {
			_, _ = fmt.Fprintf(large, "X-Large: %s\r\n", strings.Repeat("x", 1000))
		}
	}()
	if line, _ := bufio.NewReader(large).ReadString('\n'); !strings.Contains(line, " 431 ") {
		t.Errorf("200 kB of headers: %q", line)
	}
	long := dial()
	go func() {
		_, _ = io.WriteString(long, "GET /"+strings.Repeat("x", 200_000)+" HTTP/1.1\r\nHost: x\r\n\r\n")
	}()
	if line, _ := bufio.NewReader(long).ReadString('\n'); !strings.Contains(line, " 431 ") && !strings.Contains(line, " 414 ") {
		t.Errorf("a path of 200 kB: %q", line)
	}
	body := dial()
	go func() {
		_, _ = fmt.Fprintf(body, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100000000\r\n\r\n%s", strings.Repeat("x", 100_000))
	}()
	if line, _ := bufio.NewReader(body).ReadString('\n'); !strings.Contains(line, " 413 ") {
		t.Errorf("a large body: %q", line)
	}
	smuggled := dial()
	_, _ = io.WriteString(smuggled, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: gzip\r\n\r\nhello")
	if line, _ := bufio.NewReader(smuggled).ReadString('\n'); !strings.Contains(line, " 501 ") && !strings.Contains(line, " 400 ") {
		t.Errorf("an encoding that nobody knows: %q", line)
	}
}

// connected is a connection to an address until the test's end.
func connected(t *testing.T, address string) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// slowOnes are connections on which a header begins and does not end.
func slowOnes(t *testing.T, address string) (slow []net.Conn) {
	t.Helper()
	for range 200 {
		c := connected(t, address)
		_, _ = io.WriteString(c, "GET / HTTP/1.1\r\nHost: x\r\nX-Slow: ")
		slow = append(slow, c)
	}
	return slow
}

// The time in which a header must come is bounded, and a connection is closed when it has passed.
func TestSlowRequestsAreCut(t *testing.T) {
	var limit time.Duration
	address, _ := running(t, Options{Handler: http.NotFoundHandler()}, func(s *http.Server) {
		limit, s.ReadHeaderTimeout = s.ReadHeaderTimeout, 100*time.Millisecond
	})
	if limit != headerTimeout {
		t.Errorf("a header may take %v", limit)
	}
	for _, c := range slowOnes(t, address) {
		_ = c.SetReadDeadline(time.Now().Add(10 * time.Second))
		_, err := io.ReadAll(c) // nothing, or 408, then the end
		if timeout := net.Error(nil); errors.As(err, &timeout) && timeout.Timeout() {
			t.Fatal("a slow connection stays open")
		}
	}
}

// More connections than allowed wait for a place, and get one.
func TestConnectionsAreBounded(t *testing.T) {
	address, _ := running(t, Options{Connections: 2, Handler: http.NotFoundHandler()})
	var idle []net.Conn
	for range 2 {
		c, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(c, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
		if line, err := bufio.NewReader(c).ReadString('\n'); err != nil || !strings.Contains(line, "404") {
			t.Fatalf("%q %v", line, err)
		}
		idle = append(idle, c)
	}
	third, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer third.Close()
	_, _ = io.WriteString(third, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	_ = third.SetReadDeadline(time.Now().Add(100 * time.Millisecond))
	if n, err := third.Read(make([]byte, 1)); err == nil {
		t.Errorf("a third connection is answered: %d", n)
	}
	idle[0].Close()
	_ = third.SetReadDeadline(time.Now().Add(time.Minute))
	if line, err := bufio.NewReader(third).ReadString('\n'); err != nil || !strings.Contains(line, "404") {
		t.Errorf("%q %v", line, err)
	}
	idle[1].Close()
}

// writePair writes a certificate for a name and its key.
func writePair(t *testing.T, dir, name string, at time.Time) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, DNSNames: []string{name}, NotAfter: time.Now().Add(time.Hour)}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for file, block := range map[string]*pem.Block{"cert.pem": {Type: "CERTIFICATE", Bytes: cert}, "key.pem": {Type: "PRIVATE KEY", Bytes: private}} {
		path := filepath.Join(dir, file)
		if err := errors.Join(os.WriteFile(path, pem.EncodeToMemory(block), 0o600), os.Chtimes(path, at, at)); err != nil {
			t.Fatal(err)
		}
	}
}

// A new certificate counts for new connections, while the old ones go on; half of a pair
// does not.
func TestCertificateIsReplaced(t *testing.T) {
	dir := t.TempDir()
	cert, key := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	if _, err := NewCertificate(cert, key, nil); err == nil {
		t.Error("no files, no error")
	}
	start := time.Now().Add(-time.Hour)
	writePair(t, dir, "first", start)
	c, err := NewCertificate(cert, key, quiet())
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	var passed atomic.Int64
	c.pair.Now = func() time.Time { return began.Add(time.Duration(passed.Load()) * time.Second) }
	address, _ := running(t, Options{Certificate: c, Handler: http.NotFoundHandler()})
	dial := func(o *tls.Config) (*tls.Conn, error) {
		passed.Add(1)
		o.InsecureSkipVerify = true
		return tls.Dial("tcp", address, o)
	}
	name := func() string {
		t.Helper()
		conn, err := dial(&tls.Config{NextProtos: []string{"h2"}})
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if got := conn.ConnectionState().NegotiatedProtocol; got != "h2" {
			t.Errorf("protocol %q", got)
		}
		return conn.ConnectionState().PeerCertificates[0].Subject.CommonName
	}
	old, err := dial(&tls.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer old.Close()
	if got := name(); got != "first" {
		t.Errorf("%s", got)
	}
	if err := os.WriteFile(cert, []byte("half a file"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := name(); got != "first" {
		t.Errorf("after a broken file: %s", got)
	}
	writePair(t, dir, "second", start.Add(time.Minute))
	if got := name(); got != "second" {
		t.Errorf("after a new pair: %s", got)
	}
	_, _ = io.WriteString(old, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	if line, err := bufio.NewReader(old).ReadString('\n'); err != nil || !strings.Contains(line, "404") {
		t.Errorf("a connection of before: %q %v", line, err)
	}
	if conn, err := dial(&tls.Config{MaxVersion: tls.VersionTLS11}); err == nil {
		conn.Close()
		t.Error("TLS 1.1 is spoken")
	}
}
