package wire

import (
	"encoding/hex"
	"strconv"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/members"
)

// Diff compares an escrow with the one expected, member by member, and returns the
// first difference that is not named in may as a *[chains.DiffError]. Unlike the
// reference's comparison it includes fee token, kind and extra data (§20.4).
func Diff(want, got SwapData, may chains.Tolerance) error {
	for _, w := range []SwapData{want, got} {
		if err := w.Validate(); err != nil {
			return err
		}
	}
	var d members.Diff
	d.Text("offerer", Hex64(want.Offerer), Hex64(got.Offerer), false)
	d.Text("claimer", Hex64(want.Claimer), Hex64(got.Claimer), false)
	d.Text("token", Hex64(want.Token), Hex64(got.Token), false)
	d.Text("kind", want.Kind.String(), got.Kind.String(), false)
	d.Text("claimHandler", Hex64(want.ClaimHandler), Hex64(got.ClaimHandler), false)
	d.Text("claimData", Hex64(want.ClaimData), Hex64(got.ClaimData), false)
	d.Text("refundHandler", Hex64(want.RefundHandler), Hex64(got.RefundHandler), false)
	d.Flag("payIn", want.PayIn, got.PayIn)
	d.Flag("payOut", want.PayOut, got.PayOut)
	d.Flag("reputation", want.Reputation, got.Reputation)
	d.Text("feeToken", Hex64(want.FeeToken), Hex64(got.FeeToken), false)
	d.Text("successAction", want.SuccessAction.text(), got.SuccessAction.text(), false)
	d.Text("refundData", Hex64(want.RefundData), Hex64(got.RefundData), may.AnyExpiry)
	d.Text("extraData", hex.EncodeToString(want.ExtraData), hex.EncodeToString(got.ExtraData), may.AnyExtraData)
	d.Text("sequence", strconv.FormatUint(want.Sequence, 10), strconv.FormatUint(got.Sequence, 10), may.AnySequence)
	d.Number("amount", want.Amount, got.Amount, may.AtLeastAmount && got.Amount.Cmp(want.Amount) > 0)
	d.Number("securityDeposit", want.SecurityDeposit, got.SecurityDeposit, may.AtMostDeposits && got.SecurityDeposit.Cmp(want.SecurityDeposit) < 0)
	d.Number("claimerBounty", want.ClaimerBounty, got.ClaimerBounty, may.AtMostDeposits && got.ClaimerBounty.Cmp(want.ClaimerBounty) < 0)
	return d.Err()
}

// text is what an error says of a success action.
func (a *SuccessAction) text() string {
	if a == nil {
		return "none"
	}
	return Hex64(a.Hash) + " until " + strconv.FormatUint(a.Expiry, 10) + " for " + a.Fee.String()
}
