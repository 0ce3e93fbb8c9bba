package lphttp

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/swapper-go/swapper/internal/httpx"
	"github.com/swapper-go/swapper/internal/lp"
)

// Info asks an LP about itself. It asks by GET and by POST at once, since old
// LPs know only one of them, and takes the first good answer. An answer to
// another nonce than the one sent is refused.
func (c *Client) Info(ctx context.Context, base string) (lp.Info, error) {
	base, err := c.CheckURL(base)
	if err != nil {
		return lp.Info{}, err
	}
	return httpx.Retry(ctx, c.infoPolicy(), func(ctx context.Context) (lp.Info, error) { return c.info(ctx, base) })
}

// infoPolicy repeats /info and registry calls (protocol: lp-protocol.md §3.5).
func (c *Client) infoPolicy() httpx.RetryPolicy {
	p := c.o.Retry
	p.Calls, p.Delay, p.Final = 3, 100*time.Millisecond, nil
	return p
}

func (c *Client) info(ctx context.Context, base string) (lp.Info, error) {
	var random [32]byte
	if _, err := io.ReadFull(c.o.Rand, random[:]); err != nil {
		return lp.Info{}, fmt.Errorf("generate a nonce: %w", err)
	}
	nonce := hex.EncodeToString(random[:])
	type outcome struct {
		info lp.Info
		err  error
	}
	ctx, cancel := context.WithCancel(ctx)
	outcomes := make(chan outcome)
	ask := func(method, path string, payload []byte) {
		var o outcome
		text, err := c.once(ctx, toQuote, base, method, path, payload)
		if o.err = err; err == nil {
			o.info, o.err = lp.ReadInfo(base, text, nonce)
		}
		outcomes <- o
	}
	get, post := lp.InfoRequest(nonce)
	go ask(http.MethodGet, get, nil)
	go ask(http.MethodPost, "/info", post)
	first := <-outcomes
	if first.err == nil {
		cancel()
		<-outcomes
		return first.info, nil
	}
	second := <-outcomes
	cancel()
	if second.err != nil {
		return lp.Info{}, errors.Join(first.err, second.err)
	}
	return second.info, nil
}
