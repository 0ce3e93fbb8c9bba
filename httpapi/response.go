package httpapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"sync"

	"github.com/swapper-go/swapper/internal/httpx"
)

// answerBuffer is a buffer with an encoder that writes into it.
type answerBuffer struct {
	bytes.Buffer
	encoder *json.Encoder
}

// maxKept is the largest buffer that is kept for the next answer.
const maxKept = 64 << 10

var buffers = sync.Pool{New: func() any {
	b := &answerBuffer{}
	b.encoder = json.NewEncoder(&b.Buffer)
	b.encoder.SetEscapeHTML(false)
	return b
}}

// writeError writes the description of err.
func writeError(w http.ResponseWriter, r *http.Request, err error) {
	if r, ok := err.(*httpx.Refusal); ok && r.Allow != "" {
		w.Header().Set("Allow", r.Allow)
	}
	status, body := describe(err)
	if writeJSON(w, r, status, &body) != nil { // strings cannot fail to encode
		write(w, r, http.StatusInternalServerError, []byte(`{"error":"internal error","code":"internal"}`))
	}
}

// writeJSON writes a body in JSON. If it returns an error, nothing has been written.
func writeJSON(w http.ResponseWriter, r *http.Request, status int, body any) error {
	b := buffers.Get().(*answerBuffer)
	defer func() {
		if b.Cap() <= maxKept {
			b.Reset()
			buffers.Put(b)
		}
	}()
	if text, ok := appendSwaps(b.AvailableBuffer(), body); ok {
		b.Write(append(text, '\n'))
	} else if err := b.encoder.Encode(body); err != nil {
		return fmt.Errorf("encode the response: %w", err)
	}
	write(w, r, status, b.Bytes())
	return nil
}

// The constant headers. Their slices are full, so that appending to one copies it.
var (
	jsonType = []string{"application/json; charset=utf-8"}
	noStore  = []string{"no-store"}
	noSniff  = []string{"nosniff"}
)

func write(w http.ResponseWriter, r *http.Request, status int, body []byte) {
	h := w.Header()
	h["Content-Type"] = jsonType
	h["Cache-Control"] = noStore
	h["X-Content-Type-Options"] = noSniff
	h["Content-Length"] = []string{strconv.Itoa(len(body))}
	w.WriteHeader(status)
	if r.Method != http.MethodHead {
		// The only error is that the caller has gone.
		_, _ = w.Write(body)
	}
}
