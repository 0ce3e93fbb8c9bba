package evm

import (
	"context"
	"encoding/json"
	"math/big"
	"strings"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/evm/rpc"
)

// Send takes one round trip: the node is asked along the way whether it knows the
// transaction, so that one which is mined already counts as sent. A nonce that is
// neither the one handed out nor follows one that was sent takes another one
// before, which looks for a gap: see [chain.checkNonce]. One that a node refuses
// takes another one, to all nodes at once.
func (c *chain) Send(ctx context.Context, tx chains.Signed) error {
	if err := c.checkNonce(ctx, tx); err != nil {
		return err
	}
	return c.deliver(ctx, tx)
}

// deliver gives a transaction to every node.
func (c *chain) deliver(ctx context.Context, tx chains.Signed) error {
	judge := func(r []rpc.Request) error { return c.sent(tx, r) }
	if n, ok := c.node.(*rpc.Nodes); ok && n.Several() {
		return n.Deliver(ctx, func() []rpc.Request { return sendRequests(tx) }, judge)
	}
	r := sendRequests(tx)
	if err := c.node.Batch(ctx, r); err != nil {
		return err
	}
	return judge(r)
}

// sendRequests sends a transaction and asks whether it is known.
func sendRequests(tx chains.Signed) []rpc.Request {
	return []rpc.Request{
		{Method: "eth_sendRawTransaction", Params: []any{hexutil.Bytes(tx.Raw)}, Result: new(common.Hash)},
		{Method: "eth_getTransactionByHash", Params: []any{tx.ID}, Result: new(*json.RawMessage)},
	}
}

// sent reads what a node makes of a transaction.
func (c *chain) sent(tx chains.Signed, r []rpc.Request) error {
	id, known := *r[0].Result.(*common.Hash), *r[1].Result.(**json.RawMessage)
	err := r[0].Err
	text := ""
	if err != nil {
		text = strings.ToLower(err.Error())
	}
	switch {
	case err == nil && id.Hex() != tx.ID:
		return fault.New(fault.Upstream, "the node reported transaction %s under the id %s", tx.ID, id.Hex())
	case err == nil, r[1].Err == nil && known != nil,
		rpc.Says(text, "already known", "alreadyknown", "known transaction", "already imported", "already exists"):
		c.noteSent(tx)
		return nil
	case rpc.Says(text, "nonce too low", "nonce is too low", "nonce_too_low", "oldnonce"):
		return fault.New(fault.InvalidState, "the account's nonce was used by another transaction: %w", err)
	case rpc.Says(text, refusals...):
		return fault.New(fault.InvalidState, "the node refused the transaction: %w", rpc.Known(err, text, refusals))
	}
	return fault.New(fault.Upstream, "the node refused the transaction: %w", err)
}

// refusals are what nodes say, in lower case, of a transaction that they have not
// taken and will not take until the user mends it. A full pool, a limit of calls
// and what is not listed here pass by themselves.
var refusals = []string{
	"insufficient funds", "insufficient balance", "gas required exceeds allowance",
	"underpriced", "max fee per gas less than block base fee", "fee cap less than block base fee", "feetoolow", "fee too low",
	"intrinsic gas", "exceeds block gas limit", "max priority fee per gas higher than max fee",
	"invalid sender", "invalid chain id", "invalid signature",
}

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
