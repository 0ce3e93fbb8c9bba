package bitcoin

import (
	"context"
	"errors"
	"iter"
	"strings"

	"github.com/btcsuite/btcd/wire"
)

// ErrNotFound means that the backend does not know the block, transaction or
// node. It is an answer, not a failure; a backend that lags behind also returns
// it for recent blocks and transactions.
var ErrNotFound = errors.New("not found")

// RejectedError is a node's refusal of a transaction. It is an answer: retrying
// is pointless until the chain or the mempool changes.
type RejectedError struct {
	Code   int    // the node's error code, for example -25 (inputs missing or spent) or -26 (policy); 0 if it gave none
	Reason string // the node's message
}

// Error returns the node's message with a prefix.
func (e *RejectedError) Error() string { return "transaction rejected: " + e.Reason }

// Public has of the reason, which is the backend's text, the word of Bitcoin Core's that
// wallets know, if it has one.
func (e *RejectedError) Public() string {
	for _, word := range rejections {
		if strings.Contains(e.Reason, word) {
			return "transaction rejected: " + word
		}
	}
	return "transaction rejected"
}

// rejections are the words by which Bitcoin Core rejects what a wallet may have made.
var rejections = []string{
	"min relay fee not met", "mempool min fee not met", "insufficient fee", "max-fee-exceeded", "txn-mempool-conflict", "too-long-mempool-chain", "non-BIP68-final", "non-final",
	"bad-txns-inputs-missingorspent", "missing-inputs", "bad-txns-in-belowout", "mandatory-script-verify-flag-failed", "dust", "scriptpubkey", "tx-size",
}

// AlreadyKnown reports whether the transaction was refused because it is already
// in the mempool or in the chain, which counts as sent (protocol: bitcoin.md §4).
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

// Result is one entry of a batch answer: a value, or the error that explains
// why it is missing.
type Result[T any] struct {
	Value T
	Err   error
}

// Backend reads one Bitcoin network and broadcasts transactions to it. It is what swaps of any
// type need, and what every full node can tell. What only some can tell is an interface of its
// own, which a backend implements only if it can: [AddressIndex], [MempoolReader], [BlockReader],
// [Listener], [LightningGraph]. A backend that wraps another one has to pass those on, or it lacks
// them.
//
// Implementations are safe for concurrent use and hold no keys. They verify what
// they return as far as possible without being a full node: headers hash to their
// ids and link to each other, transactions hash to theirs, merkle proofs fold to
// the header's root, amounts lie within 0 and [rawtx.MaxMoney]. Data that fails
// such a check is discarded; an implementation with several sources then asks the
// next one.
//
// Errors: [ErrNotFound] where a method says so; a *fault.Error with code
// Unsupported for what this backend cannot provide, Upstream when no source
// gave a usable answer (the message says how each one failed), InvalidInput for
// an address of another network; the context's error if it ends first. Every
// method returns soon after its context ends, and applies its own timeout if
// the context has no deadline.
//
// Methods that take several ids return one [Result] for each, in the same order:
// one failure does not affect the others, and implementations should batch the
// requests. Identical concurrent calls are merged into one request. Immutable
// data may come from a bounded cache; the tip may be a few seconds old. Returned
// values may be shared: callers must not modify what they point to.
type Backend interface {
	// Network returns the network that the backend was created for. It sends no request. The
	// other methods check that a source serves it before they use its first answer.
	Network() Network

	// TipHeight returns the height of the best block.
	TipHeight(ctx context.Context) (uint32, error)
	// Header returns the header of a block, or ErrNotFound. The block need not
	// be in the best chain. The header is checked to hash to block; its height
	// is not checked.
	Header(ctx context.Context, block Hash) (Header, error)
	// HeadersFrom returns the headers of the best chain from a height on, ascending, linked and
	// with valid proof of work (see [CheckHeaders]). It returns at most max headers, fewer if the
	// tip is reached, and none without an error if from is above the tip.
	HeadersFrom(ctx context.Context, from uint32, max int) ([]Header, error)
	// InMainChain reports whether a block is in the best chain; it returns
	// false for an unknown block too.
	InMainChain(ctx context.Context, block Hash) (bool, error)

	// Txs returns transactions, confirmed or not. The error is ErrNotFound for
	// a transaction that is unknown, or has been dropped or replaced since.
	Txs(ctx context.Context, ids []Hash) []Result[*Tx]
	// MerkleProof returns the proof that a transaction is in a block, checked
	// against the block's header. It returns ErrNotFound if the transaction is
	// not in that block or the block is not in the best chain.
	MerkleProof(ctx context.Context, id, block Hash) (MerkleProof, error)
	// Outspends returns what spends each output.
	Outspends(ctx context.Context, ops []OutPoint) []Result[Spend]
	// Broadcast sends a transaction and returns its id. A transaction that the
	// network already has counts as sent. The error is a *RejectedError if the
	// node refused the transaction. After any other failure the implementation
	// looks the id up; if that fails too, the error means that it is unknown
	// whether the transaction was sent. Sending the same bytes again is safe.
	Broadcast(ctx context.Context, raw []byte) (Hash, error)

	// AddressUTXOs returns the unspent outputs of an address in no particular
	// order, without those that an unconfirmed transaction spends.
	AddressUTXOs(ctx context.Context, a Address) ([]UTXO, error)

	// FeeRates returns the recommended fee rates in sat/vB. Rates that
	// cannot be, by [FeeRates.Check], are refused.
	FeeRates(ctx context.Context) (FeeRates, error)
}

// AddressIndex is implemented by backends that can list the transactions of an address. Swaps
// that are paid to an address on Bitcoin need one: FROM_BTC and TRUSTED_FROM_BTC.
type AddressIndex interface {
	// AddressTxs yields the transactions that pay to or spend from an address,
	// unconfirmed ones first, then by falling height, fetching pages as the
	// caller iterates. An error ends the sequence.
	AddressTxs(ctx context.Context, a Address) iter.Seq2[*Tx, error]
}

// MempoolReader is implemented by backends that know what waits in the mempool, and what it pays.
// With others, the fees of unconfirmed parents are not made up for, and there is no estimate of
// when a transaction will be confirmed.
type MempoolReader interface {
	// CPFPs returns the effective fee rates of unconfirmed transactions
	// together with their ancestors; nil for a transaction that is confirmed or
	// unknown, or of which the server that was asked tells nothing.
	CPFPs(ctx context.Context, ids []Hash) []Result[*CPFP]
	// ProjectedBlocks returns the blocks that the mempool would fill now, the
	// next one first; empty when the mempool is empty or the server that was asked tells nothing of it.
	ProjectedBlocks(ctx context.Context) ([]ProjectedBlock, error)
}

// Listener is implemented by backends that can be told of new blocks. What they are told is a
// hint: they ask what it means, by the rules for all that they ask.
type Listener interface {
	// Follow listens until ctx ends, and calls deliver with those transactions of new blocks of
	// which Unchanged was asked before. It asks once a minute what it may have missed, while
	// Unchanged is asked.
	Follow(ctx context.Context, deliver func(confirmed []Hash)) error
	// Heard marks what was heard so far. 0 says that nothing is heard now.
	Heard() uint64
	// Unchanged reports whether nothing was heard that changes a transaction since it was asked
	// for, after heard was marked: that it was confirmed, or, if it was, that there is another
	// block. What happens to it without a block is not heard, so that it must be asked for
	// again after a time. asOf is the height of the newest block, up to which that was asked
	// for. It sends no request.
	Unchanged(tx *Tx, heard uint64) (asOf uint32, ok bool)
	// Subscriptions returns the state of each WebSocket URL, in their order, or of what else tells
	// of blocks. It sends no request.
	Subscriptions() []Subscription
}

// Subscription is the state of the connection to one WebSocket URL, or of a long poll.
type Subscription struct {
	Alive    bool   // it is subscribed, and new blocks come
	Lost     uint64 // connections that ended, or could not be opened, since the URL was configured
	Messages uint64 // since then
}

// BlockReader is implemented by backends that can read whole blocks.
type BlockReader interface {
	// BlockHash returns the hash of the block at a height of the best chain, or ErrNotFound.
	BlockHash(ctx context.Context, height uint32) (Hash, error)
	// Block returns a block, in the best chain or not, as [ParseBlock] checks it, or
	// ErrNotFound. Nothing of it is kept for the next call.
	Block(ctx context.Context, block Hash) (*wire.MsgBlock, error)
}

// LightningGraph is implemented by backends that also know the public Lightning
// channels.
type LightningGraph interface {
	// NodeLiquidity returns the public channels and capacity of a node, or
	// ErrNotFound. publicKey is 33 bytes in hex.
	NodeLiquidity(ctx context.Context, publicKey string) (*NodeLiquidity, error)
}
