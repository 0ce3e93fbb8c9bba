package control

import (
	"context"
	"errors"
	"fmt"
	"math/big"

	"github.com/ethereum/go-ethereum/common"

	"github.com/swapper-go/swapper/internal/devnet"
	"github.com/swapper-go/swapper/internal/devnet/evm"
)

// onEVM adds the call about the EVM chain.
func onEVM(n *devnet.Net, on handle) {
	on("POST /evm/fund", func(ctx context.Context, q func(string) string) (any, error) {
		if !common.IsHexAddress(q("address")) {
			return nil, errors.New("address: must be 0x and 40 hexadecimal digits")
		}
		units, ok := new(big.Int).SetString(q("amount"), 10)
		if !ok || units.Sign() <= 0 || units.BitLen() > 128 {
			return nil, errors.New("amount: must be base units from 1 to 2^128-1, in decimal digits")
		}
		to := common.HexToAddress(q("address"))
		for _, t := range n.Tokens() {
			if at := common.HexToAddress(t.Address); t.Ticker == q("token") {
				if at == evm.Native {
					return map[string]any{"token": t.Ticker}, n.EVM.Fund(ctx, to, units)
				}
				return map[string]any{"token": t.Ticker}, n.EVM.Mint(ctx, at, to, units)
			}
		}
		return nil, fmt.Errorf("token: %q is not CBTC, WBTC or USDC", q("token"))
	})
}
