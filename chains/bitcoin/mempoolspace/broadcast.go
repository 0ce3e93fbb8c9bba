package mempoolspace

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/btc/rawtx"
)

// Broadcast sends a transaction. It sends one request, and one more after a
// failure to find out whether the transaction was accepted anyway (protocol:
// bitcoin.md §20 row 11). The genesis block of a URL is checked first if that has
// not been done yet.
func (c *Client) Broadcast(ctx context.Context, raw []byte) (bitcoin.Hash, error) {
	tx, err := rawtx.Decode(raw)
	if err != nil {
		return bitcoin.Hash{}, fault.Invalid("transaction", "%w", err)
	}
	id := tx.TxHash()
	body := []byte(hex.EncodeToString(raw))
	_, err = ask(ctx, c, "POST tx", func(ctx context.Context, s *source) (struct{}, error) {
		if err := s.prove(ctx); err != nil {
			return struct{}{}, err
		}
		return struct{}{}, s.broadcast(ctx, id, body)
	})
	if err == nil {
		return id, nil
	}
	if _, found := c.lookUp(ctx, id); found {
		return id, nil
	}
	if rejected, ok := errors.AsType[*bitcoin.RejectedError](err); ok {
		return id, rejected
	}
	return id, err
}

func (s *source) broadcast(ctx context.Context, id bitcoin.Hash, body []byte) error {
	answer, err := s.do(ctx, http.MethodPost, "tx", body, textLimit)
	if e, ok := errors.AsType[*statusError](err); ok && e.status == http.StatusBadRequest {
		rejected := rejection(e.text)
		if rejected.AlreadyKnown() {
			return nil
		}
		return rejected
	}
	if err != nil {
		return err
	}
	if got := strings.TrimSpace(string(answer)); got != id.String() {
		return fmt.Errorf("sent transaction %s, but the server returned %.80q", id, got)
	}
	return nil
}

// lookUp asks once whether a transaction is known.
func (c *Client) lookUp(ctx context.Context, id bitcoin.Hash) (*bitcoin.Tx, bool) {
	tx, err := round(ctx, c, "GET tx/"+id.String(), func(ctx context.Context, s *source) (*bitcoin.Tx, error) {
		return s.tx(ctx, id)
	})
	return tx, err == nil
}

// rejection parses the error message of a refused broadcast: sendrawtransaction
// RPC error: {"code":-26,"message":"..."}.
func rejection(text string) *bitcoin.RejectedError {
	if _, object, ok := strings.Cut(text, "RPC error: "); ok {
		var j struct {
			Code    int    `json:"code"`
			Message string `json:"message"`
		}
		if json.Unmarshal([]byte(object), &j) == nil && j.Message != "" {
			return &bitcoin.RejectedError{Code: j.Code, Reason: j.Message}
		}
	}
	if len(text) > 500 {
		text = text[:500]
	}
	return &bitcoin.RejectedError{Reason: text}
}
