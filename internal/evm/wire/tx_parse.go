package wire

import (
	"errors"
	"fmt"
	"math/big"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/rlp"
)

// maxTxSize is the size in bytes above which nodes drop a transaction.
const maxTxSize = 128 << 10

// Transaction is a transaction read from its text, signed or not.
type Transaction struct {
	Type     uint8    // 2 is EIP-1559, the only type that this library hands out
	ChainID  *big.Int // 0 in old transactions that are bound to no chain
	Nonce    uint64
	To       *common.Address // nil creates a contract
	Value    *big.Int
	Data     []byte
	Gas      uint64
	GasPrice *big.Int // types 0 and 1, else nil
	TipCap   *big.Int // types 2 and above, else nil
	FeeCap   *big.Int // types 2 and above, else nil

	Signed bool
	From   common.Address // the signer; zero if unsigned
	ID     common.Hash    // hash of the signed bytes; zero if not signed

	AccessList types.AccessList

	raw         []byte
	signingHash common.Hash
}

// Raw returns the bytes that were read. They must not be changed.
func (t *Transaction) Raw() []byte { return t.raw }

// String returns the text that was read, in canonical form.
func (t *Transaction) String() string { return hexutil.Encode(t.raw) }

// unsignedFields is the number of members that a transaction of each type has
// before the three of the signature follow.
var unsignedFields = map[byte]int{
	types.AccessListTxType: 8,
	types.DynamicFeeTxType: 9,
	types.BlobTxType:       11,
	types.SetCodeTxType:    10,
}

// ParseTransaction reads the text of a transaction of any type, signed or not
// (protocol: chain-evm.md §7.1). A signature must be canonical.
func ParseTransaction(text string) (*Transaction, error) {
	if len(text) > 2+2*maxTxSize {
		return nil, fmt.Errorf("transaction is larger than %d bytes", maxTxSize)
	}
	raw, err := hexutil.Decode(text)
	if err != nil {
		return nil, fmt.Errorf("transaction: %w", err)
	}
	full, signed, err := withSignature(raw)
	if err != nil {
		return nil, fmt.Errorf("transaction: %w", err)
	}
	var tx types.Transaction
	if err := tx.UnmarshalBinary(full); err != nil {
		return nil, fmt.Errorf("transaction: %w", err)
	}
	t := &Transaction{
		Type: tx.Type(), ChainID: tx.ChainId(), Nonce: tx.Nonce(), To: tx.To(), Value: tx.Value(), Data: tx.Data(), Gas: tx.Gas(),
		AccessList: tx.AccessList(), Signed: signed, raw: raw,
	}
	if t.Type < types.DynamicFeeTxType {
		t.GasPrice = tx.GasPrice()
	} else {
		t.TipCap, t.FeeCap = tx.GasTipCap(), tx.GasFeeCap()
	}
	if t.Type == types.LegacyTxType && !signed {
		t.ChainID, _, _ = tx.RawSignatureValues() // EIP-155: the chain stands where the signature will
	}
	if t.Value.BitLen() > 256 || t.ChainID.BitLen() > 64 {
		return nil, errors.New("transaction: number out of range")
	}
	var signer types.Signer = types.HomesteadSigner{}
	switch {
	case t.ChainID.Sign() != 0:
		signer = types.LatestSignerForChainID(t.ChainID)
	case t.Type != types.LegacyTxType:
		return nil, errors.New("transaction: must be for a specific chain (EIP-155)")
	}
	t.signingHash = signer.Hash(&tx)
	if !signed {
		return t, nil
	}
	if t.From, err = types.Sender(signer, &tx); err != nil {
		return nil, fmt.Errorf("transaction: %w", err)
	}
	t.ID = crypto.Keccak256Hash(raw)
	return t, nil
}

// withSignature returns raw with an empty signature added if it has none.
func withSignature(raw []byte) (full []byte, signed bool, err error) {
	if len(raw) == 0 {
		return nil, false, errors.New("is required")
	}
	body, prefix, fields := raw, []byte(nil), 6
	if raw[0] < 0xc0 {
		known := false
		if fields, known = unsignedFields[raw[0]]; !known {
			return nil, false, fmt.Errorf("unknown type %d", raw[0])
		}
		prefix, body = raw[:1], raw[1:]
	}
	content, rest, err := rlp.SplitList(body)
	if err != nil {
		return nil, false, err
	}
	if len(rest) != 0 {
		return nil, false, errors.New("has extra bytes at the end")
	}
	count, err := rlp.CountValues(content)
	if err != nil {
		return nil, false, err
	}
	if prefix == nil && count == 9 {
		// An unsigned EIP-155 transaction has the chain id and two empty values.
		return raw, len(content) < 2 || content[len(content)-1] != 0x80 || content[len(content)-2] != 0x80, nil
	}
	if count != fields {
		return raw, true, nil
	}
	var items []rlp.RawValue
	if err := rlp.DecodeBytes(body, &items); err != nil {
		return nil, false, err
	}
	empty := rlp.RawValue{0x80}
	list, err := rlp.EncodeToBytes(append(items, empty, empty, empty))
	return append(append([]byte(nil), prefix...), list...), false, err
}
