package chains

import (
	"context"
	"encoding/json"
	"math/big"
	"time"

	"github.com/swapper-go/swapper/chains/bitcoin"
)

// Contract is one contract set of a chain: escrow manager, claim and refund
// handlers, relay. A set with vaults is also a [VaultContract]. All its
// addresses come from the configuration, never from an LP.
type Contract interface {
	Version() string

	// Expect builds the agreed escrow. Pure. Errors are about fields of the
	// spec that the chain cannot express.
	Expect(spec Spec) (Escrow, error)

	// Decode reads the chain's JSON of an escrow, validating every member. Pure,
	// bounded, never panics.
	Decode(data json.RawMessage) (Escrow, error)

	// Diff compares a received escrow with the expected one, field by field,
	// contract addresses included, apart from what may differ.
	// Returns a *DiffError. Pure.
	Diff(want, got Escrow, may Tolerance) error

	// ClaimHash returns the claim hash of a condition. Pure.
	ClaimHash(c Condition) ([]byte, error)

	// ClaimHashText is a claim hash as swap ids and the LP protocol write it:
	// hex without prefix. Pure.
	ClaimHashText(hash []byte) string

	// Public returns the escrow as the REST API shows it (escrow.data). Pure.
	Public(e Escrow) (json.RawMessage, error)

	// VerifyInit checks an LP's authorisation for sender to open the escrow,
	// and returns the time until which it can be used.
	// Errors: *AuthError if it is not valid.
	VerifyInit(ctx context.Context, e Escrow, auth Auth, feeRate, sender string) (usableUntil time.Time, err error)

	// VerifyRefund checks an LP's authorisation to refund the escrow now. Errors: *AuthError.
	VerifyRefund(ctx context.Context, e Escrow, auth Auth) error

	// Escrows answers a batch of queries, in their order.
	Escrows(ctx context.Context, queries []EscrowQuery) ([]EscrowFact, error)

	// Build creates the transactions of a plan as the strings used in the REST
	// API, with nonces, fees and whatever else the chain dictates. Two builds
	// of one plan differ only in these.
	Build(ctx context.Context, plan Plan) (Unsigned, error)

	// Check decodes what a wallet signed and requires that it matches the plan:
	// chain, signer, contracts, calls, escrow, amounts, order. Approvals and
	// relay headers may be missing (they may have been sent before), nothing
	// may be added. Errors have the code fault.InvalidInput and name
	// signedTxs[i]. Pure.
	Check(plan Plan, signed []string) ([]Signed, error)

	// Admit asks the chain whether transactions that passed Check can be
	// executed as they are: their fees cover what the latest block requires,
	// nothing that has to come before is missing (transactions with lower
	// nonces, approvals), and the contract would not refuse them. Transactions
	// that contain a preimage are not shown to a node for this, and those that
	// the network already has are skipped. Errors with the code
	// fault.InvalidInput name signedTxs[i]; with fault.InvalidState, the
	// contract would refuse the requested action itself; after any other error
	// the result is unknown.
	Admit(ctx context.Context, plan Plan, txs []Signed) error

	// IDs returns the ids of signed transactions without checking them, to
	// recognise a repeated submission. Pure.
	IDs(signed []string) ([]string, error)

	// Liquidity returns how much an LP can pay out of its balance in the
	// contract.
	Liquidity(ctx context.Context, lp, token string) (LPFunds, error)

	// Estimate returns what a step costs in base units of the native token, at
	// the given fee rate or, if it is empty, at the current one.
	Estimate(ctx context.Context, cost Cost, feeRate string) (*big.Int, error)
}

// RelayContract is implemented by contract sets that say how far their relay is. Those
// without vaults need it for quotes of FROM_BTC, in which whoever claims is paid for
// the headers that are missing.
type RelayContract interface {
	Contract

	// RelayTip returns the height up to which the relay has Bitcoin's headers.
	RelayTip(ctx context.Context) (uint32, error)
}

// PaymentList is implemented by contract sets whose escrows publish which bitcoin payment they wait
// for, so that whoever is paid for a claim can find both.
type PaymentList interface {
	Contract

	// AwaitedPayments returns escrows that were opened from a cursor on to wait for a bitcoin
	// payment, oldest first, the hashes of those that ended, and the cursor to ask from next. An
	// empty cursor begins some time back. A call reads a part of a long history; it is at the end
	// once the cursor stays the same. One node says it, and of what waits for what, whoever opened
	// the escrow: [Contract.Escrows] tells whether it is open, and the [Condition] of a payment by
	// [Contract.ClaimHash] whether that opens it.
	AwaitedPayments(ctx context.Context, from Cursor) (opened []AwaitedPayment, ended [][]byte, next Cursor, err error)
}

// StepKind is the kind of a step in a plan.
type StepKind int

const (
	StepInit         StepKind = iota // open an escrow with an LP's authorisation
	StepClaimSecret                  // claim an HTLC by its preimage
	StepClaimBitcoin                 // claim by proof of a Bitcoin transaction
	StepRefund                       // refund after the expiry
	StepRefundAuth                   // refund early with the LP's authorisation
	StepVaultClaim                   // make a vault pay a withdrawal, and those before it
	StepRelayHeader                  // store a Bitcoin header; an expense of claims, and no step of a plan
)

func (k StepKind) String() string {
	return [...]string{"init", "claim with secret", "claim with Bitcoin proof", "refund", "refund with authorization", "vault claim", "relay header", ""}[k&7]
}

// Plan is what a wallet is asked to sign. Steps are executed in order, each
// confirmed before the next.
type Plan struct {
	SwapID  string // nonces are kept per swap, so that polls repeat them
	Seed    Seed   // for everything random in the transactions
	Signer  string // canonical address that signs and pays; "" in Check: any, the same for all transactions
	FeeRate string // "": the current one; StepInit requires the one that the LP signed for
	Steps   []Step

	// Replaces are pending transactions that the plan replaces. As far as they
	// are by the same signer, Build and Check ensure that only one of the two
	// can be executed, and that nodes prefer the new one: on EVM the same nonce
	// and a higher fee, on Solana a block hash after the end of the other's, on
	// Starknet the same nonce and higher bounds.
	Replaces []Signed
}

// Step is one step of a plan. Which fields count depends on the kind.
type Step struct {
	Kind     StepKind
	Escrow   Escrow        // all but StepVaultClaim
	Auth     Auth          // StepInit (may be zero where none is needed), StepRefundAuth
	Preimage Preimage      // StepClaimSecret
	Public   bool          // StepClaimSecret: however late it is: others may know the preimage, or the user takes the risk
	Payment  *Payment      // StepClaimBitcoin
	Vault    *VaultPayment // StepVaultClaim
}

// Payment is the Bitcoin transaction that fulfils an escrow's condition.
type Payment struct {
	Raw           []byte // with or without witness
	TxID          bitcoin.Hash
	Vout          uint32
	Block         bitcoin.Hash // hash of the block that holds it
	Height        uint32
	Confirmations uint16 // required by the escrow
	Condition     Condition
}

// VaultPayment is the withdrawal to be claimed from a vault.
type VaultPayment struct {
	Owner string
	ID    *big.Int
	TxID  bitcoin.Hash // of the withdrawal; the ones before it are found by the chain
}

// Unsigned is a built plan.
type Unsigned struct {
	Txs    []string // in order of execution, as currentAction.txs carries them
	Signer string   // currentAction.requiredSigner
}

// Signed is a transaction that passed [Contract.Check].
type Signed struct {
	ID      string
	Raw     []byte // as it is broadcast
	From    string
	Nonce   uint64 // EVM, Starknet
	Step    int    // index into Plan.Steps
	Reveals bool   // publishes a preimage: not to be sent before the escrow is final
	// MaxFee is the most that the network can charge for it, in base units of the native
	// token, with the rent of token accounts that it creates, but without its value, deposits
	// and what a rollup charges for its own chain's data. It is not stored.
	MaxFee *big.Int `json:"-"`
}

// Cost names an expense for [Contract.Estimate]: of [StepInit] the opening of the most
// expensive pay-in escrow, which a wallet must keep in reserve; of a claim what it costs a
// watchtower, with deposit and bounty, and of a vault's withdrawal in the most expensive
// case; of [StepRelayHeader] the storing of one Bitcoin header. Other steps have no cost.
type Cost struct {
	Kind  StepKind
	Token string // the swap's token
	Payer string // the sender
}
