// Package rawtx reads and writes Bitcoin transactions, in bounded memory, and the data in
// their OP_RETURN outputs, in the pushes that vault contracts understand.
//
// It also has what escrows that pay to Bitcoin commit to: hashes of outputs,
// nonces that keep one payment from claiming two escrows, numbers of confirmations.
//
// And it counts with proof of work: compact targets, work, difficulty.
package rawtx

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/btcsuite/btcd/wire"
)

// MaxMoney is the number of sats that will ever exist; no amount exceeds it.
const MaxMoney int64 = 21_000_000 * 100_000_000

// MaxSize is the greatest length in bytes of a serialised transaction: one
// that fills a block.
const MaxSize = 4_000_000

// Decode reads a serialised transaction, with or without witness. Every
// byte must be used, amounts must be from 0 to [MaxMoney] each and together, and
// the memory taken is bounded by a small multiple of len(raw), whatever the
// counts in it claim. It does not check signatures.
func Decode(raw []byte) (*wire.MsgTx, error) {
	if len(raw) > MaxSize {
		return nil, fmt.Errorf("transaction with %d bytes is larger than a block", len(raw))
	}
	if err := scan(raw); err != nil {
		return nil, fmt.Errorf("not a transaction: %w", err)
	}
	tx := new(wire.MsgTx)
	r := bytes.NewReader(raw)
	if err := tx.Deserialize(r); err != nil {
		return nil, fmt.Errorf("not a transaction: %w", err)
	}
	if r.Len() != 0 {
		return nil, fmt.Errorf("not a transaction: %d extra bytes at the end", r.Len())
	}
	if err := CheckAmounts(tx); err != nil {
		return nil, err
	}
	return tx, nil
}

// DecodeList reads the transactions of a block, each as [Decode] does: their number, and one
// after the other.
func DecodeList(raw []byte) ([]*wire.MsgTx, error) {
	s := Scanner{Rest: raw}
	n := s.Count()
	var all []*wire.MsgTx
	for i := range n {
		at := s.Rest
		if err := s.tx(); err != nil {
			return nil, fmt.Errorf("transaction %d: %w", i, err)
		}
		tx, err := Decode(at[:len(at)-len(s.Rest)])
		if err != nil {
			return nil, fmt.Errorf("transaction %d: %w", i, err)
		}
		all = append(all, tx)
	}
	if s.Short || s.Loose || len(s.Rest) > 0 {
		return nil, fmt.Errorf("it does not have the transactions that it counts: %d", n)
	}
	return all, nil
}

// Encode returns the serialised transaction with its witnesses: what is
// broadcast.
func Encode(tx *wire.MsgTx) ([]byte, error) {
	var b bytes.Buffer
	b.Grow(tx.SerializeSize())
	if err := tx.Serialize(&b); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// Strip returns the transaction serialised without witnesses: what its id is
// taken of and what contracts read (protocol: bitcoin.md §15). A result of
// exactly 64 bytes is an error, since contracts refuse it: it could be
// mistaken for an inner node of a merkle tree.
func Strip(tx *wire.MsgTx) ([]byte, error) {
	var b bytes.Buffer
	b.Grow(tx.SerializeSizeStripped())
	if err := tx.SerializeNoWitness(&b); err != nil {
		return nil, err
	}
	if b.Len() == 64 {
		return nil, errors.New("a transaction of 64 bytes (without witness) cannot be proven to a contract")
	}
	return b.Bytes(), nil
}

// Weight returns the weight of a transaction in weight units; a virtual byte
// is four of them.
func Weight(tx *wire.MsgTx) int {
	return 3*tx.SerializeSizeStripped() + tx.SerializeSize()
}

// CheckAmounts returns an error if an output's amount, or their sum, is not from
// 0 to [MaxMoney].
func CheckAmounts(tx *wire.MsgTx) error {
	var sum int64
	for i, out := range tx.TxOut {
		if out.Value < 0 || out.Value > MaxMoney {
			return fmt.Errorf("output %d has an invalid amount of %d sats", i, out.Value)
		}
		if sum += out.Value; sum > MaxMoney { // at most 2 * MaxMoney here, so it cannot overflow
			return errors.New("outputs add up to more than 21 million bitcoin")
		}
	}
	return nil
}

// scan walks over a serialised transaction without keeping anything of it.
// The decoder of package wire makes room for as many inputs, outputs and witness
// items as a transaction claims to have, up to hundreds of megabytes for a few
// bytes; after this walk the claims are known to be true.
func scan(raw []byte) error {
	s := Scanner{Rest: raw}
	if err := s.tx(); err != nil {
		return err
	}
	if len(s.Rest) > 0 {
		return fmt.Errorf("it has %d extra bytes at the end", len(s.Rest))
	}
	return nil
}

// tx walks over one transaction.
func (s *Scanner) tx() error {
	s.skip(4) // version
	inputs := s.Count()
	segwit := inputs == 0 && len(s.Rest) > 0 && s.Rest[0] == 1
	if segwit {
		s.skip(1)
		inputs = s.Count()
	}
	if inputs == 0 && !s.Short {
		return errors.New("no inputs")
	}
	for i := uint64(0); i < inputs && !s.Short; i++ {
		s.skip(36) // outpoint
		s.skip(s.Count())
		s.skip(4) // sequence
	}
	outputs := s.Count()
	for i := uint64(0); i < outputs && !s.Short; i++ {
		s.skip(8) // amount
		s.skip(s.Count())
	}
	witness := false
	for i := uint64(0); segwit && i < inputs && !s.Short; i++ {
		items := s.Count()
		witness = witness || items > 0
		for j := uint64(0); j < items && !s.Short; j++ {
			s.skip(s.Count())
		}
	}
	s.skip(4) // lock time
	switch {
	case s.Short:
		return errors.New("it is truncated")
	case s.Loose:
		return errors.New("a length is not in its shortest form")
	case segwit && !witness:
		return errors.New("it is marked as having witnesses but has none")
	}
	return nil
}

type Scanner struct {
	Rest  []byte
	Short bool // more was asked for than there is
	Loose bool // a count was not in its shortest form
}

func (s *Scanner) skip(n uint64) {
	if n > uint64(len(s.Rest)) {
		s.Rest, s.Short = nil, true
		return
	}
	s.Rest = s.Rest[n:]
}

// Count reads a variable-length integer; every counted thing takes a byte at least,
// so more than what is left of them cannot be.
func (s *Scanner) Count() uint64 {
	var b [9]byte
	n := copy(b[:], s.Rest)
	size, value, least := uint64(1), uint64(b[0]), uint64(0)
	switch b[0] {
	case 0xfd:
		size, value, least = 3, uint64(binary.LittleEndian.Uint16(b[1:])), 0xfd
	case 0xfe:
		size, value, least = 5, uint64(binary.LittleEndian.Uint32(b[1:])), 1<<16
	case 0xff:
		size, value, least = 9, binary.LittleEndian.Uint64(b[1:]), 1<<32
	}
	if uint64(n) < size {
		s.Rest, s.Short = nil, true
		return 0
	}
	s.Loose = s.Loose || value < least
	s.skip(size)
	if value > uint64(len(s.Rest)) {
		s.Rest, s.Short = nil, true
		return 0
	}
	return value
}

// Take returns the next n bytes, or none if there are fewer.
func (s *Scanner) Take(n uint64) []byte {
	all := s.Rest
	s.skip(n)
	return all[:len(all)-len(s.Rest)]
}
