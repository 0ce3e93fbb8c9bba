package bitcoin

import (
	"context"
	"errors"
	"iter"
	"strings"

	"github.com/swapper-go/swapper/fault"
)

// ErrNotFound is the answer that the block, transaction or node does not exist,
// as far as the backend knows. It is an answer, not a failure: a lagging backend
// gives it for what happened lately.
var ErrNotFound = errors.New("not found")

// RejectedError is a node's refusal of a transaction. It is an answer: repeating
// the call is pointless as long as the chain and the mempool do not change.
type RejectedError struct {
	Code   int    // of the node, as in -25 (inputs missing or spent) and -26 (policy); 0 when it gave none
	Reason string // the node's words
}

// Error returns the node's words.
func (e *RejectedError) Error() string { return "transaction rejected: " + e.Reason }

// AlreadyKnown reports whether the refusal says that the node or the chain has the
// transaction already, which is as good as sent (protocol: bitcoin.md §4).
func (e *RejectedError) AlreadyKnown() bool {
	const alreadyInChain = -27
	if e.Code == alreadyInChain {
		return true
	}
	reason := strings.ToLower(e.Reason)
	for _, words := range []string{
		"txn-already-known", "txn-already-in-mempool", "txn-same-nonwitness-data-in-mempool", "already in block chain", "already in blockchain",
		"already have transaction", "already exists in blockchain", "already in utxo set",
	} {
		if strings.Contains(reason, words) {
			return true
		}
	}
	return false
}

// Result is the answer to one of several questions that were asked together:
// a value, or why there is none.
type Result[T any] struct {
	Value T
	Err   error
}

// Backend tells about one Bitcoin network and sends transactions to it.
//
// Implementations are safe for concurrent use, take part in no consensus, and
// hold no key. Whatever they return is checked as far as it can be: headers
// hash to their ids and link to each other, transactions hash to theirs, merkle
// proofs fold to the header's root, amounts lie within 0 and [rawtx.MaxMoney]. What
// fails such a check is no answer; an implementation with several sources asks
// the next one.
//
// Errors: [ErrNotFound] where a method says so; a *fault.Error with code
// Unsupported for what this backend cannot know, Upstream when no source gave a
// usable answer (the message says what each one did), InvalidInput for an
// address of another network; the context's error when it ends first. Every
// method returns soon after its context ends, and bounds its own waiting if the
// context has no deadline.
//
// Methods that take several ids answer in their order, one [Result] each: one
// failure does not spoil the others, and an implementation asks for all of them
// together. Identical questions of concurrent callers are asked once. Facts that
// cannot change may come from a bounded cache; the tip may be a few seconds old.
// All values returned may be shared: callers must not change what they point to.
type Backend interface {
	// Network returns the network that the backend was made for. No request.
	Network() Network
	// CheckNetwork asks for block 0 and returns an error unless it is the genesis
	// block of Network. Other methods check each source by themselves before its
	// first answer counts.
	CheckNetwork(ctx context.Context) error

	// TipHeight returns the height of the best block.
	TipHeight(ctx context.Context) (uint32, error)
	// BlockHash returns the hash of the block at a height of the best chain, or ErrNotFound.
	BlockHash(ctx context.Context, height uint32) (Hash, error)
	// Header returns the header of a block, also of one outside of the best
	// chain if the backend knows it, or ErrNotFound. The header hashes to block;
	// its height is what the backend says.
	Header(ctx context.Context, block Hash) (Header, error)
	// HeadersFrom returns the headers of the best chain from a height on,
	// ascending, linked and with proof of work as [CheckHeaders] demands, at most
	// max and none above the tip. Fewer than asked for means that the tip was reached; none is no error.
	HeadersFrom(ctx context.Context, from uint32, max int) ([]Header, error)
	// InMainChain reports whether a block is in the best chain; false also for one that is unknown.
	InMainChain(ctx context.Context, block Hash) (bool, error)

	// Txs returns transactions, confirmed or not. Unknown, or known once and
	// dropped or replaced since: ErrNotFound.
	Txs(ctx context.Context, ids []Hash) []Result[*Tx]
	// MerkleProof proves that a transaction stands in a block. The proof is
	// checked against the block's header. Not in that block, or the block is not
	// in the best chain: ErrNotFound.
	MerkleProof(ctx context.Context, id, block Hash) (MerkleProof, error)
	// Outspends tells what spends each output.
	Outspends(ctx context.Context, ops []OutPoint) []Result[Spend]
	// Broadcast sends a transaction and returns its id. A transaction that the
	// network already has counts as sent. Refused by the node:
	// *RejectedError. After any other failure the id has been looked up; an
	// error then means that nobody knows whether it went out, and sending the
	// same bytes again is safe.
	Broadcast(ctx context.Context, raw []byte) (Hash, error)

	// AddressTxs yields the transactions that pay to or spend from an address,
	// unconfirmed ones first, then by falling height, page by page as the caller
	// goes on. It ends with an error, if any.
	AddressTxs(ctx context.Context, a Address) iter.Seq2[*Tx, error]
	// AddressUTXOs returns the unspent outputs of an address in no certain
	// order; what an unconfirmed transaction spends is not among them.
	AddressUTXOs(ctx context.Context, a Address) ([]UTXO, error)
	// AddressBalance returns sats: what confirmed outputs hold, and by how much
	// unconfirmed transactions would change that (negative when they spend).
	AddressBalance(ctx context.Context, a Address) (confirmed, unconfirmed int64, err error)

	// FeeRates returns the advised fee rates.
	FeeRates(ctx context.Context) (FeeRates, error)
	// CPFPs returns what unconfirmed transactions weigh and pay with their
	// ancestors; nil for one that is confirmed or unknown, or when the backend
	// has no such data.
	CPFPs(ctx context.Context, ids []Hash) []Result[*CPFP]
	// ProjectedBlocks returns the blocks that the mempool would fill now, the
	// next one first; empty when the mempool is empty or the backend has no such data.
	ProjectedBlocks(ctx context.Context) ([]ProjectedBlock, error)
}

// LightningGraph is an ability of some backends: to know the public Lightning
// channels.
type LightningGraph interface {
	// NodeLiquidity returns what the graph says about a node, or ErrNotFound.
	// publicKey is 33 bytes in hex.
	NodeLiquidity(ctx context.Context, publicKey string) (*NodeLiquidity, error)
}

// GetTx asks for one transaction; see [Backend].Txs.
func GetTx(ctx context.Context, b Backend, id Hash) (*Tx, error) {
	r := b.Txs(ctx, []Hash{id})[0]
	return r.Value, r.Err
}

// GetOutspend asks for the fate of one output; see [Backend].Outspends.
func GetOutspend(ctx context.Context, b Backend, op OutPoint) (Spend, error) {
	r := b.Outspends(ctx, []OutPoint{op})[0]
	return r.Value, r.Err
}

// GetCPFP asks about one unconfirmed transaction; see [Backend].CPFPs.
func GetCPFP(ctx context.Context, b Backend, id Hash) (*CPFP, error) {
	r := b.CPFPs(ctx, []Hash{id})[0]
	return r.Value, r.Err
}

// CheckAddress returns an InvalidInput error unless a is an address of n; it is
// for implementations of [Backend].
func CheckAddress(a Address, n Network) error {
	if a.IsZero() {
		return fault.Invalid("address", "is required")
	}
	if _, err := ParseAddress(a.String(), n); err != nil {
		return fault.Invalid("address", "%w", err)
	}
	return nil
}
