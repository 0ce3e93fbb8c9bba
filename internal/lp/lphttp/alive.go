package lphttp

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/swapper-go/swapper/internal/lp"
)

// Probe asks the LP at base for a sign of life, once, and returns nil if it
// answers anything. What it says is not looked at.
func (c *Client) Probe(ctx context.Context, base string) error {
	base, err := c.CheckURL(base)
	if err != nil {
		return err
	}
	var nonce [32]byte
	if _, err := io.ReadFull(rand.Reader, nonce[:]); err != nil {
		return fmt.Errorf("generate a nonce: %w", err)
	}
	get, _ := lp.InfoRequest(hex.EncodeToString(nonce[:]))
	if _, err = c.once(ctx, toAct, base, http.MethodGet, get, nil); answered(err) {
		return nil
	}
	return err
}

// note counts a call, and tells [Options].Heard if it was answered.
func (c *Client) note(base string, took time.Duration, err error) {
	c.tally.note(lp.Host(base), c.o.Now(), took, err)
	if c.o.Heard != nil && answered(err) {
		c.o.Heard(base)
	}
}

// answered reports whether a call with this outcome reached the LP: a status of
// 5xx without a code of the protocol comes from a proxy in front of it.
func answered(err error) bool {
	if e, ok := errors.AsType[*lp.RequestError](err); ok {
		return e.Code != 0 || e.Status < http.StatusInternalServerError
	}
	return err == nil
}
