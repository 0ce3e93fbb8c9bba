package starkread

import (
	"context"
	"iter"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/starknet/starkrpc"
	"github.com/swapper-go/swapper/internal/starknet/wire"
)

// Reader reads one deployment of the contracts. It is safe for concurrent use.
type Reader struct {
	wire.Deployment
	ledger *Ledger
}

// New returns a reader of a deployment.
func New(d wire.Deployment, l *Ledger) *Reader {
	return &Reader{Deployment: d, ledger: l}
}

// Funds returns what an LP has in the contract, in base units of a token, and how its
// escrows of that token ended. It takes one round trip.
func (r *Reader) Funds(ctx context.Context, lp, token wire.Felt) (chains.LPFunds, error) {
	var head starkrpc.Head
	var balance, reputation starkrpc.Felts
	err := starkrpc.AskAll(ctx, r.ledger.Nodes, []starkrpc.Request{
		starkrpc.HeadRequest(&head),
		r.call(r.EscrowManager, wire.EntryLPBalance, wire.LPBalanceCall(lp, token), starkrpc.Latest, &balance),
		r.call(r.EscrowManager, wire.EntryReputation, r.ReputationCall(lp, token), starkrpc.Latest, &reputation),
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
func (r *Reader) call(of wire.Contract, entry string, calldata []wire.Felt, at starkrpc.At, into *starkrpc.Felts) starkrpc.Request {
	return starkrpc.CallRequest(of.Address, wire.Selector(entry), calldata, at, into)
}

// To come: what follows is the shape that callers can build on.

var errToCome = fault.New(fault.Unsupported, "is not read yet")

// Escrows answers queries, in their order.
func (r *Reader) Escrows(context.Context, []chains.EscrowQuery) ([]chains.EscrowFact, error) {
	return nil, errToCome
}

// Vaults reads vaults, in their order.
func (r *Reader) Vaults(context.Context, []chains.VaultID) ([]chains.VaultFact, error) {
	return nil, errToCome
}

// Withdrawals answers queries, in their order.
func (r *Reader) Withdrawals(context.Context, []chains.WithdrawalQuery) ([]chains.WithdrawalFact, error) {
	return nil, errToCome
}

// DryRun has the vault manager read Bitcoin transactions, without witnesses.
func (r *Reader) DryRun(ctx context.Context, txs [][]byte) error { return errToCome }

// RelayTip returns the height up to which the relay has Bitcoin's headers.
func (r *Reader) RelayTip(context.Context) (uint32, error) { return 0, errToCome }

// Header finds the stored header of a Bitcoin block in the relay's main chain, and the
// height of the relay's tip. found is false if the relay does not have it. Blocks from
// before notBefore, Unix seconds, are not searched; 0 searches all.
func (r *Reader) Header(ctx context.Context, block bitcoin.Hash, notBefore int64) (header wire.StoredHeader, tip uint32, found bool, err error) {
	return wire.StoredHeader{}, 0, false, errToCome
}

// TipHeader returns the stored header of the relay's tip; [bitcoin.ErrNotFound] if the
// relay was never initialised.
func (r *Reader) TipHeader(context.Context) (wire.StoredHeader, error) {
	return wire.StoredHeader{}, errToCome
}

// LatestHeader returns the newest header that the relay's main chain holds and for which
// inMain says so of Bitcoin's; [bitcoin.ErrNotFound] if there is none.
func (r *Reader) LatestHeader(ctx context.Context, inMain func(context.Context, bitcoin.Hash) (bool, error)) (wire.StoredHeader, error) {
	return wire.StoredHeader{}, errToCome
}

// Poll hands over what happened since a cursor, oldest first, with the cursor to continue
// from.
func (l *Ledger) Poll(ctx context.Context, readers []*Reader, at Cursor, deliver func([]News, Cursor) error) error {
	return errToCome
}

// Cursor is where the contracts of each version were read up to: [ParseCursor].
type Cursor map[string][2]Position

// Position is how far the events of one contract were read.
type Position struct {
	Block uint64
	Tx    *wire.Felt
}

// ParseCursor reads a cursor; nothing is one that was never moved.
func ParseCursor(text []byte) (Cursor, error) { return nil, errToCome }

// News is what happened in one deployment.
type News struct {
	Version string
	Event   wire.Event
	Tx      string
	// Opened is the escrow, with a [wire.InitializeEvent] of a hash lock, if its transaction could be read.
	Opened *chains.Escrow
}

// History yields every escrow and every withdrawal in which signer is a party, of all
// given deployments, from a height on, oldest first. An error ends the sequence.
func (l *Ledger) History(ctx context.Context, readers []*Reader, signer wire.Felt, from uint64) iter.Seq2[chains.Past, error] {
	return func(yield func(chains.Past, error) bool) { yield(chains.Past{}, errToCome) }
}
