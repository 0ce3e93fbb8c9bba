package wire

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/NethermindEth/starknet.go/curve"
	"github.com/NethermindEth/starknet.go/typeddata"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/settle"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/internal/vectors"
)

type authJSON struct{ Prefix, Timeout, Signature string }

func (a authJSON) auth(t testing.TB) chains.Auth {
	t.Helper()
	n := trial.Must(strconv.ParseInt(a.Timeout, 10, 64))(t)
	return chains.Auth{Prefix: a.Prefix, Timeout: n, Signature: a.Signature}
}

// exchange is what the reference asked a node, and what it was told.
type exchange struct {
	Method string
	Params struct {
		Request struct {
			ContractAddress    string   `json:"contract_address"`
			EntryPointSelector string   `json:"entry_point_selector"`
			Calldata           []string `json:"calldata"`
		}
	}
	Result json.RawMessage
	Error  *struct {
		Code int
		Data struct {
			RevertError string `json:"revert_error"`
		}
	}
}

// felts are the answer of a contract.
func (x exchange) felts(t testing.TB) []Felt {
	t.Helper()
	var answer []string
	trial.Do(t, json.Unmarshal(x.Result, &answer))
	return feltsOf(t, answer)
}

// publicKeyOf is the x coordinate of a private key's point.
func publicKeyOf(t testing.TB, private string) Felt {
	t.Helper()
	x, _ := curve.PrivateKeyToPoint(bigOf(t, private))
	return trial.Must(FeltOfBig(x))(t)
}

// ask answers a question with the exchanges of a vector, each of which must be that
// question, as the chain does with a node.
func ask(t *testing.T, q SignatureCheck, rpc []exchange) error {
	t.Helper()
	var last error = errors.New("nobody was asked")
	for _, x := range rpc {
		if x.Method != "starknet_call" {
			continue
		}
		if r := x.Params.Request; feltOf(t, r.ContractAddress) != q.Account || !slices.Equal(feltsOf(t, r.Calldata), q.Calldata()) ||
			feltOf(t, r.EntryPointSelector) != EntryIsValidSignature && feltOf(t, r.EntryPointSelector) != EntryIsValidSignatureOld {
			t.Errorf("the reference asks %s at %s with %v, here %v", r.ContractAddress, r.EntryPointSelector, r.Calldata, hexes(q.Calldata()))
		}
		if x.Error != nil {
			if last = errors.New("the account does not say"); RefusesSignature(x.Error.Data.RevertError) {
				return q.Refused(true)
			}
			continue
		}
		answer := x.felts(t)
		signed, err := ReadSignatureAnswer(answer)
		if err == nil && !signed {
			err = q.Refused(true)
		}
		return err
	}
	return last
}

func TestVectorsSignatures(t *testing.T) {
	vectors.Each(t, "chain-starknet", "signatures", func(t *testing.T, c *vectors.Case) {
		var in struct {
			Fn, BitcoinNetwork, SignerPrivateKey, SignerAddress, Sender, EscrowHash, Data, Timeout string
			Now, AuthorizationTimeout, LatestBlockTime                                             int64
			PreFetchedPendingBlockTime                                                             *int64
			Swap                                                                                   json.RawMessage
			Authorization                                                                          authJSON
		}
		c.Input(t, &in)
		n, now := networkOf(t, in.BitcoinNetwork), time.Unix(in.Now, 0)
		var signed struct {
			Signature json.RawMessage
			Rpc       []exchange
		}
		switch in.Fn {
		case "initMessage", "refundMessage":
			s, timeout := swapOf(t, in.Swap), in.Now+in.AuthorizationTimeout
			message, err := n.InitMessage(s, timeout)
			prefix := map[bool]string{true: prefixInitPayIn, false: prefixInit}[s.PayIn]
			if in.Fn == "refundMessage" {
				if escrow := Digits64(escrowHash(t, s)); escrow != in.EscrowHash {
					t.Errorf("the escrow is %s", escrow)
				}
				message, err = n.RefundMessage(escrowHash(t, s), timeout)
				prefix = prefixRefund
			}
			if err != nil {
				t.Fatal(err)
			}
			got := messageJSON(t, message, feltOf(t, in.SignerAddress))
			c.Expected(t, &signed)
			var a authJSON
			trial.Do(t, json.Unmarshal(signed.Signature, &a))
			signature := trial.Must(parseSignature(a.Signature))(t)
			got["signature"] = map[string]string{"prefix": prefix, "timeout": strconv.FormatInt(timeout, 10), "signature": FormatSignature(signature)}
			// The reference prints the questions of the cases that it could answer for; each is the one asked here.
			rpc := map[string]json.RawMessage{}
			c.Expected(t, &rpc)
			got["rpc"] = rpc["rpc"]
			byKey := SignedByKey(publicKeyOf(t, in.SignerPrivateKey), feltOf(t, got["messageHash"].(string)), signature)
			if _, ok := rpc["valid"]; ok {
				got["valid"] = ask(t, SignatureCheck{feltOf(t, in.SignerAddress), feltOf(t, got["messageHash"].(string)), signature}, signed.Rpc) == nil && byKey
			} else if len(signed.Rpc) != 0 || !byKey { // an LP's own, which nobody was asked about
				t.Errorf("%d questions, signed %v", len(signed.Rpc), byKey)
			}
			vectors.SameJSON(t, c.Want(t), got)
		case "dataMessage":
			data := vectors.Unhex(t, in.Data)
			c.Expected(t, &signed)
			var text string
			trial.Do(t, json.Unmarshal(signed.Signature, &text))
			q := trial.Must(n.CheckData(feltOf(t, in.SignerAddress), data, text))(t)
			other := trial.Must(n.CheckData(feltOf(t, in.SignerAddress), append(data, 0), text))(t)
			got, sum, key := messageJSON(t, n.DataMessage(data), q.Account), sha256.Sum256(data), publicKeyOf(t, in.SignerPrivateKey)
			delete(got, "structHash")
			if got["messageHash"] != Hex64(q.Hash) {
				t.Errorf("%s is asked about", Hex64(q.Hash))
			}
			got["sha256"], got["signature"] = hex.EncodeToString(sum[:]), FormatSignature(q.Signature)
			got["valid"], got["validForOtherData"] = SignedByKey(key, q.Hash, q.Signature), SignedByKey(key, other.Hash, other.Signature)
			vectors.SameJSON(t, c.Want(t), got)
		case "domain":
			td := library(t, n.DataMessage(nil))
			hash := trial.Must(td.GetStructHash("StarknetDomain"))(t)
			of := td.Types["StarknetDomain"]
			vectors.SameJSON(t, c.Want(t), map[string]any{"domain": n.DataMessage(nil).Domain, "domainTypeString": of.EncoddingString, "domainTypeHash": Hex64(*of.Encoding), "domainHash": Hex64(*hash)})
		case "types":
			got := map[string]any{}
			init := trial.Must(n.InitMessage(swapOf(t, []byte(goodSwapData)), 5))(t)
			for _, m := range []TypedData{init, n.refundMessage(Felt{}, Felt{}), n.DataMessage(nil)} {
				td := library(t, m)
				for _, name := range []string{m.PrimaryType, "TokenAmount", "u256"} {
					hash := trial.Must(td.GetTypeHash(name))(t)
					of, own := td.Types[name]
					if !own {
						of = typeddata.RevisionV1.Types().Preset[name]
					}
					// The library prints one of its own types over two lines, and hashes it without.
					got[name] = map[string]string{"typeString": strings.ReplaceAll(of.EncoddingString, "\n\t\t\t", ""), "typeHash": Hex64(*hash)}
				}
			}
			vectors.SameJSON(t, c.Want(t), got)
		case "checkInit", "checkRefund":
			s, a := swapOf(t, in.Swap), in.Authorization.auth(t)
			c.Expected(t, &signed)
			got := map[string]any{}
			var q SignatureCheck
			var err error
			if in.Fn == "checkInit" {
				got["authorizationExpiryMs"] = settle.AuthUsableUntil(a, now)
				q, err = n.CheckInit(s, a, feltOf(t, in.Sender), now, blockTimeOf(t, in.Now, in.PreFetchedPendingBlockTime, signed.Rpc))
			} else {
				q, err = n.CheckRefund(s, a, now)
			}
			asked := err == nil
			if err == nil {
				err = ask(t, q, signed.Rpc)
			}
			var want map[string]json.RawMessage
			c.Expected(t, &want)
			if strings.Contains(c.Name, "0x5") {
				c.Differ(t, "stark-signature-answer")
				if err == nil {
					t.Error("an account that says 5 says yes")
				}
				return
			}
			if expiry, ok := want["authorizationExpiryMs"]; ok {
				vectors.SameJSON(t, expiry, got["authorizationExpiryMs"])
			}
			calls := 0
			for _, x := range signed.Rpc {
				if x.Method == "starknet_call" {
					calls++
				}
			}
			if asked != (calls > 0) && c.Name != "check empty signature array" { // which no account accepts, so that none is asked
				t.Errorf("the account is asked: %v; the reference asks %d times", asked, calls)
			}
			if !c.Refuses(t, err) {
				vectors.SameJSON(t, want["valid"], err == nil)
			}
			var authError *chains.AuthError
			undecided := strings.Contains(c.Name, "otherwise") || strings.Contains(c.Name, "not deployed")
			if err != nil && errors.As(err, &authError) == undecided {
				t.Errorf("the LP's fault: %v, for %v", !undecided, err)
			}
		case "isInitAuthorizationExpired":
			var want struct{ Value bool }
			c.Expected(t, &want)
			if got := settle.AuthOver(authJSON{Timeout: in.Timeout}.auth(t), in.LatestBlockTime); got != want.Value {
				t.Errorf("over: %v", got)
			}
		default:
			t.Fatalf("unknown %s", in.Fn)
		}
	})
}

func library(t *testing.T, m TypedData) *typeddata.TypedData {
	t.Helper()
	return trial.Must(m.parsed())(t)
}

func messageJSON(t *testing.T, m TypedData, signer Felt) map[string]any {
	t.Helper()
	structHash := trial.Must(library(t, m).GetStructHash(m.PrimaryType))(t)
	hash := trial.Must(m.Hash(signer))(t)
	return map[string]any{"typedData": m, "structHash": Hex64(*structHash), "messageHash": Hex64(hash)}
}

// blockTimeOf is the time of the block that the reference looked at.
func blockTimeOf(t *testing.T, now int64, preFetched *int64, rpc []exchange) int64 {
	t.Helper()
	if preFetched != nil {
		return *preFetched
	}
	for _, x := range rpc {
		if x.Method == "starknet_getBlockWithTxHashes" {
			var block struct{ Timestamp int64 }
			trial.Do(t, json.Unmarshal(x.Result, &block))
			return block.Timestamp
		}
	}
	return now
}

func TestParseSignature(t *testing.T) {
	for text, count := range map[string]int{
		`["0x1"]`: 1, `["1","0x02"]`: 2, `[` + strings.Repeat(`"0x1",`, maxSignature-1) + `"0x1"]`: maxSignature,
		`[]`: 0, ``: 0, `null`: 0, `["` + prime + `"]`: 0, `[1,2]`: 0, `["1" "2"]`: 0, `"0x1"`: 0, `{"r":"1"}`: 0, `["-1"]`: 0, `["0x1"]x`: 0,
		`[` + strings.Repeat(`"0x1",`, maxSignature) + `"0x1"]`: 0, `["` + strings.Repeat("0", maxSignature*84) + `"]`: 0,
	} {
		all, err := parseSignature(text)
		if len(all) != count || (err == nil) != (count > 0) {
			t.Errorf("%.40s: %d felts, %v", text, len(all), err)
		}
	}
}

// Two answers say yes, and no others; several felts, or none, say nothing.
func TestReadSignatureAnswer(t *testing.T) {
	for _, c := range []struct {
		answer     []Felt
		signed, ok bool
	}{
		{[]Felt{ShortString("VALID")}, true, true}, {[]Felt{FeltOf(1)}, true, true}, {[]Felt{{}}, false, true}, {[]Felt{FeltOf(2)}, false, true},
		{[]Felt{ShortString("valid")}, false, true}, {nil, false, false}, {[]Felt{FeltOf(1), FeltOf(1)}, false, false},
	} {
		if signed, err := ReadSignatureAnswer(c.answer); signed != c.signed || (err == nil) != c.ok {
			t.Errorf("%v: %v, %v", hexes(c.answer), signed, err)
		}
	}
}

// An authorisation is for one escrow, one network, one time and one account.
func TestMessagesCommitToAll(t *testing.T) {
	seen := map[Felt]string{}
	note := func(name string, n Network, s SwapData, timeout int64, account Felt) {
		m := trial.Must(n.InitMessage(s, timeout))(t)
		h := trial.Must(m.Hash(account))(t)
		if before, ok := seen[h]; ok {
			t.Errorf("%s and %s are one message", before, name)
		}
		seen[h] = name
	}
	s, n := swapOf(t, []byte(goodSwapData)), networkOf(t, "")
	note("base", n, s, 5, FeltOf(1))
	note("another network", networkOf(t, "TESTNET4"), s, 5, FeltOf(1))
	note("another timeout", n, s, 6, FeltOf(1))
	note("another account", n, s, 5, FeltOf(2))
	for _, c := range changes {
		if c.member == "kind" || c.member == "extraData" || c.member == "successAction" { // the first two are not signed, the last never is
			continue
		}
		other := s
		c.change(&other)
		note(c.member, n, other, 5, FeltOf(1))
	}
	action := s
	action.SuccessAction = &SuccessAction{Fee: bigOf(t, "1")}
	if _, err := n.InitMessage(action, 5); err == nil {
		t.Error("an escrow with a success action is authorised")
	}
	if _, err := n.InitMessage(s, -1); err == nil {
		t.Error("a negative timeout is authorised")
	}
	if _, err := n.RefundMessage(Felt{}, -1); err == nil {
		t.Error("a refund until a negative time is authorised")
	}
	var authError *chains.AuthError
	if _, err := n.CheckInit(action, chains.Auth{}, action.Offerer, time.Unix(0, 0), 0); !errors.As(err, &authError) {
		t.Errorf("an escrow with a success action: %v", err)
	}
	if _, err := n.CheckData(Felt{}, nil, `["0x1"]`); !errors.As(err, &authError) {
		t.Errorf("the zero address: %v", err)
	}
}
