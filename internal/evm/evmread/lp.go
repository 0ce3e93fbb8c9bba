package evmread

import (
	"context"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/evm/evmrpc"
	"github.com/swapper-go/swapper/internal/evm/evmwire"
)

// Contracts reads a deployment's contracts through a node.
type Contracts struct{ evmwire.Deployment }

// ReadFunds returns what an LP has in the contract, in one round trip.
func (d Contracts) ReadFunds(ctx context.Context, node evmrpc.Node, lp, token common.Address) (chains.LPFunds, error) {
	askFunds, err := evmwire.FundsCall(lp, token)
	if err != nil {
		return chains.LPFunds{}, err
	}
	askReputation, err := d.ReputationCall(lp, token)
	if err != nil {
		return chains.LPFunds{}, err
	}
	var balance, reputation hexutil.Bytes
	err = evmrpc.AskAll(ctx, node, []evmrpc.Request{
		evmrpc.CallRequest(d.EscrowManager.Address, askFunds, "latest", &balance),
		evmrpc.CallRequest(d.EscrowManager.Address, askReputation, "latest", &reputation),
	})
	if err != nil {
		return chains.LPFunds{}, err
	}
	var funds chains.LPFunds
	if funds.Balance, err = evmwire.DecodeFunds(balance); err != nil {
		return chains.LPFunds{}, err
	}
	funds.Reputation, err = evmwire.DecodeReputation(reputation)
	return funds, err
}
