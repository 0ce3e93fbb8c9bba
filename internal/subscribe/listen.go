package subscribe

import (
	"context"
	"errors"
	"time"

	"github.com/coder/websocket"

	"github.com/swapper-go/swapper/internal/httpx"
)

// News is what a message means.
type News int

const (
	Nothing News = iota
	Beat         // the connection lives
	Hint         // something may have happened
)

// listener is a connection that is subscribed.
type listener interface {
	// news waits for the next message.
	news(ctx context.Context, patience time.Duration) (News, error)
}

// listen hears one connection to its end. It lived if everything was subscribed to.
func (n *Nodes) listen(ctx context.Context, i int) (lived bool, err error) {
	ctx, cancel := context.WithCancel(ctx) // ends what the connection has running
	defer cancel()
	c, conn, err := n.open(ctx, i)
	if err != nil {
		return false, err
	}
	if conn != nil {
		defer conn.CloseNow()
	}
	beat := time.Now()
	for {
		news, err := c.news(ctx, n.options.Silence-time.Since(beat))
		switch {
		case err != nil:
			return lived, err
		case news == Hint:
			n.count(i, true)
		case news == Beat:
			n.count(i, false)
			beat = time.Now()
			if !lived { // it is alive with its first beat
				lived = true
				n.alive(i)
			}
		}
	}
}

// open connects and subscribes. A [LongPoll] has no connection.
func (n *Nodes) open(ctx context.Context, i int) (c listener, conn *websocket.Conn, err error) {
	opening, cancel := context.WithTimeoutCause(ctx, opening, errors.New("the node took too long"))
	defer cancel()
	if n.options.LongPoll != nil {
		c, err = n.options.LongPoll.open(opening)
		return c, nil, err
	}
	if conn, err = httpx.DialWebSocket(opening, n.options.URLs[i], n.options.HTTP, maxSize); err != nil {
		return nil, nil, err
	}
	if n.options.Speech != nil {
		c, err = n.options.Speech.open(ctx, opening, conn, n.options.Silence)
	} else {
		rpc := &connection{conn: conn, channels: map[string]*Channel{}}
		c, err = rpc, rpc.subscribe(opening, &n.options)
	}
	if err != nil {
		conn.CloseNow()
		return nil, nil, err
	}
	return c, conn, nil
}
