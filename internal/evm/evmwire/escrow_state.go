package evmwire

import (
	"fmt"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"github.com/swapper-go/swapper/chains"
)

// EscrowRecord is what the contract stores under an escrow hash.
type EscrowRecord struct {
	InitBlockheight   uint64 // 0 if it was never opened
	FinishBlockheight uint64 // 0 unless it was claimed or refunded
	State             uint8
}

// StateCall is the call data that asks for the states of escrows.
func StateCall(escrows []common.Hash) ([]byte, error) {
	return EscrowABI().Pack("getHashStateMultiple", escrows)
}

// DecodeStates reads the answer to [StateCall] for n escrows.
func DecodeStates(answer []byte, n int) ([]EscrowRecord, error) {
	var records []EscrowRecord
	if err := Unpack(EscrowABI(), "getHashStateMultiple", answer, &records); err != nil {
		return nil, err
	}
	if len(records) != n {
		return nil, fmt.Errorf("requested the states of %d escrows, got %d", n, len(records))
	}
	for _, r := range records {
		if r.State > uint8(chains.EscrowRefunded) {
			return nil, fmt.Errorf("unknown escrow state %d", r.State)
		}
	}
	return records, nil
}

// CommitStatus is the status of an escrow from the point of view of one party,
// with the protocol's numbers (protocol: chain-evm.md §8).
type CommitStatus int

const (
	StatusExpired      CommitStatus = 0
	StatusNotCommitted CommitStatus = 1
	StatusCommitted    CommitStatus = 2
	StatusPaid         CommitStatus = 3
	StatusRefundable   CommitStatus = 4
)

// Status reads an escrow's state with the eyes of signer. A refunded escrow that
// has not expired counts as not committed, but it can never be opened again:
// [CanInit] decides that from the state.
func (s SwapData) Status(state chains.EscrowState, signer common.Address, now time.Time) CommitStatus {
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
