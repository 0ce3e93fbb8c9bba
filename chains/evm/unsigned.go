package evm

import (
	"github.com/ethereum/go-ethereum/core/types"

	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/evm/wire"
)

// UnsignedTransaction decodes a transaction that an action asks a wallet to sign,
// encoded as in the REST API, into go-ethereum's type. Sign it with types.SignTx and
// types.LatestSignerForChainID(tx.ChainId()), and submit hexutil.Encode of its
// MarshalBinary. Errors have the code fault.InvalidInput.
func UnsignedTransaction(text string) (*types.Transaction, error) {
	p, err := wire.ParseTransaction(text)
	if err != nil {
		return nil, fault.Invalid("", "%w", err)
	}
	if p.Signed || p.Type != types.DynamicFeeTxType {
		return nil, fault.Invalid("", "the transaction must be unsigned and of type 2 (EIP-1559)")
	}
	return types.NewTx(&types.DynamicFeeTx{ChainID: p.ChainID, Nonce: p.Nonce, GasTipCap: p.TipCap, GasFeeCap: p.FeeCap,
		Gas: p.Gas, To: p.To, Value: p.Value, Data: p.Data, AccessList: p.AccessList}), nil
}
