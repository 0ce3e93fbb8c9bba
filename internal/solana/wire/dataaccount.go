package wire

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/binary"
	"fmt"

	"github.com/swapper-go/swapper/internal/btc/rawtx"
)

// What is written into a data account at once, in bytes.
const (
	firstChunk = 420 // beside the creation of the account
	chunk      = 950
)

// maxPayload bounds what is written: the largest Bitcoin transaction that is relayed,
// without its witnesses, and the index of an output.
const maxPayload = 100_000 + 4

// DataKey derives the key of a data account from a secret: the same for every attempt
// at one claim, so that what was written stays of use (§15, §21.5).
func DataKey(secret []byte, txid [32]byte) SecretKey {
	seed := sha256.Sum256(append(bytes.Clone(secret), txid[:]...))
	return SecretKey(ed25519.NewKeyFromSeed(seed[:]))
}

// Payload is what a claim by Bitcoin proof finds in its data account: the index of the
// output that pays and the transaction without witnesses.
func Payload(vout uint32, stripped []byte) ([]byte, error) {
	if len(stripped) == 0 || len(stripped) > maxPayload-4 {
		return nil, fmt.Errorf("a Bitcoin transaction of %d bytes cannot be written to Solana", len(stripped))
	}
	return append(binary.LittleEndian.AppendUint32(nil, vout), stripped...), nil
}

// DataTxs makes the transactions that create a data account and write a payload into
// it. written is what the account holds, nil if it does not exist; of one that exists
// only what is missing is written (§15, §21.5).
func (p Programs) DataTxs(signer Key, key SecretKey, l DataLayout, payload, written []byte, f FeeRate) (txs []*Tx, err error) {
	if len(payload) > maxPayload {
		return nil, fmt.Errorf("a payload of %d bytes, at most %d can be written", len(payload), maxPayload)
	}
	account, offset := key.PublicKey(), 0
	if written == nil {
		offset = min(firstChunk, len(payload))
		space := l.Space(len(payload))
		tx, err := Action{Units: unitsDataCreate + unitsDataWrite, Instructions: []Instruction{
			CreateAccount(signer, account, p.Swap, Rent(space), uint64(space)),
			p.InitDataInstruction(signer, account),
			p.WriteDataInstruction(signer, account, 0, payload[:offset]),
		}}.Tx(signer, f)
		if err != nil {
			return nil, err
		}
		tx.Signers = []SecretKey{key}
		txs = append(txs, tx)
	} else if len(written) != len(payload) {
		return nil, fmt.Errorf("the data account %s has room for %d bytes, the payload has %d", account, len(written), len(payload))
	}
	for end := 0; offset < len(payload); offset = end {
		// The parts are those of the first time, so that what was written fits them.
		if end = min(offset+chunk, len(payload)); offset == 0 {
			end = min(firstChunk, len(payload))
		}
		if written != nil && bytes.Equal(written[offset:end], payload[offset:end]) {
			continue
		}
		tx, err := Action{Units: unitsDataWrite, Instructions: []Instruction{p.WriteDataInstruction(signer, account, uint32(offset), payload[offset:end])}}.Tx(signer, f)
		if err != nil {
			return nil, err
		}
		txs = append(txs, tx)
	}
	return txs, nil
}

// CloseDataTx makes the transaction that gives the rent of a data account back.
func (p Programs) CloseDataTx(signer, account Key, f FeeRate) (*Tx, error) {
	return Action{Units: unitsDataClose, Instructions: []Instruction{p.CloseDataInstruction(signer, account)}}.Tx(signer, f)
}

// strip returns a Bitcoin transaction without its witnesses, which the program does
// not read.
func strip(raw []byte) ([]byte, error) {
	tx, err := rawtx.Decode(raw)
	if err != nil {
		return nil, err
	}
	return rawtx.Strip(tx)
}
