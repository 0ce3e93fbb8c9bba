package evm

import (
	"context"
	"fmt"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"

	"github.com/swapper-go/swapper/chains"
)

// escrowsPerCall is how many escrow states one call asks for.
const escrowsPerCall = 256

// EscrowRecord is what the contract stores under an escrow hash.
type EscrowRecord struct {
	InitBlockheight   uint64 // 0 if it was never opened
	FinishBlockheight uint64 // 0 unless it was claimed or refunded
	State             uint8
}

// StateCall is the call data that asks for the states of escrows.
func StateCall(escrows []common.Hash) ([]byte, error) {
	return escrowABI().Pack("getHashStateMultiple", escrows)
}

// DecodeStates reads the answer to [StateCall] for n escrows.
func DecodeStates(answer []byte, n int) ([]EscrowRecord, error) {
	var records []EscrowRecord
	if err := unpack(escrowABI(), "getHashStateMultiple", answer, &records); err != nil {
		return nil, err
	}
	if len(records) != n {
		return nil, fmt.Errorf("states of %d escrows were asked for, %d came", n, len(records))
	}
	for _, r := range records {
		if r.State > uint8(chains.EscrowRefunded) {
			return nil, fmt.Errorf("unknown escrow state %d", r.State)
		}
	}
	return records, nil
}

// ReadEscrows returns the raw facts of escrows, in order. It takes two round
// trips, one if none was ever opened. The state is read at at.Latest (at the
// newest block if its height is 0), what happened from the logs of the blocks
// that the state names. An escrow whose log is missing has Err set.
func (d Deployment) ReadEscrows(ctx context.Context, node Node, escrows []common.Hash, at chains.Heads) ([]chains.EscrowFact, error) {
	return d.readEscrows(ctx, node, escrows, at, escrowsKnown{})
}

// openedFact is what stays true of an escrow once its opening cannot be undone.
type openedFact struct {
	tx string
	at chains.Block
}

// escrowsKnown is what readers remember of escrows; the zero value is nothing.
type escrowsKnown struct {
	opened func(common.Hash) (openedFact, bool)   // that cannot be undone
	likely func(common.Hash) (escrowBlocks, bool) // where it was seen to happen last
}

// escrowBlocks are the heights at which an escrow was opened and ended, 0 for
// what has not happened.
type escrowBlocks struct{ opened, ended uint64 }

func (d Deployment) readEscrows(ctx context.Context, node Node, escrows []common.Hash, at chains.Heads, known escrowsKnown) ([]chains.EscrowFact, error) {
	lookups := make([]escrowLookup, len(escrows))
	likely := d.searchHistory(escrows, likelyPlaces(escrows, known), blockTimes{})
	records, err := d.readStates(ctx, node, escrows, at, likely.requests)
	if err != nil {
		return nil, err
	}
	for i, r := range records {
		lookups[i].record = r
		if known.opened != nil && r.State != uint8(chains.EscrowNone) {
			if o, ok := known.opened(escrows[i]); ok && o.at.Height == r.InitBlockheight {
				lookups[i].opened = &o
			}
		}
	}
	likely.handOut(lookups, false)
	rest := d.searchHistory(escrows, d.placesLeft(escrows, lookups), likely.times)
	if len(rest.requests) > 0 {
		if err := node.Batch(ctx, rest.requests); err != nil {
			return nil, err
		}
		rest.handOut(lookups, true)
	}
	facts := make([]chains.EscrowFact, len(escrows))
	for i, l := range lookups {
		facts[i] = d.escrowFact(escrows[i], l, rest.times)
		facts[i].Head = at.Latest
		facts[i].Final = isFinal(facts[i], at.Final)
	}
	return facts, nil
}

// readStates also puts the requests of more into the batch; what is the matter
// with those is for their owner to see.
func (d Deployment) readStates(ctx context.Context, node Node, escrows []common.Hash, at chains.Heads, more []Request) ([]EscrowRecord, error) {
	var requests []Request
	var answers []*hexutil.Bytes
	for first := 0; first < len(escrows); first += escrowsPerCall {
		data, err := StateCall(escrows[first:min(first+escrowsPerCall, len(escrows))])
		if err != nil {
			return nil, err
		}
		answer := new(hexutil.Bytes)
		answers = append(answers, answer)
		requests = append(requests, callRequest(d.EscrowManager.Address, data, blockParam(at.Latest), answer))
	}
	if len(requests) == 0 {
		return nil, nil
	}
	all := append(requests, more...)
	if err := node.Batch(ctx, all); err != nil {
		return nil, err
	}
	copy(more, all[len(requests):])
	records := make([]EscrowRecord, 0, len(escrows))
	for i, answer := range answers {
		if err := all[i].Err; err != nil {
			return nil, fmt.Errorf("%s: %w", all[i].Method, err)
		}
		some, err := DecodeStates(*answer, min(escrowsPerCall, len(escrows)-i*escrowsPerCall))
		if err != nil {
			return nil, err
		}
		records = append(records, some...)
	}
	return records, nil
}

// escrowLookup is what was learnt of one escrow.
type escrowLookup struct {
	record EscrowRecord
	opened *openedFact // if it is known already
	logs   []types.Log
	err    error
}

// escrowFact puts together what is known of one escrow.
func (d Deployment) escrowFact(escrow common.Hash, l escrowLookup, times blockTimes) chains.EscrowFact {
	fact := chains.EscrowFact{State: chains.EscrowState(l.record.State), Err: l.err}
	if fact.State == chains.EscrowNone || fact.Err != nil {
		return fact
	}
	if l.opened != nil {
		fact.InitTx, fact.Opened = l.opened.tx, l.opened.at
	} else {
		log, event := d.logOf(l.logs, escrow, "Initialize", l.record.InitBlockheight)
		if event == nil {
			fact.Err = fmt.Errorf("no log of the opening of escrow %s in block %d", escrow, l.record.InitBlockheight)
			return fact
		}
		fact.InitTx, fact.Opened = log.TxHash.Hex(), times.block(log)
	}
	if fact.State == chains.EscrowOpen {
		return fact
	}
	log, event := d.logOf(l.logs, escrow, endEvent(fact.State), l.record.FinishBlockheight)
	switch e := event.(type) {
	case ClaimEvent:
		fact.ClaimTx, fact.Result = log.TxHash.Hex(), e.Result
	case RefundEvent:
		fact.RefundTx = log.TxHash.Hex()
	default:
		fact.Err = fmt.Errorf("no log of the end of escrow %s in block %d", escrow, l.record.FinishBlockheight)
		return fact
	}
	fact.Finished = times.block(log)
	return fact
}

// endEvent is the event that ends an escrow in the given state.
func endEvent(s chains.EscrowState) string {
	if s == chains.EscrowClaimed {
		return "Claim"
	}
	return "Refund"
}

// logOf returns the log of an event about an escrow, whatever else the node has
// put beside it; nil if there is none.
func (d Deployment) logOf(logs []types.Log, escrow common.Hash, event string, height uint64) (types.Log, Event) {
	for _, l := range logs {
		if len(l.Topics) != 4 || l.Topics[0] != escrowABI().Events[event].ID || l.Topics[3] != escrow || l.BlockNumber != height {
			continue
		}
		if e, err := d.DecodeLog(l); err == nil && e != nil {
			return l, e
		}
	}
	return types.Log{}, nil
}

// isFinal reports whether the last thing that happened to an escrow lies at or
// below a final block. That nothing happened is never final.
func isFinal(f chains.EscrowFact, final chains.Block) bool {
	last := f.Opened
	if f.State == chains.EscrowClaimed || f.State == chains.EscrowRefunded {
		last = f.Finished
	}
	return f.Err == nil && last.Height != 0 && last.Height <= final.Height
}

// CommitStatus is how an escrow stands in the eyes of one party, as the protocol
// numbers it (protocol: chain-evm.md §8).
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
