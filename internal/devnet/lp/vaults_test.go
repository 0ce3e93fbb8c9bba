package lp_test

import (
	"math/big"
	"testing"

	"github.com/swapper-go/swapper/internal/async"
	devnet "github.com/swapper-go/swapper/internal/devnet/evm"
	"github.com/swapper-go/swapper/internal/devnet/lp"
	lpwire "github.com/swapper-go/swapper/internal/lp"
	"github.com/swapper-go/swapper/internal/trial"
)

// An LP with several vaults for a token offers them in turn, so that several users
// at once get different ones.
func TestVaultsAreOfferedInTurn(t *testing.T) {
	t.Parallel()
	const vaults = 3
	k := newKit(t, func(o *lp.Options) { o.Vaults, o.Deposit = vaults, 500_000_000 })
	var first []string
	for i := range 2 * vaults {
		q := trial.Must(k.client.SPV(k.ctx, k.lp.URL(), lpwire.SPVRequest{Chain: k.evm.Network().Chain, Address: k.evm.User.Address.Hex(), Amount: async.Known(big.NewInt(200_000)),
			Token: k.evm.Contracts().Token.Hex(), GasToken: devnet.Native.Hex(), CallerFeeRate: async.Known(big.NewInt(1000))}))(t)
		id := q.VaultID.String()
		switch {
		case i < vaults:
			for _, before := range first {
				if id == before {
					t.Errorf("vault %s is offered again before the others", id)
				}
			}
			first = append(first, id)
		case id != first[i-vaults]:
			t.Errorf("vault %s is offered when it is the turn of %s", id, first[i-vaults])
		}
	}
}
