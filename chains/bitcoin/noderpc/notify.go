package noderpc

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/httpx"
	"github.com/swapper-go/swapper/internal/subscribe"
)

const mostSilent = time.Minute // a connection to btcd without a sign of life for so long is given up

// notified hears btcd, by its notifyblocks and the best block that it names when it is asked.
func (c *Client) notified() (*subscribe.Nodes, error) {
	var proven bitcoin.Hash // the connection's last best block that the node has
	return subscribe.New(subscribe.Options{
		URLs: []string{c.o.WebSocket}, Silence: mostSilent, HTTP: authorised{c}, Log: c.o.Logger,
		Speech: &subscribe.Speech{
			Open:  `{"jsonrpc":"1.0","id":1,"method":"notifyblocks","params":[]}`,
			Ping:  `{"jsonrpc":"1.0","id":2,"method":"getbestblock","params":[]}`,
			Judge: func(ctx context.Context, text []byte) (subscribe.News, error) { return c.judge(ctx, text, &proven) },
		},
	})
}

// socketJSON is a message of btcd, as far as it is read.
type socketJSON struct {
	Method string    `json:"method"` // of a notification
	Result *told     `json:"result"` // of getbestblock
	Error  *rpcError `json:"error"`
}

// judge says what a message means. A block that it calls the best one is compared with those of the node that is asked.
func (c *Client) judge(ctx context.Context, text []byte, proven *bitcoin.Hash) (subscribe.News, error) {
	var m socketJSON
	if err := httpx.Decode(text, &m); err != nil {
		return subscribe.Nothing, fmt.Errorf("message does not follow the protocol: %w", err)
	}
	switch {
	case m.Error != nil:
		return subscribe.Nothing, fmt.Errorf("refused with error %d", m.Error.Code)
	case strings.Contains(m.Method, "block"): // blockconnected, filteredblockdisconnected and so on
		return subscribe.Hint, nil
	case m.Result == nil:
		return subscribe.Nothing, nil
	}
	best, err := bitcoin.ParseHash(m.Result.Hash)
	if err != nil {
		return subscribe.Nothing, fmt.Errorf("best block: %w", err)
	}
	if best == *proven {
		return subscribe.Beat, nil
	}
	if in, err := c.InMainChain(ctx, best); err != nil {
		return subscribe.Nothing, errors.New("its best block could not be compared")
	} else if !in {
		return subscribe.Nothing, errors.New("its best block is not one of the node that is asked")
	}
	*proven = best
	return subscribe.Beat, nil
}

// authorised sends requests with the credentials of a client.
type authorised struct{ *Client }

// RoundTrip implements [http.RoundTripper].
func (a authorised) RoundTrip(r *http.Request) (*http.Response, error) {
	user, password, err := a.credentials(false)
	if err != nil {
		return nil, err
	}
	r = r.Clone(r.Context())
	r.SetBasicAuth(user, password)
	by := a.http.Transport
	if by == nil {
		by = http.DefaultTransport
	}
	return by.RoundTrip(r)
}
