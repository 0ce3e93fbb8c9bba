package psbt

import (
	"math"

	"github.com/swapper-go/swapper/chains/bitcoin"
)

// Estimated sizes in virtual bytes, with the fractions that witness data brings
// (protocol: bitcoin.md §6). Counts of inputs and outputs, and script lengths,
// are always taken as one byte.
const (
	emptyVBytes      = 10  // version, counts, lock time
	segwitVBytes     = 0.5 // marker and flag, once per transaction
	inputBaseVBytes  = 41  // outpoint, script length, sequence
	outputBaseVBytes = 9   // amount, script length
)

// inputVBytes is the size of an input that spends an output of type t, which
// must be valid: the base plus its signature data.
func inputVBytes(t bitcoin.AddressType) float64 {
	var unlock float64
	switch t {
	case bitcoin.P2PKH:
		unlock = 107
	case bitcoin.P2SH:
		unlock = 23 + 27 + 1
	case bitcoin.P2WPKH:
		unlock = 27
	case bitcoin.P2WSH:
		unlock = 66.0 / 4
	case bitcoin.P2TR:
		unlock = 67.0 / 4
	}
	return inputBaseVBytes + unlock
}

// outputVBytes is the size of an output whose script has the given length.
func outputVBytes(scriptLen int) float64 { return outputBaseVBytes + float64(scriptLen) }

// size adds up the parts of a transaction.
type size struct {
	vbytes float64
	segwit bool
}

// addChangeType notes that change of type t may come: a segwit wallet has segwit inputs.
// The zero type stands for a transaction without change.
func (s *size) addChangeType(t bitcoin.AddressType) {
	s.segwit = s.segwit || t.Valid() && t != bitcoin.P2PKH
}

func (s *size) addInput(t bitcoin.AddressType) {
	s.vbytes += inputVBytes(t)
	s.segwit = s.segwit || t != bitcoin.P2PKH
}

func (s *size) addOutput(scriptLen int) { s.vbytes += outputVBytes(scriptLen) }

// total is the size of the transaction, rounded up.
func (s *size) total() float64 {
	n := emptyVBytes + s.vbytes
	if s.segwit {
		n += segwitVBytes
	}
	return math.Ceil(n)
}
