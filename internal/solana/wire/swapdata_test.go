package wire

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"testing"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/members"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/internal/vectors"
)

func TestVectorsSwapData(t *testing.T) {
	vectors.Each(t, "chain-solana", "swapdata", func(t *testing.T, c *vectors.Case) {
		var in struct {
			JSON, Other                                              json.RawMessage
			Fn, Address, Version, Offerer, Claimer, Token, ClaimHash string
			DepositToken                                             string
			Type                                                     int
			Amount, Sequence, Expiry, SecurityDeposit, ClaimerBounty json.Number
			PayIn, PayOut                                            bool
		}
		c.Input(t, &in)
		var want json.RawMessage
		c.Expected(t, &want)
		var d *SwapData
		if in.JSON != nil {
			d = swapOf(t, in.JSON)
		}
		switch in.Fn {
		case "":
			swapDataGetters(t, in.JSON, d, want)
		case "setOfferer", "setClaimer":
			c.NotOurs(t, "changed-parties")
		case "getExpiry":
			expiry, err := d.ExpiryTime()
			if !c.Refuses(t, err) {
				vectors.SameJSON(t, want, map[string]string{"expiry": strconv.FormatInt(expiry, 10)})
			}
		case "roles":
			vectors.SameJSON(t, want, map[string]bool{"isClaimer": d.IsClaimer(key(t, in.Address)), "isOfferer": d.Offerer == key(t, in.Address)})
		case "constructVersioned":
			p := programs(in.Version)
			p.Swap = d.ProgramID
			err := p.Check(d)
			if !c.Refuses(t, err) {
				vectors.SameJSON(t, want, map[string]any{"ok": true, "version": d.Version})
			} else if fieldOf(err) != "version" {
				t.Errorf("the error is about %q, not the version: %v", fieldOf(err), err)
			}
		case "equals":
			// The reference compares less: neither program nor version nor the hint.
			other := swapOf(t, in.Other)
			err := Diff(d, other, chains.Tolerance{})
			var diff *chains.DiffError
			equal := err == nil || errors.As(err, &diff) && (diff.Member == "programId" || diff.Member == "version" || diff.Member == "txoHash")
			if err == nil && textOf(d.OffererInitializer, strconv.FormatBool) != textOf(other.OffererInitializer, strconv.FormatBool) {
				equal = false // who opened it is not agreed on, so that it is compared with the account alone
			}
			vectors.SameJSON(t, want, map[string]bool{"equals": equal})
		case "createSwapData":
			spec := Spec{Offerer: Key{1}, Claimer: Key{2}, Token: WSOL}
			if in.Version != "" {
				claim := trial.Must(DecodeClaimHash(vectors.Unhex(t, in.ClaimHash)))(t)
				spec = Spec{Kind: chains.Kind(in.Type), Claim: claim, Offerer: key(t, in.Offerer), Claimer: key(t, in.Claimer), Token: key(t, in.Token), Amount: number(t, in.Amount),
					Sequence: number(t, in.Sequence), Expiry: number(t, in.Expiry), PayIn: in.PayIn, PayOut: in.PayOut, SecurityDeposit: number(t, in.SecurityDeposit), ClaimerBounty: number(t, in.ClaimerBounty)}
			}
			spec.DepositToken = WSOL
			if in.DepositToken != "" {
				spec.DepositToken = key(t, in.DepositToken)
			}
			made, err := programs(in.Version).NewSwapData(spec)
			if !c.Refuses(t, err) {
				vectors.SameJSON(t, want, made)
			}
		default:
			t.Fatalf("unknown %s", in.Fn)
		}
	})
}

func swapDataGetters(t *testing.T, text json.RawMessage, d *SwapData, want json.RawMessage) {
	t.Helper()
	u := func(v uint64) string { return strconv.FormatUint(v, 10) }
	optional := func(h *[32]byte) any {
		if h == nil {
			return nil
		}
		return hex.EncodeToString(h[:])
	}
	var htlc any
	if d.Kind == chains.HTLC {
		htlc = hex.EncodeToString(d.PaymentHash[:])
	}
	escrow := d.EscrowHash()
	public := trial.Must(d.Public())(t)
	want = vectors.Without(t, want, "isTrackingReputation", "totalDeposit") // follow from members that are compared
	got := map[string]any{
		"offerer": d.Offerer, "claimer": d.Claimer, "amount": u(d.Amount), "token": d.Token, "type": int(d.Kind), "expiry": u(d.Expiry),
		"confirmationsHint": d.Confirmations, "nonceHint": u(d.Nonce), "isPayIn": d.PayIn, "isPayOut": d.PayOut,
		"claimHash": hex.EncodeToString(d.ClaimHash().Bytes()), "escrowHash": hex.EncodeToString(escrow[:]), "sequence": u(d.Sequence),
		"txoHashHint": optional(d.TxoHint()), "htlcHashHint": htlc, "extraData": optional(d.TxoHash),
		"securityDeposit": u(d.SecurityDeposit), "claimerBounty": u(d.ClaimerBounty), "depositToken": WSOL, "escrowStruct": public,
	}
	var has map[string]json.RawMessage
	trial.Do(t, json.Unmarshal(want, &has))
	if _, ok := has["serialize"]; ok {
		got["serialize"] = d
	} else {
		vectors.SameJSON(t, text, d)
		again := swapOf(t, vectors.JSON(t, d))
		got["roundTripEquals"] = Diff(d, again, chains.Tolerance{}) == nil
		got["swapDataBorsh"] = hex.EncodeToString(d.Terms().Bytes())
	}
	vectors.SameJSON(t, want, got)
}

const goodSwapData = `{"type":"sol","programId":"4hfUykhqmD7ZRvNh1HuzVKEY7ToENixtdUKZspNDCrEM","version":"v1","offerer":"Co5p4ZHsQTcgtBS9jQH8Km96qTDKMYV51cykzt1yFYFD","claimer":"FHXLToHR6VHe7F8M3n7kRgtAMfud7fNabZQqC59r1ajK","token":"7cKBLokaksMJbjdjk1gmPvf4oLnHa7hDXiLwSQboZrUM","amount":"282566874257244","paymentHash":"a78a3d8348212c793571a458208a2ca0d0f8f4fa55bf91703f4e2ba25d6f501c","sequence":"340549391450613828","expiry":"1756691056","nonce":"0","confirmations":0,"payOut":false,"kind":0,"payIn":true,"offererAta":"2SKC4daQj4x7wPLFFaeJXd2FAHE29Rn8Bh7afc5Yvh1h","claimerAta":"11111111111111111111111111111111","securityDeposit":"0","claimerBounty":"0"}`

// What an LP can write into escrow data and the program would refuse, or would not
// even see, is refused with the member's name (§21).
func TestSwapDataOfAnLP(t *testing.T) {
	for _, c := range []struct{ name, old, new, field string }{
		{"another swap program", "4hfUykhqmD7ZRvNh1HuzVKEY7ToENixtdUKZspNDCrEM", "atq2FYuvww5EF6qeB28gj9tkao6Ld9mEGUzF4M93cCC", "programId"},
		{"another version", `"version":"v1"`, `"version":"v2"`, "version"},
		{"a version that is not", `"version":"v1"`, `"version":"v3"`, "version"},
		{"another chain", `"type":"sol"`, `"type":"evm"`, "type"},
		{"amount of 2^64", `"282566874257244"`, `"18446744073709551616"`, "amount"},
		{"negative amount", `"282566874257244"`, `"-1"`, "amount"},
		{"amount in hex", `"282566874257244"`, `"0x10"`, "amount"},
		{"amount as a number", `"282566874257244"`, `282566874257244`, "amount"},
		{"no amount", `"amount":"282566874257244",`, ``, "amount"},
		{"sequence of 2^64", `"340549391450613828"`, `"18446744073709551616"`, "sequence"},
		{"too many confirmations", `"confirmations":0`, `"confirmations":201`, "confirmations"},
		{"confirmations of 2^16", `"confirmations":0`, `"confirmations":65536`, "confirmations"},
		{"nonce of a hash lock", `"nonce":"0"`, `"nonce":"1"`, "nonce"},
		{"unknown kind", `"kind":0`, `"kind":4`, "kind"},
		{"negative kind", `"kind":0`, `"kind":-1`, "kind"},
		{"short hash", `"a78a3d83`, `"a78a3d`, "paymentHash"},
		{"long hash", `"a78a3d83`, `"00a78a3d83`, "paymentHash"},
		{"expiry as a height", `"1756691056"`, `"999999999"`, "expiry"},
		{"deposit of who pays in", `"securityDeposit":"0"`, `"securityDeposit":"1"`, "securityDeposit"},
		{"bounty of who pays in", `"claimerBounty":"0"`, `"claimerBounty":"1"`, "claimerBounty"},
		{"address of 31 bytes", "Co5p4ZHsQTcgtBS9jQH8Km96qTDKMYV51cykzt1yFYFD", "2VUnLYxEQcSmLBruiCLAdCJP5sQxj7nbAtKYEzwbknr", "offerer"},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := strings.Replace(goodSwapData, c.old, c.new, 1)
			if text == goodSwapData {
				t.Fatal("nothing was changed")
			}
			d, err := ParseSwapData([]byte(text))
			if err == nil {
				err = firstV1.Check(d)
			}
			if fault.CodeOf(err) != fault.InvalidInput || fieldOf(err) != c.field {
				t.Errorf("%v, about %q; want %q", err, fieldOf(err), c.field)
			}
		})
	}
	if d, err := ParseSwapData([]byte(goodSwapData)); err != nil || firstV1.Check(d) != nil {
		t.Errorf("good data: %v", err)
	}
	edge, err := ParseSwapData([]byte(strings.Replace(goodSwapData, `"1756691056"`, `"1000000000"`, 1)))
	if err != nil || firstV1.Check(edge) != nil {
		t.Errorf("the lowest expiry that is a time: %v, %v", err, firstV1.Check(edge))
	}
	if _, err := ParseSwapData([]byte(`{"type":"` + strings.Repeat("x", members.MaxText) + `"}`)); err == nil {
		t.Error("swap data without bound was read")
	}
}

// Every member that an LP may not choose is compared, the program and the payout
// included; what it may choose has to be named.
func TestDiff(t *testing.T) {
	base := func() *SwapData { d, _ := ParseSwapData([]byte(goodSwapData)); return d }
	hash := [32]byte{5}
	for _, c := range []struct {
		member string
		change func(d *SwapData)
		may    chains.Tolerance
	}{
		{"programId", func(d *SwapData) { d.ProgramID = firstV2.Swap }, chains.Tolerance{}},
		{"version", func(d *SwapData) { d.Version = V2 }, chains.Tolerance{}},
		{"offerer", func(d *SwapData) { d.Offerer = Key{1} }, chains.Tolerance{}},
		{"claimer", func(d *SwapData) { d.Claimer = Key{1} }, chains.Tolerance{}},
		{"token", func(d *SwapData) { d.Token = WSOL }, chains.Tolerance{}},
		{"kind", func(d *SwapData) { d.Kind = chains.Onchain }, chains.Tolerance{}},
		{"paymentHash", func(d *SwapData) { d.PaymentHash = hash }, chains.Tolerance{}},
		{"nonce", func(d *SwapData) { d.Nonce = 1 }, chains.Tolerance{}},
		{"confirmations", func(d *SwapData) { d.Confirmations = 1 }, chains.Tolerance{}},
		{"payIn", func(d *SwapData) { d.PayIn = false }, chains.Tolerance{}},
		{"payOut", func(d *SwapData) { d.PayOut = true }, chains.Tolerance{}},
		{"offererAta", func(d *SwapData) { d.OffererATA = &Key{1} }, chains.Tolerance{}},
		{"claimerAta", func(d *SwapData) { d.ClaimerATA = &Key{1} }, chains.Tolerance{}},
		{"sequence", func(d *SwapData) { d.Sequence++ }, chains.Tolerance{AnySequence: true}},
		{"expiry", func(d *SwapData) { d.Expiry++ }, chains.Tolerance{AnyExpiry: true}},
		{"amount", func(d *SwapData) { d.Amount++ }, chains.Tolerance{AtLeastAmount: true}},
		{"amount", func(d *SwapData) { d.Amount-- }, chains.Tolerance{}},
		{"securityDeposit", func(d *SwapData) { d.SecurityDeposit++ }, chains.Tolerance{}},
		{"claimerBounty", func(d *SwapData) { d.ClaimerBounty++ }, chains.Tolerance{}},
		{"txoHash", func(d *SwapData) { d.TxoHash = &hash }, chains.Tolerance{AnyExtraData: true}},
	} {
		got := base()
		c.change(got)
		var diff *chains.DiffError
		if err := Diff(base(), got, chains.Tolerance{}); !errors.As(err, &diff) || diff.Member != c.member {
			t.Errorf("%s: %v", c.member, err)
		}
		for _, f := range []chains.Tolerance{{AnySequence: true}, {AnyExpiry: true}, {AtLeastAmount: true}, {AtMostDeposits: true}, {AnyExtraData: true}} {
			if err := Diff(base(), got, f); (err == nil) != (f == c.may) {
				t.Errorf("%s, where %+v may differ: %v", c.member, f, err)
			}
		}
	}
	low := base()
	want := base()
	want.SecurityDeposit, want.ClaimerBounty = 5, 5
	low.SecurityDeposit, low.ClaimerBounty = 4, 4
	if Diff(want, low, chains.Tolerance{}) == nil || Diff(want, low, chains.Tolerance{AtMostDeposits: true}) != nil || Diff(low, want, chains.Tolerance{AtMostDeposits: true}) == nil {
		t.Error("a smaller deposit passes where it may, and only there")
	}
	if err := Diff(base(), func() *SwapData { d := base(); d.Amount--; return d }(), chains.Tolerance{AtLeastAmount: true}); err == nil {
		t.Error("a smaller amount passed for a larger one")
	}
}
