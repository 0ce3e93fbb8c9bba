// Package ws opens WebSocket connections to servers that are not trusted, and reads from
// them: redirects are not followed, messages are bounded, and errors repeat neither a URL,
// which may hold a key, nor what the server wrote.
package ws

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/coder/websocket"

	"github.com/swapper-go/swapper/internal/httpx"
)

// Dial opens a connection whose messages may have so many bytes. A nil transport is
// [http.DefaultTransport].
func Dial(ctx context.Context, url string, transport http.RoundTripper, limit int64) (*websocket.Conn, error) {
	client := &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return httpx.ErrRedirect }}
	conn, resp, err := websocket.Dial(ctx, url, through(client))
	switch {
	case err == nil:
		conn.SetReadLimit(limit)
		return conn, nil
	case ctx.Err() != nil:
		return nil, fmt.Errorf("no connection: %w", context.Cause(ctx))
	case resp != nil && resp.StatusCode != http.StatusSwitchingProtocols:
		return nil, fmt.Errorf("websocket refused with HTTP status %d", resp.StatusCode)
	case errors.Is(err, httpx.ErrRedirect):
		return nil, httpx.ErrRedirect
	}
	return nil, errors.New("no connection")
}

// Read returns the next message. The connection is of no use after an error.
func Read(ctx context.Context, conn *websocket.Conn) ([]byte, error) {
	_, text, err := conn.Read(ctx)
	if err == nil {
		return text, nil
	}
	switch status := websocket.CloseStatus(err); {
	case ctx.Err() != nil:
		return nil, fmt.Errorf("no reply: %w", context.Cause(ctx))
	case errors.Is(err, websocket.ErrMessageTooBig):
		return nil, errors.New("message is too large")
	case status >= 0:
		return nil, fmt.Errorf("connection closed with status %d", status)
	}
	return nil, errors.New("connection lost")
}
