package loopback

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"sync"
	"syscall"
)

// Network is where servers listen and clients dial. nil is the system's loopback
// sockets; the zero value is a network in memory, for tests with virtual time
// (testing/synctest), in which no goroutine may wait for a socket. Its methods are safe for
// concurrent use.
type Network struct {
	mu        sync.Mutex
	last      int
	listeners map[string]*listener
}

// Listen opens a listener; address is host:port, "" for a free port of 127.0.0.1.
func (n *Network) Listen(address string) (net.Listener, error) {
	if n == nil {
		return listen(address)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	for address == "" || address == "127.0.0.1:0" {
		n.last++
		if at := net.JoinHostPort("127.0.0.1", strconv.Itoa(n.last)); n.listeners[at] == nil {
			address = at
		}
	}
	if n.listeners[address] != nil {
		return nil, &net.OpError{Op: "listen", Net: "memory", Addr: memoryAddr(address), Err: syscall.EADDRINUSE}
	}
	l := &listener{network: n, address: memoryAddr(address), coming: make(chan net.Conn), closed: make(chan struct{})}
	if n.listeners == nil {
		n.listeners = make(map[string]*listener)
	}
	n.listeners[address] = l
	return l, nil
}

// The ports that are drawn for listeners lie below those that systems give to outgoing
// connections, one of which could otherwise take the port of a listener that is closed for
// a while, or the one of [FreeAddress].
const firstPort, endPort = 10_000, 32_768

// listen opens a listener of the system; where the address has no port, one is drawn.
func listen(address string) (net.Listener, error) {
	host, port, err := net.SplitHostPort(cmp.Or(address, "127.0.0.1:0"))
	if err != nil || port != "0" {
		return net.Listen("tcp", address)
	}
	var l net.Listener
	for range 100 {
		if l, err = net.Listen("tcp", net.JoinHostPort(host, strconv.Itoa(firstPort+rand.IntN(endPort-firstPort)))); err == nil {
			break
		}
	}
	return l, err
}

// FreeAddress returns a host:port of 127.0.0.1 that nothing listens on and no outgoing
// connection takes.
func FreeAddress() (string, error) {
	l, err := listen("")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// DialContext connects to a listener, as net.Dialer's method does.
func (n *Network) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	if n == nil {
		return new(net.Dialer).DialContext(ctx, network, address)
	}
	refused := &net.OpError{Op: "dial", Net: "memory", Addr: memoryAddr(address), Err: syscall.ECONNREFUSED}
	n.mu.Lock()
	l := n.listeners[address]
	n.mu.Unlock()
	if l == nil {
		return nil, refused
	}
	ours, theirs := net.Pipe()
	select {
	case l.coming <- theirs:
		return ours, nil
	case <-l.closed:
		return nil, errors.Join(refused, ours.Close(), theirs.Close())
	case <-ctx.Done():
		return nil, errors.Join(context.Cause(ctx), ours.Close(), theirs.Close())
	}
}

// Transport returns a transport for the clients of the network.
func (n *Network) Transport() *http.Transport {
	return &http.Transport{DialContext: n.DialContext}
}

// listener is a listener of a network in memory.
type listener struct {
	network *Network
	address memoryAddr
	coming  chan net.Conn
	closed  chan struct{}
	once    sync.Once
}

func (l *listener) Accept() (net.Conn, error) {
	select {
	case conn := <-l.coming:
		return conn, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *listener) Close() error {
	l.once.Do(func() {
		l.network.mu.Lock()
		delete(l.network.listeners, string(l.address))
		l.network.mu.Unlock()
		close(l.closed)
	})
	return nil
}

func (l *listener) Addr() net.Addr { return l.address }

// memoryAddr is the host:port of a listener in memory.
type memoryAddr string

func (a memoryAddr) Network() string { return "memory" }
func (a memoryAddr) String() string  { return string(a) }
