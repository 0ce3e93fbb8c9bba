package wire

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"io"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/trial"
)

// The contract asks for the other party's signature unless the offerer opens an escrow
// without reputation; then only the timeout counts.
func TestInitAuthorization(t *testing.T) {
	d := deploymentOf(t, "")
	lp, user := FeltOf(0xaa), FeltOf(0xbb)
	opened := trial.Must(d.NewSwapData(Terms{Kind: chains.HTLC, Offerer: lp, Claimer: user, Token: STRK, Amount: big.NewInt(5), PayOut: true, Expiry: 2_000, SecurityDeposit: big.NewInt(3)}))(t)
	paid, auth := payIn(t, d, user)
	late := chains.Auth{Timeout: 1_900_000_000}
	for _, c := range []struct {
		name   string
		s      SwapData
		sender Felt
		auth   chains.Auth
		calls  int // 0: refused
	}{
		{"the LP opens alone", opened, lp, late, 2},
		{"the LP forgets the timeout", opened, lp, chains.Auth{}, 0},
		{"the user opens without the LP's signature", opened, user, late, 0},
		{"the user opens", opened, user, auth, 2},
		{"a payer opens without the LP's signature", paid, user, late, 0},
		{"a payer opens", paid, user, auth, 2},
		{"an LP opens for a payer", paid, paid.Claimer, auth, 1},
		{"a stranger opens", opened, FeltOf(0xcc), auth, 0},
		{"a broken escrow", SwapData{}, Felt{}, auth, 0},
	} {
		calls, err := d.Init(c.s, c.sender, c.auth)
		if (err == nil) != (c.calls > 0) || len(calls) != c.calls {
			t.Errorf("%s: %d calls, %v", c.name, len(calls), err)
		}
		for i, call := range calls {
			if call.Required() != (i == len(calls)-1) {
				t.Errorf("%s: call %d of %s", c.name, i, call.Entry)
			}
		}
	}
	huge := paid
	huge.Token, huge.SecurityDeposit, huge.Amount = huge.FeeToken, big.NewInt(1), new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 256), big.NewInt(1))
	if _, err := d.Init(huge, user, auth); fieldOf(err) != "amount" {
		t.Errorf("an approval beyond 2^256: %v", err)
	}
}

// What a builder refuses never reaches a wallet.
func TestBuildersRefuse(t *testing.T) {
	d := deploymentOf(t, "")
	secret := [32]byte{1}
	s, auth := payIn(t, d, FeltOf(0xbb))
	s.ClaimData = ClaimDataHTLC(sha256.Sum256(secret[:]))
	after := time.Unix(2_000_000_000, 0)
	change := func(f func(s *SwapData)) SwapData { c := s; f(&c); return c }
	broken := change(func(s *SwapData) { s.Amount = nil })
	action := change(func(s *SwapData) { s.SuccessAction = &SuccessAction{Fee: new(big.Int)} })
	chain := change(func(s *SwapData) { s.ClaimHandler = d.ClaimHandlers[chains.OnchainTxID] })
	for name, c := range map[string]struct {
		err   error
		field string
	}{
		"claim a broken escrow":       {second(d.ClaimBySecret(broken, secret)), "amount"},
		"claim with a success action": {second(d.ClaimBySecret(action, secret)), "successAction"},
		"claim with another secret":   {second(d.ClaimBySecret(s, [32]byte{2})), "secret"},
		"claim what is no hash lock":  {second(d.ClaimBySecret(chain, secret)), "claimHandler"},
		"refund a broken escrow":      {second(d.Refund(broken, after)), "amount"},
		"refund by another handler":   {second(d.Refund(change(func(s *SwapData) { s.RefundHandler = FeltOf(1) }), after)), "refundHandler"},
		"refund with no signature":    {second(d.RefundAuthorized(s, chains.Auth{Timeout: 5})), "signature"},
		"refund until a negative":     {second(d.RefundAuthorized(s, chains.Auth{Timeout: -5, Signature: auth.Signature})), "timeout"},
		"refund until no time":        {second(d.RefundAuthorized(s, chains.Auth{Signature: auth.Signature})), "timeout"},
		"refund what is broken early": {second(d.RefundAuthorized(broken, auth)), "amount"},
		"prove a hash lock":           {second(d.ClaimByBitcoin(s, BitcoinProof{})), "claimHandler"},
		"transfer too much":           {second(Transfer(STRK, FeltOf(1), new(big.Int).Lsh(big.NewInt(1), 256))), "amount"},
		"transfer less than nothing":  {second(Transfer(STRK, FeltOf(1), big.NewInt(-1))), "amount"},
		"transfer to zero":            {second(Transfer(STRK, Felt{}, big.NewInt(1))), "recipient"},
		"transfer beyond addresses":   {second(Transfer(STRK, firstBeyond, big.NewInt(1))), "recipient"},
	} {
		if fault.CodeOf(c.err) != fault.InvalidInput || fieldOf(c.err) != c.field {
			t.Errorf("%s: %v, about %q", name, c.err, fieldOf(c.err))
		}
	}
	if _, err := d.ClaimByBitcoin(chain, BitcoinProof{Tx: []byte{1}}); err == nil {
		t.Error("a transaction that is none proves something")
	}
	if !s.ClaimInTime(after.Add(-chains.ClaimGrace), 0) || s.ClaimInTime(after.Add(-chains.ClaimGrace), after.Unix()) || s.ClaimInTime(after, 0) {
		t.Error("a claim is in time by the earlier clock")
	}
}

func second[T any](_ T, err error) error { return err }

func TestSwapDataJSONMethod(t *testing.T) {
	var s SwapData
	if err := json.Unmarshal([]byte(goodSwapData), &s); err != nil || s.Sequence != 10669130460086909320 {
		t.Errorf("%+v, %v", s, err)
	}
	if err := json.Unmarshal([]byte(`{"type":"strk"}`), &s); err == nil {
		t.Error("half an escrow is read")
	}
	if _, err := json.Marshal(SwapData{}); err == nil {
		t.Error("an escrow without amounts is written")
	}
	if _, err := (SwapData{}).Public(); err == nil {
		t.Error("an escrow without amounts is shown")
	}
	for name, change := range map[string]func(s *SwapData){
		"token": func(s *SwapData) { s.Token = firstBeyond }, "claimHandler": func(s *SwapData) { s.ClaimHandler = firstBeyond }, "kind": func(s *SwapData) { s.Kind = 7 },
		"extraData": func(s *SwapData) { s.ExtraData = make([]byte, maxExtraData+1) }, "successAction.executionFee": func(s *SwapData) { s.SuccessAction = &SuccessAction{Fee: big.NewInt(-1)} },
		"securityDeposit": func(s *SwapData) { s.SecurityDeposit = nil }, "claimerBounty": func(s *SwapData) { s.ClaimerBounty = big.NewInt(-1) },
	} {
		bad := swapOf(t, []byte(goodSwapData))
		if change(&bad); fieldOf(bad.Validate()) != name {
			t.Errorf("%s: %v", name, bad.Validate())
		}
	}
}

func TestRandomAddress(t *testing.T) {
	a, err := RandomAddress(bytes.NewReader(append(bytes.Repeat([]byte{0xff}, 32), bytes.Repeat([]byte{0x5a}, 32)...))) // the first is beyond addresses
	if err != nil || a != "0x02"+strings.Repeat("5a", 31) {
		t.Errorf("%s, %v", a, err)
	}
	if _, err := RandomAddress(bytes.NewReader(nil)); !errors.Is(err, io.EOF) {
		t.Errorf("%v", err)
	}
	if b, err := Address(a); err != nil || b != a {
		t.Errorf("%s, %v", b, err)
	}
}

// The address of an account follows from all that makes it.
func TestDeployAddress(t *testing.T) {
	base := Deploy{FeltOf(1), FeltOf(2), []Felt{FeltOf(3), FeltOf(4)}}
	seen := []Felt{base.Address()}
	for _, d := range []Deploy{{FeltOf(9), FeltOf(2), base.ConstructorCalldata}, {FeltOf(1), FeltOf(9), base.ConstructorCalldata}, {FeltOf(1), FeltOf(2), []Felt{FeltOf(3)}}, {FeltOf(1), FeltOf(2), nil}} {
		a := d.Address()
		if slices.Contains(seen, a) || !validAddress(a) {
			t.Errorf("%+v has the address %s", d, Hex64(a))
		}
		seen = append(seen, a)
	}
}
