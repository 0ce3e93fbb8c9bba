package read

import (
	"context"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/settle"
	"github.com/swapper-go/swapper/internal/starknet/rpc"
	"github.com/swapper-go/swapper/internal/starknet/wire"
)

// Reader reads one deployment of the contracts. It is safe for concurrent use.
type Reader struct {
	wire.Deployment
	ledger *Ledger
	memory memory
}

// New returns a reader of a deployment.
func New(d wire.Deployment, l *Ledger) *Reader {
	return &Reader{Deployment: d, ledger: l, memory: newMemory()}
}

// alone reports whether there is one node, whose word is all that can be had.
func (r *Reader) alone() bool { return !r.ledger.Nodes.Several() }

// panel are the nodes, each with a reader that remembers nothing.
func (r *Reader) panel() *settle.Panel[*Reader] {
	l := r.ledger
	return settle.NewPanel(l.Nodes.Singles, l.AllNodes, l.Now, l.Log, func(n *rpc.Nodes) *Reader { return New(r.Deployment, NewLedger(n, l.Now, l.Log)) })
}

// Funds returns what an LP has in the contract, in base units of a token, and how its
// escrows of that token ended. It takes one round trip.
func (r *Reader) Funds(ctx context.Context, lp, token wire.Felt) (chains.LPFunds, error) {
	var head rpc.Head
	var balance, reputation rpc.Felts
	err := rpc.AskAll(ctx, r.ledger.Nodes, []rpc.Request{
		rpc.HeadRequest(&head),
		r.call(r.EscrowManager, wire.EntryLPBalance, wire.LPBalanceCall(lp, token), rpc.Latest, &balance),
		r.call(r.EscrowManager, wire.EntryReputation, r.ReputationCall(lp, token), rpc.Latest, &reputation),
	})
	if err != nil {
		return chains.LPFunds{}, err
	}
	r.ledger.heads(&head)
	var funds chains.LPFunds
	if funds.Balance, err = wire.ReadLPBalance(balance); err == nil {
		funds.Reputation, err = wire.ReadReputation(reputation)
	}
	if err != nil {
		return chains.LPFunds{}, fault.New(fault.Upstream, "%w", err)
	}
	return funds, nil
}

// call asks a contract of the deployment.
func (r *Reader) call(of wire.Contract, entry string, calldata []wire.Felt, at rpc.At, into *rpc.Felts) rpc.Request {
	return rpc.CallRequest(of.Address, wire.Selector(entry), calldata, at, into)
}
