package wire

import (
	"encoding/json"
	"math/big"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/bigs"
)

// Escrow returns the neutral view of an escrow, with its JSON form in Data.
func (d Deployment) Escrow(s SwapData) (chains.Escrow, error) {
	hash, err := s.EscrowHash()
	if err != nil {
		return chains.Escrow{}, err
	}
	data, err := json.Marshal(s)
	if err != nil {
		return chains.Escrow{}, err
	}
	claim, id := s.ClaimData.Bytes(), hash.Bytes()
	return chains.Escrow{
		Version: d.Version, Kind: s.Kind, Offerer: Hex64(s.Offerer), Claimer: Hex64(s.Claimer), Token: Hex64(s.Token),
		Amount: new(big.Int).Set(s.Amount), PayIn: s.PayIn, PayOut: s.PayOut, ClaimHash: claim[:], Hash: id[:],
		Sequence: new(big.Int).SetUint64(s.Sequence), Expiry: s.Expiry(),
		SecurityDeposit: new(big.Int).Set(s.SecurityDeposit), ClaimerBounty: new(big.Int).Set(s.ClaimerBounty),
		DepositToken: Hex64(s.FeeToken), Data: data,
	}, nil
}

// SwapDataOf reads the escrow back out of its neutral view. Only Data counts.
func SwapDataOf(e chains.Escrow) (SwapData, error) { return ParseSwapData(e.Data) }

// Expect builds the escrow that is agreed on.
func (d Deployment) Expect(spec chains.Spec) (SwapData, error) {
	if spec.Condition.Kind != spec.Kind {
		return SwapData{}, fault.Invalid("condition", "is of kind %s, but the escrow is of kind %s", spec.Condition.Kind, spec.Kind)
	}
	if spec.Amount == nil {
		return SwapData{}, fault.Invalid("amount", "is required")
	}
	sequence := bigs.OrZero(spec.Sequence)
	if !sequence.IsUint64() {
		return SwapData{}, fault.Invalid("sequence", "must be a number from 0 to 2^64-1")
	}
	claim, err := d.ClaimHash(spec.Condition)
	if err != nil {
		return SwapData{}, err
	}
	t := Terms{Kind: spec.Kind, Amount: spec.Amount, ClaimData: claim, Sequence: sequence.Uint64(), Expiry: spec.Expiry,
		PayIn: spec.PayIn, PayOut: spec.PayOut, SecurityDeposit: spec.SecurityDeposit, ClaimerBounty: spec.ClaimerBounty}
	if spec.Hints {
		t.ExtraData = extraData(spec.Condition)
	}
	for _, a := range []struct {
		name, text string
		to         *Felt
	}{{"offerer", spec.Offerer, &t.Offerer}, {"claimer", spec.Claimer, &t.Claimer}, {"token", spec.Token, &t.Token}, {"depositToken", spec.DepositToken, &t.FeeToken}} {
		if a.text == "" && a.name == "depositToken" {
			continue
		}
		if *a.to, err = ParseAddress(a.text); err != nil {
			return SwapData{}, fault.Invalid(a.name, "%w", err)
		}
	}
	return d.NewSwapData(t)
}
