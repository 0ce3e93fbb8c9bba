package wire

import (
	"encoding/hex"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/members"
)

// Diff compares an escrow with the one expected, member by member, and returns
// the first difference that is not named in may as a *[chains.DiffError].
func Diff(want, got SwapData, may chains.Tolerance) error {
	for _, w := range []SwapData{want, got} {
		if err := w.Validate(); err != nil {
			return err
		}
	}
	var d members.Diff
	d.Text("offerer", want.Offerer.Hex(), got.Offerer.Hex(), false)
	d.Text("claimer", want.Claimer.Hex(), got.Claimer.Hex(), false)
	d.Text("token", want.Token.Hex(), got.Token.Hex(), false)
	d.Text("kind", want.Kind.String(), got.Kind.String(), false)
	d.Text("claimHandler", want.ClaimHandler.Hex(), got.ClaimHandler.Hex(), false)
	d.Text("claimData", want.ClaimData.Hex(), got.ClaimData.Hex(), false)
	d.Text("refundHandler", want.RefundHandler.Hex(), got.RefundHandler.Hex(), false)
	d.Flag("payIn", want.PayIn, got.PayIn)
	d.Flag("payOut", want.PayOut, got.PayOut)
	d.Flag("reputation", want.Reputation, got.Reputation)
	d.Text("depositToken", want.DepositToken.Hex(), got.DepositToken.Hex(), false)
	d.Text("successActionCommitment", want.SuccessAction.Hex(), got.SuccessAction.Hex(), false)
	d.Text("refundData", want.RefundData.Hex(), got.RefundData.Hex(), may.AnyExpiry)
	d.Text("extraData", hex.EncodeToString(want.ExtraData), hex.EncodeToString(got.ExtraData), may.AnyExtraData)
	d.Number("sequence", want.Sequence, got.Sequence, may.AnySequence)
	d.Number("amount", want.Amount, got.Amount, may.AtLeastAmount && got.Amount.Cmp(want.Amount) > 0)
	d.Number("securityDeposit", want.SecurityDeposit, got.SecurityDeposit, may.AtMostDeposits && got.SecurityDeposit.Cmp(want.SecurityDeposit) < 0)
	d.Number("claimerBounty", want.ClaimerBounty, got.ClaimerBounty, may.AtMostDeposits && got.ClaimerBounty.Cmp(want.ClaimerBounty) < 0)
	return d.Err()
}
