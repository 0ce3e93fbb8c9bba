package wire

import (
	"fmt"

	"github.com/swapper-go/swapper/chains"
)

// EscrowRecord is what the contract stores under an escrow hash.
type EscrowRecord struct {
	InitHeight   uint64 // 0 if it was never opened
	FinishHeight uint64 // 0 unless it was claimed or refunded
	State        chains.EscrowState
}

func (r *reader) escrowRecord() EscrowRecord {
	e := EscrowRecord{InitHeight: r.uint(64), FinishHeight: r.uint(64)}
	state := r.uint(8)
	if state > uint64(chains.EscrowRefunded) {
		r.fail("unknown escrow state %d", state)
	}
	e.State = chains.EscrowState(state)
	return e
}

// EscrowStatesCall is what [EntryHashStates] takes.
func EscrowStatesCall(escrows []Felt) []Felt { return felts(nil).span(escrows...) }

// ReadEscrowStates reads the answer of [EntryHashStates] for n escrows.
func ReadEscrowStates(answer []Felt, n int) ([]EscrowRecord, error) {
	r := &reader{rest: answer}
	if count := r.uint(64); r.err == nil && count != uint64(n) {
		return nil, fmt.Errorf("requested the states of %d escrows, got %d", n, count)
	}
	records := make([]EscrowRecord, n)
	for i := range records {
		records[i] = r.escrowRecord()
	}
	return records, r.end()
}
