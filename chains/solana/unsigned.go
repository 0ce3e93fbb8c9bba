package solana

import (
	"github.com/gagliardetto/solana-go"

	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/solana/wire"
)

// UnsignedTransaction decodes a transaction that an action asks a wallet to sign,
// written as in the REST API, into solana-go's type. Signatures that it has already,
// of an LP or of keys that were made for it, are in their places: add the wallet's with
// PartialSign, and submit the hex of its MarshalBinary. Errors have the code
// fault.InvalidInput.
func UnsignedTransaction(text string) (*solana.Transaction, error) {
	p, err := wire.ParseText(text)
	if err != nil {
		return nil, fault.Invalid("", "%w", err)
	}
	tx, err := solana.TransactionFromBytes(p.Raw)
	if err != nil {
		return nil, fault.Invalid("", "%w", err)
	}
	return tx, nil
}
