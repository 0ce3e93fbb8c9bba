package jsonrpc

import (
	"context"
	"encoding/json"
	"fmt"
)

// Node is what reading a chain needs of a JSON-RPC connection.
type Node interface {
	// Batch carries out requests in one round trip, in any order: it decodes each
	// answer into Result or sets Err. An error of Batch itself means that nothing
	// was answered. It bounds the size of what it reads and ends with ctx.
	Batch(ctx context.Context, requests []Request) error
}

// Request is one JSON-RPC call.
type Request struct {
	Method string
	Params []any // by position
	Named  any   // by name, an object; in the place of Params
	// Form, if set, gives the parameters as a node takes them that speaks a version of
	// the interface, see [Dialect.Version]; in the place of the others.
	Form   func(version int) any
	Result any // pointer that the answer is decoded into
	// Check refuses an answer that decodes, but cannot be one to this question; it is
	// called with a pointer like Result. Nil accepts all. A node that gives such an
	// answer is passed over.
	Check func(result any) error
	// Err is the error that the node answered with, an [*Error] within one of code fault.Upstream.
	Err error
}

// AskAll is [Node.Batch] for requests whose answers are all needed.
func AskAll(ctx context.Context, node Node, requests []Request) error {
	if len(requests) == 0 {
		return nil
	}
	if err := node.Batch(ctx, requests); err != nil {
		return err
	}
	for _, r := range requests {
		if r.Err != nil {
			return fmt.Errorf("%s: %w", r.Method, r.Err)
		}
	}
	return nil
}

// params are the parameters for a node that speaks a version of the interface.
func (r *Request) params(version int) any {
	switch {
	case r.Form != nil:
		return r.Form(version)
	case r.Named != nil:
		return r.Named
	case r.Params != nil:
		return r.Params
	}
	return []any{}
}

// reply is what comes back for a call.
type reply struct {
	ID     json.RawMessage `json:"id"`
	Result json.RawMessage `json:"result"`
	Error  *Error          `json:"error"`
}
