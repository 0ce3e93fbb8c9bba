package evm

import (
	"context"
	"encoding/json"
	"math/big"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/evm/rpc"
)

// receipt is what is read of a transaction's receipt.
type receipt struct {
	Status      hexutil.Uint64 `json:"status"`
	BlockNumber hexutil.Uint64 `json:"blockNumber"`
	BlockHash   common.Hash    `json:"blockHash"`
	GasUsed     hexutil.Uint64 `json:"gasUsed"`
	GasPrice    *hexutil.Big   `json:"effectiveGasPrice"`
	// Citrea also charges for the difference of state that it writes to Bitcoin.
	L1Rate  *hexutil.Big `json:"l1FeeRate"`
	L1Bytes *hexutil.Big `json:"l1DiffSize"`
}

// fee is what the sender paid, in wei; nil if the receipt does not say.
func (r *receipt) fee() *big.Int {
	if r.GasPrice == nil {
		return nil
	}
	fee := new(big.Int).Mul(new(big.Int).SetUint64(uint64(r.GasUsed)), r.GasPrice.ToInt())
	if r.L1Rate != nil && r.L1Bytes != nil {
		fee.Add(fee, new(big.Int).Mul(r.L1Rate.ToInt(), r.L1Bytes.ToInt()))
	}
	return fee
}

// Status takes one round trip, and a second one for transactions that look
// replaced.
func (c *chain) Status(ctx context.Context, txs []chains.Signed) ([]chains.TxStatus, error) {
	all, doubtful, err := c.status(ctx, txs)
	if err != nil || len(doubtful) == 0 {
		return all, err
	}
	// A transaction may have been mined between the answers of one batch, which
	// looks like another having taken its nonce. It cannot be missed twice.
	again := make([]chains.Signed, len(doubtful))
	for n, i := range doubtful {
		again[n] = txs[i]
	}
	second, replaced, err := c.status(ctx, again)
	if err != nil {
		return nil, err
	}
	for n, i := range doubtful {
		all[i] = second[n]
	}
	for _, n := range replaced {
		all[doubtful[n]].State = chains.TxReplaced
	}
	return all, nil
}

// status also returns the indexes of the transactions that the node does not know
// while the nonce of their account has gone on.
func (c *chain) status(ctx context.Context, txs []chains.Signed) (all []chains.TxStatus, doubtful []int, err error) {
	if len(txs) == 0 {
		return nil, nil, nil
	}
	type answer struct {
		known   *json.RawMessage
		receipt *receipt
	}
	answers := make([]answer, len(txs))
	used := map[string]*hexutil.Uint64{}
	var h headsRequest
	requests := h.requests(c.net)
	for i, tx := range txs {
		if tx.From != "" && used[tx.From] == nil {
			used[tx.From] = new(hexutil.Uint64)
			requests = append(requests, rpc.Request{Method: "eth_getTransactionCount", Params: []any{tx.From, c.net.SafeTag}, Result: used[tx.From]})
		}
		requests = append(requests,
			rpc.Request{Method: "eth_getTransactionByHash", Params: []any{tx.ID}, Result: &answers[i].known},
			rpc.Request{Method: "eth_getTransactionReceipt", Params: []any{tx.ID}, Result: &answers[i].receipt})
	}
	if err := rpc.AskAll(ctx, c.node, requests); err != nil {
		return nil, nil, err
	}
	heads, err := h.heads()
	if err != nil {
		return nil, nil, err
	}
	all = make([]chains.TxStatus, len(txs))
	for i, tx := range txs {
		a := answers[i]
		switch {
		case a.receipt != nil && a.receipt.BlockNumber <= h.safe.Number:
			all[i].Block = chains.Block{Height: uint64(a.receipt.BlockNumber), Hash: a.receipt.BlockHash.Hex()}
			all[i].Final = all[i].Block.Height <= heads.Final.Height
			all[i].State, all[i].Fee = chains.TxConfirmed, a.receipt.fee()
			if a.receipt.Status == 0 {
				all[i].State = chains.TxReverted
			}
		case a.receipt != nil || a.known != nil:
			all[i].State = chains.TxPending
		case tx.From != "" && uint64(*used[tx.From]) > tx.Nonce:
			doubtful = append(doubtful, i)
		}
	}
	return all, doubtful, nil
}
