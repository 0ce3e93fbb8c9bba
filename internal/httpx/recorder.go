package httpx

import "net/http"

// Recorder is a writer that notes how a request was answered.
type Recorder struct {
	http.ResponseWriter
	Status int // 0: nothing was written
	Bytes  int64
}

// Record returns a recorder in front of w, or w itself if it is one.
func Record(w http.ResponseWriter) *Recorder {
	if r, ok := w.(*Recorder); ok {
		return r
	}
	return &Recorder{ResponseWriter: w}
}

// WriteHeader implements [http.ResponseWriter].
func (w *Recorder) WriteHeader(status int) {
	if w.Status == 0 && status >= 200 { // 1xx come before the answer
		w.Status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write implements [http.ResponseWriter].
func (w *Recorder) Write(p []byte) (int, error) {
	if w.Status == 0 {
		w.Status = http.StatusOK
	}
	n, err := w.ResponseWriter.Write(p)
	w.Bytes += int64(n)
	return n, err
}

// Unwrap lets [http.ResponseController] reach the connection: to flush, and to move
// its deadlines.
func (w *Recorder) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// Flush implements [http.Flusher], for handlers that do not use a controller.
func (w *Recorder) Flush() {
	if w.Status == 0 {
		w.Status = http.StatusOK
	}
	_ = http.NewResponseController(w.ResponseWriter).Flush() // what cannot be flushed is sent at the end
}
