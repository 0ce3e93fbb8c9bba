package bank

import (
	"crypto/ed25519"
	"crypto/sha256"
	"fmt"

	"github.com/gagliardetto/solana-go"

	"github.com/swapper-go/swapper/internal/solana/wire"
)

// maxLocks is how many accounts a transaction can name.
const maxLocks = 64

// Tx is a transaction that came in.
type Tx struct {
	Raw          []byte
	ID           wire.Signature // the payer's signature
	Message      wire.Message   // legacy, or of version 0 without address tables
	Instructions []wire.Instruction

	writable []bool // of Message.AccountKeys
	signed   []byte // what the signatures cover
	hash     [32]byte
	returned bool // a fork took it out of the chain
}

// Parse reads a transaction and checks everything about it that needs no ledger but
// its signatures: errors are a *[TxError], or say why it is not a transaction at all.
func Parse(raw []byte) (*Tx, error) {
	if len(raw) > wire.MaxTxSize {
		return nil, fmt.Errorf("transaction too large: %d bytes (max: raw %d bytes)", len(raw), wire.MaxTxSize)
	}
	decoded, err := solana.TransactionFromBytes(raw)
	if err != nil {
		return nil, fmt.Errorf("failed to deserialize solana_transaction::versioned::VersionedTransaction: %w", err)
	}
	if again, err := decoded.MarshalBinary(); err != nil || string(again) != string(raw) {
		return nil, fmt.Errorf("failed to deserialize solana_transaction::versioned::VersionedTransaction: not the canonical encoding")
	}
	m := decoded.Message
	if m.IsVersioned() && m.NumLookups() > 0 {
		return nil, &TxError{Name: "AddressLookupTableNotFound"}
	}
	if len(decoded.Signatures) != int(m.Header.NumRequiredSignatures) || len(decoded.Signatures) == 0 {
		return nil, &TxError{Name: "SanitizeFailure"}
	}
	if len(m.AccountKeys) > maxLocks {
		return nil, &TxError{Name: "TooManyAccountLocks"}
	}
	seen := map[Key]bool{}
	for _, k := range m.AccountKeys {
		if seen[k] {
			return nil, &TxError{Name: "AccountLoadedTwice"}
		}
		seen[k] = true
	}
	tx := &Tx{Raw: raw, ID: decoded.Signatures[0], Message: m, signed: raw[1+64*len(decoded.Signatures):]}
	tx.hash = sha256.Sum256(tx.signed)
	if _, tx.Instructions, err = wire.Decompile(&m); err != nil {
		return nil, &TxError{Name: "SanitizeFailure"}
	}
	called := map[Key]bool{}
	for _, ix := range tx.Instructions {
		called[ix.Program] = true
	}
	h := m.Header
	writable := map[Key]bool{}
	for i, k := range m.AccountKeys {
		w := i < int(h.NumRequiredSignatures)-int(h.NumReadonlySignedAccounts) ||
			i >= int(h.NumRequiredSignatures) && i < len(m.AccountKeys)-int(h.NumReadonlyUnsignedAccounts)
		tx.writable = append(tx.writable, w && !reserved[k] && !called[k])
		writable[k] = tx.writable[i]
	}
	for _, ix := range tx.Instructions {
		for i, a := range ix.Accounts {
			if a.IsWritable && !writable[a.PublicKey] {
				a.IsWritable = false
				ix.Accounts[i] = a
			}
		}
	}
	return tx, nil
}

// Verify checks the signatures.
func (tx *Tx) Verify() error {
	for i, sig := range tx.Signatures() {
		if !ed25519.Verify(tx.Message.AccountKeys[i][:], tx.signed, sig[:]) {
			return &TxError{Name: "SignatureFailure"}
		}
	}
	return nil
}

// Signatures returns those of the message's first keys.
func (tx *Tx) Signatures() []wire.Signature {
	out := make([]wire.Signature, tx.Message.Header.NumRequiredSignatures)
	for i := range out {
		copy(out[i][:], tx.Raw[1+64*i:])
	}
	return out
}

// Payer is who pays the fee.
func (tx *Tx) Payer() Key { return tx.Message.AccountKeys[0] }

// Writable reports whether the transaction can write the i-th account of its message.
func (tx *Tx) Writable(i int) bool { return tx.writable[i] }

// Version is "legacy" or 0.
func (tx *Tx) Version() any {
	if tx.Message.IsVersioned() {
		return 0
	}
	return "legacy"
}

// reserved accounts cannot be written by any transaction.
var reserved = map[Key]bool{
	wire.SystemProgram: true, wire.BudgetProgram: true, wire.Ed25519Program: true, wire.InstructionsData: true,
	solana.SysVarClockPubkey: true, solana.SysVarRentPubkey: true, solana.SysVarSlotHashesPubkey: true, solana.SysVarRecentBlockHashesPubkey: true,
	solana.SysVarEpochSchedulePubkey: true, solana.SysVarFeesPubkey: true, solana.SysVarRewardsPubkey: true, solana.SysVarSlotHistoryPubkey: true,
	solana.SysVarStakeHistoryPubkey: true, solana.BPFLoaderProgramID: true, solana.BPFLoaderUpgradeableProgramID: true,
	nativeLoader: true, solana.VoteProgramID: true, solana.StakeProgramID: true,
}

var nativeLoader = wire.MustKey("NativeLoader1111111111111111111111111111111")
