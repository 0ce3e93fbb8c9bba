package serve

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"testing"
	"time"
)

// crowd is where connections come from: on Linux all of 127.0.0.0/8 are addresses of this machine.
type crowd struct {
	*testing.T
	address string
}

// dial opens a connection from an address.
func (c crowd) dial(from string) net.Conn {
	c.Helper()
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}, Timeout: 10 * time.Second}
	conn, err := d.Dial("tcp", c.address)
	if err != nil {
		c.Skipf("connections from %s are not possible here: %v", from, err)
	}
	c.Cleanup(func() { _ = conn.Close() })
	return conn
}

// ask sends a request on a connection, and returns the status, 0 if it was closed and -1 if
// it is silent.
func (c crowd) ask(conn net.Conn) (status int, closes bool) {
	c.Helper()
	_, _ = io.WriteString(conn, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	_ = conn.SetReadDeadline(time.Now().Add(5 * time.Second))
	answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return -1, false
	} else if err != nil {
		return 0, true
	}
	_, _ = io.Copy(io.Discard, answer.Body)
	answer.Body.Close()
	return answer.StatusCode, answer.Close
}

// hold opens connections from an address and keeps those that are answered.
func (c crowd) hold(from string, n int) (own, spare int) {
	c.Helper()
	for range n {
		switch status, closes := c.ask(c.dial(from)); {
		case status == http.StatusOK && !closes:
			own++
		case status == http.StatusServiceUnavailable && closes:
			spare++
		case status != 0:
			c.Fatalf("%s: %d, closes %v", from, status, closes)
		}
	}
	return own, spare
}

// knows is a handler that answers on spare connections as one that knows nobody.
func knows(w http.ResponseWriter, r *http.Request) {
	if Crowded(r.Context()) {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
}

// One address takes its share of the connections and no more; what is more is answered once at
// most, and others never notice.
func TestConnectionsOfAnAddress(t *testing.T) {
	address, _ := running(t, Options{Connections: 64, PerAddress: 10, Handler: http.HandlerFunc(knows)})
	c := crowd{t, address}
	if own, spare := c.hold("127.0.0.1", 40); own != 10 || spare != 30 {
		t.Errorf("40 connections one after the other: %d kept, %d answered once; want 10 and 30", own, spare)
	}
	time.Sleep(100 * time.Millisecond) // until the server has let go of those that it has answered
	var silent []net.Conn              // which keep the spare ones too, as many as a line may have
	for range 40 {
		silent = append(silent, c.dial("127.0.0.1"))
	}
	time.Sleep(100 * time.Millisecond)
	closed := 0
	for _, conn := range silent {
		_ = conn.SetReadDeadline(time.Now().Add(100 * time.Millisecond))
		if _, err := conn.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
			closed++
		}
	}
	if closed != 40-spareEach {
		t.Errorf("of 40 silent ones %d were closed, want %d", closed, 40-spareEach)
	}
	if own, _ := c.hold("127.0.0.2", 10); own != 10 {
		t.Errorf("another address keeps %d, want 10", own)
	}
}

// When strangers from many addresses have all connections, the spare ones are left to who
// must get through.
func TestSpareConnections(t *testing.T) {
	address, _ := running(t, Options{Connections: 64, PerAddress: 10, Handler: http.HandlerFunc(knows)})
	c, kept := crowd{t, address}, 0
	for i := range 10 {
		own, _ := c.hold("127.0.1."+string(rune('1'+i%9)), 10)
		kept += own
	}
	if kept != 64-64/spareOf {
		t.Fatalf("%d are kept, want %d", kept, 64-64/spareOf)
	}
	for range 20 {
		if status, closes := c.ask(c.dial("127.0.2.1")); status != http.StatusServiceUnavailable || !closes {
			t.Fatalf("a check of health: %d, closes %v", status, closes)
		}
	}
}

// A reverse proxy brings the connections of many.
func TestConnectionsOfAProxy(t *testing.T) {
	address, _ := running(t, Options{Connections: 64, PerAddress: 2, Trusted: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}, Handler: http.HandlerFunc(knows)})
	c := crowd{t, address}
	if own, _ := c.hold("127.0.0.1", 40); own != 40 {
		t.Errorf("the proxy keeps %d of 40", own)
	}
	if own, _ := c.hold("127.0.0.2", 40); own != 2 {
		t.Errorf("somebody else keeps %d, want 2", own)
	}
}
