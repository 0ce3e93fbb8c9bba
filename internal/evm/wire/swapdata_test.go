package wire

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"maps"
	"regexp"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/internal/vectors"
)

type interfaceReader = func() abi.ABI

func asFault(err error, e **fault.Error) bool { return errors.As(err, e) }

// facts is all that the swap data vectors tell of one escrow.
func facts(t *testing.T, s SwapData) map[string]any {
	t.Helper()
	hash := trial.Must(s.EscrowHash())(t)
	encoded := trial.Must(s.Encode())(t)
	public := trial.Must(s.Public())(t)
	text := trial.Must(json.Marshal(s))(t)
	m := map[string]any{
		"serialized":       json.RawMessage(text),
		"flags":            s.Flags().String(),
		"escrowHash":       hex.EncodeToString(hash[:]),
		"claimHash":        hex.EncodeToString(s.ClaimData[:]),
		"amount":           s.Amount.String(),
		"expiry":           s.RefundData.Big().String(),
		"sequence":         s.Sequence.String(),
		"type":             s.Kind,
		"payIn":            s.PayIn,
		"payOut":           s.PayOut,
		"reputation":       s.Reputation,
		"totalDeposit":     s.TotalDeposit().String(),
		"securityDeposit":  s.SecurityDeposit.String(),
		"claimerBounty":    s.ClaimerBounty.String(),
		"htlcHashHint":     nil,
		"extraData":        nil,
		"hasSuccessAction": s.SuccessAction != common.Hash{},
		"escrowStruct":     public,
		"abiEncoded":       hex.EncodeToString(encoded),
	}
	again, err := ParseSwapData(text)
	m["roundTripEquals"] = err == nil && Diff(s, again, chains.Tolerance{}) == nil
	if s.ExtraData != nil {
		m["extraData"] = hex.EncodeToString(s.ExtraData)
	}
	return m
}

// checkPrefixedExtra compares the reference's facts of swap data whose extra
// data begin with 0x, which it keeps.
func checkPrefixedExtra(t *testing.T, want json.RawMessage, fields map[string]any) {
	t.Helper()
	extra, _ := fields["extraData"].(string)
	plain, ok := strings.CutPrefix(extra, "0x")
	if !ok {
		t.Fatalf("malformed otherwise than in its extra data: %v", fields)
	}
	fixed := maps.Clone(fields)
	fixed["extraData"] = plain
	s := trial.Must(ParseSwapData(mustJSON(t, fixed)))(t)
	m := facts(t, s)
	var serialized map[string]any
	trial.Do(t, json.Unmarshal(mustJSON(t, s), &serialized))
	serialized["extraData"], m["serialized"], m["extraData"] = extra, serialized, extra
	vectors.SameJSON(t, want, m)
}

// checkSwapData holds swap data in JSON against what the reference makes of it.
func checkSwapData(t *testing.T, c *vectors.Case, raw json.RawMessage) {
	t.Helper()
	s, err := ParseSwapData(raw)
	want := c.Want(t)
	if vectors.Refused(want) {
		if err == nil {
			t.Fatalf("accepted %s", raw)
		}
		return
	}
	want = vectors.Without(t, want, "confirmationsHint", "nonceHint", "txoHashHint") // parts of the extra data, for claimers
	var fields map[string]any
	if e := json.Unmarshal(raw, &fields); e != nil {
		t.Fatal(e)
	}
	if !wellFormed(t, raw) {
		c.Differ(t, "evm-swap-data-strict")
		if err == nil {
			t.Fatal("malformed members accepted")
		}
		checkPrefixedExtra(t, want, fields)
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	got := trial.Must(json.Marshal(facts(t, s)))(t)
	if !canonical(t, raw) {
		c.Differ(t, "evm-address-text")
		if !canonical(t, mustJSON(t, s)) {
			t.Error("addresses are not written in EIP-55")
		}
		want, got = lower(want), lower(got)
	}
	if extra, given := fields["extraData"]; given && extra == nil {
		c.Differ(t, "evm-extra-data-absent")
		var facts map[string]json.RawMessage
		var serialized map[string]json.RawMessage
		if json.Unmarshal(want, &facts) != nil || json.Unmarshal(facts["serialized"], &serialized) != nil {
			t.Fatal("expected facts of an escrow")
		}
		delete(serialized, "extraData")
		facts["serialized"] = mustJSON(t, serialized)
		want = mustJSON(t, facts)
	}
	vectors.SameJSON(t, want, json.RawMessage(got))
}

func mustJSON(t testing.TB, v any) json.RawMessage {
	t.Helper()
	return trial.Must(json.Marshal(v))(t)
}

var (
	numberForm  = regexp.MustCompile(`^("[0-9]{1,78}"|"0x[0-9a-fA-F]{1,64}"|[0-9]{1,16})$`)
	addressForm = regexp.MustCompile(`^"0x[0-9a-fA-F]{40}"$`)
	hashForm    = regexp.MustCompile(`^"0x[0-9a-fA-F]{64}"$`)
	extraForm   = regexp.MustCompile(`^(null|"([0-9a-fA-F]{2})*")$`)
)

// wellFormed says whether the members have the forms of chain-evm.md §3.3, some
// of which the reference does not look at.
func wellFormed(t *testing.T, raw json.RawMessage) bool {
	t.Helper()
	var m map[string]json.RawMessage
	trial.Do(t, json.Unmarshal(raw, &m))
	good := true
	for _, name := range []string{"payIn", "payOut", "reputation"} {
		good = good && (string(m[name]) == "true" || string(m[name]) == "false")
	}
	for _, name := range []string{"sequence", "amount", "securityDeposit", "claimerBounty"} {
		good = good && numberForm.Match(m[name])
	}
	for _, name := range []string{"claimData", "refundData"} {
		good = good && hashForm.Match(m[name])
	}
	for _, name := range addressMembers {
		good = good && addressForm.Match(m[name])
	}
	if extra, ok := m["extraData"]; ok {
		good = good && extraForm.Match(extra)
	}
	return good && len(m["kind"]) == 1 && m["kind"][0] >= '0' && m["kind"][0] <= '3'
}

// typed adds the type member that the vectors of built swap data leave out.
func typed(fields json.RawMessage) json.RawMessage {
	return json.RawMessage(strings.Replace(string(fields), "{", `{"type":"evm",`, 1))
}

func TestVectorsSwapData(t *testing.T) {
	vectors.Each(t, "chain-evm", "swapdata", func(t *testing.T, c *vectors.Case) {
		var in struct{ Fields json.RawMessage }
		c.Input(t, &in)
		checkSwapData(t, c, typed(in.Fields))
	})
}

func TestVectorsSwapDataJSON(t *testing.T) {
	vectors.Each(t, "chain-evm", "swapdata_json", func(t *testing.T, c *vectors.Case) {
		var in struct{ JSON json.RawMessage }
		c.Input(t, &in)
		checkSwapData(t, c, in.JSON)
	})
}

func TestVectorsSwapDataEquals(t *testing.T) {
	vectors.Each(t, "chain-evm", "swapdata_equals", func(t *testing.T, c *vectors.Case) {
		var in struct{ A, B json.RawMessage }
		c.Input(t, &in)
		var want struct{ Equals, SameEscrowHash bool }
		c.Expected(t, &want)
		a, b := swapOf(t, typed(in.A)), swapOf(t, typed(in.B))
		switch {
		case want.Equals && !want.SameEscrowHash && a.DepositToken != b.DepositToken:
			c.Differ(t, "evm-deposit-token")
			want.Equals = false
		case want.Equals != want.SameEscrowHash:
			t.Errorf("the reference says equal %v, the same hash %v", want.Equals, want.SameEscrowHash)
		}
		hashA, errA := a.EscrowHash()
		hashB, errB := b.EscrowHash()
		if errA != nil || errB != nil || (hashA == hashB) != want.Equals || want.Equals != want.SameEscrowHash {
			t.Errorf("hashes %s %v, %s %v; want the same: %v", hashA, errA, hashB, errB, want.SameEscrowHash)
		}
		if err := Diff(a, b, chains.Tolerance{}); err == nil && !want.Equals {
			t.Error("no difference found between escrows with different hashes")
		}
	})
}

func TestVectorsSwapDataBuild(t *testing.T) {
	vectors.Each(t, "chain-evm", "swapdata_build", func(t *testing.T, c *vectors.Case) {
		var in struct {
			Fields                                          json.RawMessage
			Chain                                           string
			Type                                            chains.Kind
			Offerer, Claimer, Token                         string
			Amount, PaymentHash, Sequence, Expiry           string
			PayIn, PayOut                                   bool
			SecurityDeposit, ClaimerBounty, SuccessActionID string
		}
		c.Input(t, &in)
		if in.Fields != nil {
			c.NotOurs(t, "changed-parties")
		}
		got := trial.Must(deploymentOf(t, in.Chain).NewSwapData(Terms{
			Kind: in.Type, Offerer: common.HexToAddress(in.Offerer), Claimer: common.HexToAddress(in.Claimer),
			Token: common.HexToAddress(in.Token), Amount: bigOf(t, in.Amount), ClaimData: common.HexToHash(in.PaymentHash),
			Sequence: bigOf(t, in.Sequence), Expiry: bigOf(t, in.Expiry).Int64(), PayIn: in.PayIn, PayOut: in.PayOut,
			SecurityDeposit: bigOf(t, in.SecurityDeposit), ClaimerBounty: bigOf(t, in.ClaimerBounty),
		}))(t)
		hash := trial.Must(got.EscrowHash())(t)
		vectors.SameJSON(t, c.Want(t), map[string]any{"serialized": got, "escrowHash": hex.EncodeToString(hash[:])})
	})
}
