package httpapi_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/httpapi"
	"github.com/swapper-go/swapper/internal/httpx"
	"github.com/swapper-go/swapper/internal/jsonrpc"
)

// failing fails every operation with an error of a backend.
type failing struct {
	swapper.Service
	err error
}

func (f failing) ParseAddress(context.Context, swapper.ParseAddressInput) (*swapper.ParseAddressOutput, error) {
	return nil, f.err
}

// Of an error that does not say what is public of it, an answer has a plain sentence, and the
// log the whole text under the number in the answer, whatever code it was wrapped in.
func TestErrorsWithoutAPublicText(t *testing.T) {
	_, dsn := pgconn.ParseConfig("postgres://store-user:s3cr3t@db-host:port/swaps")
	for name, cause := range map[string]error{
		"file of the store":  &fs.PathError{Op: "write", Path: "/var/lib/s3cr3t/swaps.db", Err: syscall.ENOSPC},
		"database":           fmt.Errorf("connect to s3cr3t: %w", dsn),
		"URL":                &url.Error{Op: "Post", URL: "https://user:s3cr3t@host/s3cr3t?key=s3cr3t", Err: syscall.ECONNREFUSED},
		"host":               &net.OpError{Op: "dial", Net: "tcp", Err: &net.DNSError{Name: "s3cr3t.example", Err: "no such host"}},
		"body":               &httpx.StatusError{Status: 502, Body: []byte("s3cr3t")},
		"node":               &jsonrpc.Error{Code: -32000, Text: "s3cr3t"},
		"reason of a node":   jsonrpc.Reason("s3cr3t", "out of gas"),
		"joined":             errors.Join(errors.New("first"), &jsonrpc.Error{Code: 3, Text: "s3cr3t"}),
		"part that is named": fault.New(fault.Upstream, "node%s is away", fault.Hidden(" s3cr3t")),
	} {
		for _, code := range []fault.Code{"", fault.InvalidInput, fault.NotFound, fault.Unsupported, fault.InvalidState, fault.Upstream, fault.Timeout, fault.Internal} {
			err := fmt.Errorf("in the middle: %w", cause)
			if code != "" {
				err = fault.New(code, "not done: %w", err)
			}
			var log bytes.Buffer
			w := httptest.NewRecorder()
			httpapi.New(failing{err: err}, httpapi.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))}).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/parseAddress?address=x", nil))
			if w.Code < 400 || strings.Contains(w.Body.String(), "s3cr3t") || strings.Contains(w.Body.String(), "host") {
				t.Errorf("%s, code %q: answer %d %s", name, code, w.Code, w.Body)
			}
			want := "s3cr3t"
			if name == "database" {
				want = "db-host"
			}
			if id := w.Header().Get("X-Request-Id"); id == "" || !strings.Contains(log.String(), id) || !strings.Contains(log.String(), want) {
				t.Errorf("%s, code %q: request %q, log %s", name, code, id, log.String())
			}
		}
	}
}
