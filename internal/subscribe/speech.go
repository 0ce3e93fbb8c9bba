package subscribe

import (
	"context"
	"errors"
	"time"

	"github.com/coder/websocket"

	"github.com/swapper-go/swapper/internal/httpx"
)

// Speech is how a server is spoken to that does not speak JSON-RPC: messages that need no
// answer subscribe, and others ask for signs of life.
type Speech struct {
	Open string // subscribes; sent first
	Ping string // asks for a sign of life; sent three times within [Options.Silence]

	// Judge says what a message means. An error ends the connection. It is called by one
	// goroutine for each URL.
	Judge func(ctx context.Context, text []byte) (News, error)
}

// spoken is a connection by a [Speech].
type spoken struct {
	*Speech
	conn *websocket.Conn
}

// open subscribes, and asks for signs of life until ctx ends.
func (s *Speech) open(ctx, opening context.Context, conn *websocket.Conn, silence time.Duration) (listener, error) {
	if err := conn.Write(opening, websocket.MessageText, []byte(s.Open)); err != nil {
		return nil, errors.New("connection lost")
	}
	go func() { // what a server sends may have to be read before it reads more
		tick := time.NewTicker(silence / 3)
		defer tick.Stop()
		for conn.Write(ctx, websocket.MessageText, []byte(s.Ping)) == nil { // else the reader sees it too
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
		}
	}()
	return &spoken{s, conn}, nil
}

// news implements listener.
func (s *spoken) news(ctx context.Context, patience time.Duration) (News, error) {
	reading, cancel := context.WithTimeoutCause(ctx, patience, errSilent)
	defer cancel()
	text, err := httpx.ReadMessage(reading, s.conn)
	if err != nil {
		return Nothing, err
	}
	return s.Judge(ctx, text)
}

var errSilent = errors.New("the node was silent")
