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

// Send hands a signed transaction to every node, in one round trip; where it is refused
// over its nonce another one asks whether it is known all the same. It is sent if a node
// took it or has it. An error with the code fault.InvalidState says that all nodes that
// answered refused it as it is; after any other one it may be on its way (protocol:
// chain-starknet.md §10.6, §20.13).
func (l *Ledger) Send(ctx context.Context, tx *wire.Transaction) error {
	id, err := tx.Hash()
	if err != nil {
		return err
	}
	if _, err := rpc.SendRequest(tx, new(rpc.Sent)); err != nil {
		return err
	}
	questions := func() []rpc.Request {
		send, _ := rpc.SendRequest(tx, new(rpc.Sent)) // it could be written a moment ago
		return []rpc.Request{send, rpc.ProgressRequest(id, new(rpc.Progress))}
	}
	judge := func(r []rpc.Request) error { return sent(id, r[0], r[1]) }
	if l.Nodes.Several() {
		err = l.Nodes.Deliver(ctx, questions, judge)
	} else {
		r := questions()
		if err := l.Nodes.Batch(ctx, r); err != nil {
			return err
		}
		err = judge(r)
	}
	if fault.CodeOf(err) != fault.InvalidState || !rpc.IsNonceUsed(err) {
		return err
	}
	if known, again := l.known(ctx, id); again != nil {
		return fault.New(fault.Upstream, "it is not known whether the network has the transaction: %w", again)
	} else if known {
		return nil
	}
	return err
}

// sent reads what a node makes of a transaction that it was handed.
func sent(id wire.Felt, send, progress rpc.Request) error {
	known := progress.Err == nil && *progress.Result.(*rpc.Progress) != rpc.Rejected
	switch err := send.Err; {
	case err == nil && send.Result.(*rpc.Sent).ID != id:
		return fault.New(fault.Upstream, "the node took transaction %s under the id %s", wire.Hex(id), wire.Hex(send.Result.(*rpc.Sent).ID))
	case err == nil, known, rpc.IsDuplicate(err):
		return nil
	case rpc.IsRefusal(err):
		return fault.New(fault.InvalidState, "the node refused the transaction%s: %w", fault.Hidden(": "+rpc.RevertReason(err)), err)
	default:
		return fault.New(fault.Upstream, "the node refused the transaction: %w", err)
	}
}

// known reports whether any node knows a transaction.
func (l *Ledger) known(ctx context.Context, id wire.Felt) (known bool, err error) {
	var other error
	err = l.Nodes.Each(ctx, func() []rpc.Request {
		return []rpc.Request{rpc.ProgressRequest(id, new(rpc.Progress))}
	}, func(r []rpc.Request) {
		switch {
		case r[0].Err == nil:
			known = known || *r[0].Result.(*rpc.Progress) != rpc.Rejected
		case !rpc.IsNoTx(r[0].Err):
			other = upstream(r[0])
		}
	})
	if err == nil && !known {
		err = other
	}
	return known, err
}

// Status returns the states of transactions, in their order. It takes one round trip, and
// a second one, to all nodes, for transactions that look replaced. One is confirmed or
// reverted when it is in a block that was accepted on L2; in the block that is being made
// it is pending. One of which only the ID is set is never reported as replaced. A text
// that is not an id is unknown (protocol: chain-starknet.md §3).
func (l *Ledger) Status(ctx context.Context, txs []chains.Signed) ([]chains.TxStatus, error) {
	if len(txs) == 0 {
		return nil, nil
	}
	look := newTxLook(txs)
	r := look.requests()
	if err := l.Nodes.Batch(ctx, r); err != nil {
		return nil, err
	}
	all, doubtful, err := look.read(r)
	if err != nil {
		return nil, err
	}
	l.heads(r[0].Result.(*rpc.Head))
	if len(doubtful) == 0 {
		return all, nil
	}
	// It may have been put into a block between the answers of one batch, which looks as if
	// another had taken its nonce; and what one node does not know another may.
	again := make([]chains.Signed, len(doubtful))
	for n, i := range doubtful {
		again[n] = txs[i]
	}
	second := newTxLook(again)
	gone := make([]int, len(doubtful)) // how many nodes say so
	answers := 0
	err = l.Nodes.Each(ctx, second.requests, func(r []rpc.Request) {
		some, doubts, err := second.read(r)
		if err != nil {
			return
		}
		answers++
		for n, s := range some {
			if s.State != chains.TxUnknown && all[doubtful[n]].State == chains.TxUnknown {
				all[doubtful[n]] = s
			}
		}
		for _, n := range doubts {
			gone[n]++
		}
	})
	if err != nil {
		return nil, err
	}
	for n, i := range doubtful {
		if answers > 0 && gone[n] == answers {
			all[i].State = chains.TxReplaced
		}
	}
	return all, nil
}

// txLook asks what became of transactions.
type txLook struct {
	txs []chains.Signed
	ids []*wire.Felt // nil: no id
	of  []*wire.Felt // senders, nil: not known
}

func newTxLook(txs []chains.Signed) *txLook {
	look := &txLook{txs: txs, ids: make([]*wire.Felt, len(txs)), of: make([]*wire.Felt, len(txs))}
	for i, tx := range txs {
		if id, err := wire.ParseFelt(tx.ID); err == nil {
			look.ids[i] = &id
		}
		if from, err := wire.ParseAddress(tx.From); err == nil {
			look.of[i] = &from
		}
	}
	return look
}

// requests are the head, then of each transaction with an id its receipt, how far it is,
// and its sender's nonce if that is known.
func (l *txLook) requests() []rpc.Request {
	r := []rpc.Request{rpc.HeadRequest(new(rpc.Head))}
	for i, id := range l.ids {
		if id == nil {
			continue
		}
		r = append(r, rpc.ReceiptRequest(*id, new(rpc.Receipt)), rpc.ProgressRequest(*id, new(rpc.Progress)))
		if l.of[i] != nil {
			r = append(r, rpc.NonceRequest(*l.of[i], rpc.Latest, new(rpc.Nonce)))
		}
	}
	return r
}

// read takes the answers to requests of the same form. doubtful are the transactions that
// the node does not know while the nonce of their account has gone on.
func (l *txLook) read(r []rpc.Request) (all []chains.TxStatus, doubtful []int, err error) {
	for _, one := range r {
		if one.Err != nil && !rpc.IsNoTx(one.Err) && !rpc.IsNoContract(one.Err) {
			return nil, nil, upstream(one)
		}
	}
	head := r[0].Result.(*rpc.Head)
	all = make([]chains.TxStatus, len(l.txs))
	at := 1
	for i, id := range l.ids {
		if id == nil {
			continue
		}
		receipt, progress := r[at], r[at+1]
		at += 2
		var nonce *rpc.Nonce
		if l.of[i] != nil {
			if r[at].Err == nil {
				nonce = r[at].Result.(*rpc.Nonce)
			}
			at++
		}
		all[i] = statusOf(receipt, progress, head)
		if all[i].State == chains.TxUnknown && nonce != nil && uint64(*nonce) > l.txs[i].Nonce {
			doubtful = append(doubtful, i)
		}
	}
	return all, doubtful, nil
}

func statusOf(receipt, progress rpc.Request, head *rpc.Head) (s chains.TxStatus) {
	if receipt.Err == nil {
		got := receipt.Result.(*rpc.Receipt)
		block, accepted := got.Accepted()
		if !accepted || block.Height > head.Height { // answered by a machine that is ahead of the others
			return chains.TxStatus{State: chains.TxPending}
		}
		s = chains.TxStatus{State: chains.TxConfirmed, Final: true, Block: chains.Block{Height: block.Height, Hash: wire.Hex(block.Hash)}, Fee: got.Fee}
		if block.Hash == head.Hash {
			s.Block.Time = head.Time
		}
		if got.Reverted {
			s.State, s.Reason = chains.TxReverted, got.Reason
		}
		return s
	}
	if progress.Err == nil {
		if p := *progress.Result.(*rpc.Progress); p != rpc.Rejected {
			return chains.TxStatus{State: chains.TxPending}
		}
		return chains.TxStatus{Reason: "the node rejected the transaction"}
	}
	return chains.TxStatus{}
}

// Paid returns how much of STRK an accepted transaction transfers to an address, by its
// Transfer events: 0 if none, or if it is not in an accepted block. It takes one round
// trip, to all nodes, which have to agree.
func (l *Ledger) Paid(ctx context.Context, tx, to wire.Felt) (chains.Payout, error) {
	return settle.Paid(ctx, l.panel(), wire.Hex(tx), func(n rpc.Node, ctx context.Context) (settle.Payment, error) { return paid(ctx, n, tx, to) })
}

// paid is what one node says.
func paid(ctx context.Context, node rpc.Node, tx, to wire.Felt) (p settle.Payment, err error) {
	var head rpc.Head
	var receipt rpc.Receipt
	requests := []rpc.Request{rpc.HeadRequest(&head), rpc.ReceiptRequest(tx, &receipt)}
	if err := node.Batch(ctx, requests); err != nil {
		return p, err
	}
	if requests[0].Err != nil {
		return p, upstream(requests[0])
	}
	p.Amount, p.Head = new(big.Int), head.Neutral()
	if err := requests[1].Err; err != nil {
		if rpc.IsNoTx(err) {
			return p, nil
		}
		return p, upstream(requests[1])
	}
	block, ok := receipt.Accepted()
	if !ok {
		return p, nil
	}
	p.Height = block.Height
	for _, log := range receipt.Events {
		if amount, ok := wire.TransferTo(log, wire.STRK, to); ok && !receipt.Reverted {
			p.Amount.Add(p.Amount, amount)
		}
	}
	return p, nil
}
