//go:build unix

package postgres

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"net"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/swapper-go/swapper/internal/pgtest"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/storage"
)

// entryAt returns an entry as it is at a version: all of it follows from these.
func entryAt(id string, version uint64) storage.Entry {
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

// known is what a writer knows of an entry: its version (0: it is not there), and,
// if the outcome of the last write is unknown, the version that it may have instead.
type known struct {
	version uint64
	or      uint64
	unknown bool
}

// writer creates entries, changes each four times and deletes one in three, until
// the context ends. It notes what each write answered.
func writer(ctx context.Context, s *Store, name string, entries map[string]known, acknowledged *atomic.Int64) error {
	for n := 0; ctx.Err() == nil; n++ {
		id := fmt.Sprintf("%s-%d", name, n)
		for version := uint64(0); version < 5; version++ {
			e, next := entryAt(id, version+1), version+1
			e.Version = version
			var err error
			switch {
			case version == 0:
				err = s.Create(context.Background(), e)
			case version == 4 && n%3 == 0:
				err, next = s.Delete(context.Background(), id, version), 0
			default:
				err = s.Update(context.Background(), e)
			}
			k := known{version: next}
			if errors.Is(err, storage.ErrUnknown) {
				k = known{version, next, true}
			} else if err != nil {
				k.version = version
			} else {
				acknowledged.Add(1)
			}
			entries[id] = k
			if errors.Is(err, storage.ErrNotFound) || errors.Is(err, storage.ErrExists) || errors.Is(err, storage.ErrConflict) {
				return fmt.Errorf("%s at %d, which nobody else writes: %w", id, version, err)
			}
			if err != nil {
				break
			}
		}
	}
	return nil
}

// disturbed lets writers work while something is done to the server or the network,
// several times, and then finds what was acknowledged, nothing of what was refused,
// nothing torn, and keys that fit the entries.
func disturbed(t *testing.T, s *Store, disturb func(round int) error) {
	const writers, rounds = 8, 6
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	all := make([]map[string]known, writers)
	failed := make([]error, writers)
	var acknowledged atomic.Int64
	var group sync.WaitGroup
	for w := range writers {
		all[w] = map[string]known{}
		group.Go(func() { failed[w] = writer(ctx, s, strconv.Itoa(w), all[w], &acknowledged) })
	}
	last := int64(-1)
	for round := range rounds {
		for deadline := time.Now().Add(time.Minute); acknowledged.Load() < last+20; time.Sleep(time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("round %d: the writers do not go on; %d writes so far", round, acknowledged.Load())
			}
		}
		time.Sleep(rand.N(60 * time.Millisecond))
		trial.Do(t, disturb(round))
		last = acknowledged.Load()
	}
	time.Sleep(50 * time.Millisecond)
	stop()
	group.Wait()
	unknown, entries := 0, 0
	for w := range writers {
		if failed[w] != nil {
			t.Error(failed[w])
		}
		for id, k := range all[w] {
			entries++
			e, err := s.Get(t.Context(), id)
			switch {
			case errors.Is(err, storage.ErrNotFound):
				e.Version = 0
			case err != nil:
				t.Fatal(err)
			default:
				if want := entryAt(id, e.Version); !bytes.Equal(want.Body, e.Body) || fmt.Sprint(want.Keys) != fmt.Sprint(e.Keys) {
					t.Errorf("%s is torn at version %d", id, e.Version)
				}
			}
			if k.unknown {
				unknown++
			}
			if e.Version != k.version && !(k.unknown && e.Version == k.or) {
				t.Errorf("%s is at version %d, known is %+v", id, e.Version, k)
			}
		}
	}
	if err := s.Verify(t.Context()); err != nil {
		t.Error(err)
	}
	t.Logf("%d acknowledged writes of %d entries, %d of unknown outcome", acknowledged.Load(), entries, unknown)
	if acknowledged.Load() < 20*rounds {
		t.Errorf("only %d writes: the test has shown little", acknowledged.Load())
	}
}

// TestServerKilled kills the server with all its processes while it writes. The same
// Store goes on once it is up again.
func TestServerKilled(t *testing.T) {
	trial.OnlyFull(t)
	server := pgtest.Start(t)
	s := openTest(t, server.DSN(), Options{})
	disturbed(t, s, func(int) error {
		if err := server.Kill(); err != nil {
			return err
		}
		return server.Restart()
	})
}

// proxy is a stretch of network that can be cut.
type proxy struct {
	net.Listener
	target    func() (net.Conn, error)
	mu        sync.Mutex
	conns     map[net.Conn]bool
	refuse    bool
	mute      atomic.Bool // what the server sends is swallowed
	swallowed chan struct{}
}

func startProxy(t *testing.T, dsn string) *proxy {
	t.Helper()
	config := trial.Must(configOf(dsn, time.Second, false))(t)
	host, port := config.ConnConfig.Host, strconv.Itoa(int(config.ConnConfig.Port))
	l := trial.Must(net.Listen("tcp", "127.0.0.1:0"))(t)
	p := &proxy{Listener: l, conns: map[net.Conn]bool{}, swallowed: make(chan struct{}, 1), target: func() (net.Conn, error) {
		if host[0] == '/' {
			return net.Dial("unix", host+"/.s.PGSQL."+port)
		}
		return net.Dial("tcp", net.JoinHostPort(host, port))
	}}
	t.Cleanup(func() { l.Close(); p.cut() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go p.serve(c)
		}
	}()
	return p
}

func (p *proxy) keep(c net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.refuse {
		c.Close()
		return false
	}
	p.conns[c] = true
	return true
}

func (p *proxy) serve(client net.Conn) {
	server, err := p.target()
	if err != nil {
		client.Close()
		return
	}
	if !p.keep(client) || !p.keep(server) {
		client.Close()
		server.Close()
		return
	}
	go func() {
		_, _ = io.Copy(server, client) // ends when either is cut
		server.Close()
	}()
	buffer := make([]byte, 1<<15)
	for {
		n, err := server.Read(buffer)
		switch {
		case n > 0 && !p.mute.Load():
			_, err = client.Write(buffer[:n])
		case n > 0:
			select {
			case p.swallowed <- struct{}{}:
			default:
			}
		}
		if err != nil {
			client.Close()
			return
		}
	}
}

// cut ends all connections without a word.
func (p *proxy) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.conns {
		if tcp, ok := c.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0) // else the rest is still delivered
		}
		c.Close()
	}
	clear(p.conns)
}

func (p *proxy) setRefuse(refuse bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.refuse = refuse
}

// through returns the connection string with the addresses of proxies.
func through(dsn string, proxies ...*proxy) string {
	config, err := configOf(dsn, time.Second, false)
	if err != nil {
		panic(err)
	}
	hosts, ports := "", ""
	for i, p := range proxies {
		if i > 0 {
			hosts, ports = hosts+",", ports+","
		}
		hosts, ports = hosts+"127.0.0.1", ports+strconv.Itoa(p.Addr().(*net.TCPAddr).Port)
	}
	text := fmt.Sprintf("host=%s port=%s user=%s dbname=%s sslmode=disable", hosts, ports, config.ConnConfig.User, config.ConnConfig.Database)
	if config.ConnConfig.Password != "" {
		text += " password='" + config.ConnConfig.Password + "'"
	}
	return text
}

// TestNetworkCut cuts all connections in the middle of writes.
func TestNetworkCut(t *testing.T) {
	t.Parallel()
	dsn := pgtest.DSN(t)
	p := startProxy(t, dsn)
	s := openTest(t, through(dsn, p), Options{Schema: pgtest.Schema(t, dsn)})
	disturbed(t, s, func(int) error {
		p.cut()
		return nil
	})
}

// TestFailover has two ways to the database, of which one goes away in turn.
func TestFailover(t *testing.T) {
	t.Parallel()
	dsn := pgtest.DSN(t)
	two := []*proxy{startProxy(t, dsn), startProxy(t, dsn)}
	s := openTest(t, through(dsn, two...), Options{Schema: pgtest.Schema(t, dsn)})
	disturbed(t, s, func(round int) error {
		two[(round+1)%2].setRefuse(false)
		two[round%2].setRefuse(true)
		two[round%2].cut()
		return nil
	})
}

// overdue is a context whose deadline comes when done is closed.
type overdue struct {
	context.Context
	done chan struct{}
}

func (o overdue) Done() <-chan struct{} { return o.done }

func (o overdue) Err() error {
	select {
	case <-o.done:
		return context.DeadlineExceeded
	default:
		return nil
	}
}

// TestSilence has a network that swallows what the server says: calls end with their
// context, or in the time that the options allow.
func TestSilence(t *testing.T) {
	t.Parallel()
	dsn := pgtest.DSN(t)
	p := startProxy(t, dsn)
	schema := pgtest.Schema(t, dsn)
	e := entryAt("a", 1)
	e.Version = 0
	trial.Do(t, openTest(t, dsn, Options{Schema: schema}).Create(t.Context(), e))
	s := openTest(t, pgtest.With(t, through(dsn, p), "connect_timeout", "60"), Options{Schema: schema, Timeout: 500 * time.Millisecond})
	trial.Must(s.Get(t.Context(), "a"))(t)
	p.mute.Store(true)
	timed := func(what string, call func() error) error {
		t.Helper()
		start := time.Now()
		err := call()
		if took := time.Since(start); took > 30*time.Second {
			t.Errorf("%s took %s", what, took)
		}
		return err
	}
	short := func() context.Context {
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		t.Cleanup(cancel)
		return ctx
	}
	if err := timed("get", func() error { _, err := s.Get(short(), "a"); return err }); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("get: %v", err)
	}
	if err := timed("get without a deadline", func() error { _, err := s.Get(t.Context(), "a"); return err }); err == nil || errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("get: got %v, want an error that is not the caller's deadline", err)
	}
	if err := timed("create", func() error { return s.Create(short(), storage.Entry{ID: "b"}) }); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("create: %v", err)
	}
	p.mute.Store(false)
	p.cut()
	found := func(id string) (err error) { // once the network is back; on a busy machine it takes longer to connect than the options allow
		for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
			if _, err = s.Get(t.Context(), id); err == nil || errors.Is(err, storage.ErrNotFound) {
				break
			}
		}
		return err
	}
	if err := found("a"); err != nil {
		t.Errorf("once the network is back: %v", err)
	}

	// A write whose answer is swallowed may have been made, and says so.
	conn, err := s.pool.Acquire(t.Context()) // so that there is a connection to write on
	if err != nil {
		t.Fatal(err)
	}
	conn.Release()
	select {
	case <-p.swallowed: // of the calls before
	default:
	}
	p.mute.Store(true)
	late := overdue{t.Context(), make(chan struct{})}
	go func() { <-p.swallowed; close(late.done) }()
	err = timed("create", func() error { return s.Create(late, storage.Entry{ID: "c"}) })
	p.mute.Store(false)
	p.cut()
	if !errors.Is(err, storage.ErrUnknown) || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("create: got %v, want ErrUnknown and the end of the context", err)
	}
	if err := found("c"); err != nil && !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("the entry is there or not: %v", err)
	}
}
