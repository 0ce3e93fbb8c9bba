package wire

import (
	"math/big"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/bigs"
)

// Terms are what two parties agree on for an escrow; the rest follows from the
// deployment. Nil numbers are zero.
type Terms struct {
	Kind             chains.Kind
	Offerer, Claimer Felt
	Token            Felt
	Amount           *big.Int
	ClaimData        Felt
	Sequence         uint64
	Expiry           int64 // Unix seconds
	PayIn, PayOut    bool
	SecurityDeposit  *big.Int
	ClaimerBounty    *big.Int
	FeeToken         Felt // zero is STRK
	ExtraData        []byte
}

// NewSwapData builds the escrow for terms, with the handlers of the deployment and a
// reputation flag as pay-in demands (§6.5).
func (d Deployment) NewSwapData(t Terms) (SwapData, error) {
	if !validKind(t.Kind) {
		return SwapData{}, fault.Invalid("kind", "has unknown kind %d", t.Kind)
	}
	if t.Expiry < 0 {
		return SwapData{}, fault.Invalid("expiry", "must not be negative")
	}
	if t.FeeToken.IsZero() {
		t.FeeToken = STRK
	}
	s := SwapData{
		Offerer: t.Offerer, Claimer: t.Claimer, Token: t.Token, RefundHandler: d.RefundHandler, ClaimHandler: d.ClaimHandlers[t.Kind],
		PayOut: t.PayOut, PayIn: t.PayIn, Reputation: t.PayIn, Sequence: t.Sequence, ClaimData: t.ClaimData, RefundData: FeltOf(uint64(t.Expiry)),
		Amount: bigs.OrZero(t.Amount), FeeToken: t.FeeToken, SecurityDeposit: bigs.OrZero(t.SecurityDeposit), ClaimerBounty: bigs.OrZero(t.ClaimerBounty),
		Kind: t.Kind, ExtraData: t.ExtraData,
	}
	if err := s.Validate(); err != nil {
		return SwapData{}, err
	}
	return s, d.CheckSwapData(s)
}

// CheckSwapData refuses an escrow that is well formed but not of this deployment. The
// kind in an LP's JSON is free text beside the handler's address, so an LP that names
// a handler of its own would take the amount (§20.4); an escrow whose parties are one
// address has no meaningful expiry, and one whose refund data is not a time can
// never be refunded.
func (d Deployment) CheckSwapData(s SwapData) error {
	switch {
	case !validKind(s.Kind):
		return fault.Invalid("kind", "has unknown kind %d", s.Kind)
	case s.ClaimHandler != d.ClaimHandlers[s.Kind]:
		return fault.Invalid("claimHandler", "%s is not this chain's handler of the kind %s", Hex64(s.ClaimHandler), s.Kind)
	case s.RefundHandler != d.RefundHandler:
		return fault.Invalid("refundHandler", "%s is not the refund handler of this chain", Hex64(s.RefundHandler))
	case bitLen(s.RefundData) > 63:
		return fault.Invalid("refundData", "%s is not a time in seconds", Hex(s.RefundData))
	case s.SuccessAction != nil:
		return fault.Invalid("successAction", "must not be set")
	case s.Reputation != s.PayIn:
		return fault.Invalid("reputation", "must equal payIn")
	case s.Offerer.IsZero():
		return fault.Invalid("offerer", "must not be the zero address")
	case s.Claimer.IsZero():
		return fault.Invalid("claimer", "must not be the zero address")
	case s.Offerer == s.Claimer:
		return fault.Invalid("claimer", "must differ from the offerer")
	case s.Token.IsZero():
		return fault.Invalid("token", "must not be the zero address")
	case s.FeeToken.IsZero():
		return fault.Invalid("feeToken", "must not be the zero address")
	}
	return nil
}
