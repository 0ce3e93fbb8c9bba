package rpc

import "net/http"

// Handle answers a request without a socket.
func Handle(s *Server, w http.ResponseWriter, r *http.Request) { s.serve(w, r) }
