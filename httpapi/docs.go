package httpapi

import (
	"bytes"
	"crypto/sha256"
	_ "embed" // for the page
	"encoding/base64"
	"net/http"
)

// docsName is the name of the page below the base path.
const docsName = "docs"

// docsPage is a page on which the operations of the document can be tried. It loads nothing but
// the document.
//
//go:embed docs.html
var docsPage []byte

// docsPolicy allows the page its own style and script, by their hashes, and requests to where
// it comes from.
var docsPolicy = "default-src 'none'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; style-src " +
	hashOf("<style>", "</style>") + "; script-src " + hashOf("<script>", "</script>")

func hashOf(begin, end string) string {
	_, text, _ := bytes.Cut(docsPage, []byte(begin))
	text, _, _ = bytes.Cut(text, []byte(end))
	sum := sha256.Sum256(text)
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

func (h *handler) serveDocs(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		writeError(w, r, wrongMethod("GET, HEAD"))
		return
	}
	header := w.Header()
	header.Set("Content-Type", "text/html; charset=utf-8")
	header.Set("Content-Security-Policy", docsPolicy)
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Cache-Control", "no-cache")
	_, _ = w.Write(docsPage) // of which net/http leaves out the body for HEAD
}
