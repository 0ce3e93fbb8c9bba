package wire

import (
	"fmt"
	"slices"

	"github.com/swapper-go/swapper/chains/bitcoin"
)

// Entry points of the relay (§14.2).
const (
	entrySubmitMain  = "submit_main_blockheaders"
	entrySubmitShort = "submit_short_fork_blockheaders"
	entrySubmitFork  = "submit_fork_blockheaders"
)

// Reads of the relay: entry points that the client asks.
const (
	EntryChainWork     = "get_chainwork"       // a u256
	EntryBlockHeight   = "get_blockheight"     // a u32
	EntryCommitHash    = "get_commit_hash"     // of a height; reverts above the tip
	EntryTipCommitHash = "get_tip_commit_hash" // 0: not initialised
	EntryVerifyHeader  = "verify_blockheader"  // confirmations of a stored header; reverts outside of the main chain
)

// Branch is where headers are added: to the main chain, as a fork that must outgrow it
// at once, or as a fork that may grow over several transactions.
type Branch struct {
	Short bool
	Fork  uint64 // number of a lasting fork, chosen by its sender; 0 is none
}

// SubmitHeaders builds the call that adds headers, in order, on top of a stored header,
// and returns the stored headers that the relay will have after it. The last of them
// is the main chain's tip, or a fork's.
func (d Deployment) SubmitHeaders(to Branch, base StoredHeader, headers []bitcoin.Header) (Call, []StoredHeader, error) {
	limit := MainHeaders
	if to.Fork != 0 {
		limit = ForkHeaders
	}
	if len(headers) == 0 || len(headers) > limit {
		return Call{}, nil, fmt.Errorf("one transaction has %d headers, must have 1 to %d", len(headers), limit)
	}
	call := Call{Role: RoleRelay, To: d.BtcRelay.Address, Entry: entrySubmitMain, Gas: gasHeader.times(uint64(len(headers)))}
	w := make(felts, 0, 2+20*len(headers)+storedHeaderFelts)
	switch {
	case to.Fork != 0:
		call.Entry, call.Gas = entrySubmitFork, call.Gas.plus(gasForkSwitch)
		w = w.uint(to.Fork)
	case to.Short:
		call.Entry = entrySubmitShort
	}
	w = w.uint(uint64(len(headers)))
	stored, last := make([]StoredHeader, 0, len(headers)), base
	for _, h := range headers {
		next, err := last.Next(h)
		if err != nil {
			return Call{}, nil, err
		}
		w = w.header(h)
		stored = append(stored, next)
		last = next
	}
	call.Calldata = w.storedHeader(base)
	return call, stored, nil
}

// isRelayEntry reports whether an entry point takes headers.
func isRelayEntry(selector Felt) bool {
	return slices.Contains([]Felt{Selector(entrySubmitMain), Selector(entrySubmitShort), Selector(entrySubmitFork)}, selector)
}

// checkHeaders accepts well-formed headers for the relay, each on top of the one
// before; the relay itself judges them.
func checkHeaders(selector Felt, calldata []Felt) error {
	r := &reader{rest: calldata}
	if selector == Selector(entrySubmitFork) {
		if fork := r.felt(); fork.IsZero() {
			r.fail("the number of the fork is 0")
		}
	}
	n := r.uint(32)
	if r.err == nil && (n == 0 || n > MainHeaders) {
		r.fail("%d headers are not 1 to %d", n, MainHeaders)
	}
	var headers []bitcoin.Header
	for range n {
		if r.err != nil {
			break
		}
		headers = append(headers, r.header())
	}
	last := r.storedHeader()
	if err := r.end(); err != nil {
		return fmt.Errorf("submits no Bitcoin headers to the relay: %w", err)
	}
	for _, h := range headers {
		var err error
		if last, err = last.Next(h); err != nil {
			return fmt.Errorf("submits Bitcoin headers that do not follow each other: %w", err)
		}
	}
	return nil
}

// ReadRelayNumber reads an answer of one felt that is a height or a number of
// confirmations.
func ReadRelayNumber(answer []Felt) (uint32, error) {
	r := &reader{rest: answer}
	n := r.u32()
	return n, r.end()
}

// ReadCommitHash reads the answer of [EntryCommitHash] and [EntryTipCommitHash].
func ReadCommitHash(answer []Felt) (Felt, error) {
	r := &reader{rest: answer}
	f := r.felt()
	return f, r.end()
}
