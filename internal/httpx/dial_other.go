//go:build !js

package httpx

import (
	"net/http"

	"github.com/coder/websocket"
)

// through is how a connection is opened: by a client.
func through(client *http.Client) *websocket.DialOptions {
	return &websocket.DialOptions{HTTPClient: client}
}
