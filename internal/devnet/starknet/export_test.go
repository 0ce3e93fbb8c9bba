package starknet

import "net/http"

// Handle answers a request without a socket.
func Handle(s *NodeServer, w http.ResponseWriter, r *http.Request) { s.serve(w, r) }
