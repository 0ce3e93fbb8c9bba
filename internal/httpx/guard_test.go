package httpx_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/swapper-go/swapper/internal/httpx"
	"github.com/swapper-go/swapper/internal/trial"
)

// target is a listener that nobody may reach.
func target(t *testing.T) (port string, hits *atomic.Int32) {
	hits = &atomic.Int32{}
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "secret") }))
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			hits.Add(1)
		}
	}
	s.Start()
	t.Cleanup(s.Close)
	_, port, err := net.SplitHostPort(s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return port, hits
}

// dnsServer is a name server on a socket of its own; answer is asked for every
// A and AAAA question.
func dnsServer(t *testing.T, answer func(name string) []netip.Addr) *net.Resolver {
	conn := trial.Must(net.ListenPacket("udp", "127.0.0.1:0"))(t)
	var done sync.WaitGroup
	done.Go(func() {
		buf := make([]byte, 1500)
		for {
			n, from, err := conn.ReadFrom(buf)
			if err != nil {
				return
			}
			var m dnsmessage.Message
			if m.Unpack(buf[:n]) != nil || len(m.Questions) != 1 {
				continue
			}
			q := m.Questions[0]
			reply := dnsmessage.Message{Header: dnsmessage.Header{ID: m.ID, Response: true, RecursionAvailable: true}, Questions: m.Questions}
			for _, a := range answer(strings.TrimSuffix(q.Name.String(), ".")) {
				h := dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class}
				switch {
				case a.Is4() && q.Type == dnsmessage.TypeA:
					reply.Answers = append(reply.Answers, dnsmessage.Resource{Header: h, Body: &dnsmessage.AResource{A: a.As4()}})
				case a.Is6() && q.Type == dnsmessage.TypeAAAA:
					reply.Answers = append(reply.Answers, dnsmessage.Resource{Header: h, Body: &dnsmessage.AAAAResource{AAAA: a.As16()}})
				}
			}
			if packed, err := reply.Pack(); err == nil {
				_, _ = conn.WriteTo(packed, from)
			}
		}
	})
	t.Cleanup(func() {
		_ = conn.Close()
		done.Wait()
	})
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "udp", conn.LocalAddr().String())
	}}
}

func get(t *testing.T, g httpx.Guard, url string) error {
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	client := guarded(g)
	defer client.CloseIdleConnections()
	resp, err := client.Do(req)
	if err == nil {
		_ = resp.Body.Close()
	}
	return err
}

func refused(err error) bool {
	_, ok := errors.AsType[*httpx.AddressError](err)
	return ok
}

func TestGuardRefusesNamesOfPrivateAddresses(t *testing.T) {
	port, hits := target(t)
	public, private := netip.MustParseAddr("9.9.9.9"), netip.MustParseAddr("127.0.0.1")
	names := map[string][]netip.Addr{
		"private.example":     {private},
		"mixed.example":       {public, private},
		"private6.example":    {netip.MustParseAddr("::1")},
		"mixed6.example":      {public, netip.MustParseAddr("fd00::1")},
		"mapped.example":      {netip.MustParseAddr("::ffff:127.0.0.1")},
		"translated.example":  {netip.MustParseAddr("64:ff9b::127.0.0.1")},
		"metadata.example":    {netip.MustParseAddr("169.254.169.254")},
		"unspecified.example": {netip.MustParseAddr("0.0.0.0")},
	}
	g := httpx.Guard{Resolver: dnsServer(t, func(name string) []netip.Addr { return names[name] })}
	for name := range names {
		if err := get(t, g, "http://"+name+":"+port+"/"); !refused(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if hits.Load() != 0 {
		t.Errorf("%d connections to the private listener", hits.Load())
	}
	g.AllowLocal = true
	if err := get(t, g, "http://private.example:"+port+"/"); err != nil || hits.Load() != 1 {
		t.Errorf("allowed, yet %v and %d connections", err, hits.Load())
	}
}

// rebinder answers each lookup with the next list and counts lookups.
type rebinder struct {
	answers [][]netip.Addr
	lookups int
	after   func()
}

func (r *rebinder) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) {
	a := r.answers[min(r.lookups, len(r.answers)-1)]
	r.lookups++
	if r.after != nil {
		r.after()
	}
	return a, nil
}

func TestGuardDialsWhatItLookedAt(t *testing.T) {
	port, hits := target(t)
	public, private := []netip.Addr{netip.MustParseAddr("9.9.9.9")}, []netip.Addr{netip.MustParseAddr("127.0.0.1")}

	// The first answer is good, every later one leads inside: no second look may be taken.
	ctx, cancel := context.WithCancel(t.Context())
	r := &rebinder{answers: [][]netip.Addr{public, private}, after: cancel} // nothing is really dialled
	if _, err := (httpx.Guard{Resolver: r}).DialContext(ctx, "tcp", "rebind.example:"+port); err == nil || refused(err) {
		t.Errorf("first connection: %v", err)
	}
	if r.lookups != 1 {
		t.Errorf("%d lookups for one connection", r.lookups)
	}
	// The next connection looks again and sees the new answer.
	r.after = nil
	if _, err := (httpx.Guard{Resolver: r}).DialContext(t.Context(), "tcp", "rebind.example:"+port); !refused(err) {
		t.Errorf("second connection: %v", err)
	}
	if hits.Load() != 0 {
		t.Errorf("%d connections to the private listener", hits.Load())
	}
}

func TestGuardRefusesLiteralsInEveryNotation(t *testing.T) {
	port, hits := target(t)
	// Some system resolvers read the odd spellings as C's inet_aton does.
	g := httpx.Guard{Resolver: &rebinder{answers: [][]netip.Addr{{netip.MustParseAddr("127.0.0.1")}}}}
	for _, host := range []string{
		"127.0.0.1", "127.0.0.1.", "127.1", "2130706433", "0x7f000001", "0177.0.0.1", "0x7f.1", "0", "localhost", "LOCALHOST", "x.localhost",
		"127。0。0。1", "①②⑦.⓪.⓪.①", "[::1]", "[::]", "[0:0:0:0:0:0:0:1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::127.0.0.1]",
		"[64:ff9b::7f00:1]", "[2002:7f00:1::]", "[fe80::1%25lo]", "[::1%25lo]", "0.0.0.0", "10.0.0.1", "100.64.1.1", "192.168.0.1", "172.16.0.1",
		"169.254.169.254", "[fd00:ec2::254]", "224.0.0.1", "255.255.255.255",
	} {
		if err := get(t, g, "http://"+host+":"+port+"/"); !refused(err) {
			t.Errorf("%s: %v", host, err)
		}
	}
	if hits.Load() != 0 {
		t.Errorf("%d connections to the private listener", hits.Load())
	}
}

// publicHost answers for public.example without a network and passes every other
// request to the guard.
type publicHost struct {
	answer func(*http.Request) *http.Response
	guard  http.RoundTripper
}

func (p publicHost) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.URL.Hostname() == "public.example" {
		return p.answer(req), nil
	}
	return p.guard.RoundTrip(req)
}

func redirect(to string) func(*http.Request) *http.Response {
	return func(req *http.Request) *http.Response {
		return &http.Response{StatusCode: http.StatusFound, Header: http.Header{"Location": {to}}, Body: http.NoBody, Request: req}
	}
}

func TestGuardAndRedirects(t *testing.T) {
	port, hits := target(t)
	g := httpx.Guard{Resolver: &rebinder{answers: [][]netip.Addr{{netip.MustParseAddr("127.0.0.1")}}}}
	for _, tt := range []struct {
		name, to string
		ok       func(error) bool
	}{
		{"to a private address", "https://127.0.0.1:" + port, refused},
		{"to a name of a private address", "https://inside.example:" + port, refused},
		{"to http", "http://public.example/", func(err error) bool { return errors.Is(err, httpx.ErrRedirect) }},
		{"to another scheme", "ftp://public.example/", func(err error) bool { return errors.Is(err, httpx.ErrRedirect) }},
		{"to an onion host", "http://abc.onion/", func(err error) bool { return errors.Is(err, httpx.ErrRedirect) }},
		{"for ever", "https://public.example/", func(err error) bool { return errors.Is(err, httpx.ErrRedirect) }},
	} {
		client := guarded(g)
		client.Transport = publicHost{redirect(tt.to), client.Transport}
		resp, err := client.Get("https://public.example/?k1=secret")
		if err == nil {
			_ = resp.Body.Close()
		}
		if !tt.ok(err) {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
	if hits.Load() != 0 {
		t.Errorf("%d connections to the private listener", hits.Load())
	}
}

func TestRedirectsTellNoSecrets(t *testing.T) {
	asked := []*http.Request{}
	client := guarded(httpx.Guard{})
	client.Transport = publicHost{answer: func(req *http.Request) *http.Response {
		asked = append(asked, req)
		if len(asked) < 4 {
			return redirect("https://public.example/next")(req)
		}
		return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody, Request: req}
	}}
	resp := trial.Must(client.Get("https://public.example/?k1=secret"))(t)
	_ = resp.Body.Close()
	if len(asked) != 4 {
		t.Errorf("%d requests, want three redirects followed", len(asked))
	}
	for _, req := range asked[1:] {
		if req.Header.Get("Referer") != "" {
			t.Errorf("referer %q", req.Header.Get("Referer"))
		}
	}
}

func TestOnionHostsNeedAProxy(t *testing.T) {
	r := &rebinder{answers: [][]netip.Addr{{netip.MustParseAddr("127.0.0.1")}}}
	g := httpx.Guard{Resolver: r}
	for _, host := range []string{"abc.onion", "ABC.Onion", "abc.onion.", "a.b.ｏｎｉｏｎ"} {
		if err := get(t, g, "http://"+host+"/"); !errors.Is(err, httpx.ErrOnion) {
			t.Errorf("%s: %v", host, err)
		}
	}
	asked := make(chan string, 1)
	g.OnionProxy = socksProxy(t, asked)
	if err := get(t, g, "http://abc.onion:81/x"); err != nil {
		t.Error(err)
	}
	if got := <-asked; got != "abc.onion:81" {
		t.Errorf("the proxy was asked for %s", got)
	}
	if r.lookups != 0 {
		t.Errorf("%d lookups of onion names", r.lookups)
	}
}

// socksProxy answers one SOCKS5 connection as the host that was asked for, with
// an empty HTTP answer.
func socksProxy(t *testing.T, asked chan<- string) string {
	l := trial.Must(net.Listen("tcp", "127.0.0.1:0"))(t)
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		c, err := l.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		r := bufio.NewReader(c)
		head := make([]byte, 2)
		if _, err := io.ReadFull(r, head); err != nil {
			return
		}
		_, _ = r.Discard(int(head[1]))
		_, _ = c.Write([]byte{5, 0})
		req := make([]byte, 5) // version, connect, 0, kind 3 (a name), its length
		if _, err := io.ReadFull(r, req); err != nil || req[3] != 3 {
			return
		}
		name := make([]byte, int(req[4])+2)
		if _, err := io.ReadFull(r, name); err != nil {
			return
		}
		host, port := name[:len(name)-2], int(name[len(name)-2])<<8|int(name[len(name)-1])
		asked <- net.JoinHostPort(string(host), strconv.Itoa(port))
		_, _ = c.Write([]byte{5, 0, 0, 1, 0, 0, 0, 0, 0, 0})
		if _, err := http.ReadRequest(r); err == nil {
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
		}
	}()
	return l.Addr().String()
}

// guarded is a client that goes through a guard and follows its rule of redirects.
func guarded(g httpx.Guard) *http.Client {
	return &http.Client{Transport: g.Transport(), CheckRedirect: g.CheckRedirect}
}
