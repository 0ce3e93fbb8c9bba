package wire

import (
	"math/big"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/bigs"
)

// SwapData is one escrow: the members that the contract hashes, and beside them the
// kind of its claim handler and the extra data that is published when it is opened.
// Amounts are base units. A value that [ParseSwapData] or [Deployment.NewSwapData]
// returned is well formed; for others ask [SwapData.Validate]. Nothing in it may be
// changed once it is shared.
type SwapData struct {
	Offerer         Felt // puts the amount in, gets it back after the expiry
	Claimer         Felt
	Token           Felt
	RefundHandler   Felt
	ClaimHandler    Felt
	PayOut          bool   // the amount goes to the claimer's wallet, else to its balance in the contract
	PayIn           bool   // the amount comes from the offerer's wallet, else from its balance in the contract
	Reputation      bool   // the outcome counts for the claimer's reputation
	Sequence        uint64 // makes the escrow unique
	ClaimData       Felt   // what the claim handler checks the witness against
	RefundData      Felt   // of the timelock handler: the expiry in Unix seconds
	Amount          *big.Int
	FeeToken        Felt     // of the deposit
	SecurityDeposit *big.Int // goes to the offerer if the claimer does not claim
	ClaimerBounty   *big.Int // paid to the sender of the claim
	SuccessAction   *SuccessAction

	Kind      chains.Kind
	ExtraData []byte // nil when unset
}

// SuccessAction is a contract call that is made with the amount when an escrow is
// claimed. No swap of this library has one.
type SuccessAction struct {
	Hash   Felt
	Expiry uint64 // Unix seconds
	Fee    *big.Int
}

// maxExtraData bounds what may be published with an escrow. The protocol uses 42 bytes.
const maxExtraData = 1024

// Bits of the contract's flags, below the sequence.
const (
	flagPayOut     = 1
	flagPayIn      = 2
	flagReputation = 4
)

// Validate reports the first member that the contract cannot express.
func (s SwapData) Validate() error {
	for _, a := range []struct {
		name string
		at   Felt
	}{
		{"offerer", s.Offerer}, {"claimer", s.Claimer}, {"token", s.Token}, {"refundHandler", s.RefundHandler}, {"claimHandler", s.ClaimHandler}, {"feeToken", s.FeeToken},
	} {
		if !validAddress(a.at) {
			return fault.Invalid(a.name, "%w", errAddressRange)
		}
	}
	amounts := []struct {
		name  string
		value *big.Int
	}{{"amount", s.Amount}, {"securityDeposit", s.SecurityDeposit}, {"claimerBounty", s.ClaimerBounty}}
	if s.SuccessAction != nil {
		amounts = append(amounts, struct {
			name  string
			value *big.Int
		}{"successAction.executionFee", s.SuccessAction.Fee})
	}
	for _, n := range amounts {
		if !inBits(n.value, 256) {
			return fault.Invalid(n.name, "must be a number from 0 to 2^256-1")
		}
	}
	if !validKind(s.Kind) {
		return fault.Invalid("kind", "has unknown kind %d", s.Kind)
	}
	if len(s.ExtraData) > maxExtraData {
		return fault.Invalid("extraData", "must be at most %d bytes long", maxExtraData)
	}
	return nil
}

// Flags returns the flags of the contract (§6.1).
func (s SwapData) Flags() Felt {
	flags := new(big.Int).Lsh(new(big.Int).SetUint64(s.Sequence), 64)
	var bits uint64
	if s.PayOut {
		bits |= flagPayOut
	}
	if s.PayIn {
		bits |= flagPayIn
	}
	if s.Reputation {
		bits |= flagReputation
	}
	return felts(nil).number(flags.Or(flags, new(big.Int).SetUint64(bits)))[0]
}

// members are the felts that the contract hashes without a success action. The
// escrow must be valid.
func (s SwapData) members() felts {
	return make(felts, 0, 20).add(s.Offerer, s.Claimer, s.Token, s.RefundHandler, s.ClaimHandler, s.Flags(), s.ClaimData, s.RefundData).
		u256(s.Amount).add(s.FeeToken).u256(s.SecurityDeposit).u256(s.ClaimerBounty)
}

func (a SuccessAction) members(w felts) felts { return w.add(a.Hash).uint(a.Expiry).u256(a.Fee) }

// Felts returns the escrow as calldata carries it (§6.1).
func (s SwapData) Felts() ([]Felt, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	return s.calldata(), nil
}

// calldata is [SwapData.Felts] of a valid escrow.
func (s SwapData) calldata() felts {
	if s.SuccessAction == nil {
		return s.members().uint(1)
	}
	return s.SuccessAction.members(s.members().uint(0))
}

// EscrowHash returns the key of the escrow in the contract and in its events. An
// escrow hash is used once: a claimed or refunded escrow cannot be opened again. The
// tag of the success action is not part of what is hashed.
func (s SwapData) EscrowHash() (Felt, error) {
	if err := s.Validate(); err != nil {
		return Felt{}, err
	}
	w := s.members()
	if s.SuccessAction != nil {
		w = s.SuccessAction.members(w)
	}
	return Poseidon(w...), nil
}

// Expiry returns the Unix time in seconds after which the offerer can take a refund,
// or the largest int64 if it lies beyond. Bits above 64 do not count here;
// [Deployment.CheckSwapData] refuses them.
func (s SwapData) Expiry() int64 { return seconds(s.expiry()) }

func (s SwapData) expiry() uint64 { return s.RefundData.Bits()[0] }

// TotalDeposit returns what the opener puts in of the fee token: the larger of
// security deposit and bounty.
func (s SwapData) TotalDeposit() *big.Int {
	deposit, bounty := bigs.OrZero(s.SecurityDeposit), bigs.OrZero(s.ClaimerBounty)
	if deposit.Cmp(bounty) < 0 {
		deposit = bounty
	}
	return new(big.Int).Set(deposit)
}
