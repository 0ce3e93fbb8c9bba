package devnet

import (
	"context"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"

	evmchain "github.com/swapper-go/swapper/chains/evm"
	"github.com/swapper-go/swapper/internal/devnet/evm"
	"github.com/swapper-go/swapper/internal/devnet/solana"
	"github.com/swapper-go/swapper/internal/devnet/starknet/contracts"
	solwire "github.com/swapper-go/swapper/internal/solana/wire"
	starkwire "github.com/swapper-go/swapper/internal/starknet/wire"
)

// Signer signs transactions, in the string form of its account's chain, as a watchtower's does.
type Signer struct {
	address string
	sign    func(i int, unsigned string) (string, error)
}

// Address returns the account's address.
func (s Signer) Address() string { return s.address }

// Sign returns the transactions signed, in their order.
func (s Signer) Sign(_ context.Context, unsigned []string) ([]string, error) {
	signed := make([]string, len(unsigned))
	for i, text := range unsigned {
		var err error
		if signed[i], err = s.sign(i, text); err != nil {
			return nil, err
		}
	}
	return signed, nil
}

// SignEVM signs for an account of an EVM chain.
func SignEVM(a *evm.Account) Signer {
	return Signer{a.Address.Hex(), func(_ int, unsigned string) (string, error) {
		tx, err := evmchain.UnsignedTransaction(unsigned)
		if err != nil {
			return "", err
		}
		if tx, err = types.SignTx(tx, types.LatestSignerForChainID(tx.ChainId()), a.Key); err != nil {
			return "", err
		}
		raw, err := tx.MarshalBinary()
		return hexutil.Encode(raw), err
	}}
}

// SignSolana signs for an account of Solana: it adds its signature, and those of the keys that come
// with a transaction, to what is signed already.
func SignSolana(a *solana.Account) Signer {
	return Signer{a.Address.String(), func(i int, unsigned string) (string, error) {
		tx, err := solwire.ParseText(unsigned)
		if err != nil {
			return "", err
		}
		message, err := tx.Message.MarshalBinary()
		if err != nil {
			return "", err
		}
		raw := slices.Clone(tx.Raw)
		for _, key := range append([]solwire.SecretKey{a.Key}, tx.Signers...) {
			at := slices.Index(tx.Message.AccountKeys[:tx.Message.Header.NumRequiredSignatures], key.PublicKey())
			if at < 0 {
				return "", fmt.Errorf("transaction %d does not ask for the signature of %s", i, key.PublicKey())
			}
			sig, err := key.Sign(message)
			if err != nil {
				return "", err
			}
			copy(raw[1+len(sig)*at:], sig[:]) // behind the number of signatures, which is one byte
		}
		return hex.EncodeToString(raw), nil
	}}
}

// SignStarknet signs for an account of Starknet.
func SignStarknet(k contracts.Key) Signer {
	return Signer{starkwire.Hex64(k.Address()), func(_ int, unsigned string) (string, error) {
		tx, err := starkwire.ParseTransaction(unsigned)
		if err != nil {
			return "", err
		}
		if err := k.SignTransaction(tx); err != nil {
			return "", err
		}
		return tx.String(), nil
	}}
}
