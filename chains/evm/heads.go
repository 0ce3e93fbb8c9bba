package evm

import (
	"context"
	"errors"
	"fmt"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/evm/rpc"
	"github.com/swapper-go/swapper/internal/evm/wire"
)

// Heads takes one round trip.
func (c *chain) Heads(ctx context.Context) (chains.Heads, error) {
	var h headsRequest
	if err := rpc.AskAll(ctx, c.node, h.requests(c.net)); err != nil {
		return chains.Heads{}, err
	}
	c.noteHead(h.latest)
	return h.heads()
}

// noteHead remembers the newest block, if a node has answered with one.
func (c *chain) noteHead(h *rpc.BlockHead) {
	if h != nil {
		c.latest.Note(int64(h.Timestamp), c.env.Now())
	}
}

// headsRequest asks for both ends of the chain, along with other questions.
type headsRequest struct {
	net                 wire.Network
	latest, safe, final *rpc.BlockHead
}

func (h *headsRequest) requests(n wire.Network) []rpc.Request {
	requests := []rpc.Request{h.tag("latest", &h.latest)}
	if n.SafeTag != "latest" {
		requests = append(requests, h.tag(n.SafeTag, &h.safe))
	}
	if n.FinalizedTag != "latest" && n.FinalizedTag != n.SafeTag {
		requests = append(requests, h.tag(n.FinalizedTag, &h.final))
	}
	h.net = n
	return requests
}

func (h *headsRequest) tag(tag string, into **rpc.BlockHead) rpc.Request {
	return rpc.Request{Method: "eth_getBlockByNumber", Params: []any{tag, false}, Result: into}
}

// heads reads the answers. Where two tags are one block it was asked for once.
func (h *headsRequest) heads() (chains.Heads, error) {
	if h.net.SafeTag == "latest" {
		h.safe = h.latest
	}
	switch h.net.FinalizedTag {
	case "latest":
		h.final = h.latest
	case h.net.SafeTag:
		h.final = h.safe
	}
	if h.latest == nil || h.safe == nil || h.final == nil {
		return chains.Heads{}, fault.New(fault.Upstream, "the node does not have the requested block")
	}
	// What is acted on as final is the lowest of the tags: a swap that is not
	// looked at any more must not come back.
	final := h.final
	for _, other := range []*rpc.BlockHead{h.safe, h.latest} {
		if other.Number < final.Number {
			final = other
		}
	}
	if h.safe.Number > h.latest.Number {
		h.safe = h.latest
	}
	return chains.Heads{Latest: h.latest.Block(), Final: final.Block()}, nil
}

// along puts requests in front of the first batch that a reader makes, so that
// they cost no round trip of their own. In front: a head that is read before a
// state can only be older than it, so that what is not there at a head was not
// there.
type along struct {
	rpc.Node
	extra []rpc.Request
	err   error
}

func (a *along) Batch(ctx context.Context, requests []rpc.Request) error {
	extra := a.extra
	a.extra = nil
	all := append(append([]rpc.Request(nil), extra...), requests...)
	if err := a.Node.Batch(ctx, all); err != nil {
		return err
	}
	for i, r := range all[:len(extra)] {
		if r.Err != nil && a.err == nil {
			a.err = fmt.Errorf("%s: %w", all[i].Method, r.Err)
		}
	}
	for i := range requests {
		requests[i].Err = all[len(extra)+i].Err
	}
	return nil
}

// answered returns the error of a reader, or of the questions that went along.
func (a *along) answered(err error) error { return errors.Join(err, a.err) }
