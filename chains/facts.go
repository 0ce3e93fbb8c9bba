package chains

import (
	"math/big"
	"time"

	"github.com/swapper-go/swapper/chains/bitcoin"
)

// EscrowState is the contract's state of an escrow hash. A hash is used only
// once: a claimed or refunded escrow cannot be opened again.
type EscrowState int

const (
	EscrowNone EscrowState = iota // never opened
	EscrowOpen
	EscrowClaimed
	EscrowRefunded
)

func (s EscrowState) String() string {
	return [...]string{"none", "open", "claimed", "refunded"}[s&3]
}

// EscrowQuery asks for one escrow: by its data or, if that is unknown, by claim
// hash, parties and height.
type EscrowQuery struct {
	Escrow *Escrow

	ClaimHash        []byte // if Escrow is nil
	Offerer, Claimer string
	// From is the lowest height at which it can have been opened. With an Escrow it is not
	// needed, and saves a round trip where that was lately; the time of the block may then be
	// left out.
	From uint64

	Auth    *Auth  // also report the state of the authorisation to open it
	FeeRate string // with Auth, as sent to the LP

	Settled bool // ask all nodes of the chain, see [ContradictionError]
}

// EscrowFact is the raw answer to an [EscrowQuery].
type EscrowFact struct {
	Err    error // this query was not answered; others of the batch may be
	State  EscrowState
	Escrow *Escrow // found by claim hash; nil if none or if asked by data
	Head   Block   // the block that the answer was read at
	Final  bool    // final by the chain's own rule; never if Unsettled

	// Unsettled says that the chain has several nodes, and that this is the word of
	// one of them: it is never Final. It is always false in the answer to a settled query.
	Unsettled bool

	// Witnesses is how many nodes say so, in the answer to a settled query of a chain with
	// several nodes; else 0. It takes two to accuse an LP.
	Witnesses int

	InitTx, ClaimTx, RefundTx string // ids of transactions, empty when unknown
	Result                    []byte // claimed: the preimage, or the Bitcoin transaction id in internal order; unverified
	Opened, Finished          Block  // zero when it did not happen or is unknown

	Auth AuthState
}

// AuthState is the state of an authorisation at the head of a fact.
type AuthState int

const (
	AuthUnknown AuthState = iota // not asked
	AuthGood                     // a transaction sent now will be accepted
	AuthLate                     // too late to start, but a transaction already sent may still be accepted
	AuthOver                     // by the chain's own clock, nothing can be accepted any more
)

// Grace periods around an escrow's expiry: the claimer stops early, the offerer
// refunds late (protocol: swap-flows-escrow.md §3.2).
const (
	ClaimGrace  = 600 * time.Second
	RefundGrace = 600 * time.Second
	AuthGrace   = 30 * time.Second // an authorisation must be good for this much longer to be used
)

// ContradictionError is the error of a settled query to whose answer a node of the chain
// objects. A settled query goes to all nodes of a chain. Its answer is what at least half
// of the configured ones (rounded up) say, or all of them where [Env].AllNodes demands
// it, and what no other contradicts. A node that lags behind contradicts nothing, and does
// not count among those that say it. Within an error of the code fault.Upstream, as is the
// other one that says that too few nodes answer.
type ContradictionError struct {
	About string // the escrow, the vault, ...
	Open  bool   // at least one node says that the escrow is open
}

func (e *ContradictionError) Error() string {
	return "the nodes of the chain contradict each other about " + e.About + "; nothing that cannot be undone is done until they agree"
}

// Public returns the same: it names no node.
func (e *ContradictionError) Public() string { return e.Error() }

// TxState is the state of a transaction.
type TxState int

const (
	TxUnknown   TxState = iota // unknown to the node; it may be on its way
	TxPending                  // known, but not in a block that counts
	TxConfirmed                // executed successfully
	TxReverted                 // executed without effect
	TxReplaced                 // can never be mined
)

func (s TxState) String() string {
	return [...]string{"unknown", "pending", "confirmed", "reverted", "replaced", "", "", ""}[s&7]
}

// TxStatus is the state of one transaction.
type TxStatus struct {
	State  TxState
	Block  Block  // when confirmed or reverted
	Reason string // when reverted, the chain's reason; may be empty
	Final  bool
	// Fee is what its sender paid to the network, in base units of the native token, when
	// confirmed or reverted; nil where the node does not say. On Solana it follows from the
	// transaction itself, with the rent of token accounts that it creates, and is nil if only
	// its ID is known.
	Fee *big.Int
}

// Payout is what a transaction pays to an address.
type Payout struct {
	// Amount is in base units of the native token: 0 if the transaction does not pay that
	// address, or is unknown.
	Amount *big.Int
	// Witnesses is how many nodes say that the transaction was executed and pays this, as
	// in [EscrowFact].
	Witnesses int
}

// LPFunds is an LP's balance in the contracts, in base units of one token.
type LPFunds struct {
	Balance    *big.Int
	Reputation map[Kind]Reputation
}

// Reputation counts how an LP's escrows of one kind and token ended.
type Reputation struct {
	Successes, CoopCloses, Failures               uint64
	SuccessVolume, CoopCloseVolume, FailureVolume *big.Int
}

// Past is one swap found in a chain's history. Either Escrow or Withdrawal is set.
type Past struct {
	Escrow     *Escrow
	Fact       EscrowFact // with Escrow
	Withdrawal *PastWithdrawal
}

// PastWithdrawal is a payout of a vault found in a chain's history.
type PastWithdrawal struct {
	Version   string
	Owner     string
	VaultID   *big.Int
	BitcoinTx bitcoin.Hash
	Recipient string
	Raw       [2]uint64
	Fact      WithdrawalFact
}
