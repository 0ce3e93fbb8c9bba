package bank

import (
	"encoding/binary"
	"math/bits"

	"github.com/swapper-go/swapper/internal/solana/wire"
)

const (
	signatureFee    = 5000 // lamports
	maxUnits        = 1_400_000
	unitsByDefault  = 200_000 // for each instruction that does not set the budget
	maxHeap         = 256 << 10
	lamportsPerUnit = 1_000_000 // micro-lamports in a lamport
)

// Budget is what a transaction asks for and offers.
type Budget struct {
	Units uint64 // compute units
	Price uint64 // micro-lamports for each
	Fee   uint64 // lamports, all in all
}

// Budget reads the compute-budget instructions.
func (tx *Tx) Budget() (b Budget, err error) {
	seen, others := map[byte]bool{}, uint64(0)
	limit, limited := uint64(0), false
	for i, ix := range tx.Instructions {
		if ix.Program != wire.BudgetProgram {
			others++
			continue
		}
		wrong := &TxError{Name: "InstructionError", Index: i, Err: InvalidInstructionData}
		if len(ix.Data) < 1 {
			return b, wrong
		}
		kind, data := ix.Data[0], ix.Data[1:]
		if seen[kind] {
			return b, &TxError{Name: "DuplicateInstruction", Index: i}
		}
		seen[kind] = true
		switch {
		case kind == 1 && len(data) == 4: // heap
			if heap := binary.LittleEndian.Uint32(data); heap < 32<<10 || heap > maxHeap || heap%1024 != 0 {
				return b, wrong
			}
		case kind == 2 && len(data) == 4:
			limit, limited = uint64(binary.LittleEndian.Uint32(data)), true
		case kind == 3 && len(data) == 8:
			b.Price = binary.LittleEndian.Uint64(data)
		case kind == 4 && len(data) == 4: // bytes of loaded accounts
			if binary.LittleEndian.Uint32(data) == 0 {
				return b, wrong
			}
		default:
			return b, wrong
		}
	}
	b.Units = min(others*unitsByDefault, maxUnits)
	if limited {
		b.Units = min(limit, maxUnits)
	}
	b.Fee = tx.baseFee() + priorityFee(b.Units, b.Price)
	return b, nil
}

// baseFee is what the signatures cost, those that the ed25519 program checks
// included.
func (tx *Tx) baseFee() uint64 {
	n := uint64(tx.Message.Header.NumRequiredSignatures)
	for _, ix := range tx.Instructions {
		if ix.Program == wire.Ed25519Program && len(ix.Data) > 0 {
			n += uint64(ix.Data[0])
		}
	}
	return n * signatureFee
}

// priorityFee is in lamports, rounded up; one that does not fit is more than
// anybody has.
func priorityFee(units, price uint64) uint64 {
	hi, lo := bits.Mul64(units, price)
	lo, carry := bits.Add64(lo, lamportsPerUnit-1, 0)
	if hi += carry; hi >= lamportsPerUnit {
		return 1 << 62
	}
	fee, _ := bits.Div64(hi, lo, lamportsPerUnit)
	return min(fee, 1<<62)
}
