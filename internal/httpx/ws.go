package httpx

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/coder/websocket"
)

// DialWebSocket opens a connection whose messages may have so many bytes. A nil transport is
// [http.DefaultTransport].
func DialWebSocket(ctx context.Context, url string, transport http.RoundTripper, limit int64) (*websocket.Conn, error) {
	client := &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return ErrRedirect }}
	conn, resp, err := websocket.Dial(ctx, url, through(client))
	switch {
	case err == nil:
		conn.SetReadLimit(limit)
		return conn, nil
	case ctx.Err() != nil:
		return nil, fmt.Errorf("no connection: %w", context.Cause(ctx))
	case resp != nil && resp.StatusCode != http.StatusSwitchingProtocols:
		return nil, fmt.Errorf("websocket refused with HTTP status %d", resp.StatusCode)
	case errors.Is(err, ErrRedirect):
		return nil, ErrRedirect
	}
	return nil, errors.New("no connection")
}

// ReadMessage returns the next message. The connection is of no use after an error.
func ReadMessage(ctx context.Context, conn *websocket.Conn) ([]byte, error) {
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
