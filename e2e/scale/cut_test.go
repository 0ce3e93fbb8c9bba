//go:build unix

package scale

import (
	"net"
	"sync"
	"testing"

	"github.com/swapper-go/swapper/internal/trial"
)

// cable is what lies between a process and the database: a TCP proxy that can be cut.
// While it is, nothing arrives, and nobody is told: connections stay open and are silent,
// and new ones are accepted and silent too.
type cable struct {
	network, address string // of the server
	listener         net.Listener
	all              sync.WaitGroup

	mu    sync.Mutex
	open  map[net.Conn]struct{}
	whole chan struct{} // closed while it is not cut
	ended chan struct{}
}

// newCable lays one to a server. It ends with the test.
func newCable(t testing.TB, network, address string) *cable {
	t.Helper()
	listener := trial.Must(net.Listen("tcp", "127.0.0.1:0"))(t)
	w := &cable{network: network, address: address, listener: listener, open: map[net.Conn]struct{}{}, whole: make(chan struct{}), ended: make(chan struct{})}
	close(w.whole)
	w.all.Go(w.accept)
	t.Cleanup(w.close)
	return w
}

func (w *cable) port() int { return w.listener.Addr().(*net.TCPAddr).Port }

func (w *cable) accept() {
	for {
		near, err := w.listener.Accept()
		if err != nil {
			return
		}
		w.all.Go(func() { w.serve(near) })
	}
}

func (w *cable) serve(near net.Conn) {
	defer near.Close()
	if !w.keep(near) || !w.passes() {
		return
	}
	defer w.drop(near)
	far, err := net.Dial(w.network, w.address)
	if err != nil {
		return // the server is down
	}
	defer far.Close()
	if !w.keep(far) {
		return
	}
	defer w.drop(far)
	var both sync.WaitGroup
	both.Go(func() { w.pass(far, near) })
	both.Go(func() { w.pass(near, far) })
	both.Wait()
}

// pass carries what comes from one side to the other.
func (w *cable) pass(to, from net.Conn) {
	defer to.Close()
	defer from.Close()
	buffer := make([]byte, 1<<15)
	for {
		n, err := from.Read(buffer)
		if !w.passes() {
			return
		}
		if n > 0 {
			if _, err := to.Write(buffer[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// passes waits while it is cut, and reports false at the end.
func (w *cable) passes() bool {
	w.mu.Lock()
	whole := w.whole
	w.mu.Unlock()
	select {
	case <-whole:
		return true
	case <-w.ended:
		return false
	}
}

func (w *cable) cut() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.whole = make(chan struct{})
}

// mend lets connections through again; those that were there are lost, with what was on
// its way in them.
func (w *cable) mend() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for c := range w.open {
		_ = c.Close()
	}
	close(w.whole)
}

func (w *cable) keep(c net.Conn) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	select {
	case <-w.ended:
		return false
	default:
	}
	w.open[c] = struct{}{}
	return true
}

func (w *cable) drop(c net.Conn) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.open, c)
}

func (w *cable) close() {
	_ = w.listener.Close()
	w.mu.Lock()
	close(w.ended)
	for c := range w.open {
		_ = c.Close()
	}
	w.mu.Unlock()
	w.all.Wait()
}
