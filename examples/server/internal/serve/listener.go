package serve

import (
	"context"
	"crypto/tls"
	"net"
	"net/netip"
	"slices"
	"sync"

	"github.com/swapper-go/swapper/httpapi/limit"
)

// Of all connections one in spareOf is kept for when the others are taken, and one line of
// the network has one in shareOf, or leastShare; of the spare ones spareEach.
const (
	spareOf    = 8
	shareOf    = 16
	leastShare = 64
	spareEach  = 4
)

// listener accepts connections while there is a place, and closes at once what is more than
// a line's share.
type listener struct {
	net.Listener
	slots        chan struct{}
	crowd, spare *limit.Crowds
	trusted      []netip.Prefix

	once   sync.Once
	closed chan struct{}
}

func newListener(l net.Listener, o Options) *listener {
	spare := o.Connections / spareOf
	return &listener{
		Listener: l, slots: make(chan struct{}, o.Connections), trusted: o.Trusted, closed: make(chan struct{}),
		crowd: limit.NewCrowds(limit.Places{Total: o.Connections - spare, Each: o.PerAddress}),
		spare: limit.NewCrowds(limit.Places{Total: max(spare, 1), Each: spareEach}),
	}
}

// Accept implements [net.Listener]. It waits while all places are taken.
func (l *listener) Accept() (net.Conn, error) {
	for {
		select {
		case l.slots <- struct{}{}:
		case <-l.closed:
			return nil, net.ErrClosed
		}
		c, err := l.Listener.Accept()
		if err != nil {
			<-l.slots
			return nil, err
		}
		s := l.sender(c.RemoteAddr())
		leave, err := l.crowd.Enter(s)
		crowded := err != nil
		if crowded {
			leave, err = l.spare.Enter(s)
		}
		if err != nil {
			<-l.slots
			_ = c.Close()
			continue
		}
		return &conn{Conn: c, crowded: crowded, leave: sync.OnceFunc(func() { leave(); <-l.slots })}, nil
	}
}

// Close implements [net.Listener].
func (l *listener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return l.Listener.Close()
}

// sender is the line that a connection comes from; a reverse proxy brings those of many.
func (l *listener) sender(a net.Addr) limit.Sender {
	from, err := netip.ParseAddrPort(a.String())
	if err != nil { // as of a Unix socket
		return limit.Sender{}
	}
	client := from.Addr().Unmap().WithZone("")
	if slices.ContainsFunc(l.trusted, func(p netip.Prefix) bool { return p.Contains(client) }) {
		return limit.Sender{}
	}
	return limit.Line("", client)
}

// conn is a connection that gives its place back.
type conn struct {
	net.Conn
	crowded bool
	leave   func()
}

func (c *conn) Close() error {
	defer c.leave()
	return c.Conn.Close()
}

type crowdedKey struct{}

// Crowded reports whether a request came by one of the connections that are kept for when
// all others, or those of its line, are taken. They are for the few who must get through: a
// handler answers checks of its health and callers whom it knows, and all others with 503.
// The connection is closed after the answer.
func Crowded(ctx context.Context) bool {
	crowded, _ := ctx.Value(crowdedKey{}).(bool)
	return crowded
}

// connContext tells requests of what kind their connection is.
func connContext(ctx context.Context, c net.Conn) context.Context {
	if t, ok := c.(*tls.Conn); ok {
		c = t.NetConn()
	}
	if own, ok := c.(*conn); ok && own.crowded {
		return context.WithValue(ctx, crowdedKey{}, true)
	}
	return ctx
}
