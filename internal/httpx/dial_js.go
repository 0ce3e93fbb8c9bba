package httpx

import (
	"net/http"

	"github.com/coder/websocket"
)

// through is how a connection is opened: in a browser by the browser, which follows no
// redirect of a websocket.
func through(*http.Client) *websocket.DialOptions { return nil }
