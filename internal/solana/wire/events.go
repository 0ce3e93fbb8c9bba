package wire

import (
	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
)

var (
	initializeEvent  = NameOf("event", "InitializeEvent")
	refundEvent      = NameOf("event", "RefundEvent")
	claimEvent       = NameOf("event", "ClaimEvent")
	storeHeaderEvent = NameOf("event", "StoreHeader")
	storeForkEvent   = NameOf("event", "StoreFork")
	chainReorgEvent  = NameOf("event", "ChainReorg")
)

// EventKind is what an event of the swap program reports.
type EventKind int

// The events of the swap program.
const (
	Initialized EventKind = iota + 1
	Claimed
	Refunded
)

func (k EventKind) String() string {
	return [...]string{"", "InitializeEvent", "ClaimEvent", "RefundEvent"}[k&3]
}

// Event is an event of the swap program (§9). Which members are set depends on the kind.
type Event struct {
	Kind     EventKind
	Hash     [32]byte // payment hash
	Sequence uint64
	TxoHash  [32]byte    // Initialized
	Nonce    uint64      // Initialized
	Escrow   chains.Kind // Initialized
	Result   [32]byte    // Claimed: the preimage, or the Bitcoin transaction id in internal order
}

// EscrowHash names the escrow that the event is about.
func (e Event) EscrowHash() [32]byte { return EscrowHash(e.Hash, e.Sequence) }

// decodeEvent reads an event of the swap program. Other data is none: an unknown event, or
// one that is too short, is skipped and does not end the reading (§21.9).
func decodeEvent(data []byte) (e Event, ok bool) {
	r := reader{data: data}
	switch r.discriminator() {
	case initializeEvent:
		e = Event{Kind: Initialized, Hash: r.hash(), TxoHash: r.hash(), Nonce: r.u64(), Escrow: chains.Kind(r.u8()), Sequence: r.u64()}
		if !validKind(e.Escrow) {
			return Event{}, false
		}
	case claimEvent:
		e = Event{Kind: Claimed, Hash: r.hash(), Result: r.hash(), Sequence: r.u64()}
	case refundEvent:
		e = Event{Kind: Refunded, Hash: r.hash(), Sequence: r.u64()}
	}
	if r.err != nil || e.Kind == 0 {
		return Event{}, false
	}
	return e, true
}

// Bytes writes the event as the program emits it.
func (e Event) Bytes() []byte {
	w := new(writer)
	switch e.Kind {
	case Initialized:
		w.bytes(initializeEvent[:]...).bytes(e.Hash[:]...).bytes(e.TxoHash[:]...).u64(e.Nonce).u8(uint8(e.Escrow))
	case Claimed:
		w.bytes(claimEvent[:]...).bytes(e.Hash[:]...).bytes(e.Result[:]...)
	case Refunded:
		w.bytes(refundEvent[:]...).bytes(e.Hash[:]...)
	}
	return *w.u64(e.Sequence)
}

// Events returns the swap program's events in a transaction's log, in their order.
func (p Programs) Events(logs []string) (events []Event, truncated bool) {
	return eventsOf(p.Swap, logs, decodeEvent)
}

// eventsOf returns the events of a program that can be read.
func eventsOf[E any](program Key, logs []string, decode func([]byte) (E, bool)) (events []E, truncated bool) {
	all, truncated := eventData(program, logs)
	for _, data := range all {
		if e, ok := decode(data); ok {
			events = append(events, e)
		}
	}
	return events, truncated
}

// RelayEvent is an event of the relay: a header was stored, on the main chain or on a
// fork, or a fork became the main chain.
type RelayEvent struct {
	OnFork     bool   // a header that was stored on a fork
	Fork       uint64 // id of the fork; the first one has 0 too
	Block      bitcoin.Hash
	Commitment [32]byte
	Stored     *StoredHeader // nil for a reorganisation
	Start      uint32        // reorganisation: height of the fork's first block
}

// decodeRelayEvent reads an event of the relay. A header whose commitment or block
// hash is not its own is none.
func decodeRelayEvent(data []byte) (e RelayEvent, ok bool) {
	r := reader{data: data}
	kind := r.discriminator()
	switch kind {
	case storeHeaderEvent:
	case storeForkEvent:
		e.OnFork, e.Fork = true, r.u64()
	case chainReorgEvent:
		e.Fork, e.Start = r.u64(), r.u32()
	default:
		return RelayEvent{}, false
	}
	e.Block, e.Commitment = r.hash(), r.hash()
	if kind != chainReorgEvent {
		h, err := decodeStoredHeader(r.take(storedHeaderSize))
		if err != nil || h.Commitment() != e.Commitment || h.Header.Hash() != e.Block {
			return RelayEvent{}, false
		}
		e.Stored = &h
	}
	return e, r.err == nil
}

// Bytes writes the event as the relay emits it.
func (e RelayEvent) Bytes() []byte {
	w := new(writer)
	switch {
	case e.Stored == nil:
		w.bytes(chainReorgEvent[:]...).u64(e.Fork).u32(e.Start)
	case !e.OnFork:
		w.bytes(storeHeaderEvent[:]...)
	default:
		w.bytes(storeForkEvent[:]...).u64(e.Fork)
	}
	w.bytes(e.Block[:]...).bytes(e.Commitment[:]...)
	if e.Stored != nil {
		w.bytes(e.Stored.Bytes()...)
	}
	return *w
}

// RelayEvents returns the relay's events in a transaction's log, in their order.
func (p Programs) RelayEvents(logs []string) (events []RelayEvent, truncated bool) {
	return eventsOf(p.Relay, logs, decodeRelayEvent)
}

// FindStored returns the stored header of a block that the relay's main chain holds,
// from the log of a transaction that stored it. Its height may not have enough
// confirmations yet: a caller that needs them must bring the relay up to date
// afterwards (§21.6).
func (p Programs) FindStored(state *RelayState, logs []string, is func(StoredHeader) bool) (StoredHeader, bool) {
	events, _ := p.RelayEvents(logs)
	for i := len(events) - 1; i >= 0; i-- {
		e := events[i]
		if e.Stored == nil || !is(*e.Stored) {
			continue
		}
		if c, ok := state.Commitment(e.Stored.Header.Height); ok && c == e.Commitment {
			return *e.Stored, true
		}
	}
	return StoredHeader{}, false
}
