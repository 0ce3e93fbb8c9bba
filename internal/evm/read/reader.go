package read

import (
	"context"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/evm/rpc"
	"github.com/swapper-go/swapper/internal/evm/wire"
)

// Contracts reads a deployment's contracts through a node.
type Contracts struct{ wire.Deployment }

// ReadFunds returns what an LP has in the contract, in one round trip.
func (d Contracts) ReadFunds(ctx context.Context, node rpc.Node, lp, token common.Address) (chains.LPFunds, error) {
	askFunds, err := wire.FundsCall(lp, token)
	if err != nil {
		return chains.LPFunds{}, err
	}
	askReputation, err := d.ReputationCall(lp, token)
	if err != nil {
		return chains.LPFunds{}, err
	}
	var balance, reputation hexutil.Bytes
	err = rpc.AskAll(ctx, node, []rpc.Request{
		rpc.CallRequest(d.EscrowManager.Address, askFunds, "latest", &balance),
		rpc.CallRequest(d.EscrowManager.Address, askReputation, "latest", &reputation),
	})
	if err != nil {
		return chains.LPFunds{}, err
	}
	var funds chains.LPFunds
	if funds.Balance, err = wire.DecodeFunds(balance); err != nil {
		return chains.LPFunds{}, err
	}
	funds.Reputation, err = wire.DecodeReputation(reputation)
	return funds, err
}
