// Package chains defines what the swap engine needs from a smart chain:
// interfaces, and neutral values that every chain family (EVM, Solana,
// Starknet) can provide.
//
// A chain lives in a folder of its own (chains/evm, ...) and is passed in by the
// caller as a [Factory]; this package has no list of chains. Bitcoin and Lightning
// are not smart chains: the engine uses chains/bitcoin and internal/lightning
// directly.
//
// The three families differ considerably: an LP authorisation is typed data on
// EVM and Starknet but the signature of the whole first transaction on Solana;
// one action is a single transaction on one chain and a series of dependent
// ones on another; an account may be a contract that must be deployed first.
// All of that stays behind [Contract.Build] and [Contract.Check]: the engine
// describes what is to happen as a [Plan] and gets the transactions that a
// wallet signs.
//
// A chain's answers are only as reliable as its node: each answer names the
// head at which it was read, the engine recognises negative answers from a
// lagging node, and everything that comes from a log or an LP (a preimage, a
// Bitcoin transaction id, escrow data) is unverified until it has been checked.
package chains

import (
	"context"
	"io"
	"iter"
	"log/slog"
	"math/big"
	"net/http"
	"time"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/tokens"
)

// Factory creates a chain when the client is opened. It is what callers pass
// in: evm.Citrea(evm.Options{RPC: ...}).
type Factory interface {
	// ID returns the chain identifier as in token ids: CITREA, SOLANA, STARKNET, ...
	ID() string

	// Open connects and verifies that the node serves the right network; it
	// fails if the chain has no contracts for env.Network, or if a node serves
	// another network. A node that does not respond is not an error: Open then
	// takes a few seconds at most, and the chain verifies the node once it
	// responds and returns errors until then. Open returns before ctx ends and
	// leaves nothing running when it fails. A Chain that holds resources
	// implements io.Closer.
	Open(ctx context.Context, env Env) (Chain, error)
}

// Env is what a chain gets from the client. No field is nil.
type Env struct {
	Network bitcoin.Network // the Bitcoin network whose deployment to use
	Bitcoin bitcoin.Backend // for proofs and relay headers
	Now     func() time.Time
	Rand    io.Reader         // cryptographically secure
	HTTP    http.RoundTripper // for RPC requests; deadlines are the chain's own
	Log     *slog.Logger      // its lines already carry the chain's id
	// AllNodes demands that all configured nodes confirm the answer to a settled query,
	// instead of half of them (see [ContradictionError]).
	AllNodes bool
	Notes    Notes // the chain's own small durable blobs
}

// Notes are small durable blobs with compare-and-set, private to one chain: scan
// heights, known vault parameters, data accounts. The first version of a name is
// 0; SetNote with a version that is not the stored one returns
// storage.ErrConflict.
type Notes interface {
	Note(ctx context.Context, name string) (value []byte, version uint64, err error)
	SetNote(ctx context.Context, name string, value []byte, version uint64) error
}

// Chain is one smart chain on one network. All methods are safe for concurrent
// use; those with a context return at the latest when it ends. Each
// implementation documents the number of sequential round trips of each method,
// and chaintest counts them.
type Chain interface {
	// Info returns constants. No round trip.
	Info() Info

	// Address returns the canonical form of an address, which is the form that
	// escrows, lists and comparisons use. The zero address is always refused.
	// What may be a mistyped address of another chain is refused. Errors have the
	// code fault.InvalidInput. No round trip.
	Address(s string) (canonical string, err error)

	// TokenAddress returns the canonical form of a token's address. Unlike
	// Address, it accepts the address that denotes the native token. No round
	// trip.
	TokenAddress(s string) (canonical string, err error)

	// Contract returns the contract set with the given version; "" is "v1".
	Contract(version string) (Contract, bool)

	// VerifyData checks the signature by which an LP proves that it holds the
	// address signer (protocol: lp-protocol.md §2.3). A signature that does not
	// verify is an *AuthError; any other error means that the question could not
	// be answered.
	VerifyData(ctx context.Context, signer string, data []byte, signature string) error

	// Balance returns owner's balance of a token, in base units, at the latest
	// block.
	Balance(ctx context.Context, owner, token string) (*big.Int, error)

	// FeeRate returns the current fee rate as the chain's own string (protocol:
	// utilities.md §10). It is stored with a swap and passed back unchanged.
	FeeRate(ctx context.Context) (string, error)

	// CheckFeeRate refuses a text that is not a valid fee rate of this chain.
	// Errors have the code fault.InvalidInput. No round trip.
	CheckFeeRate(s string) error

	// Heads returns the latest block and the latest one that counts as final.
	Heads(ctx context.Context) (Heads, error)

	// Send broadcasts a checked transaction. It succeeds if the network already
	// has the transaction. An error with the code fault.InvalidState means that
	// the network did not accept the transaction and will not accept it as it
	// is (its nonce is used, its block hash is too old, its fee is too low, its
	// sender cannot pay for it), so that another one has to be signed; after
	// any other error the transaction may or may not be in the network, and
	// Send may be called again with the same value.
	Send(ctx context.Context, tx Signed) error

	// Status returns the states of transactions, in their order. A transaction
	// of which only the ID is set can be asked for too; it is never reported as
	// Replaced.
	Status(ctx context.Context, txs []Signed) ([]TxStatus, error)

	// Hints reports events of the contracts, from the cursor on, until ctx
	// ends. A hint is not a fact: the engine checks what it points to. Each is
	// delivered at least once; deliver is called with the cursor to continue
	// from, which the caller stores only after it has acted; if deliver returns
	// an error, Hints ends with it. An empty cursor starts at the head. A
	// node's failures are retried with growing pauses, not returned. A chain may
	// hear of events over WebSocket (see [Subscriptions]); it then asks its nodes
	// when it has heard something, and otherwise less often.
	Hints(ctx context.Context, from Cursor, deliver func([]Hint, Cursor) error) error

	// History yields every escrow and every vault withdrawal in which signer is
	// a party, from the given height on, oldest first, for rebuilding a lost
	// store. An error ends the sequence.
	History(ctx context.Context, signer string, from uint64) iter.Seq2[Past, error]
}

// RandomAddresser is implemented by chains that can make up an address, for
// requests to LPs that only explore their limits and never become swaps.
type RandomAddresser interface {
	// RandomAddress returns a canonical address whose key does not exist. Pure.
	RandomAddress(rand io.Reader) (string, error)
}

// Payouts is implemented by chains that can tell what a transaction pays to an
// address in the native token, so that an LP's claim can be verified.
type Payouts interface {
	// Paid returns what an executed transaction itself transfers to an address. All nodes of
	// the chain are asked, as for a settled query (see [ContradictionError]). One round trip.
	Paid(ctx context.Context, txID, to string) (Payout, error)
}

// Contradictions is implemented by chains that ask several nodes.
type Contradictions interface {
	// Contradictions returns, for each configured node, in which of the settled questions
	// since the chain was opened other nodes contradicted it. Of two that contradict each
	// other, both count. No round trip.
	Contradictions() []uint64
}

// Subscriptions is implemented by chains that can hear of events over WebSocket.
type Subscriptions interface {
	// Subscriptions returns the state of each WebSocket URL, in their order. A subscription
	// begins with Hints, which one process of those on a store calls. No round trip.
	Subscriptions() []bitcoin.Subscription
	// Heard marks for how long nodes have been heard without a break. Another mark, later, says
	// that something may have been missed. 0 says that nothing is heard now, or that something
	// was told of the contracts and not asked for yet; what was told between two equal marks
	// was asked for, and given to Hints. No round trip.
	Heard() uint64
}

// Info holds the constants of a chain.
type Info struct {
	ID       string
	Tokens   []tokens.Token
	Native   tokens.Token
	Versions []Version
	Default  string // the contract version that new swaps use, by which routes are chosen
	// Contracts are the addresses of the network's own contracts on the chain,
	// which cannot be recipients.
	Contracts []string
	// GasDropNative says that a gas drop is possible even if the destination
	// token is the native one (protocol: swap-flows-spv-and-core.md A4).
	GasDropNative bool
}

// Version describes one contract set of a chain.
type Version struct {
	Name    string // "v1", "v2"
	LPInit  bool   // an LP can open an escrow for the user on its own: FROM_BTCLN_AUTO
	Vaults  bool   // SPV vaults: SPV_VAULT_FROM_BTC; then the Contract is a VaultContract
	Streams bool   // LP answers carry data to fetch ahead (protocol: lp-protocol.md §3.2, signDataPrefetch)
}

// Heads are the two relevant blocks at the end of a chain.
type Heads struct {
	Latest Block
	Final  Block // by the chain's own rule of finality
}

// Block names a block.
type Block struct {
	Height uint64
	Hash   string
	Time   int64 // Unix seconds, the chain's clock
}

// Cursor is a position in a chain's events. Its bytes are opaque to everyone
// but the chain.
type Cursor []byte

// Hint says that something may have happened to a swap. Which fields are set
// depends on the event.
type Hint struct {
	Version    string
	EscrowHash []byte
	ClaimHash  []byte       // with an opened escrow, for swaps whose escrow hash is not known yet
	BitcoinTx  bitcoin.Hash // a vault fronted, claimed or closed for this transaction; zero if none
	TxID       string       // of the smart-chain transaction
}
