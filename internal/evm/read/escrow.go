package read

import (
	"context"
	"fmt"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/evm/rpc"
	"github.com/swapper-go/swapper/internal/evm/wire"
	"github.com/swapper-go/swapper/internal/settle"
)

// escrowsPerCall is how many escrow states one call asks for.
const escrowsPerCall = 256

// Known is what readers remember of escrows; the zero value is nothing.
type Known struct {
	Opened func(common.Hash) (settle.Opening, bool) // that cannot be undone
	Likely func(common.Hash) (settle.Blocks, bool)  // where it was seen to happen last
	Since  map[common.Hash]uint64                   // heights from which they were opened lately
}

// ReadEscrows returns the raw facts of escrows, in order. It takes two round
// trips, one if none was ever opened, or if all that happened is known or is found
// since a height. The state is read at at.Latest (at the
// newest block if its height is 0), what happened from the logs of the blocks
// that the state names. An escrow whose log is missing has Err set.
func (d Contracts) ReadEscrows(ctx context.Context, node rpc.Node, escrows []common.Hash, at chains.Heads, known Known) ([]chains.EscrowFact, error) {
	lookups := make([]escrowLookup, len(escrows))
	likely := d.searchHistory(escrows, likelyPlaces(escrows, known), blockTimes{})
	var lately []types.Log
	more := likely.requests
	if len(known.Since) > 0 {
		more = append(more, d.sinceRequest(known.Since, at, &lately))
	}
	records, err := d.ReadStates(ctx, node, escrows, at, more)
	if err != nil {
		return nil, err
	}
	copy(likely.requests, more)
	for i, r := range records {
		lookups[i].record = r
		if known.Opened != nil && r.State != uint8(chains.EscrowNone) {
			if o, ok := known.Opened(escrows[i]); ok && o.At.Height == r.InitBlockheight {
				lookups[i].opened = &o
			}
		}
	}
	likely.handOut(lookups, false)
	for _, l := range lately {
		if l.Address == d.EscrowManager.Address && !l.Removed && len(l.Topics) == 4 && l.BlockTimestamp != 0 { // else the time is asked for
			for i, e := range escrows {
				if l.Topics[3] == e {
					lookups[i].logs = append(lookups[i].logs, l)
				}
			}
		}
	}
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
		facts[i].Final = IsFinal(facts[i], at.Final)
	}
	return facts, nil
}

// ReadStates also puts the requests of more into the batch; what is the matter
// with those is for their owner to see.
func (d Contracts) ReadStates(ctx context.Context, node rpc.Node, escrows []common.Hash, at chains.Heads, more []rpc.Request) ([]wire.EscrowRecord, error) {
	var requests []rpc.Request
	var answers []*hexutil.Bytes
	for first := 0; first < len(escrows); first += escrowsPerCall {
		data, err := wire.StateCall(escrows[first:min(first+escrowsPerCall, len(escrows))])
		if err != nil {
			return nil, err
		}
		answer := new(hexutil.Bytes)
		answers = append(answers, answer)
		requests = append(requests, rpc.CallRequest(d.EscrowManager.Address, data, rpc.BlockParam(at.Latest), answer))
	}
	if len(requests) == 0 {
		return nil, nil
	}
	all := append(requests, more...)
	if err := node.Batch(ctx, all); err != nil {
		return nil, err
	}
	copy(more, all[len(requests):])
	records := make([]wire.EscrowRecord, 0, len(escrows))
	for i, answer := range answers {
		if err := all[i].Err; err != nil {
			return nil, fmt.Errorf("%s: %w", all[i].Method, err)
		}
		some, err := wire.DecodeStates(*answer, min(escrowsPerCall, len(escrows)-i*escrowsPerCall))
		if err != nil {
			return nil, err
		}
		records = append(records, some...)
	}
	return records, nil
}

// escrowLookup is what was learnt of one escrow.
type escrowLookup struct {
	record wire.EscrowRecord
	opened *settle.Opening // if it is known already
	logs   []types.Log
	err    error
}

// escrowFact puts together what is known of one escrow.
func (d Contracts) escrowFact(escrow common.Hash, l escrowLookup, times blockTimes) chains.EscrowFact {
	fact := chains.EscrowFact{State: chains.EscrowState(l.record.State), Err: l.err}
	if fact.State == chains.EscrowNone || fact.Err != nil {
		return fact
	}
	if l.opened != nil {
		fact.InitTx, fact.Opened = l.opened.Tx, l.opened.At
	} else {
		log, event := d.logOf(l.logs, escrow, "Initialize", l.record.InitBlockheight)
		if event == nil {
			fact.Err = fmt.Errorf("found no log of the opening of escrow %s in block %d", escrow, l.record.InitBlockheight)
			return fact
		}
		fact.InitTx, fact.Opened = log.TxHash.Hex(), times.block(log)
	}
	if fact.State == chains.EscrowOpen {
		return fact
	}
	log, event := d.logOf(l.logs, escrow, endEvent(fact.State), l.record.FinishBlockheight)
	switch e := event.(type) {
	case wire.ClaimEvent:
		fact.ClaimTx, fact.Result = log.TxHash.Hex(), e.Result
	case wire.RefundEvent:
		fact.RefundTx = log.TxHash.Hex()
	default:
		fact.Err = fmt.Errorf("found no log of the end of escrow %s in block %d", escrow, l.record.FinishBlockheight)
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
func (d Contracts) logOf(logs []types.Log, escrow common.Hash, event string, height uint64) (types.Log, wire.Event) {
	for _, l := range logs {
		if len(l.Topics) != 4 || l.Topics[0] != wire.EscrowABI().Events[event].ID || l.Topics[3] != escrow || l.BlockNumber != height {
			continue
		}
		if e, err := d.DecodeLog(l); err == nil && e != nil {
			return l, e
		}
	}
	return types.Log{}, nil
}

// IsFinal reports whether the last thing that happened to an escrow lies at or
// below a final block. That nothing happened is never final.
func IsFinal(f chains.EscrowFact, final chains.Block) bool {
	last := f.Opened
	if f.State == chains.EscrowClaimed || f.State == chains.EscrowRefunded {
		last = f.Finished
	}
	return f.Err == nil && last.Height != 0 && last.Height <= final.Height
}
