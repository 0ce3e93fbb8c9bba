package chains

import (
	"context"
	"encoding/json"
	"log/slog"
	"math/big"

	"github.com/swapper-go/swapper/chains/bitcoin"
)

// Contract is one contract set of a chain: escrow manager, claim and refund
// handlers, relay. A set with vaults is also a [VaultContract]. All addresses
// that it uses are configuration, never taken from an LP.
type Contract interface {
	Version() string

	// Expect builds the escrow that is agreed on. Pure. Errors are about spec
	// members that the chain cannot express.
	Expect(spec Spec) (Escrow, error)

	// Decode reads the chain's JSON of an escrow, validating every member. Pure,
	// bounded, never panics.
	Decode(data json.RawMessage) (Escrow, error)

	// Diff compares an escrow that somebody claims with the one expected, member
	// by member, contract addresses included. What may differ is named. Returns
	// a *DiffError. Pure.
	Diff(want, got Escrow, may ...Field) error

	// ClaimHash returns the claim hash of a condition. Pure.
	ClaimHash(c Condition) ([]byte, error)

	// ClaimHashText is the form in which swap ids and the LP protocol carry a
	// claim hash: hex without prefix. Pure.
	ClaimHashText(hash []byte) string

	// Public returns the escrow as the REST API shows it (escrow.data). Pure.
	Public(e Escrow) (json.RawMessage, error)

	// VerifyInit checks an LP's authorisation for sender to open the escrow, and
	// returns the Unix time in milliseconds until which it can be used. Errors:
	// *AuthError if it is no good.
	VerifyInit(ctx context.Context, e Escrow, auth Auth, feeRate, sender string) (usableUntilMS int64, err error)

	// VerifyRefund checks an LP's authorisation to refund the escrow now. Errors: *AuthError.
	VerifyRefund(ctx context.Context, e Escrow, auth Auth) error

	// Escrows answers many questions in one batch, in their order.
	Escrows(ctx context.Context, queries []EscrowQuery) ([]EscrowFact, error)

	// Build makes the transactions of a plan as the strings that the REST API
	// carries, with nonces, fees and whatever else the chain dictates. Two
	// builds of one plan differ only in that.
	Build(ctx context.Context, plan Plan) (Unsigned, error)

	// Check decodes what a wallet signed and demands that it is what the plan
	// asks for: chain, signer, contracts, calls, escrow, amounts, order. Approvals
	// and relay headers may be missing (they may have been sent before), nothing
	// may be added. Errors have the code fault.InvalidInput and name
	// signedTxs[i]. Pure.
	Check(plan Plan, signed []string) ([]Signed, error)

	// Admit asks the chain whether what passed Check can be executed as it is: its fee
	// covers what the newest block demands, nothing that has to come before it is
	// missing (transactions with lower nonces, approvals), and the contract would not
	// refuse it. What shows a preimage is not shown to a node for this, and of what
	// the network has already nothing is asked. Errors with the code
	// fault.InvalidInput name signedTxs[i]; with fault.InvalidState the contract would
	// refuse what was asked for; after any other error it is not known.
	Admit(ctx context.Context, plan Plan, txs []Signed) error

	// IDs returns the ids of signed transactions without judging them, to
	// recognise a repeated submission. Pure.
	IDs(signed []string) ([]string, error)

	// Liquidity returns what an LP can pay out of its balance in the contract.
	Liquidity(ctx context.Context, lp, token string) (LPFunds, error)

	// Estimate returns what a step costs in base units of the native token, at
	// the given fee rate or, if it is empty, at the current one.
	Estimate(ctx context.Context, cost Cost, feeRate string) (*big.Int, error)
}

// StepKind is what one step of a plan does.
type StepKind int

const (
	StepInit         StepKind = iota // open an escrow with an LP's authorisation
	StepClaimSecret                  // claim an HTLC by its preimage
	StepClaimBitcoin                 // claim by proof of a Bitcoin transaction
	StepRefund                       // take back after the expiry
	StepRefundAuth                   // take back early with the LP's authorisation
	StepVaultClaim                   // make a vault pay a withdrawal, and those before it
)

func (k StepKind) String() string {
	return [...]string{"init", "claim with secret", "claim with Bitcoin proof", "refund", "refund with authorization", "vault claim", "", ""}[k&7]
}

// Plan is what a wallet is asked to sign. Steps are executed in order, each
// confirmed before the next.
type Plan struct {
	SwapID  string   // nonces are kept per swap, so that polls repeat them
	Seed    [32]byte // of all that is random in the transactions
	Signer  string   // canonical address that signs and pays; "" in Check: any, the same for all transactions
	FeeRate string   // "" is the current one; init needs the one that the LP signed for
	Steps   []Step

	// Replaces are transactions under way that the plan takes the place of. As far as
	// its signer signed them, Build and Check see to it that only one of both can be
	// executed, and that nodes prefer the new one: on EVM the same nonce and a higher
	// fee, on Solana a block hash after the end of the other's, on Starknet the same
	// nonce and higher bounds.
	Replaces []Signed
}

// Step is one step of a plan. Which members count depends on the kind.
type Step struct {
	Kind     StepKind
	Escrow   Escrow        // all but StepVaultClaim
	Auth     Auth          // StepInit (may be zero where none is needed), StepRefundAuth
	Preimage Preimage      // StepClaimSecret
	Public   bool          // StepClaimSecret: others may know the preimage, so that it is never too late to claim
	Payment  *Payment      // StepClaimBitcoin
	Vault    *VaultPayment // StepVaultClaim
}

// Preimage is the secret of a hash lock. It prints as ***.
type Preimage [32]byte

func (Preimage) String() string   { return "***" }
func (Preimage) GoString() string { return "***" }

// LogValue keeps the secret out of structured logs.
func (Preimage) LogValue() slog.Value { return slog.StringValue("***") }

// Payment is the Bitcoin transaction that fulfils an escrow's condition.
type Payment struct {
	Raw           []byte // with or without witness
	TxID          bitcoin.Hash
	Vout          uint32
	Block         bitcoin.Hash // hash of the block that holds it
	Height        uint32
	Confirmations uint16 // that the escrow demands
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
}

// Cost names an expense for [Contract.Estimate].
type Cost struct {
	Kind  CostKind
	Token string // the swap's token
	Payer string // who sends
}

// CostKind is which expense.
type CostKind int

const (
	CostInit        CostKind = iota // opening the dearest pay-in escrow: what a wallet must keep back
	CostClaimHTLC                   // a stranger's claim of an HTLC with deposit and bounty
	CostClaimChain                  // a stranger's claim by Bitcoin proof with deposit and bounty
	CostVaultClaim                  // a stranger's claim of one vault withdrawal, dearest case
	CostRelayHeader                 // storing one Bitcoin header
)
