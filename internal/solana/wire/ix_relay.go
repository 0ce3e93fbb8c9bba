package wire

import (
	"fmt"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/btc/relay"
)

// Limits of headers in one transaction (§19).
const (
	MaxMainHeaders      = 5
	MaxForkHeaders      = 4
	MaxShortForkHeaders = 4
)

// topics are the addresses under which stored headers are found, in their order.
func (p Programs) topics(headers []bitcoin.Header) (metas []Account) {
	for _, h := range headers {
		metas = append(metas, Account{PublicKey: p.RelayHeader(h.Hash())})
	}
	return metas
}

func headerArgs(headers []bitcoin.Header, on StoredHeader) *writer {
	w := new(writer).u32(uint32(len(headers)))
	for _, h := range headers {
		raw := h.Bytes()
		w.bytes(raw[:]...)
	}
	return w.bytes(on.Bytes()...)
}

// SubmitInstruction adds headers to a relay on top of one that it has stored. fork is
// the id of the fork that they go to (SaveFork, SaveNewFork).
func (p Programs) SubmitInstruction(op relay.Op, signer Key, headers []bitcoin.Header, on StoredHeader, fork uint64) (Instruction, error) {
	limit := map[relay.Op]int{relay.SaveMain: MaxMainHeaders, relay.SaveShortFork: MaxShortForkHeaders, relay.SaveFork: MaxForkHeaders, relay.SaveNewFork: MaxForkHeaders}[op]
	if len(headers) == 0 || len(headers) > limit {
		return Instruction{}, fmt.Errorf("%d headers in one transaction, want 1 to %d (%s)", len(headers), limit, op)
	}
	args := headerArgs(headers, on)
	var ix Instruction
	switch op {
	case relay.SaveMain:
		ix = p.relayCall(ixSubmit, args, signer, p.RelayState())
	case relay.SaveShortFork:
		ix = p.relayCall(ixSubmitShort, args, signer, p.RelayState())
	default:
		args.u64(fork).flag(op == relay.SaveNewFork)
		ix = p.relayCall(ixSubmitFork, args, signer, p.RelayState(), p.RelayFork(fork, signer), SystemProgram)
	}
	ix.Accounts = append(ix.Accounts, p.topics(headers)...)
	return ix, nil
}

// RelayInitInstruction starts a relay at a header.
func (p Programs) RelayInitInstruction(signer Key, at StoredHeader) Instruction {
	raw := at.Header.Bytes()
	args := new(writer).bytes(raw[:]...).u32(at.Header.Height).bytes(at.Work.FillBytes(make([]byte, 32))...).u32(at.LastDiffAdjustment)
	for _, t := range at.PrevTimes {
		args.u32(t)
	}
	return p.relayCall(ixRelayInit, args, signer, p.RelayState(), p.RelayHeader(at.Header.Hash()), SystemProgram)
}

// Proof shows that a transaction is in a block.
type Proof struct {
	TxID  bitcoin.Hash // internal order
	Index uint32
	Path  []bitcoin.Hash // siblings from the leaf up, internal order
}

// VerifyInstruction makes the relay check that a transaction is in a block that it
// has stored, below the given number of confirmations. It must be instruction 0.
func (p Programs) VerifyInstruction(signer Key, proof Proof, confirmations uint32, in StoredHeader) Instruction {
	args := new(writer).bytes(proof.TxID[:]...).u32(confirmations).u32(proof.Index).u32(uint32(len(proof.Path)))
	for _, h := range proof.Path {
		args.bytes(h[:]...)
	}
	return p.relayCall(ixVerifyTx, args.bytes(in.Bytes()...), signer, p.RelayState())
}

// HeightOp compares the relay's height with a value.
type HeightOp uint32

// The comparisons: the relay's height is ... the value.
const (
	HeightBelow HeightOp = iota
	HeightAtMost
	HeightAbove
	HeightAtLeast
	HeightEqual
)

// FeePerHeader is what watchtowers expect to pay for each header that a relay
// lacks, in lamports (§12).
const FeePerHeader = 50_000
