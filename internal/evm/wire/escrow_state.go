package wire

import (
	"fmt"

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
