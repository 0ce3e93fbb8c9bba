package wire

import (
	"encoding/hex"
	"encoding/json"
	"math/big"
	"strconv"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/members"
)

// ParseSwapData reads the JSON form that LPs send and records hold (§6.2). Every
// member is validated; members that it does not know are ignored. Errors have the
// code [fault.InvalidInput] and name the member.
func ParseSwapData(data []byte) (SwapData, error) {
	fields, err := members.ReadTyped("swap data", data, "strk", "Starknet")
	if err != nil {
		return SwapData{}, err
	}
	r := &memberReader{fields}
	s := SwapData{
		Offerer:         r.address("offerer"),
		Claimer:         r.address("claimer"),
		Token:           r.address("token"),
		RefundHandler:   r.address("refundHandler"),
		ClaimHandler:    r.address("claimHandler"),
		PayOut:          r.Flag("payOut"),
		PayIn:           r.Flag("payIn"),
		Reputation:      r.Flag("reputation"),
		Sequence:        r.number("sequence", 64).Uint64(),
		ClaimData:       r.felt("claimData"),
		RefundData:      r.felt("refundData"),
		Amount:          r.number("amount", 256),
		FeeToken:        r.address("feeToken"),
		SecurityDeposit: r.number("securityDeposit", 256),
		ClaimerBounty:   r.number("claimerBounty", 256),
		SuccessAction:   r.successAction("successAction"),
		Kind:            r.Kind("kind"),
	}
	if r.Has("extraData") {
		s.ExtraData = r.Bytes("extraData")
	}
	if r.Err != nil {
		return SwapData{}, r.Err
	}
	return s, s.Validate()
}

func (r *memberReader) successAction(name string) *SuccessAction {
	if !r.Has(name) || r.Fields[name][0] == '[' { // a list means none
		return nil
	}
	inner := r.object(name)
	if r.Err != nil {
		return nil
	}
	a := &SuccessAction{Hash: inner.felt("executionHash"), Expiry: inner.number("executionExpiry", 64).Uint64(), Fee: inner.number("executionFee", 256)}
	r.FailWith(inner.Err)
	return a
}

// UnmarshalJSON is [ParseSwapData].
func (s *SwapData) UnmarshalJSON(data []byte) (err error) {
	*s, err = ParseSwapData(data)
	return err
}

// MarshalJSON writes the JSON form, addresses and felts with 64 digits.
func (s SwapData) MarshalJSON() ([]byte, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	type action struct {
		Hash   string `json:"executionHash"`
		Expiry string `json:"executionExpiry"`
		Fee    string `json:"executionFee"`
	}
	var success *action
	if a := s.SuccessAction; a != nil {
		success = &action{Hex64(a.Hash), strconv.FormatUint(a.Expiry, 10), a.Fee.String()}
	}
	var extra *string
	if s.ExtraData != nil {
		text := hex.EncodeToString(s.ExtraData)
		extra = &text
	}
	return json.Marshal(struct {
		Type            string      `json:"type"`
		Offerer         string      `json:"offerer"`
		Claimer         string      `json:"claimer"`
		Token           string      `json:"token"`
		RefundHandler   string      `json:"refundHandler"`
		ClaimHandler    string      `json:"claimHandler"`
		PayOut          bool        `json:"payOut"`
		PayIn           bool        `json:"payIn"`
		Reputation      bool        `json:"reputation"`
		Sequence        string      `json:"sequence"`
		ClaimData       string      `json:"claimData"`
		RefundData      string      `json:"refundData"`
		Amount          string      `json:"amount"`
		FeeToken        string      `json:"feeToken"`
		SecurityDeposit string      `json:"securityDeposit"`
		ClaimerBounty   string      `json:"claimerBounty"`
		Kind            chains.Kind `json:"kind"`
		ExtraData       *string     `json:"extraData,omitempty"`
		SuccessAction   *action     `json:"successAction,omitempty"`
	}{
		"strk", Hex64(s.Offerer), Hex64(s.Claimer), Hex64(s.Token), Hex64(s.RefundHandler), Hex64(s.ClaimHandler), s.PayOut, s.PayIn, s.Reputation,
		strconv.FormatUint(s.Sequence, 10), Hex64(s.ClaimData), Hex64(s.RefundData), s.Amount.String(), Hex64(s.FeeToken),
		s.SecurityDeposit.String(), s.ClaimerBounty.String(), s.Kind, extra, success,
	})
}

// Public returns the escrow as the REST API shows it in escrow.data: the members of
// the contract's struct (§6.3).
func (s SwapData) Public() (json.RawMessage, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	type u256 struct {
		Low  string `json:"low"`
		High string `json:"high"`
	}
	halves := func(n *big.Int) u256 {
		low, high, _ := U256(n)
		return u256{Decimal(low), Decimal(high)}
	}
	success := map[string]any{"None": true}
	if a := s.SuccessAction; a != nil {
		success = map[string]any{"Some": map[string]any{"hash": Hex64(a.Hash), "expiry": Hex(FeltOf(a.Expiry)), "fee": halves(a.Fee)}}
	}
	return json.Marshal(struct {
		Offerer         string `json:"offerer"`
		Claimer         string `json:"claimer"`
		Token           string `json:"token"`
		RefundHandler   string `json:"refund_handler"`
		ClaimHandler    string `json:"claim_handler"`
		Flags           string `json:"flags"`
		ClaimData       string `json:"claim_data"`
		RefundData      string `json:"refund_data"`
		Amount          u256   `json:"amount"`
		FeeToken        string `json:"fee_token"`
		SecurityDeposit u256   `json:"security_deposit"`
		ClaimerBounty   u256   `json:"claimer_bounty"`
		SuccessAction   any    `json:"success_action"`
	}{
		Hex64(s.Offerer), Hex64(s.Claimer), Hex64(s.Token), Hex64(s.RefundHandler), Hex64(s.ClaimHandler), Hex(s.Flags()), Hex64(s.ClaimData), Hex64(s.RefundData),
		halves(s.Amount), Hex64(s.FeeToken), halves(s.SecurityDeposit), halves(s.ClaimerBounty), success,
	})
}

// ParsePublic reads an escrow back from what [SwapData.Public] returns, unless it has a
// success action. Its kind is that of the claim handler, which must be one of the deployment.
func (d Deployment) ParsePublic(data []byte) (SwapData, error) {
	fields, err := members.Read(data)
	if err != nil {
		return SwapData{}, err
	}
	r := &memberReader{fields}
	var all felts
	for _, name := range []string{"offerer", "claimer", "token", "refund_handler", "claim_handler", "flags", "claim_data", "refund_data"} {
		all = all.add(r.felt(name))
	}
	number := func(name string) {
		halves := r.object(name)
		if r.Err != nil {
			return
		}
		all = all.add(halves.felt("low"), halves.felt("high"))
		r.FailWith(halves.Err)
	}
	number("amount")
	all = all.add(r.felt("fee_token"))
	number("security_deposit")
	number("claimer_bounty")
	if action := r.object("success_action"); r.Err == nil && action.Has("Some") {
		r.Fail("success_action", "must not be set")
	}
	if r.Err != nil {
		return SwapData{}, r.Err
	}
	s, _, err := d.decodeSwapData(all.uint(1))
	if err != nil {
		return SwapData{}, fault.Invalid("", "%w", err)
	}
	return s, nil
}
