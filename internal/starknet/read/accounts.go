package read

import (
	"context"
	"math/big"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/settle"
	"github.com/swapper-go/swapper/internal/starknet/rpc"
	"github.com/swapper-go/swapper/internal/starknet/wire"
)

// Account is what stands at an address.
type Account struct {
	Deployed bool      // in an accepted block
	Class    wire.Felt // of a deployed one
	Nonce    uint64    // of its next transaction, by accepted blocks
	Head     chains.Block

	// Next is the nonce of its next transaction if what is being put into a block gets
	// there: where the transaction after it begins. A deployment that is being put into a
	// block makes it 1 while the account is not deployed yet.
	Next rpc.PreConfirmedNonce
}

// Account reads an account in one round trip. That nothing was deployed is seen by its
// class: a contract made by another one has the nonce 0 too (protocol:
// chain-starknet.md §20.10).
func (l *Ledger) Account(ctx context.Context, address wire.Felt) (Account, error) {
	var head rpc.Head
	a := &accountQuestions{address: address}
	requests := append([]rpc.Request{rpc.HeadRequest(&head)}, a.requests()...)
	if err := l.Nodes.Batch(ctx, requests); err != nil {
		return Account{}, err
	}
	if err := requests[0].Err; err != nil {
		return Account{}, upstream(requests[0])
	}
	got, err := a.read(requests[1:])
	got.Head = l.heads(&head).Latest
	return got, err
}

// accountQuestions ask for one account.
type accountQuestions struct {
	address wire.Felt
	class   rpc.ClassHash
	nonce   rpc.Nonce
	next    rpc.PreConfirmedNonce
}

func (a *accountQuestions) requests() []rpc.Request {
	return []rpc.Request{
		rpc.ClassHashRequest(a.address, rpc.Latest, &a.class),
		rpc.NonceRequest(a.address, rpc.Latest, &a.nonce),
		rpc.PreConfirmedNonceRequest(a.address, &a.next),
	}
}

func (a *accountQuestions) read(r []rpc.Request) (Account, error) {
	for _, one := range r {
		if one.Err != nil && !rpc.IsNoContract(one.Err) {
			return Account{}, upstream(one)
		}
	}
	got := Account{Deployed: r[0].Err == nil, Class: a.class.Felt, Nonce: uint64(a.nonce), Next: a.next}
	if uint64(got.Next) < got.Nonce { // answered by a machine that is behind
		got.Next = rpc.PreConfirmedNonce(got.Nonce)
	}
	return got, nil
}

// upstream is the error of a question that a node did not answer.
func upstream(r rpc.Request) error {
	return fault.New(fault.Upstream, "%s: %w", r.Method, r.Err)
}

// Balance returns what an address holds of a token, in base units. It takes one round
// trip.
func (l *Ledger) Balance(ctx context.Context, owner, token wire.Felt) (*big.Int, error) {
	all, err := l.Balances(ctx, owner, token)
	if err != nil {
		return nil, err
	}
	return all[0], nil
}

// Balances returns what an address holds of several tokens, in base units and in their
// order. It takes one round trip.
func (l *Ledger) Balances(ctx context.Context, owner wire.Felt, tokens ...wire.Felt) ([]*big.Int, error) {
	answers := make([]rpc.Felts, len(tokens))
	var head rpc.Head
	requests := []rpc.Request{rpc.HeadRequest(&head)} // so that a node that is behind is noticed
	for i, t := range tokens {
		requests = append(requests, rpc.CallRequest(t, wire.Selector(wire.EntryBalanceOf), []wire.Felt{owner}, rpc.Latest, &answers[i]))
	}
	if err := rpc.AskAll(ctx, l.Nodes, requests); err != nil {
		return nil, err
	}
	l.heads(&head)
	all := make([]*big.Int, len(tokens))
	for i, a := range answers {
		var err error
		if all[i], err = wire.ReadU256(a); err != nil {
			return nil, fault.New(fault.Upstream, "balance of %s: %w", wire.Hex64(tokens[i]), err)
		}
	}
	return all, nil
}

// Signed asks an account whether a signature is its own. It takes one round trip, and a
// second one, to all nodes, where the account says no and there are several. A signature
// that is not its own is a *[chains.AuthError], as is one by an address at which there is no
// account: it can have signed nothing. It is proven if at least two nodes say so and none
// objects. Any other error means that the question was not answered (protocol:
// chain-starknet.md §8.1, §20.1, §20.2).
//
// The account's own code answers, so that what it says holds at this block only.
func (l *Ledger) Signed(ctx context.Context, c wire.SignatureCheck) error {
	var head rpc.Head
	said, err := signed(ctx, l.Nodes, c, &head)
	if err == nil {
		l.heads(&head)
	}
	witnesses := 0
	if err == nil && !said.Good && l.Nodes.Several() {
		said.Good, witnesses, err = settle.Signed(ctx, l.panel(), "a signature of the account "+wire.Hex64(c.Account),
			func(n rpc.Node, ctx context.Context) (settle.Signature, error) {
				return signed(ctx, n, c, new(rpc.Head))
			})
	}
	switch {
	case err != nil:
		return err
	case !said.Good:
		return c.Refused(witnesses > 1)
	}
	return nil
}

// signed is what one node says, whose newest block goes to head.
func signed(ctx context.Context, node rpc.Node, c wire.SignatureCheck, head *rpc.Head) (s settle.Signature, err error) {
	var answer, old rpc.Felts
	requests := []rpc.Request{
		rpc.HeadRequest(head),
		rpc.CallRequest(c.Account, wire.EntryIsValidSignature, c.Calldata(), rpc.Latest, &answer),
		rpc.CallRequest(c.Account, wire.EntryIsValidSignatureOld, c.Calldata(), rpc.Latest, &old),
	}
	if err := node.Batch(ctx, requests); err != nil {
		return s, err
	}
	if requests[0].Err != nil {
		return s, upstream(requests[0])
	}
	s.Head = head.Neutral()
	said, asked := answer, requests[1]
	if rpc.IsNoEntry(asked.Err) {
		said, asked = old, requests[2]
	}
	switch err := asked.Err; {
	case rpc.IsNoContract(err), rpc.IsNoEntry(err):
		return s, nil
	case err != nil && rpc.IsReverted(err) && wire.RefusesSignature(rpc.RevertReason(err)):
		return s, nil
	case err != nil && rpc.IsReverted(err):
		return s, fault.New(fault.Upstream, "the account %s could not check the signature: %w", wire.Hex64(c.Account), rpc.Reason(rpc.RevertReason(err)))
	case err != nil:
		return s, upstream(asked)
	}
	if s.Good, err = wire.ReadSignatureAnswer(said); err != nil {
		return s, fault.New(fault.Upstream, "the account %s: %w", wire.Hex64(c.Account), err)
	}
	return s, nil
}
