package wire

import (
	"bytes"
	"encoding/hex"
	"math/big"
	"strconv"

	"github.com/swapper-go/swapper/chains"
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
	for _, m := range []struct{ name, want, got string }{
		{"offerer", Hex64(want.Offerer), Hex64(got.Offerer)},
		{"claimer", Hex64(want.Claimer), Hex64(got.Claimer)},
		{"token", Hex64(want.Token), Hex64(got.Token)},
		{"kind", want.Kind.String(), got.Kind.String()},
		{"claimHandler", Hex64(want.ClaimHandler), Hex64(got.ClaimHandler)},
		{"claimData", Hex64(want.ClaimData), Hex64(got.ClaimData)},
		{"refundHandler", Hex64(want.RefundHandler), Hex64(got.RefundHandler)},
		{"payIn", strconv.FormatBool(want.PayIn), strconv.FormatBool(got.PayIn)},
		{"payOut", strconv.FormatBool(want.PayOut), strconv.FormatBool(got.PayOut)},
		{"reputation", strconv.FormatBool(want.Reputation), strconv.FormatBool(got.Reputation)},
		{"feeToken", Hex64(want.FeeToken), Hex64(got.FeeToken)},
		{"successAction", want.SuccessAction.text(), got.SuccessAction.text()},
	} {
		if m.want != m.got {
			return &chains.DiffError{Member: m.name, Want: m.want, Got: m.got}
		}
	}
	if !may.AnyExpiry && want.RefundData != got.RefundData {
		return &chains.DiffError{Member: "refundData", Want: Hex64(want.RefundData), Got: Hex64(got.RefundData)}
	}
	if !may.AnyExtraData && !bytes.Equal(want.ExtraData, got.ExtraData) {
		return &chains.DiffError{Member: "extraData", Want: hex.EncodeToString(want.ExtraData), Got: hex.EncodeToString(got.ExtraData)}
	}
	if !may.AnySequence && want.Sequence != got.Sequence {
		return &chains.DiffError{Member: "sequence", Want: strconv.FormatUint(want.Sequence, 10), Got: strconv.FormatUint(got.Sequence, 10)}
	}
	for _, n := range []struct {
		name      string
		want, got *big.Int
		tolerated bool
	}{
		{"amount", want.Amount, got.Amount, may.AtLeastAmount && got.Amount.Cmp(want.Amount) > 0},
		{"securityDeposit", want.SecurityDeposit, got.SecurityDeposit, may.AtMostDeposits && got.SecurityDeposit.Cmp(want.SecurityDeposit) < 0},
		{"claimerBounty", want.ClaimerBounty, got.ClaimerBounty, may.AtMostDeposits && got.ClaimerBounty.Cmp(want.ClaimerBounty) < 0},
	} {
		if !n.tolerated && n.want.Cmp(n.got) != 0 {
			return &chains.DiffError{Member: n.name, Want: n.want.String(), Got: n.got.String()}
		}
	}
	return nil
}

// text is what an error says of a success action.
func (a *SuccessAction) text() string {
	if a == nil {
		return "none"
	}
	return Hex64(a.Hash) + " until " + strconv.FormatUint(a.Expiry, 10) + " for " + a.Fee.String()
}
