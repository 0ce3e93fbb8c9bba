package contracts

import (
	"fmt"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/starknet/wire"
)

// executionAddress is where [Install] puts the execution contract, which deployments do
// not name: clients have no business with it.
var executionAddress = Address(Felt{}, executionClass().Hash, Felt{}, nil)

// Install deploys the swap contracts of a deployment at its addresses, and the universal
// deployer at its own. The relay begins with a header.
func Install(c *Chain, d wire.Deployment, first wire.StoredHeader) error {
	for _, p := range []struct {
		at   Felt
		of   Class
		args []Felt
	}{
		{DeployerAddress, UniversalDeployer(), nil},
		{executionAddress, executionClass(), nil},
		{d.EscrowManager.Address, escrowManager(), []Felt{executionAddress}},
		{d.VaultManager.Address, vaultManager(), []Felt{executionAddress}},
		{d.ClaimHandlers[chains.HTLC], hashlock(), nil},
		{d.ClaimHandlers[chains.Onchain], outputClass(), nil},
		{d.ClaimHandlers[chains.OnchainNonced], noncedOutput(), nil},
		{d.ClaimHandlers[chains.OnchainTxID], transactionID(), nil},
		{d.RefundHandler, timelock(), nil},
		{d.BtcRelay.Address, relay(Rules{}), first.Felts()},
	} {
		if err := c.Place(p.at, p.of.Hash, p.args...); err != nil {
			return fmt.Errorf("%s: %w", p.of.Name, err)
		}
	}
	return nil
}

// TokenArgs are the constructor's arguments of a [Token].
func TokenArgs(name, symbol string, decimals uint8, minter Felt) []Felt {
	return felts(nil).bytes([]byte(name)).bytes([]byte(symbol)).uint(uint64(decimals)).add(minter)
}
