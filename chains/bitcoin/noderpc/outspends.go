package noderpc

import (
	"context"
	"errors"
	"fmt"

	"github.com/btcsuite/btcd/txscript"

	"github.com/swapper-go/swapper/chains/bitcoin"
)

// Outspends returns what spends each output. It sends one request for all
// outputs that are unspent or spent in the mempool; for the others, the
// requests of [Client.Txs] and, with btcd, those of [Indexed.AddressTxs] to find
// the spender of a confirmed output. Core cannot name that spender: its id and
// height stay zero.
func (c *Client) Outspends(ctx context.Context, ops []bitcoin.OutPoint) []bitcoin.Result[bitcoin.Spend] {
	results := make([]bitcoin.Result[bitcoin.Spend], len(ops))
	n, err := c.learn(ctx)
	var answers []answer
	if err == nil {
		answers, err = c.do(ctx, askOutputs(ops)...)
	}
	if err != nil {
		for i := range results {
			results[i].Err = err
		}
		return results
	}
	var gone []int // neither unspent in the chain nor spent in the mempool
	for i, op := range ops {
		spend, settled, err := readOutput(op, answers[2*i], answers[2*i+1])
		results[i] = bitcoin.Result[bitcoin.Spend]{Value: spend, Err: err}
		if err == nil && !settled {
			gone = append(gone, i)
		}
	}
	parents := make([]bitcoin.Hash, len(gone))
	for k, i := range gone {
		parents[k] = ops[i].Hash
	}
	for k, parent := range c.Txs(ctx, parents) {
		i := gone[k]
		results[i].Value, results[i].Err = c.settle(ctx, n, ops[i], parent)
	}
	return blamedEach(ctx, c, results)
}

// askOutputs are the pairs of calls that readOutput takes the answers of.
func askOutputs(ops []bitcoin.OutPoint) []call {
	calls := make([]call, 0, 2*len(ops))
	for _, op := range ops {
		place := map[string]any{"txid": op.Hash.String(), "vout": op.Index}
		calls = append(calls,
			method("gettxspendingprevout", []any{place}),
			method("gettxout", op.Hash.String(), op.Index, false))
	}
	return calls
}

// readOutput reads who spends an output in the mempool, and whether the chain
// alone has it unspent. settled is false if neither is so.
func readOutput(op bitcoin.OutPoint, mempool, chain answer) (spend bitcoin.Spend, settled bool, err error) {
	var spends []struct {
		By string `json:"spendingtxid"`
	}
	err = mempool.decode(&spends)
	if _, missing := refused(err, codeMethodNotFound); missing {
		return spend, false, unsupported("finding what spends an output in the mempool: the node is too old and has no gettxspendingprevout")
	}
	if err == nil && len(spends) != 1 {
		err = fmt.Errorf("%d results for one output", len(spends))
	}
	if err != nil {
		return spend, false, fmt.Errorf("output %s: %w", op, err)
	}
	if spends[0].By != "" {
		by, err := bitcoin.ParseHash(spends[0].By)
		return bitcoin.Spend{State: bitcoin.SpentInMempool, TxID: by}, true, err
	}
	if chain.Error != nil {
		if _, none := refused(chain.Error, codeNotFound); !none {
			return spend, false, fmt.Errorf("output %s: %w", op, chain.Error)
		}
		return spend, false, nil
	}
	if chain.isNull() {
		return spend, false, nil
	}
	return bitcoin.Spend{State: bitcoin.Unspent}, true, nil
}

// settle decides about an output by its transaction: it is unconfirmed, spent in
// the chain, or does not exist.
func (c *Client) settle(ctx context.Context, n *node, op bitcoin.OutPoint, parent bitcoin.Result[*bitcoin.Tx]) (bitcoin.Spend, error) {
	if errors.Is(parent.Err, bitcoin.ErrNotFound) {
		return bitcoin.Spend{}, nil
	}
	if parent.Err != nil {
		return bitcoin.Spend{}, parent.Err
	}
	out, ok := parent.Value.Output(op.Index)
	switch {
	case !ok:
		return bitcoin.Spend{}, nil
	case !parent.Value.Confirmed() || txscript.IsUnspendable(out.PkScript):
		return bitcoin.Spend{State: bitcoin.Unspent}, nil
	}
	spend := bitcoin.Spend{State: bitcoin.SpentConfirmed}
	a, err := bitcoin.AddressFromScript(out.PkScript, c.o.Network)
	if !n.btcd || err != nil {
		return spend, nil
	}
	for tx, err := range c.addressTxs(ctx, a) {
		if err != nil {
			return bitcoin.Spend{}, err
		}
		if tx.Spends(op) {
			spend.TxID, spend.Height = tx.ID, tx.Height
			break
		}
	}
	return spend, nil
}
