package wire

import (
	"fmt"
	"time"

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

// ReadEscrowState reads the answer of [EntryHashState].
func ReadEscrowState(answer []Felt) (EscrowRecord, error) {
	r := &reader{rest: answer}
	e := r.escrowRecord()
	return e, r.end()
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

// CommitStatus is the status of an escrow from the point of view of one party, with
// the protocol's numbers (§12.1).
type CommitStatus int

// The statuses.
const (
	StatusExpired      CommitStatus = 0
	StatusNotCommitted CommitStatus = 1
	StatusCommitted    CommitStatus = 2
	StatusPaid         CommitStatus = 3
	StatusRefundable   CommitStatus = 4
)

// Status reads an escrow's state with the eyes of signer. A refunded escrow that has
// not expired counts as not committed, but it can never be opened again: [CanInit]
// decides that from the state.
func (s SwapData) Status(state chains.EscrowState, signer Felt, now time.Time) CommitStatus {
	expired := s.IsExpired(signer, now)
	switch {
	case state == chains.EscrowClaimed:
		return StatusPaid
	case state == chains.EscrowOpen && expired && signer == s.Offerer:
		return StatusRefundable
	case state == chains.EscrowOpen:
		return StatusCommitted
	case expired:
		return StatusExpired
	}
	return StatusNotCommitted
}
