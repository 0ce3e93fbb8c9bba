package wire

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/members"
	"github.com/swapper-go/swapper/internal/trial"
)

// An LP that names contracts of its own, or terms of its own, is found out. Each tolerance
// is for its own members and in its own direction only.
func TestForeignSwapData(t *testing.T) {
	d := deploymentOf(t, "CITREA/MAINNET")
	good := payInSwap(t, d, common.HexToAddress("0x1000000000000000000000000000000000000001"))
	good.SecurityDeposit, good.ClaimerBounty = big.NewInt(100), big.NewInt(100)
	trial.Do(t, d.CheckSwapData(good))
	trial.Do(t, Diff(good, good, chains.Tolerance{}))
	evil, none := common.HexToAddress("0x00000000000000000000000000000000000000ee"), chains.Tolerance{}
	for _, c := range []struct {
		name, member string
		change       func(*SwapData)
		foreign      bool             // refused by the deployment, whatever was agreed on
		may          chains.Tolerance // none: there is none for it
	}{
		{"claim handler of its own", "claimHandler", func(s *SwapData) { s.ClaimHandler = evil }, true, none},
		{"handler of another kind", "claimHandler", func(s *SwapData) { s.ClaimHandler = d.ClaimHandlers[chains.OnchainTxID] }, true, none},
		{"refund handler of its own", "refundHandler", func(s *SwapData) { s.RefundHandler = evil }, true, none},
		{"success action", "successActionCommitment", func(s *SwapData) { s.SuccessAction = common.Hash{1} }, true, none},
		{"no reputation", "reputation", func(s *SwapData) { s.Reputation = false }, true, none},
		{"itself as offerer", "offerer", func(s *SwapData) { s.Offerer = s.Claimer }, true, none},
		{"nobody as claimer", "claimer", func(s *SwapData) { s.Claimer = common.Address{} }, true, none},
		{"somebody else as claimer", "claimer", func(s *SwapData) { s.Claimer = evil }, false, none},
		{"another token", "token", func(s *SwapData) { s.Token = evil }, false, none},
		{"another condition", "claimData", func(s *SwapData) { s.ClaimData = common.Hash{9} }, false, none},
		{"another deposit token", "depositToken", func(s *SwapData) { s.DepositToken = evil }, false, none},
		{"another payout", "payOut", func(s *SwapData) { s.PayOut = true }, false, none},
		{"a sat more", "amount", func(s *SwapData) { s.Amount = big.NewInt(1_000_001) }, false, chains.Tolerance{AtLeastAmount: true}},
		{"a sat less", "amount", func(s *SwapData) { s.Amount = big.NewInt(999_999) }, false, none},
		{"larger deposit", "securityDeposit", func(s *SwapData) { s.SecurityDeposit = big.NewInt(101) }, false, none},
		{"smaller deposit", "securityDeposit", func(s *SwapData) { s.SecurityDeposit = big.NewInt(99) }, false, chains.Tolerance{AtMostDeposits: true}},
		{"larger bounty", "claimerBounty", func(s *SwapData) { s.ClaimerBounty = big.NewInt(101) }, false, none},
		{"smaller bounty", "claimerBounty", func(s *SwapData) { s.ClaimerBounty = big.NewInt(99) }, false, chains.Tolerance{AtMostDeposits: true}},
		{"lower sequence", "sequence", func(s *SwapData) { s.Sequence = big.NewInt(8) }, false, chains.Tolerance{AnySequence: true}},
		{"higher sequence", "sequence", func(s *SwapData) { s.Sequence = big.NewInt(10) }, false, chains.Tolerance{AnySequence: true}},
		{"another expiry", "refundData", func(s *SwapData) { s.RefundData = common.Hash{31: 1} }, false, chains.Tolerance{AnyExpiry: true}},
		{"extra data", "extraData", func(s *SwapData) { s.ExtraData = []byte{1} }, false, chains.Tolerance{AnyExtraData: true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := good
			c.change(&s)
			for _, may := range []chains.Tolerance{none, {AnySequence: true}, {AnyExpiry: true}, {AtLeastAmount: true}, {AtMostDeposits: true}, {AnyExtraData: true}} {
				var diff *chains.DiffError
				err := Diff(good, s, may)
				if tolerated := may == c.may && c.may != none; tolerated != (err == nil) || err != nil && (!errors.As(err, &diff) || diff.Member != c.member) {
					t.Errorf("compared with %+v: %v, want a difference in %s: %v", may, err, c.member, !tolerated)
				}
			}
			if err := d.CheckSwapData(s); (err != nil) != c.foreign {
				t.Errorf("checked against the deployment: %v", err)
			}
		})
	}
}

func TestParseSwapDataStrict(t *testing.T) {
	d := deploymentOf(t, "CITREA/MAINNET")
	text := string(mustJSON(t, payInSwap(t, d, common.HexToAddress("0x1000000000000000000000000000000000000001"))))
	if _, err := ParseSwapData([]byte(text)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, old, new, field string }{
		{"negative", `"amount":"1000000"`, `"amount":"-1"`, "amount"},
		{"fraction", `"amount":"1000000"`, `"amount":1.5`, "amount"},
		{"exponent", `"amount":"1000000"`, `"amount":1e6`, "amount"},
		{"number that others round", `"amount":"1000000"`, `"amount":9007199254740993`, "amount"},
		{"above 256 bits", `"amount":"1000000"`, `"amount":"0x1` + strings.Repeat("0", 64) + `"`, "amount"},
		{"sequence above 192 bits", `"sequence":"9"`, `"sequence":"0x1` + strings.Repeat("0", 48) + `"`, "sequence"},
		{"separators", `"amount":"1000000"`, `"amount":"1_000_000"`, "amount"},
		{"blank", `"amount":"1000000"`, `"amount":" 1000000"`, "amount"},
		{"empty", `"amount":"1000000"`, `"amount":""`, "amount"},
		{"kind as text", `"kind":0`, `"kind":"0"`, "kind"},
		{"unknown kind", `"kind":0`, `"kind":4`, "kind"},
		{"flag as number", `"payIn":true`, `"payIn":1`, "payIn"},
		{"flag missing", `"payIn":true,`, ``, "payIn"},
		{"member in other case", `"payIn":true`, `"payin":true`, "payIn"},
		{"short hash", `"claimData":"0x00`, `"claimData":"0x`, "claimData"},
		{"hash without prefix", `"claimData":"0x`, `"claimData":"`, "claimData"},
		{"wrong checksum", `"offerer":"0x1000000000000000000000000000000000000001"`, `"offerer":"0xA000000000000000000000000000000000000bCd"`, "offerer"},
		{"other type", `"type":"evm"`, `"type":"solana"`, "type"},
		{"extra data with prefix", `"successAction`, `"extraData":"0x00","successAction`, "extraData"},
		{"extra data too long", `"successAction`, `"extraData":"` + strings.Repeat("00", maxExtraData+1) + `","successAction`, "extraData"},
	} {
		changed := strings.Replace(text, c.old, c.new, 1)
		if changed == text {
			t.Fatalf("%s: nothing replaced", c.name)
		}
		var e *fault.Error
		if _, err := ParseSwapData([]byte(changed)); !asFault(err, &e) || e.Field != c.field || e.Code != fault.InvalidInput {
			t.Errorf("%s: got %v, want a refusal of %s", c.name, err, c.field)
		}
	}
	for _, raw := range []string{"", "null", "[]", "{", `"evm"`, strings.Repeat(" ", members.MaxText+1)} {
		if _, err := ParseSwapData([]byte(raw)); err == nil {
			t.Errorf("accepted %.20q", raw)
		}
	}
}

// Texts that JSON escapes are read as what they stand for, and what they stand for is
// judged like any other.
func TestParseSwapDataEscaped(t *testing.T) {
	d := deploymentOf(t, "CITREA/MAINNET")
	want := payInSwap(t, d, common.HexToAddress("0x1000000000000000000000000000000000000001"))
	text := string(mustJSON(t, want))
	for _, c := range []struct {
		old, new string
		good     bool
	}{
		{`"type":"evm"`, `"type":"\u0065vm"`, true},
		{`"offerer":"0x1000`, `"offerer":"\u0030x1000`, true},
		{`"claimData":"0x`, `"claimData":"0\u0078`, true},
		{`"amount":"1000000"`, `"amount":"1\u00300000\u0030"`, true},
		{`"payIn":true`, `"payIn" : true `, true},
		{`"type":"evm"`, `"type":"\u0045vm"`, false},
		{`"amount":"1000000"`, `"amount":"1000000\n"`, false},
		{`"amount":"1000000"`, `"amount":"１000000"`, false},
	} {
		changed := strings.Replace(text, c.old, c.new, 1)
		if changed == text {
			t.Fatalf("%s: nothing replaced", c.old)
		}
		got, err := ParseSwapData([]byte(changed))
		if c.good && (err != nil || Diff(want, got, chains.Tolerance{}) != nil) || !c.good && err == nil {
			t.Errorf("%s: %+v, %v", c.new, got, err)
		}
	}
}

// A node that shows another transaction, or one that opens several escrows,
// cannot make us take the wrong data.
func TestFindSwapData(t *testing.T) {
	d := deploymentOf(t, "CITREA/MAINNET")
	user := common.HexToAddress("0x1000000000000000000000000000000000000001")
	ours := payInSwap(t, d, user)
	ours.ExtraData = []byte{1, 2, 3}
	other := ours
	other.Amount = big.NewInt(1)
	frame := func(s SwapData) CallFrame {
		calls := trial.Must(d.Init(s, s.Offerer, anyAuth()))(t)
		last := calls[len(calls)-1]
		return CallFrame{Type: "CALL", To: last.To, Input: last.Data}
	}
	hash := trial.Must(ours.EscrowHash())(t)
	nested := CallFrame{Type: "CALL", To: user, Calls: []CallFrame{frame(other), {Calls: []CallFrame{frame(ours)}}}}
	for name, f := range map[string]CallFrame{"direct": frame(ours), "nested": nested} {
		got, err := d.FindSwapData(f, hash)
		if err != nil || Diff(ours, got, chains.Tolerance{}) != nil {
			t.Errorf("%s: got %v, %v", name, Diff(ours, got, chains.Tolerance{}), err)
		}
	}
	elsewhere := frame(ours)
	elsewhere.To = user
	cut := frame(ours)
	cut.Input = cut.Input[:len(cut.Input)-33]
	foreign := ours
	foreign.ClaimHandler = user
	foreignHash, _ := foreign.EscrowHash()
	for name, c := range map[string]struct {
		f    CallFrame
		hash common.Hash
	}{
		"another escrow":  {frame(other), hash},
		"to a stranger":   {elsewhere, hash},
		"cut":             {cut, hash},
		"empty":           {CallFrame{}, hash},
		"unknown handler": {frame(foreign), foreignHash},
	} {
		if s, err := d.FindSwapData(c.f, c.hash); err == nil {
			t.Errorf("%s: found %+v", name, s)
		}
	}
}

func TestClaimBySecretRefuses(t *testing.T) {
	d := deploymentOf(t, "CITREA/MAINNET")
	user := common.HexToAddress("0x1000000000000000000000000000000000000001")
	secret := [32]byte{7}
	s := trial.Must(d.NewSwapData(Terms{Kind: chains.HTLC, Offerer: common.HexToAddress("0xaa"), Claimer: user, Amount: big.NewInt(5), PayOut: true,
		ClaimData: sha256.Sum256(secret[:]), Expiry: 2_000}))(t)
	call, err := d.ClaimBySecret(s, secret)
	if err != nil || !call.Reveals {
		t.Fatalf("%+v, %v", call, err)
	}
	if _, err := d.ClaimBySecret(s, [32]byte{8}); err == nil {
		t.Error("claimed with a wrong secret")
	}
	// 600 seconds before the expiry it is too late, by the clock or by the chain's time.
	for _, c := range []struct {
		now, block int64
		want       bool
	}{{1_400, 1_400, true}, {1_401, 0, false}, {0, 1_401, false}} {
		if got := s.ClaimInTime(time.Unix(c.now, 0), c.block); got != c.want {
			t.Errorf("claim at %d, block %d: in time %v, want %v", c.now, c.block, got, c.want)
		}
	}
	action := s
	action.SuccessAction = common.Hash{1}
	if _, err := d.ClaimBySecret(action, secret); err == nil {
		t.Error("revealed the secret in a claim that reverts")
	}
}

func TestSwapDataText(t *testing.T) {
	var s SwapData
	if _, err := json.Marshal(s); err == nil {
		t.Error("wrote an escrow without amounts")
	}
	if _, err := s.EscrowHash(); err == nil {
		t.Error("hashed an escrow without amounts")
	}
}
