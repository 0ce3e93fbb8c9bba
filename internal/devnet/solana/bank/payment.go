package bank

import (
	"encoding/binary"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/btc/rawtx"
	"github.com/swapper-go/swapper/internal/solana/wire"
)

// payment is what an escrow looks at of a Bitcoin transaction without witnesses.
type payment struct {
	id       [32]byte // internal order
	lockTime uint32
	sequence uint32 // the lower 24 bits of that of the first input
	value    uint64
	script   []byte
	found    bool // it has the output
}

// Bits of an input's sequence: the lower ones are part of the nonce, the upper ones
// must be set so that they mean nothing to Bitcoin.
const (
	sequenceNonce = 0x00ffffff
	sequenceFlags = 0xf0000000
	lockTimeBase  = 500_000_000 // lock times from here on are times
)

// readPayment reads a transaction. One of 64 bytes could be an inner node of a merkle
// tree; one with witnesses has another hash than its id; with nonced set the inputs
// must all carry the same nonce: such are invalidTx.
func readPayment(raw []byte, vout uint32, nonced bool) (p payment, err error) {
	if len(raw) == 64 {
		return p, invalidTx
	}
	s := rawtx.Scanner{Rest: raw}
	s.Take(4) // version
	if len(s.Rest) > 1 && s.Rest[0] == 0 && s.Rest[1] == 1 {
		return p, invalidTx
	}
	for i, n := uint64(0), s.Count(); i < n && !s.Short; i++ {
		s.Take(36) // outpoint
		s.Take(s.Count())
		sequence := s.Take(4)
		if s.Short {
			break
		}
		value := binary.LittleEndian.Uint32(sequence)
		if i == 0 {
			p.sequence = value & sequenceNonce
		}
		if nonced && (value&sequenceNonce != p.sequence || value&sequenceFlags != sequenceFlags) {
			return p, invalidTx
		}
	}
	for i, n := uint64(0), s.Count(); i < n && !s.Short; i++ {
		value := s.Take(8)
		script := s.Take(s.Count())
		if i == uint64(vout) && !s.Short {
			p.value, p.script, p.found = binary.LittleEndian.Uint64(value), script, true
		}
	}
	lockTime := s.Take(4)
	if s.Short {
		return p, ProgramFailedToComplete
	}
	p.lockTime, p.id = binary.LittleEndian.Uint32(lockTime), chainhash.DoubleHashH(raw)
	return p, nil
}

// paidBy checks that a transaction makes the payment that an escrow waits for, and
// returns its id. data is the index of the output and the transaction.
func paidBy(t wire.Terms, data []byte) (id [32]byte, err error) {
	if len(data) < 4 {
		return id, ProgramFailedToComplete
	}
	nonced := t.Kind == chains.OnchainNonced
	p, err := readPayment(data[4:], binary.LittleEndian.Uint32(data), nonced)
	switch {
	case err != nil:
		return id, err
	case !p.found:
		return id, invalidVout
	case rawtx.NoncedTxoHash(t.Nonce, int64(p.value), p.script) != t.Hash:
		return id, invalidSecret
	case nonced && p.lockTime < lockTimeBase:
		return id, ProgramFailedToComplete
	case nonced && uint64(p.lockTime-lockTimeBase)<<24|uint64(p.sequence) != t.Nonce:
		return id, invalidNonce
	}
	return p.id, nil
}
