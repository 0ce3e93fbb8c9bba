package wire

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"math/big"
	"strconv"
	"strings"
	"testing"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/btc/rawtx"
	"github.com/swapper-go/swapper/internal/members"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/internal/vectors"
)

var kindNames = map[string]chains.Kind{"HTLC": chains.HTLC, "CHAIN": chains.Onchain, "CHAIN_NONCED": chains.OnchainNonced, "CHAIN_TXID": chains.OnchainTxID}

func swapOf(t testing.TB, text json.RawMessage) SwapData {
	t.Helper()
	return trial.Must(ParseSwapData(text))(t)
}

func escrowHash(t testing.TB, s SwapData) Felt {
	t.Helper()
	return trial.Must(s.EscrowHash())(t)
}

func TestVectorsSwapData(t *testing.T) {
	vectors.Each(t, "chain-starknet", "swapdata", func(t *testing.T, c *vectors.Case) {
		var in struct {
			Fn, ClaimHandlerType, Predicate, Value, BitcoinNetwork             string
			Swap, A, B                                                         json.RawMessage
			Felts                                                              []string
			Type, Offerer, Claimer, Token, Amount, ClaimData, Sequence, Expiry string
			SecurityDeposit, ClaimerBounty, DepositToken                       string
			PayIn, PayOut                                                      bool
		}
		c.Input(t, &in)
		d := deploymentOf(t, in.BitcoinNetwork)
		switch in.Fn {
		case "swapData":
			checkSwapData(t, c, in.Swap)
		case "fromFelts":
			s, rest, err := d.decodeSwapData(feltsOf(t, in.Felts))
			if err == nil && s.Kind != kindNames[in.ClaimHandlerType] {
				err = errors.New("of another kind") // the reference is told the kind, here it follows from the handler
			}
			if strings.Contains(c.Name, "variant 2") {
				c.Differ(t, "stark-option")
				if err == nil {
					t.Error("an unknown variant is read")
				}
				return
			}
			if !c.Refuses(t, err) {
				vectors.SameJSON(t, c.Want(t), map[string]any{"serialized": s, "remaining": hexes(rest)})
			}
		case "swapDataFelts": // a sequence above 64 bits
			c.Differ(t, "stark-ranges")
			if _, err := ParseSwapData(in.Swap); fieldOf(err) != "sequence" {
				t.Errorf("a sequence of 65 bits: %v", err)
			}
		case "swapDataHash":
			_, err := ParseSwapData(in.Swap)
			if fieldOf(err) != "amount" || !c.Refuses(t, err) {
				t.Errorf("an amount of 257 bits: %v", err)
			}
		case "predicate":
			s := swapOf(t, in.Swap)
			got := map[string]Felt{"isOfferer": s.Offerer, "isClaimer": s.Claimer, "isToken": s.Token, "isDepositToken": s.FeeToken, "isClaimHandler": s.ClaimHandler, "isClaimData": s.ClaimData}
			member, ok := got[in.Predicate]
			if !ok {
				t.Fatalf("unknown %s", in.Predicate)
			}
			var want struct{ Value bool }
			c.Expected(t, &want)
			if !strings.HasPrefix(strings.ToLower(in.Value), "0x") {
				c.Differ(t, "stark-address-form")
				if _, err := ParseAddress(in.Value); err == nil {
					t.Errorf("%q is an address", in.Value)
				}
				return
			}
			value := feltOf(t, in.Value)
			same := member == value
			if in.Predicate == "isToken" && same && len(in.Value) != 66 {
				c.Differ(t, "stark-token-value") // compared as text by the reference
				want.Value = true
			}
			if same != want.Value {
				t.Errorf("%s of %s: %v", in.Predicate, in.Value, same)
			}
		case "equals":
			var want struct {
				Value bool
				Note  string
			}
			c.Expected(t, &want)
			err := Diff(swapOf(t, in.A), swapOf(t, in.B), chains.Tolerance{})
			if want.Note != "" {
				c.Differ(t, "stark-escrow-equal")
				want.Value = false
			}
			if (err == nil) != want.Value {
				t.Errorf("%v, want equal: %v", err, want.Value)
			}
			var diff *chains.DiffError
			if name, ok := strings.CutPrefix(c.Name, "equals differs in "); ok && (!errors.As(err, &diff) || diff.Member != name) {
				t.Errorf("the difference is %v, want %s", err, name)
			}
		case "setClaimer", "setOfferer":
			c.NotOurs(t, "changed-parties")
		case "createSwapData":
			terms := Terms{Kind: 7, Offerer: FeltOf(1), Claimer: FeltOf(2)}
			if k, ok := kindNames[in.Type]; ok {
				sequence, err1 := strconv.ParseUint(in.Sequence, 10, 64)
				expiry, err2 := strconv.ParseInt(in.Expiry, 10, 64)
				trial.Do(t, errors.Join(err1, err2))
				terms = Terms{Kind: k, Offerer: feltOf(t, in.Offerer), Claimer: feltOf(t, in.Claimer), Token: feltOf(t, in.Token), Amount: bigOf(t, in.Amount), ClaimData: feltOf(t, "0x"+in.ClaimData),
					Sequence: sequence, Expiry: expiry, PayIn: in.PayIn, PayOut: in.PayOut, SecurityDeposit: bigOf(t, in.SecurityDeposit), ClaimerBounty: bigOf(t, in.ClaimerBounty)}
				if in.DepositToken != "" {
					terms.FeeToken = feltOf(t, in.DepositToken)
				}
			}
			s, err := d.NewSwapData(terms)
			if !c.Refuses(t, err) {
				vectors.SameJSON(t, c.Want(t), map[string]any{"serialized": s, "escrowHash": Digits64(escrowHash(t, s))})
			} else if fieldOf(err) != "kind" {
				t.Errorf("refused for %v", err)
			}
		default:
			t.Fatalf("unknown %s", in.Fn)
		}
	})
}

func checkSwapData(t *testing.T, c *vectors.Case, text json.RawMessage) {
	s := swapOf(t, text)
	all := trial.Must(s.Felts())(t)
	public := trial.Must(s.Public())(t)
	var want struct {
		FromFelts struct {
			Input     []string
			Remaining []string
		}
	}
	c.Expected(t, &want)
	// Of the kinds' handlers, and read back from calldata: without the extra data, and with what follows.
	again, rest := trial.Must2(deploymentOf(t, "").decodeSwapData(feltsOf(t, want.FromFelts.Input)))(t)
	got := map[string]any{
		"flags": Hex(s.Flags()), "felts": hexes(all), "escrowHash": Digits64(escrowHash(t, s)), "claimHash": ClaimHashText(s.ClaimData),
		"serialized": s, "escrowStruct": public, "expiry": strconv.FormatUint(s.expiry(), 10), "totalDeposit": s.TotalDeposit().String(),
		"hasSuccessAction": s.SuccessAction != nil, "depositToken": Hex64(s.FeeToken),
		"type": int(s.Kind), "sequence": strconv.FormatUint(s.Sequence, 10),
		"fromFelts": map[string]any{"input": want.FromFelts.Input, "serialized": again, "escrowHash": Digits64(escrowHash(t, again)), "remaining": hexes(rest)},
	}
	var tree map[string]any
	c.Expected(t, &tree)
	if respell(t, tree["serialized"]) || respell(t, tree["escrowStruct"]) {
		c.Differ(t, "stark-canonical")
		respell(t, tree["escrowStruct"])
	}
	vectors.SameJSON(t, vectors.Without(t, vectors.JSON(t, tree), "confirmationsHint", "nonceHint", "txoHashHint"), got) // parts of the extra data, for claimers
}

// respell puts the addresses and felts of an escrow into the canonical form, and
// reports whether one was in another.
func respell(t *testing.T, escrow any) (changed bool) {
	t.Helper()
	members, ok := escrow.(map[string]any)
	if !ok {
		t.Fatalf("%v is no escrow", escrow)
	}
	for name, v := range members {
		if text, ok := v.(string); ok && strings.HasPrefix(text, "0x") && name != "flags" {
			if form := Hex64(feltOf(t, text)); form != text {
				members[name], changed = form, true
			}
		}
	}
	return changed
}

const goodSwapData = `{"type":"strk","offerer":"0x0314b23cb69e4cfc82ac465fa98528e6ef49e88b1188d24169afad3e77e7e241","claimer":"0x016490cd90ab3818e3e3e109c8f7ffa97aee9e8e2aaac3c9a5a8a138e618743a","token":"0x03fe2b97c1fd336e750087d68b9b867997fd64a2661ff3ca5a7c771641e8e7ac","refundHandler":"0x06a59659990c2aefbf7239f6d911617b3ae60b79cb3364f3bd242a6ca8f4f4f7","claimHandler":"0x07b74b50a883ebee262b6db0e3c0c697670c6f30e3d610e75faf33a89c46aa2a","payOut":false,"payIn":true,"reputation":true,"sequence":"10669130460086909320","claimData":"0x0265eb98f94ecc16c56ff449be9b76d3d75eede6ba6d800ee1a4a5d409ce9d4a","refundData":"0x000000000000000000000000000000000000000000000000000000006ac40de4","amount":"489531","feeToken":"0x04718f5a0fc34cc1af16a1cdee98ffb20c31f5cd61d6ab07201858f4287c938d","securityDeposit":"5","claimerBounty":"7","kind":0}`

// What an LP can write into escrow data and the contract would read otherwise, or
// carry out for somebody else, is refused with the member's name (§20.4, §20.5).
func TestSwapDataOfAnLP(t *testing.T) {
	p := bigOf(t, prime)
	for _, c := range []struct{ name, old, new, field string }{
		{"another chain", `"strk"`, `"evm"`, "type"},
		{"no type", `"type":"strk",`, ``, "type"},
		{"an address that is not", `"0x0314b2`, `"0314b2`, "offerer"},
		{"an address beyond addresses", "0x0314b23cb69e4cfc82ac465fa98528e6ef49e88b1188d24169afad3e77e7e241", Hex64(firstBeyond), "offerer"},
		{"an address as a number", `"0x0314b23cb69e4cfc82ac465fa98528e6ef49e88b1188d24169afad3e77e7e241"`, `5`, "offerer"},
		{"nobody offers", "0x0314b23cb69e4cfc82ac465fa98528e6ef49e88b1188d24169afad3e77e7e241", "0x0", "offerer"},
		{"nobody claims", "0x016490cd90ab3818e3e3e109c8f7ffa97aee9e8e2aaac3c9a5a8a138e618743a", "0x0", "claimer"},
		{"with himself", "0x016490cd90ab3818e3e3e109c8f7ffa97aee9e8e2aaac3c9a5a8a138e618743a", "0x0314b23cb69e4cfc82ac465fa98528e6ef49e88b1188d24169afad3e77e7e241", "claimer"},
		{"no token", "0x03fe2b97c1fd336e750087d68b9b867997fd64a2661ff3ca5a7c771641e8e7ac", "0x0", "token"},
		{"no fee token", Hex64(STRK), "0x0", "feeToken"},
		{"a claim handler of his own", "0x07b74b50", "0x07b74b51", "claimHandler"},
		{"the claim handler of another kind", `"kind":0`, `"kind":3`, "claimHandler"},
		{"an unknown kind", `"kind":0`, `"kind":4`, "kind"},
		{"a negative kind", `"kind":0`, `"kind":-1`, "kind"},
		{"a refund handler of his own", "0x06a59659", "0x06a59658", "refundHandler"},
		{"claim data plus the prime", "0x0265eb98f94ecc16c56ff449be9b76d3d75eede6ba6d800ee1a4a5d409ce9d4a", "0x" + new(big.Int).Add(p, bigOf(t, "0x0265eb98f94ecc16c56ff449be9b76d3d75eede6ba6d800ee1a4a5d409ce9d4a")).Text(16), "claimData"},
		{"an expiry of 65 bits", "0x000000000000000000000000000000000000000000000000000000006ac40de4", "0x1000000006ac40de4", "refundData"},
		{"an expiry of 64 bits", "0x000000000000000000000000000000000000000000000000000000006ac40de4", "0x8000000000000000", "refundData"},
		{"a sequence of 2^64", `"10669130460086909320"`, `"18446744073709551616"`, "sequence"},
		{"a negative sequence", `"10669130460086909320"`, `"-1"`, "sequence"},
		{"an amount of 2^256", `"489531"`, `"` + new(big.Int).Lsh(big.NewInt(1), 256).String() + `"`, "amount"},
		{"a negative amount", `"489531"`, `"-1"`, "amount"},
		{"an amount with a fraction", `"489531"`, `"1.5"`, "amount"},
		{"an amount that rounds", `"489531"`, `9007199254740993`, "amount"},
		{"no amount", `"amount":"489531",`, ``, "amount"},
		{"null for an amount", `"489531"`, `null`, "amount"},
		{"a deposit of 2^256", `"securityDeposit":"5"`, `"securityDeposit":"` + new(big.Int).Lsh(big.NewInt(1), 256).String() + `"`, "securityDeposit"},
		{"a negative bounty", `"claimerBounty":"7"`, `"claimerBounty":"-7"`, "claimerBounty"},
		{"no reputation", `"reputation":true`, `"reputation":false`, "reputation"},
		{"a flag as a number", `"payIn":true`, `"payIn":1`, "payIn"},
		{"extra data of no bytes", `"kind":0`, `"kind":0,"extraData":"abc"`, "extraData"},
		{"much extra data", `"kind":0`, `"kind":0,"extraData":"` + strings.Repeat("00", maxExtraData+1) + `"`, "extraData"},
		{"a success action", `"kind":0`, `"kind":0,"successAction":{"executionHash":"0x1","executionExpiry":"5","executionFee":"0"}`, "successAction"},
		{"half a success action", `"kind":0`, `"kind":0,"successAction":{"executionHash":"0x1","executionExpiry":"5"}`, "successAction.executionFee"},
		{"a success action of 2^64 seconds", `"kind":0`, `"kind":0,"successAction":{"executionHash":"0x1","executionExpiry":"18446744073709551616","executionFee":"0"}`, "successAction.executionExpiry"},
		{"a success action that is a text", `"kind":0`, `"kind":0,"successAction":"x"`, "successAction"},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := strings.Replace(goodSwapData, c.old, c.new, 1)
			if text == goodSwapData {
				t.Fatal("nothing was changed")
			}
			s, err := ParseSwapData([]byte(text))
			if err == nil {
				err = deploymentOf(t, "").CheckSwapData(s)
			}
			if fault.CodeOf(err) != fault.InvalidInput || fieldOf(err) != c.field {
				t.Errorf("%v, about %q; want %q", err, fieldOf(err), c.field)
			}
		})
	}
	for _, text := range []string{goodSwapData, strings.Replace(goodSwapData, `"489531"`, `489531`, 1), strings.Replace(goodSwapData, `"489531"`, `"0x7783b"`, 1),
		strings.Replace(goodSwapData, "0x000000000000000000000000000000000000000000000000000000006ac40de4", "0x7fffffffffffffff", 1),
		strings.Replace(goodSwapData, `"kind":0`, `"kind":0,"successAction":[]`, 1), strings.Replace(goodSwapData, `"kind":0`, `"kind":0,"successAction":null,"more":1`, 1)} {
		s, err := ParseSwapData([]byte(text))
		if err == nil {
			err = deploymentOf(t, "").CheckSwapData(s)
		}
		if err != nil || s.Amount.Int64() != 489531 {
			t.Errorf("good data: %v", err)
		}
	}
	for _, text := range []string{`{"type":"` + strings.Repeat("x", members.MaxText) + `"}`, `[]`, `null`, `5`, ``} {
		if _, err := ParseSwapData([]byte(text)); err == nil {
			t.Errorf("%.20s is read", text)
		}
	}
}

// changes are of each member of an escrow, and who may make them.
var changes = []struct {
	member string
	change func(s *SwapData)
	may    chains.Tolerance
}{
	{"offerer", func(s *SwapData) { s.Offerer = FeltOf(1) }, chains.Tolerance{}},
	{"claimer", func(s *SwapData) { s.Claimer = FeltOf(1) }, chains.Tolerance{}},
	{"token", func(s *SwapData) { s.Token = FeltOf(1) }, chains.Tolerance{}},
	{"kind", func(s *SwapData) { s.Kind = chains.Onchain }, chains.Tolerance{}},
	{"claimHandler", func(s *SwapData) { s.ClaimHandler = FeltOf(1) }, chains.Tolerance{}},
	{"claimData", func(s *SwapData) { s.ClaimData = FeltOf(1) }, chains.Tolerance{}},
	{"refundHandler", func(s *SwapData) { s.RefundHandler = FeltOf(1) }, chains.Tolerance{}},
	{"payIn", func(s *SwapData) { s.PayIn = false }, chains.Tolerance{}},
	{"payOut", func(s *SwapData) { s.PayOut = true }, chains.Tolerance{}},
	{"reputation", func(s *SwapData) { s.Reputation = false }, chains.Tolerance{}},
	{"feeToken", func(s *SwapData) { s.FeeToken = FeltOf(1) }, chains.Tolerance{}},
	{"successAction", func(s *SwapData) { s.SuccessAction = &SuccessAction{Fee: new(big.Int)} }, chains.Tolerance{}},
	{"refundData", func(s *SwapData) { s.RefundData = FeltOf(1) }, chains.Tolerance{AnyExpiry: true}},
	{"extraData", func(s *SwapData) { s.ExtraData = []byte{1} }, chains.Tolerance{AnyExtraData: true}},
	{"sequence", func(s *SwapData) { s.Sequence++ }, chains.Tolerance{AnySequence: true}},
	{"amount", func(s *SwapData) { s.Amount = big.NewInt(489532) }, chains.Tolerance{AtLeastAmount: true}},
	{"amount", func(s *SwapData) { s.Amount = big.NewInt(489530) }, chains.Tolerance{}},
	{"securityDeposit", func(s *SwapData) { s.SecurityDeposit = big.NewInt(4) }, chains.Tolerance{AtMostDeposits: true}},
	{"securityDeposit", func(s *SwapData) { s.SecurityDeposit = big.NewInt(6) }, chains.Tolerance{}},
	{"claimerBounty", func(s *SwapData) { s.ClaimerBounty = big.NewInt(6) }, chains.Tolerance{AtMostDeposits: true}},
	{"claimerBounty", func(s *SwapData) { s.ClaimerBounty = big.NewInt(8) }, chains.Tolerance{}},
}

// Every member that an LP may not choose is compared; what it may choose has to be named.
func TestDiff(t *testing.T) {
	base := func() SwapData { return swapOf(t, []byte(goodSwapData)) }
	for _, c := range changes {
		got := base()
		c.change(&got)
		var diff *chains.DiffError
		if err := Diff(base(), got, chains.Tolerance{}); !errors.As(err, &diff) || diff.Member != c.member {
			t.Errorf("%s: %v", c.member, err)
		}
		for _, f := range []chains.Tolerance{{AnySequence: true}, {AnyExpiry: true}, {AtLeastAmount: true}, {AtMostDeposits: true}, {AnyExtraData: true}} {
			if err := Diff(base(), got, f); (err == nil) != (f == c.may) {
				t.Errorf("%s, where %+v may differ: %v", c.member, f, err)
			}
		}
		hashed := c.member != "kind" && c.member != "extraData"
		if same := escrowHash(t, base()) == escrowHash(t, got); same == hashed {
			t.Errorf("%s: the same hash: %v", c.member, same)
		}
	}
	if err := Diff(base(), SwapData{}, chains.Tolerance{}); err == nil {
		t.Error("an empty escrow is compared")
	}
}

// Two spellings of a Some or of flags would be two escrows behind one text.
func TestDecodeSwapDataRefuses(t *testing.T) {
	d := deploymentOf(t, "")
	good := trial.Must(swapOf(t, []byte(goodSwapData)).Felts())(t)
	for name, change := range map[string]func(all []Felt) []Felt{
		"an unknown flag":         func(all []Felt) []Felt { all[5] = feltOf(t, "0x8"); return all },
		"flags of 129 bits":       func(all []Felt) []Felt { all[5] = feltOf(t, "0x100000000000000000000000000000003"); return all },
		"half an amount too wide": func(all []Felt) []Felt { all[8] = feltOf(t, "0x100000000000000000000000000000000"); return all },
		"an option of 2":          func(all []Felt) []Felt { all[15] = FeltOf(2); return all },
		"Some of nothing":         func(all []Felt) []Felt { all[15] = Felt{}; return all },
		"nobody's handler":        func(all []Felt) []Felt { all[4] = FeltOf(9); return all },
		"no address":              func(all []Felt) []Felt { all[0] = firstBeyond; return all },
		"one felt less":           func(all []Felt) []Felt { return all[:15] },
	} {
		all := append([]Felt(nil), good...)
		if _, _, err := d.decodeSwapData(change(all)); err == nil {
			t.Errorf("%s is read", name)
		}
	}
}

func TestNeutralEscrow(t *testing.T) {
	d := deploymentOf(t, "")
	s := swapOf(t, []byte(goodSwapData))
	e := trial.Must(d.Escrow(s))(t)
	hash := escrowHash(t, s)
	if want := hash.Bytes(); string(e.Hash) != string(want[:]) || e.Expiry != 1791233508 || e.Amount.Int64() != 489531 || e.Version != "v1" || e.Sequence.Cmp(bigOf(t, "10669130460086909320")) != 0 ||
		e.Offerer != Hex64(s.Offerer) || e.Claimer != Hex64(s.Claimer) || e.Token != Hex64(s.Token) || e.DepositToken != Hex64(STRK) || !e.PayIn || e.PayOut || hex.EncodeToString(e.ClaimHash) != ClaimHashText(s.ClaimData) ||
		e.SecurityDeposit.Int64() != 5 || e.ClaimerBounty.Int64() != 7 || e.Kind != chains.HTLC {
		t.Errorf("%+v", e)
	}
	again, err := SwapDataOf(e)
	if err != nil || Diff(s, again, chains.Tolerance{}) != nil {
		t.Errorf("read back as %+v, %v", again, err)
	}
	spec := chains.Spec{Kind: chains.Onchain, Offerer: e.Offerer, Claimer: e.Claimer, Token: e.Token, Amount: big.NewInt(5), Sequence: big.NewInt(9), Expiry: 2_000_000_000, PayIn: true,
		Condition: chains.Condition{Kind: chains.Onchain, Script: []byte{0x51}, Sats: 7, Nonce: 3, Confirmations: 2}, Hints: true}
	made := trial.Must(d.Expect(spec))(t)
	hint := rawtx.TxoHint{Txo: rawtx.TxoHash(7, []byte{0x51}), Confirmations: 2} // a plain output has no nonce
	if !bytes.Equal(made.ExtraData, hint.Bytes()) || made.FeeToken != STRK || !made.Reputation || made.Sequence != 9 {
		t.Errorf("%+v, want the hint %+v", made, hint)
	}
	for name, change := range map[string]func(s *chains.Spec){
		"condition":    func(s *chains.Spec) { s.Condition.Kind = chains.HTLC },
		"amount":       func(s *chains.Spec) { s.Amount = nil },
		"sequence":     func(s *chains.Spec) { s.Sequence = new(big.Int).Lsh(big.NewInt(1), 64) },
		"offerer":      func(s *chains.Spec) { s.Offerer = "0x0" },
		"claimer":      func(s *chains.Spec) { s.Claimer = s.Offerer },
		"token":        func(s *chains.Spec) { s.Token = "STRK" },
		"depositToken": func(s *chains.Spec) { s.DepositToken = "x" },
		"expiry":       func(s *chains.Spec) { s.Expiry = -1 },
		"nonce": func(s *chains.Spec) {
			s.Kind, s.Condition.Kind, s.Condition.Nonce = chains.OnchainNonced, chains.OnchainNonced, 0
		},
		"kind": func(s *chains.Spec) { s.Kind, s.Condition.Kind = 9, 9 },
	} {
		bad := spec
		change(&bad)
		if _, err := d.Expect(bad); fieldOf(err) != name {
			t.Errorf("%s: %v", name, err)
		}
	}
}
