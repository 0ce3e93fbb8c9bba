package evm

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"math/big"
)

// Tolerance names what may differ between an escrow that was agreed on and the
// one that an LP delivers. Everything else must be the same.
type Tolerance struct {
	Sequence  bool // chosen by the LP
	Expiry    bool // chosen by the LP; its bounds are the caller's to check
	ExtraData bool // published beside the escrow, not hashed into it
	// MoreAmount accepts an amount above the one agreed on.
	MoreAmount bool
	// LessDeposit accepts a security deposit and a bounty below those agreed on.
	LessDeposit bool
}

// DiffError says in which member two escrows differ.
type DiffError struct {
	Member    string // as in the JSON form
	Want, Got string
}

func (e *DiffError) Error() string {
	return fmt.Sprintf("%s is %s, expected %s", e.Member, e.Got, e.Want)
}

// SameEscrow reports whether both are the same escrow of the contract: all
// members that it hashes, the deposit token included (protocol: chain-evm.md
// §13.9). Kind and extra data are not part of the escrow.
func (s SwapData) SameEscrow(other SwapData) bool {
	a, errA := s.Encode()
	b, errB := other.Encode()
	return errA == nil && errB == nil && bytes.Equal(a, b)
}

// Diff compares an escrow with the one expected, member by member, and returns
// the first difference that is not tolerated as a *[DiffError].
func Diff(want, got SwapData, may Tolerance) error {
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
			return &DiffError{m.name, m.want, m.got}
		}
	}
	if !may.Expiry && want.RefundData != got.RefundData {
		return &DiffError{"refundData", want.RefundData.Hex(), got.RefundData.Hex()}
	}
	if !may.ExtraData && !bytes.Equal(want.ExtraData, got.ExtraData) {
		return &DiffError{"extraData", hex.EncodeToString(want.ExtraData), hex.EncodeToString(got.ExtraData)}
	}
	for _, n := range []struct {
		name      string
		want, got *big.Int
		tolerated bool
	}{
		{"sequence", want.Sequence, got.Sequence, may.Sequence},
		{"amount", want.Amount, got.Amount, may.MoreAmount && got.Amount.Cmp(want.Amount) > 0},
		{"securityDeposit", want.SecurityDeposit, got.SecurityDeposit, may.LessDeposit && got.SecurityDeposit.Cmp(want.SecurityDeposit) < 0},
		{"claimerBounty", want.ClaimerBounty, got.ClaimerBounty, may.LessDeposit && got.ClaimerBounty.Cmp(want.ClaimerBounty) < 0},
	} {
		if !n.tolerated && n.want.Cmp(n.got) != 0 {
			return &DiffError{n.name, n.want.String(), n.got.String()}
		}
	}
	return nil
}
