package evmwire

import (
	"math/big"

	"github.com/btcsuite/btcd/wire"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/btc/vault"
)

// PayoutFormat is how a withdrawal's OP_RETURN names recipient and amounts on
// EVM chains (protocol: chain-evm.md §11.1).
func PayoutFormat() vault.PayoutFormat {
	return vault.PayoutFormat{RecipientLen: common.AddressLength}
}

// WithdrawalData encodes what a withdrawal's OP_RETURN says. recipient must be
// an address in any accepted form; the zero address is refused, because the
// contract would close the vault over it (protocol: chain-evm.md §13.16).
func WithdrawalData(recipient string, raw [2]uint64, executionHash []byte) ([]byte, error) {
	canonical, err := Address(recipient, false)
	if err != nil {
		return nil, fault.Invalid("recipient", "%w", err)
	}
	to := common.HexToAddress(canonical)
	return PayoutFormat().Encode(vault.Payout{Recipient: to[:], Raw: raw, ExecutionHash: executionHash})
}

// ParseWithdrawal reads a Bitcoin transaction as a withdrawal from a vault. It
// refuses whatever the contract would close the vault over.
func ParseWithdrawal(tx *wire.MsgTx) (chains.Withdrawal, error) {
	w, err := bitcoin.ParseWithdrawal(tx)
	if err != nil {
		return chains.Withdrawal{}, err
	}
	p, err := PayoutFormat().Decode(w.Payload)
	if err != nil {
		return chains.Withdrawal{}, err
	}
	recipient, err := Address(common.Address(p.Recipient).Hex(), false)
	if err != nil {
		return chains.Withdrawal{}, err
	}
	amounts, err := w.Shares.Amounts(p.Raw)
	if err != nil {
		return chains.Withdrawal{}, err
	}
	return chains.Withdrawal{Withdrawal: w, Recipient: recipient, Raw: p.Raw, Amounts: amounts, Execution: p.ExecutionHash}, nil
}

// abiWithdrawal is the BtcVaultTx tuple as the encoder wants it.
type abiWithdrawal struct {
	Recipient                  common.Address
	Amount0                    uint64
	Amount1                    uint64
	CallerFee0                 uint64
	CallerFee1                 uint64
	FrontingFee0               uint64
	FrontingFee1               uint64
	ExecutionHandlerFeeAmount0 uint64
	ExecutionHash              common.Hash
	ExecutionExpiry            *big.Int
}

func withdrawalTuple(w chains.Withdrawal) abiWithdrawal {
	a := w.Amounts
	return abiWithdrawal{
		Recipient: common.HexToAddress(w.Recipient), Amount0: a.Payout[0], Amount1: a.Payout[1],
		CallerFee0: a.Caller[0], CallerFee1: a.Caller[1], FrontingFee0: a.Fronting[0], FrontingFee1: a.Fronting[1],
		ExecutionHandlerFeeAmount0: a.Execution, ExecutionHash: common.BytesToHash(w.Execution),
		ExecutionExpiry: new(big.Int).SetUint64(uint64(w.ExecutionExpiry)),
	}
}

// FrontingID is the key under which the vault manager remembers who advanced a
// withdrawal.
func FrontingID(w chains.Withdrawal) common.Hash {
	t := withdrawalTuple(w)
	inner := crypto.Keccak256(make(words, 0, 10*32).address(t.Recipient).uint64(t.Amount0).uint64(t.Amount1).
		uint64(t.CallerFee0).uint64(t.CallerFee1).uint64(t.FrontingFee0).uint64(t.FrontingFee1).
		uint64(t.ExecutionHandlerFeeAmount0).bytes32(t.ExecutionHash).uint(t.ExecutionExpiry))
	return crypto.Keccak256Hash(inner, w.TxID[:])
}
