package verify

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/big"
	"strings"
	"testing"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/flowtest"
)

// standIn is a contract whose escrow data are the neutral members as they stand,
// so that checks can be tested that do not depend on a chain's encoding. A claim
// hash that the case computed stands in for those of conditions.
type standIn struct {
	chains.Contract
	claimHash []byte // nil: sha-like text of the condition
	extraData string
}

type standData struct {
	Type             chains.Kind `json:"type"`
	Amount           string      `json:"amount"`
	ClaimHash        string      `json:"claimHash"`
	ExtraData        string      `json:"extraData,omitempty"`
	Expiry           int64       `json:"expiry"`
	PayIn            bool        `json:"payIn"`
	PayOut           bool        `json:"payOut"`
	Token            string      `json:"token"`
	Claimer          string      `json:"claimer"`
	Offerer          string      `json:"offerer"`
	SecurityDeposit  string      `json:"securityDeposit"`
	ClaimerBounty    string      `json:"claimerBounty"`
	Sequence         string      `json:"sequence,omitempty"`
	DepositToken     string      `json:"depositToken,omitempty"`
	HasSuccessAction bool        `json:"hasSuccessAction,omitempty"`
}

func decimal(v *big.Int) string {
	if v == nil {
		return "0"
	}
	return v.String()
}

func (k standIn) hash(c chains.Condition) []byte {
	if k.claimHash != nil {
		return k.claimHash
	}
	return fmt.Appendf(nil, "%d/%x/%x/%d/%d/%d", c.Kind, c.PaymentHash, c.Script, c.Sats, c.Nonce, c.Confirmations)
}

func (k standIn) ClaimHash(c chains.Condition) ([]byte, error) { return k.hash(c), nil }

func (k standIn) Expect(s chains.Spec) (chains.Escrow, error) {
	d := standData{
		Type: s.Kind, Amount: decimal(s.Amount), ClaimHash: hex.EncodeToString(k.hash(s.Condition)), Expiry: s.Expiry, PayIn: s.PayIn, PayOut: s.PayOut,
		Token: s.Token, Claimer: s.Claimer, Offerer: s.Offerer, SecurityDeposit: decimal(s.SecurityDeposit), ClaimerBounty: decimal(s.ClaimerBounty),
		Sequence: decimal(s.Sequence), DepositToken: s.DepositToken,
	}
	if s.Hints {
		d.ExtraData = k.extraData
	}
	return d.escrow()
}

func (k standIn) Decode(data json.RawMessage) (chains.Escrow, error) {
	var d standData
	if err := json.Unmarshal(data, &d); err != nil {
		return chains.Escrow{}, err
	}
	return d.escrow()
}

func (d standData) escrow() (chains.Escrow, error) {
	if d.Sequence == "" {
		d.Sequence = "0"
	}
	var err error
	amount := func(s string) *big.Int {
		v, ok := new(big.Int).SetString(s, 10)
		if !ok {
			err = fmt.Errorf("%q is no number", s)
		}
		return v
	}
	hash, e := hex.DecodeString(strings.ToLower(d.ClaimHash))
	if e != nil {
		return chains.Escrow{}, e
	}
	text, e := json.Marshal(d)
	if e != nil {
		return chains.Escrow{}, e
	}
	out := chains.Escrow{
		Kind: d.Type, Offerer: d.Offerer, Claimer: d.Claimer, Token: d.Token, Amount: amount(d.Amount), PayIn: d.PayIn, PayOut: d.PayOut, ClaimHash: hash,
		Sequence: amount(d.Sequence), Expiry: d.Expiry, SecurityDeposit: amount(d.SecurityDeposit), ClaimerBounty: amount(d.ClaimerBounty),
		DepositToken: d.DepositToken, Data: text,
	}
	return out, err
}

func (k standIn) Diff(want, got chains.Escrow, may chains.Tolerance) error {
	var w, g standData
	if err := json.Unmarshal(want.Data, &w); err != nil {
		return err
	}
	if err := json.Unmarshal(got.Data, &g); err != nil {
		return err
	}
	for _, m := range []struct {
		name string
		same bool
	}{
		{"type", w.Type == g.Type}, {"claimHash", bytes.Equal(want.ClaimHash, got.ClaimHash)},
		{"extraData", strings.EqualFold(w.ExtraData, g.ExtraData) || may.AnyExtraData},
		{"expiry", w.Expiry == g.Expiry || may.AnyExpiry},
		{"payIn", w.PayIn == g.PayIn}, {"payOut", w.PayOut == g.PayOut}, {"token", strings.EqualFold(w.Token, g.Token)},
		{"claimer", strings.EqualFold(w.Claimer, g.Claimer)}, {"offerer", strings.EqualFold(w.Offerer, g.Offerer)},
		{"amount", w.Amount == g.Amount || may.AtLeastAmount && got.Amount.Cmp(want.Amount) > 0},
		{"securityDeposit", w.SecurityDeposit == g.SecurityDeposit || may.AtMostDeposits && got.SecurityDeposit.Cmp(want.SecurityDeposit) < 0},
		{"claimerBounty", w.ClaimerBounty == g.ClaimerBounty || may.AtMostDeposits && got.ClaimerBounty.Cmp(want.ClaimerBounty) < 0},
		{"sequence", want.Sequence.Cmp(got.Sequence) == 0 || may.AnySequence},
		{"depositToken", strings.EqualFold(w.DepositToken, g.DepositToken)}, {"successAction", w.HasSuccessAction == g.HasSuccessAction},
	} {
		if !m.same {
			return &chains.DiffError{Member: m.name, Want: string(want.Data), Got: string(got.Data)}
		}
	}
	return nil
}

func orNone(t testing.TB, s *string) *big.Int {
	if s == nil {
		return nil
	}
	return flowtest.Number(t, *s)
}
