package solana

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/settle"
	"github.com/swapper-go/swapper/internal/solana/read"
	"github.com/swapper-go/swapper/internal/solana/rpc"
	"github.com/swapper-go/swapper/internal/solana/wire"
)

// contract is one version of the programs as a [chains.Contract].
type contract struct {
	chain *chain
	wire.Programs
	reader *read.Reader
}

var _ chains.Contract = (*contract)(nil)

func (k *contract) Version() string { return k.Programs.Version }

func (k *contract) Expect(spec chains.Spec) (chains.Escrow, error) {
	d, err := k.Programs.Expect(spec)
	if err != nil {
		return chains.Escrow{}, err
	}
	return d.Escrow()
}

// Decode also demands the configured program, whatever the data says.
func (k *contract) Decode(data json.RawMessage) (chains.Escrow, error) {
	d, err := wire.ParseSwapData(data)
	if err != nil {
		return chains.Escrow{}, err
	}
	if err := k.Programs.Check(d); err != nil {
		return chains.Escrow{}, err
	}
	return d.Escrow()
}

func (k *contract) Diff(want, got chains.Escrow, may chains.Tolerance) error {
	a, err := wire.ParseSwapData(want.Data)
	if err != nil {
		return err
	}
	b, err := wire.ParseSwapData(got.Data)
	if err != nil {
		return &chains.DiffError{Member: "data", Want: "escrow data", Got: err.Error()}
	}
	return wire.Diff(a, b, may)
}

func (k *contract) ClaimHash(c chains.Condition) ([]byte, error) {
	h, err := wire.ClaimHashOf(c)
	return h.Bytes(), err
}

func (k *contract) ClaimHashText(hash []byte) string { return wire.ClaimHashText(hash) }

func (k *contract) Public(e chains.Escrow) (json.RawMessage, error) {
	d, err := wire.ParseSwapData(e.Data)
	if err != nil {
		return nil, err
	}
	return d.Public()
}

// VerifyRefund takes no round trip.
func (k *contract) VerifyRefund(_ context.Context, e chains.Escrow, auth chains.Auth) error {
	d, err := k.SwapDataOf(e)
	if err != nil {
		return &chains.AuthError{Reason: "is for an escrow of another program", Err: err}
	}
	_, err = d.VerifyRefund(auth, k.chain.env.Now())
	return err
}

// Escrows takes one round trip, a second one if something happened to an escrow since
// it was last looked at, another one the first time for the blocks in which it did,
// and another one if an authorisation seems to be over. Queries by claim hash take no
// more: an escrow's address follows from it. A settled query goes to all nodes, each of
// which takes these round trips.
func (k *contract) Escrows(ctx context.Context, queries []chains.EscrowQuery) ([]chains.EscrowFact, error) {
	p := k.panel()
	facts, err := settle.Escrows(ctx, p, queries, one{k.chain, k.chain.ledger, k.reader}.escrows, one.escrows)
	for i, f := range facts {
		if queries[i].Settled && len(p.Seats) > 1 {
			k.reader.NoteSettled(queries[i], f)
		}
	}
	return facts, err
}

// panel are the nodes, each with a reader that remembers nothing.
func (k *contract) panel() *settle.Panel[one] {
	env := k.chain.env
	return settle.NewPanel(k.chain.nodes.Singles, env.AllNodes, env.Now, env.Log, func(n *rpc.Nodes) one {
		ledger := read.NewLedger(n, env.Now, env.Log)
		return one{k.chain, ledger, read.New(k.Programs, ledger)}
	})
}

// one reads escrows through one node, or the first that is up.
type one struct {
	chain  *chain
	ledger *read.Ledger
	reader *read.Reader
}

func (o one) escrows(ctx context.Context, queries []chains.EscrowQuery) ([]chains.EscrowFact, error) {
	facts, err := o.reader.Escrows(ctx, queries)
	if err != nil {
		return nil, err
	}
	var blocks []*chains.Block
	for i := range facts {
		blocks = append(blocks, unnamed(&facts[i])...)
	}
	return facts, o.chain.complete(ctx, o.ledger, blocks)
}

// Liquidity takes one round trip.
func (k *contract) Liquidity(ctx context.Context, lp, token string) (chains.LPFunds, error) {
	who, err := address("lp", lp)
	if err != nil {
		return chains.LPFunds{}, err
	}
	of, err := mint("token", token)
	if err != nil {
		return chains.LPFunds{}, err
	}
	return k.reader.Funds(ctx, who, of)
}

// Check takes no round trip.
func (k *contract) Check(plan chains.Plan, signed []string) ([]chains.Signed, error) {
	txs, err := k.CheckSigned(plan, signed)
	if err == nil {
		err = excludes(plan, txs)
	}
	if err != nil {
		return nil, err
	}
	return txs, nil
}

// IDs takes no round trip.
func (k *contract) IDs(signed []string) ([]string, error) { return wire.IDs(signed) }

// address reads the address in a named input field.
func address(field, s string) (wire.Key, error) {
	canonical, err := wire.Address(s)
	if err != nil {
		return wire.Key{}, fault.Invalid(field, "%w", err)
	}
	return wire.ParseKey(canonical)
}

// mint reads the token address in a named input field.
func mint(field, s string) (wire.Key, error) {
	canonical, err := wire.TokenAddress(s)
	if err != nil {
		return wire.Key{}, fault.Invalid(field, "%w", err)
	}
	return wire.ParseKey(canonical)
}

func fieldOf(i int) string { return fmt.Sprintf("signedTxs[%d]", i) }
