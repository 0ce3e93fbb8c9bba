package wire

import (
	"fmt"
	"math"
	"math/big"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/rlp"

	"github.com/swapper-go/swapper/internal/bigs"
)

// unsignedDynamicFeeTx is the payload of a type 2 transaction before it is
// signed: what is hashed for the signature.
type unsignedDynamicFeeTx struct {
	ChainID    *big.Int
	Nonce      uint64
	TipCap     *big.Int
	FeeCap     *big.Int
	Gas        uint64
	To         common.Address
	Value      *big.Int
	Data       []byte
	AccessList types.AccessList
}

// Serialize writes calls as unsigned EIP-1559 transactions with consecutive
// nonces, in the text that the REST API carries: 0x and lower-case hex of
// `02 || rlp(...)`. The sender is not in it (protocol: chain-evm.md §7.1).
func (n Network) Serialize(calls []Call, nonce uint64, rate FeeRate) ([]string, error) {
	texts := make([]string, 0, len(calls))
	for i, c := range calls {
		raw, err := n.unsigned(c, nonce+uint64(i), rate)
		if err != nil {
			return nil, fmt.Errorf("transaction %d: %w", i, err)
		}
		texts = append(texts, hexutil.Encode(raw))
	}
	return texts, nil
}

func (n Network) unsigned(c Call, nonce uint64, rate FeeRate) ([]byte, error) {
	switch {
	case !InBits(c.value(), 256):
		return nil, fmt.Errorf("value must be from 0 to 2^256-1")
	case !InBits(bigs.OrZero(rate.Base), maxFeeBits) || !InBits(bigs.OrZero(rate.Priority), maxFeeBits):
		return nil, fmt.Errorf("fee rate %s is out of range", rate)
	case nonce == math.MaxUint64:
		return nil, fmt.Errorf("the account has no nonce left")
	}
	payload, err := rlp.EncodeToBytes(&unsignedDynamicFeeTx{
		ChainID: new(big.Int).SetUint64(n.ChainID), Nonce: nonce,
		TipCap: bigs.OrZero(rate.Priority), FeeCap: rate.MaxFeePerGas(),
		Gas: c.Gas, To: c.To, Value: c.value(), Data: c.Data,
	})
	if err != nil {
		return nil, err
	}
	return append([]byte{types.DynamicFeeTxType}, payload...), nil
}
