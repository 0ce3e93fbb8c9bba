package wire

import (
	"github.com/btcsuite/btcd/wire"
	"github.com/ethereum/go-ethereum/common"

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
	canonical, err := Address(recipient)
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
	recipient, err := Address(common.Address(p.Recipient).Hex())
	if err != nil {
		return chains.Withdrawal{}, err
	}
	amounts, err := w.Shares.Amounts(p.Raw)
	if err != nil {
		return chains.Withdrawal{}, err
	}
	return chains.Withdrawal{Withdrawal: w, Recipient: recipient, Raw: p.Raw, Amounts: amounts, Execution: p.ExecutionHash}, nil
}
