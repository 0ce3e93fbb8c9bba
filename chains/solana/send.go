package solana

import (
	"context"
	"strings"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/jsonrpc"
	"github.com/swapper-go/swapper/internal/solana/rpc"
	"github.com/swapper-go/swapper/internal/solana/wire"
)

// Send takes one round trip: the node is asked along the way whether it knows the
// transaction, so that one which was executed already counts as sent. One that reveals
// a preimage takes another one before, which looks whether its block hash is still
// good: it must not become public in vain. Every node gets it at the same time.
func (c *chain) Send(ctx context.Context, tx chains.Signed) error {
	parsed, err := wire.ParseTx(tx.Raw)
	if err != nil {
		return fault.New(fault.InvalidState, "%w", err)
	}
	if tx.Reveals {
		s := sending{c: c, tx: tx, parsed: parsed}
		if err := rpc.AskAll(ctx, c.node, s.questions()); err != nil {
			return err
		}
		if done, err := s.before(); done || err != nil {
			return err
		}
	}
	attempt := func() *sending { return &sending{c: c, tx: tx, parsed: parsed, send: true} }
	if !c.nodes.Several() {
		s := attempt()
		if err := c.node.Batch(ctx, s.questions()); err != nil {
			return err
		}
		return s.outcome()
	}
	return c.nodes.Deliver(ctx, func() []rpc.Request { return attempt().questions() }, func(r []rpc.Request) error {
		s := attempt()
		s.read(r)
		return s.outcome()
	})
}

// sending is one attempt to hand a transaction to a node.
type sending struct {
	c      *chain
	tx     chains.Signed
	parsed *wire.Parsed
	send   bool

	present
	known    rpc.Statuses
	valid    rpc.Validity
	id       string
	requests []rpc.Request
}

// Where the answers are.
const (
	atKnown = presentRequests + iota
	atValid
	atSent
)

func (s *sending) questions() []rpc.Request {
	id, _ := s.parsed.ID()
	s.requests = append(s.present.requests(),
		rpc.StatusesRequest([]wire.Signature{id}, &s.known), rpc.BlockhashValidRequest(s.parsed.Blockhash, rpc.Processed, &s.valid))
	if s.send {
		s.requests = append(s.requests, rpc.SendRequest(s.parsed.Raw, &s.id))
	}
	return s.requests
}

// read takes the answers to questions of the same form.
func (s *sending) read(r []rpc.Request) {
	s.requests = r
	s.latest, s.final = *r[0].Result.(*rpc.LatestBlockhash), *r[1].Result.(*rpc.LatestBlockhash)
	s.known, s.valid = *r[atKnown].Result.(*rpc.Statuses), *r[atValid].Result.(*rpc.Validity)
	if s.send {
		s.id = *r[atSent].Result.(*string)
	}
}

// note remembers what was said of block hashes.
func (s *sending) note() {
	for i, l := range []rpc.LatestBlockhash{s.latest, s.final} {
		if s.requests[i].Err == nil && l.Slot != 0 {
			s.c.hashes.note(l)
		}
	}
	s.c.hashes.meet(s.parsed.Blockhash)
}

// executed reports whether the node knows the transaction.
func (s *sending) executed() bool {
	return s.requests[atKnown].Err == nil && len(s.known.All) == 1 && s.known.All[0] != nil
}

// late returns an error if the block hash is too old: for good only once that is final.
func (s *sending) late() error {
	hash := s.parsed.Blockhash
	switch {
	case s.requests[atValid].Err == nil && s.valid.Valid:
		return nil
	case s.requests[1].Err == nil && s.c.hashes.over(hash, heightOf(s.final)):
		return fault.New(fault.InvalidState, "the transaction has expired: its block hash is too old")
	case s.requests[0].Err == nil && s.c.hashes.over(hash, heightOf(s.latest)):
		return fault.New(fault.Upstream, "the transaction has expired, but that is not final yet")
	}
	return nil
}

// before judges a transaction that was not sent yet. done means that it need not be.
func (s *sending) before() (done bool, err error) {
	s.note()
	if s.executed() {
		return true, nil
	}
	if err := s.late(); err != nil {
		return false, err
	}
	if !s.valid.Valid {
		return false, fault.New(fault.Upstream, "the node does not know the transaction's block hash: it is not shown to a node that cannot execute it")
	}
	return false, nil
}

// outcome reads what the node makes of a transaction.
func (s *sending) outcome() error {
	s.note()
	if s.executed() {
		return nil
	}
	err := s.requests[atSent].Err
	text := ""
	if err != nil {
		text = strings.ToLower(err.Error())
	}
	switch {
	case err == nil && s.id != s.tx.ID:
		return fault.New(fault.Upstream, "the node reported transaction %s under the id %s", s.tx.ID, s.id)
	case jsonrpc.Says(text, "already been processed", "alreadyprocessed"):
		return nil
	case s.late() != nil:
		return s.late()
	case err == nil:
		s.c.hashes.sent.Add(s.tx.ID, struct{}{})
		return nil
	case rpc.IsRefusal(err):
		return fault.New(fault.InvalidState, "the node refused the transaction: %w", err)
	}
	return fault.New(fault.Upstream, "the node refused the transaction: %w", err)
}
