package wire

import (
	"crypto/ed25519"
	"errors"
	"fmt"
	"slices"

	"github.com/gagliardetto/solana-go"
	"github.com/mr-tron/base58"
)

// Signature is an ed25519 signature. The first of a transaction is its id.
type Signature = solana.Signature

// ParseSignature reads a transaction's id: base58 of exactly 64 bytes.
func ParseSignature(s string) (sig Signature, err error) {
	if len(s) >= len(sig) && len(s) <= 88 {
		if raw, err := base58.Decode(s); err == nil && len(raw) == len(sig) {
			return Signature(raw), nil
		}
	}
	return sig, fmt.Errorf("not a transaction id: it must be %d bytes in base58", len(sig))
}

// SecretKey is an ed25519 key: seed and public key.
type SecretKey = solana.PrivateKey

// Tx is a transaction under construction, or one that was read.
type Tx struct {
	Payer        Key
	Instructions []Instruction
	Blockhash    Hash   // zero until it is prepared, unless an LP's authorisation fixes it
	LastValid    uint64 // block height after which the block hash is too old
	Signatures   map[Key]Signature
	Signers      []SecretKey // keys made for this transaction, which sign it beside the wallet
}

// RaiseLimit raises the transaction's limit of compute units, if it has a lower one.
func (t *Tx) RaiseLimit(units uint32) {
	for i, ix := range t.Instructions {
		if current, ok := limitOf(ix); ok && current < units {
			t.Instructions = slices.Clone(t.Instructions)
			t.Instructions[i] = SetLimit(units)
			return
		}
	}
}

// Unlimited returns the transaction with the highest limit of compute units, to try
// what it takes.
func (t *Tx) Unlimited() *Tx {
	trial := *t
	trial.RaiseLimit(MaxUnits)
	return &trial
}

func limitOf(ix Instruction) (units uint32, ok bool) {
	r := reader{data: ix.Data}
	kind, units := r.u8(), r.u32()
	return units, ix.Program == BudgetProgram && kind == 2 && r.end() == nil
}

// Message compiles the transaction's message.
func (t *Tx) Message() (Message, error) { return Compile(t.Payer, t.Blockhash, t.Instructions) }

// Transaction compiles the transaction; signatures that are missing are zero. More
// than [MaxTxSize] bytes are an error.
func (t *Tx) Transaction() (*solana.Transaction, error) {
	m, err := t.Message()
	if err != nil {
		return nil, err
	}
	tx := &solana.Transaction{Message: m, Signatures: make([]Signature, m.Header.NumRequiredSignatures)}
	for k, sig := range t.Signatures {
		i := slices.Index(m.AccountKeys[:m.Header.NumRequiredSignatures], k)
		if i < 0 {
			return nil, fmt.Errorf("%s has signed, but is not a signer of the transaction", k)
		}
		tx.Signatures[i] = sig
	}
	return tx, nil
}

// Bytes returns the transaction as it is sent.
func (t *Tx) Bytes() ([]byte, error) {
	tx, err := t.Transaction()
	if err != nil {
		return nil, err
	}
	raw, err := tx.MarshalBinary()
	if err != nil {
		return nil, err
	}
	if len(raw) > MaxTxSize {
		return nil, fmt.Errorf("the transaction has %d bytes, at most %d are possible", len(raw), MaxTxSize)
	}
	return raw, nil
}

// Sign adds a key's signature.
func (t *Tx) Sign(key SecretKey) error {
	m, err := t.Message()
	if err != nil {
		return err
	}
	raw, err := m.MarshalBinary()
	if err != nil {
		return err
	}
	sig, err := key.Sign(raw)
	if err != nil {
		return err
	}
	return t.addSignature(key.PublicKey(), sig)
}

// addSignature stores a signature in its signer's slot. It returns an error if
// the key is not a signer of the transaction.
func (t *Tx) addSignature(signer Key, sig Signature) error {
	m, err := t.Message()
	if err != nil {
		return err
	}
	if !slices.Contains(m.AccountKeys[:m.Header.NumRequiredSignatures], signer) {
		return fmt.Errorf("%s is not a signer of the transaction", signer)
	}
	if t.Signatures == nil {
		t.Signatures = map[Key]Signature{}
	}
	t.Signatures[signer] = sig
	return nil
}

// errVersioned says that a transaction has a message of a later version.
var errVersioned = errors.New("a versioned transaction: only legacy messages are used")

// Parsed is a transaction that was read. Its bytes are kept: compiled again, its
// accounts could stand in another order than the one that was signed.
type Parsed struct {
	Tx
	Raw     []byte
	Message Message
}

// ParseTx reads a legacy transaction. It takes nothing but the one encoding of it.
// Signatures of zeros count as missing.
func ParseTx(raw []byte) (*Parsed, error) {
	if len(raw) == 0 || len(raw) > MaxTxSize {
		return nil, fmt.Errorf("a transaction has 1 to %d bytes, not %d", MaxTxSize, len(raw))
	}
	tx, err := solana.TransactionFromBytes(raw)
	if err != nil {
		return nil, fmt.Errorf("not a transaction: %w", err)
	}
	if tx.Message.IsVersioned() {
		return nil, errVersioned
	}
	if again, err := tx.MarshalBinary(); err != nil || string(again) != string(raw) {
		return nil, errors.New("not the canonical encoding of a transaction")
	}
	if len(tx.Signatures) != int(tx.Message.Header.NumRequiredSignatures) {
		return nil, fmt.Errorf("the transaction has room for %d signatures, its message demands %d", len(tx.Signatures), tx.Message.Header.NumRequiredSignatures)
	}
	payer, instructions, err := Decompile(&tx.Message)
	if err != nil {
		return nil, err
	}
	p := &Parsed{Raw: slices.Clone(raw), Message: tx.Message,
		Tx: Tx{Payer: payer, Instructions: instructions, Blockhash: tx.Message.RecentBlockhash, Signatures: map[Key]Signature{}}}
	for i, sig := range tx.Signatures {
		if !sig.IsZero() {
			p.Signatures[tx.Message.AccountKeys[i]] = sig
		}
	}
	return p, nil
}

// ID returns the transaction's id, its payer's signature; false if that is missing.
func (p *Parsed) ID() (Signature, bool) {
	sig, ok := p.Signatures[p.Payer]
	return sig, ok
}

// Verify checks that the transaction has every signature that it needs, and that
// each is good.
func (p *Parsed) Verify() error {
	raw, err := p.Message.MarshalBinary()
	if err != nil {
		return err
	}
	for _, signer := range p.Message.AccountKeys[:p.Message.Header.NumRequiredSignatures] {
		sig, ok := p.Signatures[signer]
		if !ok {
			return fmt.Errorf("the signature of %s is missing", signer)
		}
		if !ed25519.Verify(signer[:], raw, sig[:]) {
			return fmt.Errorf("the signature of %s is not good", signer)
		}
	}
	return nil
}
