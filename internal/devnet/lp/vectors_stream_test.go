package lp

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/internal/vectors"
)

// The calls of the vectors.
func quoteCall(r *reader, early func(object) error) (any, error) {
	a := r.big("a")
	b, _ := r.optional("b")
	if r.err != nil {
		return nil, r.err
	}
	d, _ := r.already("d")
	if err := early(object{{"pre", a.String()}}); err != nil {
		return nil, err
	}
	c, err := r.wait("c")
	if err != nil {
		c = nil
	}
	or := func(v json.RawMessage) any {
		if isNull(v) {
			return nil
		}
		return v
	}
	var bOrNull any
	if b != "" {
		bOrNull = b
	}
	return object{{"a", a.String()}, {"b", bOrNull}, {"c", or(c)}, {"d", or(d)}}, nil
}

func throwCall(raw json.RawMessage) error {
	var e struct {
		Code       json.RawMessage
		Msg        string
		Data       json.RawMessage
		HTTPStatus int `json:"_httpStatus"`
	}
	var code int
	if err := json.Unmarshal(raw, &e); err != nil || json.Unmarshal(e.Code, &code) != nil {
		return fmt.Errorf("unknown error %s", raw) // a code that is no number is none
	}
	r := &refusal{Code: code, Msg: e.Msg, HTTP: e.HTTPStatus}
	if e.Data != nil {
		r.Data = e.Data
	}
	return r
}

func TestVectorsServerStream(t *testing.T) {
	t.Parallel()
	vectors.Each(t, "lp-protocol", "server-stream", func(t *testing.T, c *vectors.Case) {
		var in struct {
			Method, Handler string
			Error           json.RawMessage
			Headers         map[string]string
			Parts           []struct {
				Data  string
				Wait  int // ms; until the server has looked at what came before
				NoEnd bool
			}
		}
		c.Input(t, &in)
		patience := time.Minute
		for _, p := range in.Parts {
			if p.NoEnd {
				patience = 700 * time.Millisecond
			}
		}
		looked := make(chan struct{}) // closed once the call has looked for what it does not wait for
		var h http.Handler
		switch {
		case in.Method == http.MethodGet:
			h = servePlain(func(*reader) (object, error) { return nil, throwCall(in.Error) }, nil)
		case in.Handler == "throw":
			h = serveStreamed(func(*reader, func(object) error) (any, error) { return nil, throwCall(in.Error) }, patience, nil)
		default:
			call := func(r *reader, early func(object) error) (any, error) {
				return quoteCall(r, func(o object) error { close(looked); return early(o) })
			}
			h = serveStreamed(call, patience, func(_ *http.Request, o object) (any, error) {
				if !o.has("data") {
					return o, nil
				}
				return o.merge(object{{"pre", "second write"}}), nil
			})
		}
		s := httptest.NewUnstartedServer(h)
		s.Config.ErrorLog = nil
		s.Start()
		defer s.Close()
		conn := trial.Must(net.Dial("tcp", s.Listener.Addr().String()))(t)
		defer conn.Close()
		_ = conn.SetDeadline(time.Now().Add(time.Minute))
		var head bytes.Buffer
		fmt.Fprintf(&head, "%s / HTTP/1.1\r\nHost: x\r\n", in.Method)
		for name, value := range in.Headers {
			fmt.Fprintf(&head, "%s: %s\r\n", name, value)
		}
		if in.Method == http.MethodPost {
			head.WriteString("Transfer-Encoding: chunked\r\n")
		}
		head.WriteString("\r\n")
		go func() { // fails when the server hangs up, which the answer shows
			_, _ = conn.Write(head.Bytes())
			end := in.Method == http.MethodPost
			for _, p := range in.Parts {
				if p.Wait > 0 {
					select {
					case <-looked:
					case <-t.Context().Done():
						return
					}
				}
				data, _ := hex.DecodeString(p.Data)
				_, _ = fmt.Fprintf(conn, "%x\r\n%s\r\n", len(data), data)
				end = end && !p.NoEnd
			}
			if end {
				_, _ = io.WriteString(conn, "0\r\n\r\n")
			}
		}()
		var want struct {
			Destroyed, FrameworkError  bool
			Status                     int
			ContentType, Body, BodyHex string
		}
		trial.Do(t, json.Unmarshal(c.Want(t), &want))
		resp, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: in.Method})
		var body []byte
		if err == nil {
			body, err = io.ReadAll(resp.Body)
			resp.Body.Close()
		}
		if want.Destroyed {
			if err == nil {
				t.Errorf("answered %d %s", resp.StatusCode, body)
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if resp.StatusCode != want.Status || resp.Header.Get("Content-Type") != want.ContentType {
			t.Errorf("got %d %s, want %d %s", resp.StatusCode, resp.Header.Get("Content-Type"), want.Status, want.ContentType)
		}
		switch {
		case want.FrameworkError:
		case want.BodyHex != "":
			if got := hex.EncodeToString(body); got != want.BodyHex {
				t.Errorf("got  %s\nwant %s", got, want.BodyHex)
			}
		case string(body) != want.Body:
			t.Errorf("got  %s\nwant %s", body, want.Body)
		}
	})
}
