package main

import (
	"embed"
	"fmt"
	"io/fs"
	"net/http"
	"strings"

	"rsc.io/qr"
)

//go:embed page
var static embed.FS

// servePage serves the static files. The page loads nothing from elsewhere.
func servePage() http.Handler {
	files, _ := fs.Sub(static, "page") // which is in the binary
	serve := http.FileServerFS(files)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy", "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		serve.ServeHTTP(w, r)
	})
}

// longestQR is more than any invoice or address has.
const longestQR = 2000

// serveQR draws a text as a QR code, so that a phone can scan what is to be paid.
func serveQR(w http.ResponseWriter, r *http.Request) {
	text := r.URL.Query().Get("text")
	if text == "" || len(text) > longestQR {
		http.Error(w, fmt.Sprintf("text must have 1 to %d characters", longestQR), http.StatusBadRequest)
		return
	}
	code, err := qr.Encode(text, qr.L)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	var path strings.Builder
	for y := range code.Size {
		for x := range code.Size {
			if code.Black(x, y) {
				fmt.Fprintf(&path, "M%d %dh1v1h-1z", x, y)
			}
		}
	}
	w.Header().Set("Content-Type", "image/svg+xml")
	const quiet = 4 // modules around the code, which scanners need
	fmt.Fprintf(w, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="%d %d %[3]d %[3]d" shape-rendering="crispEdges"><path fill="#fff" d="M%[1]d %[2]dh%[3]dv%[3]dh-%[3]dz"/><path d="%[4]s"/></svg>`,
		-quiet, -quiet, code.Size+2*quiet, path.String())
}
