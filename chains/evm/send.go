package evm

import (
	"context"
	"encoding/json"
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
