package wire

import (
	"fmt"
	"math"
	"math/big"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/bigs"
)

// SwapData is one escrow: the members that the contract hashes, and beside them
// the kind of its claim handler and the extra data that is published when it is
// opened. Amounts are base units. A value that [ParseSwapData] or
// [Deployment.NewSwapData] returned is well formed; for others ask
// [SwapData.Validate]. Nothing in it may be changed once it is shared.
type SwapData struct {
	Offerer         common.Address // puts the amount in, gets it back after the expiry
	Claimer         common.Address
	Token           common.Address
	Amount          *big.Int
	PayIn           bool     // the amount comes from the offerer's wallet, else from its balance in the contract
	PayOut          bool     // the amount goes to the claimer's wallet, else to its balance in the contract
	Reputation      bool     // the outcome counts for the claimer's reputation
	Sequence        *big.Int // makes the escrow unique, below 2^192
	ClaimHandler    common.Address
	ClaimData       common.Hash // what the claim handler checks the witness against
	RefundHandler   common.Address
	RefundData      common.Hash // of the timelock handler: the expiry in Unix seconds
	SecurityDeposit *big.Int
	ClaimerBounty   *big.Int // paid to the sender of the claim
	DepositToken    common.Address
	SuccessAction   common.Hash // commitment to a contract call after the claim; must be zero

	Kind      chains.Kind
	ExtraData []byte // nil when unset
}

// maxExtraData bounds what may be published with an escrow. The protocol uses 42 bytes.
const maxExtraData = 1024

// Validate reports the first member that the contract cannot express.
func (s SwapData) Validate() error {
	for _, n := range []struct {
		name  string
		value *big.Int
		bits  int
	}{
		{"sequence", s.Sequence, 192},
		{"amount", s.Amount, 256},
		{"securityDeposit", s.SecurityDeposit, 256},
		{"claimerBounty", s.ClaimerBounty, 256},
	} {
		if !InBits(n.value, n.bits) {
			return fault.Invalid(n.name, "must be a number from 0 to 2^%d-1", n.bits)
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

// Flags returns the flags word of the contract (protocol: chain-evm.md §3.1).
func (s SwapData) Flags() *big.Int {
	flags := new(big.Int).Lsh(bigs.OrZero(s.Sequence), 64)
	var bits uint64
	if s.PayOut {
		bits |= 1
	}
	if s.PayIn {
		bits |= 2
	}
	if s.Reputation {
		bits |= 4
	}
	return flags.Or(flags, new(big.Int).SetUint64(bits))
}

// Encode returns the 13 ABI words of the escrow, 416 bytes.
func (s SwapData) Encode() ([]byte, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	return make(words, 0, 13*32).
		address(s.Offerer).address(s.Claimer).uint(s.Amount).address(s.Token).uint(s.Flags()).
		address(s.ClaimHandler).bytes32(s.ClaimData).address(s.RefundHandler).bytes32(s.RefundData).
		uint(s.SecurityDeposit).uint(s.ClaimerBounty).address(s.DepositToken).bytes32(s.SuccessAction), nil
}

// EscrowHash returns the key of the escrow in the contract and in its logs. An
// escrow hash is used once: a claimed or refunded escrow cannot be opened again.
func (s SwapData) EscrowHash() (common.Hash, error) {
	encoded, err := s.Encode()
	if err != nil {
		return common.Hash{}, err
	}
	return crypto.Keccak256Hash(encoded), nil
}

// Expiry returns the Unix time in seconds after which the offerer can take a
// refund, or the largest int64 if it lies beyond.
func (s SwapData) Expiry() int64 {
	n := s.RefundData.Big()
	if !n.IsInt64() {
		return math.MaxInt64
	}
	return n.Int64()
}

// TotalDeposit returns what the opener puts in of the deposit token: the larger
// of security deposit and bounty.
func (s SwapData) TotalDeposit() *big.Int {
	deposit, bounty := bigs.OrZero(s.SecurityDeposit), bigs.OrZero(s.ClaimerBounty)
	if deposit.Cmp(bounty) >= 0 {
		return new(big.Int).Set(deposit)
	}
	return new(big.Int).Set(bounty)
}

func (s SwapData) tuple() abiEscrow {
	return abiEscrow{
		Offerer: s.Offerer, Claimer: s.Claimer, Amount: s.Amount, Token: s.Token, Flags: s.Flags(),
		ClaimHandler: s.ClaimHandler, ClaimData: s.ClaimData, RefundHandler: s.RefundHandler, RefundData: s.RefundData,
		SecurityDeposit: s.SecurityDeposit, ClaimerBounty: s.ClaimerBounty, DepositToken: s.DepositToken,
		SuccessActionCommitment: s.SuccessAction,
	}
}

// fromTuple reads an escrow from call data. Bits 3 to 63 of the flags are
// refused: the contract hashes them, but no well-formed escrow has them.
func fromTuple(t abiEscrow, kind chains.Kind, extraData []byte) (SwapData, error) {
	low := new(big.Int).And(t.Flags, new(big.Int).SetUint64(math.MaxUint64)).Uint64()
	if low > 7 {
		return SwapData{}, fmt.Errorf("unknown escrow flags %#x", low)
	}
	s := SwapData{
		Offerer: t.Offerer, Claimer: t.Claimer, Amount: t.Amount, Token: t.Token,
		PayOut: low&1 != 0, PayIn: low&2 != 0, Reputation: low&4 != 0,
		Sequence:     new(big.Int).Rsh(t.Flags, 64),
		ClaimHandler: t.ClaimHandler, ClaimData: t.ClaimData, RefundHandler: t.RefundHandler, RefundData: t.RefundData,
		SecurityDeposit: t.SecurityDeposit, ClaimerBounty: t.ClaimerBounty, DepositToken: t.DepositToken,
		SuccessAction: t.SuccessActionCommitment,
		Kind:          kind,
	}
	if len(extraData) > 0 {
		s.ExtraData = extraData
	}
	return s, s.Validate()
}
