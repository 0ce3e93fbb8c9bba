package wire

import (
	"bytes"
	"crypto/ed25519"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// Prepare completes transactions before they are handed out (§16): all are paid by
// the first one's payer, those without a block hash get the newest, and keys that were
// made for them sign.
func Prepare(txs []*Tx, latest Hash, lastValid uint64) error {
	for _, t := range txs {
		t.Payer = txs[0].Payer
		if t.Blockhash.IsZero() {
			t.Blockhash, t.LastValid = latest, lastValid
		}
		// Wallets put a price of their own where there is none, after others have signed.
		if len(t.Signatures) == 0 && len(t.Instructions) > 0 && !slices.ContainsFunc(t.Instructions, isPrice) {
			t.Instructions = slices.Insert(slices.Clone(t.Instructions), len(t.Instructions)-1, SetPrice(1))
		}
		for _, key := range t.Signers {
			if err := t.Sign(key); err != nil {
				return err
			}
		}
	}
	return nil
}

func isPrice(ix Instruction) bool {
	return ix.Program == BudgetProgram && len(ix.Data) > 0 && ix.Data[0] == 3
}

// String form of one transaction, in this order and without blanks.
type txText struct {
	Tx        string   `json:"tx"`
	Signers   []string `json:"signers"`
	LastValid uint64   `json:"lastValidBlockheight"`
}

// Text returns the transaction as currentAction.txs carries it: hex with zeros for
// missing signatures, the keys that were made for it, and the last block height.
func (t *Tx) Text() (string, error) {
	raw, err := t.Bytes()
	if err != nil {
		return "", err
	}
	text := txText{Tx: hex.EncodeToString(raw), Signers: []string{}, LastValid: t.LastValid}
	for _, k := range t.Signers {
		text.Signers = append(text.Signers, hex.EncodeToString(k))
	}
	b, err := json.Marshal(text)
	return string(b), err
}

// maxTxText bounds the text of one transaction: its hex, some keys, and what JSON needs.
const maxTxText = 2*MaxTxSize + 4096

// ParseText reads the form of [Tx.Text].
func ParseText(s string) (*Parsed, error) {
	if len(s) > maxTxText {
		return nil, fmt.Errorf("the text of a transaction is longer than %d characters", maxTxText)
	}
	var text struct {
		Tx        *string
		Signers   []string
		LastValid *uint64 `json:"lastValidBlockheight"`
	}
	if err := json.Unmarshal([]byte(s), &text); err != nil {
		return nil, fmt.Errorf("not a transaction's JSON: %w", err)
	}
	if text.Tx == nil || text.LastValid == nil {
		return nil, errors.New("a transaction's JSON has the members tx and lastValidBlockheight")
	}
	t, err := parseTxHex(*text.Tx)
	if err != nil {
		return nil, err
	}
	t.LastValid = *text.LastValid
	for i, s := range text.Signers {
		key, err := hex.DecodeString(s)
		if err != nil || !validSecret(key) {
			return nil, fmt.Errorf("signers[%d] is not the hex of a secret key and its public key", i)
		}
		t.Signers = append(t.Signers, key)
	}
	return t, nil
}

// validSecret reports whether a secret key ends with the public key of its seed.
func validSecret(key []byte) bool {
	return len(key) == ed25519.PrivateKeySize && bytes.Equal(ed25519.NewKeyFromSeed(key[:ed25519.SeedSize]), key)
}

func parseTxHex(s string) (*Parsed, error) {
	if len(s) > 2*MaxTxSize {
		return nil, fmt.Errorf("a transaction has at most %d hexadecimal digits", 2*MaxTxSize)
	}
	raw, err := hex.DecodeString(s)
	if err != nil {
		return nil, fmt.Errorf("a transaction is written in hexadecimal digits: %w", err)
	}
	return ParseTx(raw)
}
