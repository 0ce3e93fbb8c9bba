package flowtest

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"log"
	"math/big"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/swapper-go/swapper/internal/lp"
	"github.com/swapper-go/swapper/internal/vectors"
)

// Frame returns a JSON object as a frame: its length in four bytes, little endian, and
// its text.
func Frame(object string) []byte {
	return append(binary.LittleEndian.AppendUint32(nil, uint32(len(object))), object...)
}

// Serve answers on a real socket with HTTP/1.1, full duplex. The context of a
// request ends with the test: a server does not see a client go away before it
// has read the whole request.
func Serve(t testing.TB, h http.HandlerFunc) string {
	t.Helper()
	return Start(t, httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = http.NewResponseController(w).EnableFullDuplex()
		h(w, r)
	})))
}

func Start(t testing.TB, s *httptest.Server) string {
	t.Helper()
	stop, stopped := context.WithCancel(context.Background())
	h := s.Config.Handler
	s.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithCancel(r.Context())
		defer cancel()
		defer context.AfterFunc(stop, cancel)()
		h.ServeHTTP(w, r.WithContext(ctx))
	})
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.Start()
	t.Cleanup(func() {
		stopped()
		s.CloseClientConnections()
		s.Close()
	})
	return s.URL
}

func ReadAll(r *http.Request) []byte {
	data, _ := io.ReadAll(r.Body)
	return data
}

// ReadFrame reads one frame of a request.
func ReadFrame(r io.Reader) (string, error) {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return "", err
	}
	text := make([]byte, binary.LittleEndian.Uint32(head[:]))
	_, err := io.ReadFull(r, text)
	return string(text), err
}

// Send writes frames and flushes each.
func Send(w http.ResponseWriter, objects ...string) {
	w.Header().Set("Content-Type", lp.StreamType)
	for _, o := range objects {
		_, _ = w.Write(Frame(o))
		w.(http.Flusher).Flush()
	}
}

// Hostile are the ways in which an LP can misbehave on a socket. Those that do
// not end by themselves end with the request.
var Hostile = map[string]http.HandlerFunc{
	"closes the connection": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
	"never answers":         func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
	"headers only": func(w http.ResponseWriter, r *http.Request) {
		Send(w)
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	},
	"stops in a frame": func(w http.ResponseWriter, r *http.Request) {
		Send(w, `{"lnPublicKey":"02"}`)
		_, _ = w.Write([]byte{100, 0, 0, 0, '{'})
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	},
	"drips frames without end": func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			Send(w, `{}`)
			time.Sleep(time.Millisecond)
		}
	},
	"streams frames without end": func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			Send(w, `{"code":20000}`)
		}
	},
	"streams bytes without end": func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			_, _ = w.Write([]byte(strings.Repeat(" ", 4096)))
		}
	},
	"announces 4 GiB": func(w http.ResponseWriter, r *http.Request) {
		Send(w)
		_, _ = w.Write([]byte{255, 255, 255, 255, '{'})
	},
	"sends half a frame":  func(w http.ResponseWriter, r *http.Request) { Send(w); _, _ = w.Write([]byte{9, 0, 0, 0, '{'}) },
	"sends an empty body": func(w http.ResponseWriter, r *http.Request) { Send(w) },
	"sends no object":     func(w http.ResponseWriter, r *http.Request) { Send(w, `[]`) },
	"sends HTML":          func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, "<html>") },
	"sends nothing asked for": func(w http.ResponseWriter, r *http.Request) {
		Send(w, `{"lnPublicKey":"02"}`)
	},
	"nests without end": func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, strings.Repeat(`{"a":`, 12000))
	},
	"huge headers": func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Fill", strings.Repeat("x", 1<<20))
		Send(w, ToBTCAnswer)
	},
}

// ToBTCData are the data of a quote for a swap to Bitcoin.
const ToBTCData = `{"amount":"66","address":"0xA","satsPervByte":"8","networkFee":"1","swapFee":"2","totalFee":"3","total":"100","minRequiredExpiry":"1700000000",` +
	`"data":{"t":1},"prefix":"initialize","timeout":"1700000000","signature":"0x00"}`

// ToBTCAnswer is the answer with them.
const ToBTCAnswer = `{"code":20000,"msg":"Success","data":` + ToBTCData + `}`

// Checks are the names of the checks of an LP's answers, as the source of package lp has
// them. It is for the packages beside this one.
func Checks(t *testing.T) (all []string) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join("..", "check.go"), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(node ast.Node) bool {
		if spec, ok := node.(*ast.ValueSpec); ok && strings.HasPrefix(spec.Names[0].Name, "Check") {
			word, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, word)
		}
		return true
	})
	return all
}

// Class names an error as the vectors do.
func Class(err error) string {
	if _, ok := errors.AsType[*lp.OutOfBoundsError](err); ok {
		return "OutOfBoundsError"
	}
	if _, ok := errors.AsType[*lp.RequestError](err); ok {
		return "RequestError"
	}
	if _, ok := errors.AsType[*lp.LPError](err); ok {
		return "IntermediaryError"
	}
	return "Error"
}

// Number is a whole number in decimal digits.
func Number(t testing.TB, s string) *big.Int {
	t.Helper()
	v, ok := new(big.Int).SetString(s, 10)
	if !ok {
		t.Fatalf("%q is not a decimal number", s)
	}
	return v
}

// EachTimed runs check on every case of a file in a world of its own, whose time
// passes only while everybody waits: what happens after 10 ms is before what
// happens after 20 ms, however busy the machine is.
func EachTimed(t *testing.T, area, file string, check func(t *testing.T, c *vectors.Case)) {
	t.Helper()
	vectors.Each(t, area, file, func(t *testing.T, c *vectors.Case) {
		synctest.Test(t, func(t *testing.T) { check(t, c) })
	})
}

// Decode reads JSON.
func Decode(t testing.TB, data []byte, v any) {
	t.Helper()
	if err := json.Unmarshal(data, v); err != nil {
		t.Fatalf("%s: %v", data, err)
	}
}

// members returns the members of an object in their order.
