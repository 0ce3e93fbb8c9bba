package wire

import (
	"encoding/json"
	"fmt"

	"github.com/swapper-go/swapper/fault"
)

// maxTrace bounds the text of a transaction's trace, and maxTraceDepth how deep calls
// may be nested in it.
const (
	maxTrace      = 16 << 20
	maxTraceDepth = 128
)

// traceFrame is one call of a transaction's trace.
type traceFrame struct {
	Contract     traceFelt    `json:"contract_address"`
	EntryPoint   traceFelt    `json:"entry_point_selector"`
	Calldata     []traceFelt  `json:"calldata"`
	Calls        []traceFrame `json:"calls"`
	RevertReason *string      `json:"revert_reason"`
}

// traceFelt is a felt of a trace, which may be missing.
type traceFelt struct{ Felt }

func (f *traceFelt) UnmarshalJSON(text []byte) error {
	var s string
	if err := json.Unmarshal(text, &s); err != nil {
		return err
	}
	var err error
	f.Felt, err = ParseFelt(s)
	return err
}

// FindSwapData finds the escrow with the given hash in the trace of the transaction
// that opened it (§13.3): the result of starknet_traceTransaction, or of one
// transaction of starknet_traceBlockTransactions. It is fault.NotFound where the
// transaction reverted or does not open that escrow. The hash is what makes it sure;
// the extra data is what the transaction published.
func (d Deployment) FindSwapData(trace json.RawMessage, escrow Felt) (SwapData, error) {
	if len(trace) > maxTrace {
		return SwapData{}, fmt.Errorf("trace is longer than %d bytes", maxTrace)
	}
	var of struct {
		Execute *traceFrame `json:"execute_invocation"`
	}
	if err := json.Unmarshal(trace, &of); err != nil {
		return SwapData{}, fmt.Errorf("trace: %w", err)
	}
	none := fault.New(fault.NotFound, "the transaction does not open escrow %s", Hex64(escrow))
	if of.Execute == nil || of.Execute.RevertReason != nil {
		return SwapData{}, none
	}
	var found SwapData
	var problem error
	ok := of.Execute.walk(0, func(f *traceFrame) bool {
		if f.Contract.Felt != d.EscrowManager.Address || f.EntryPoint.Felt != Selector(entryInitialize) {
			return false
		}
		calldata := make([]Felt, len(f.Calldata))
		for i, c := range f.Calldata {
			calldata[i] = c.Felt
		}
		s, _, _, err := d.readOpening(calldata)
		if err != nil {
			problem = err
			return false
		}
		hash, err := s.EscrowHash()
		found = s
		return err == nil && hash == escrow
	})
	switch {
	case ok:
		return found, nil
	case problem != nil:
		return SwapData{}, problem
	}
	return SwapData{}, none
}

// walk visits f and the calls inside it until visit returns true.
func (f *traceFrame) walk(depth int, visit func(*traceFrame) bool) bool {
	if visit(f) {
		return true
	}
	if depth < maxTraceDepth {
		for i := range f.Calls {
			if f.Calls[i].walk(depth+1, visit) {
				return true
			}
		}
	}
	return false
}

// readOpening reads the calldata of initialize, all of it: the escrow, and of its
// authorisation the signature and when it ends.
func (d Deployment) readOpening(calldata []Felt) (s SwapData, signature []Felt, timeout uint64, err error) {
	r := &reader{rest: calldata}
	s = d.readSwapData(r)
	signature, timeout = r.span(), r.uint(64)
	extra := r.span()
	if err := r.end(); err != nil {
		return SwapData{}, nil, 0, fmt.Errorf("the opening of an escrow cannot be read: %w", err)
	}
	s.ExtraData = extraOf(extra)
	return s, signature, timeout, s.Validate()
}

// hintSize is the number of bytes of what an on-chain swap publishes.
const hintSize = 42

// extraOf reads published bytes back. How many bytes the last felt holds is not
// written anywhere: two felts are the 42 bytes of an on-chain swap, if they fit, and
// others keep the bytes that they have (§20.21).
func extraOf(all []Felt) []byte {
	if len(all) == 0 || len(all) > maxExtraData/chunk {
		return nil
	}
	if b, ok := fromChunks(all, hintSize); ok {
		return b
	}
	last := Number(all[len(all)-1]).Bytes()
	b, ok := fromChunks(all[:len(all)-1], (len(all)-1)*chunk)
	if !ok || len(last) > chunk {
		return nil
	}
	return append(b, last...)
}
