package wire

import (
	"math/big"

	"github.com/ethereum/go-ethereum/common"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/bigs"
)

// Terms are what two parties agree on for an escrow; the rest follows from the
// deployment. Nil numbers are zero.
type Terms struct {
	Kind             chains.Kind
	Offerer, Claimer common.Address
	Token            common.Address
	Amount           *big.Int
	ClaimData        common.Hash
	Sequence         *big.Int
	Expiry           int64 // Unix seconds
	PayIn, PayOut    bool
	SecurityDeposit  *big.Int
	ClaimerBounty    *big.Int
	DepositToken     common.Address // zero is the native coin
	ExtraData        []byte
}

// NewSwapData builds the escrow for terms, with the handlers of the deployment
// and a reputation flag as pay-in demands (protocol: chain-evm.md §3.5).
func (d Deployment) NewSwapData(t Terms) (SwapData, error) {
	if !validKind(t.Kind) {
		return SwapData{}, fault.Invalid("kind", "has unknown kind %d", t.Kind)
	}
	if t.Expiry < 0 {
		return SwapData{}, fault.Invalid("expiry", "must not be negative")
	}
	s := SwapData{
		Offerer: t.Offerer, Claimer: t.Claimer, Token: t.Token, Amount: bigs.OrZero(t.Amount),
		PayIn: t.PayIn, PayOut: t.PayOut, Reputation: t.PayIn, Sequence: bigs.OrZero(t.Sequence),
		ClaimHandler: d.ClaimHandlers[t.Kind], ClaimData: t.ClaimData,
		RefundHandler: d.RefundHandler, RefundData: common.BigToHash(big.NewInt(t.Expiry)),
		SecurityDeposit: bigs.OrZero(t.SecurityDeposit), ClaimerBounty: bigs.OrZero(t.ClaimerBounty), DepositToken: t.DepositToken,
		Kind: t.Kind, ExtraData: t.ExtraData,
	}
	if err := s.Validate(); err != nil {
		return SwapData{}, err
	}
	return s, d.CheckSwapData(s)
}

// CheckSwapData refuses an escrow that is well formed but not of this
// deployment. The kind in an LP's JSON is free text beside the handler
// addresses, so an LP that names handlers of its own would take the amount
// (protocol: chain-evm.md §13.1); an escrow whose parties are one address has no
// meaningful expiry (§13.16).
func (d Deployment) CheckSwapData(s SwapData) error {
	switch {
	case !validKind(s.Kind):
		return fault.Invalid("kind", "has unknown kind %d", s.Kind)
	case s.ClaimHandler != d.ClaimHandlers[s.Kind]:
		return fault.Invalid("claimHandler", "%s is not the %s handler of this chain", s.ClaimHandler, s.Kind)
	case s.RefundHandler != d.RefundHandler:
		return fault.Invalid("refundHandler", "%s is not the refund handler of this chain", s.RefundHandler)
	case s.SuccessAction != common.Hash{}:
		return fault.Invalid("successActionCommitment", "must be zero")
	case s.Reputation != s.PayIn:
		return fault.Invalid("reputation", "must equal payIn")
	case s.Offerer == common.Address{}:
		return fault.Invalid("offerer", "must not be the zero address")
	case s.Claimer == common.Address{}:
		return fault.Invalid("claimer", "must not be the zero address")
	case s.Offerer == s.Claimer:
		return fault.Invalid("claimer", "must differ from the offerer")
	}
	return nil
}
