package wire

import (
	"errors"
	"fmt"
	"math/big"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/btc/rawtx"
)

// Arguments of instructions, as the programs read them: what follows them is
// ignored, and an error is the framework's InstructionDidNotDeserialize.

// InitArgs are the arguments of the instructions that open an escrow.
type InitArgs struct {
	Terms                          Terms
	SecurityDeposit, ClaimerBounty uint64 // lamports; v1 has none where the offerer pays in
	TxoHash                        [32]byte
	AuthExpiry                     uint64 // Unix seconds until which the instruction may be executed
}

// deposits says whether the form that pays in or not has deposit and bounty.
func (p Programs) deposits(payIn bool) bool { return p.Version == V2 || !payIn }

func (p Programs) initArgs(a InitArgs, payIn bool) *writer {
	w := new(writer)
	a.Terms.append(w)
	if p.deposits(payIn) {
		w.u64(a.SecurityDeposit).u64(a.ClaimerBounty)
	}
	return w.bytes(a.TxoHash[:]...).u64(a.AuthExpiry)
}

// DecodeInitArgs reads the arguments of offerer_initialize_pay_in or offerer_initialize.
func (p Programs) DecodeInitArgs(args []byte, payIn bool) (a InitArgs, err error) {
	r := reader{data: args}
	a.Terms = r.terms()
	if p.deposits(payIn) {
		a.SecurityDeposit, a.ClaimerBounty = r.u64(), r.u64()
	}
	a.TxoHash, a.AuthExpiry = r.hash(), r.u64()
	return a, r.err
}

// DecodeNumber reads the one number that deposits, withdrawals, refunds and the end
// of a fork take.
func DecodeNumber(args []byte) (uint64, error) {
	r := reader{data: args}
	return r.u64(), r.err
}

// DecodeSecret reads the arguments of a claim.
func DecodeSecret(args []byte) ([]byte, error) {
	r := reader{data: args}
	secret := r.take(r.length(1))
	return secret, r.err
}

// DecodeWrite reads the arguments of write_data.
func DecodeWrite(args []byte) (offset uint32, data []byte, err error) {
	r := reader{data: args}
	offset = r.u32()
	data = r.take(r.length(1))
	return offset, data, r.err
}

// SubmitArgs are the arguments of the instructions that bring headers to a relay.
type SubmitArgs struct {
	Headers []bitcoin.Header // with heights that follow On
	On      StoredHeader
	Fork    uint64 // of the form for forks
	New     bool
}

// DecodeSubmitArgs reads the arguments of submit_block_headers,
// submit_short_fork_headers, or, if fork is set, submit_fork_headers.
func DecodeSubmitArgs(args []byte, fork bool) (a SubmitArgs, err error) {
	r := reader{data: args}
	raw := r.take(r.length(rawtx.HeaderSize) * rawtx.HeaderSize)
	if a.On, err = r.stored(); err != nil {
		return SubmitArgs{}, err
	}
	for i := 0; i < len(raw); i += rawtx.HeaderSize {
		height := a.On.Header.Height + 1 + uint32(len(a.Headers))
		h, err := bitcoin.ParseHeader(raw[i:i+rawtx.HeaderSize], height)
		if err != nil {
			return SubmitArgs{}, err
		}
		a.Headers = append(a.Headers, h)
	}
	if fork {
		a.Fork, a.New = r.u64(), r.flag()
	}
	return a, r.err
}

// DecodeRelayInitArgs reads the arguments of the relay's initialize: the header that
// it starts at.
func DecodeRelayInitArgs(args []byte) (h StoredHeader, err error) {
	r := reader{data: args}
	raw := r.take(rawtx.HeaderSize)
	height := r.u32()
	h.Work = new(big.Int).SetBytes(r.take(32))
	h.LastDiffAdjustment = r.u32()
	for i := range h.PrevTimes {
		h.PrevTimes[i] = r.u32()
	}
	if r.err != nil {
		return StoredHeader{}, r.err
	}
	h.Header, err = bitcoin.ParseHeader(raw, height)
	return h, err
}

// verifyArgs are the arguments of verify_transaction.
type verifyArgs struct {
	Proof         Proof
	Confirmations uint32
	In            StoredHeader
}

// DecodeVerifyArgs reads the arguments of verify_transaction.
func DecodeVerifyArgs(args []byte) (a verifyArgs, err error) {
	r := reader{data: args}
	a.Proof.TxID, a.Confirmations, a.Proof.Index = r.hash(), r.u32(), r.u32()
	for range r.length(32) {
		a.Proof.Path = append(a.Proof.Path, r.hash())
	}
	a.In, err = r.stored()
	return a, err
}

// DecodeHeightArgs reads the arguments of block_height.
func DecodeHeightArgs(args []byte) (value uint32, op HeightOp, err error) {
	r := reader{data: args}
	value, op = r.u32(), HeightOp(r.u32())
	return value, op, r.err
}

// length reads the number of elements of a list, which cannot be more than what is left.
func (r *reader) length(size int) int {
	n := int64(r.u32())
	if r.err == nil && n > int64(len(r.data)/size) {
		r.err = fmt.Errorf("a list of %d elements of %d bytes does not fit into %d bytes", n, size, len(r.data))
	}
	if r.err != nil {
		return 0
	}
	return int(n)
}

func (r *reader) stored() (StoredHeader, error) {
	raw := r.take(storedHeaderSize)
	if r.err != nil {
		return StoredHeader{}, errors.Join(errors.New("stored header"), r.err)
	}
	return decodeStoredHeader(raw)
}
