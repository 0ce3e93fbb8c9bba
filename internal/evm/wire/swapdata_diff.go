package wire

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"math/big"

	"github.com/swapper-go/swapper/chains"
)

// Diff compares an escrow with the one expected, member by member, and returns
// the first difference that is not named in may as a *[chains.DiffError].
func Diff(want, got SwapData, may chains.Tolerance) error {
	for _, w := range []SwapData{want, got} {
		if err := w.Validate(); err != nil {
			return err
		}
	}
	for _, m := range []struct {
		name      string
		want, got string
	}{
		{"offerer", want.Offerer.Hex(), got.Offerer.Hex()},
		{"claimer", want.Claimer.Hex(), got.Claimer.Hex()},
		{"token", want.Token.Hex(), got.Token.Hex()},
		{"kind", want.Kind.String(), got.Kind.String()},
		{"claimHandler", want.ClaimHandler.Hex(), got.ClaimHandler.Hex()},
		{"claimData", want.ClaimData.Hex(), got.ClaimData.Hex()},
		{"refundHandler", want.RefundHandler.Hex(), got.RefundHandler.Hex()},
		{"payIn", fmt.Sprint(want.PayIn), fmt.Sprint(got.PayIn)},
		{"payOut", fmt.Sprint(want.PayOut), fmt.Sprint(got.PayOut)},
		{"reputation", fmt.Sprint(want.Reputation), fmt.Sprint(got.Reputation)},
		{"depositToken", want.DepositToken.Hex(), got.DepositToken.Hex()},
		{"successActionCommitment", want.SuccessAction.Hex(), got.SuccessAction.Hex()},
	} {
		if m.want != m.got {
			return &chains.DiffError{Member: m.name, Want: m.want, Got: m.got}
		}
	}
	if !may.AnyExpiry && want.RefundData != got.RefundData {
		return &chains.DiffError{Member: "refundData", Want: want.RefundData.Hex(), Got: got.RefundData.Hex()}
	}
	if !may.AnyExtraData && !bytes.Equal(want.ExtraData, got.ExtraData) {
		return &chains.DiffError{Member: "extraData", Want: hex.EncodeToString(want.ExtraData), Got: hex.EncodeToString(got.ExtraData)}
	}
	for _, n := range []struct {
		name      string
		want, got *big.Int
		tolerated bool
	}{
		{"sequence", want.Sequence, got.Sequence, may.AnySequence},
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
