package wire

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/gagliardetto/solana-go"
	"github.com/mr-tron/base58"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/trial"
)

func TestParseAccount(t *testing.T) {
	owner := firstV1.Swap.String()
	a, err := ParseAccount(json.RawMessage(`{"data":["AQI=","base64"],"executable":false,"lamports":18446744073709551615,"owner":"` + owner + `","rentEpoch":18446744073709551615,"space":2}`))
	if err != nil || a.Owner != firstV1.Swap || a.Lamports != 1<<64-1 || string(a.Data) != "\x01\x02" {
		t.Errorf("%+v, %v", a, err)
	}
	if _, err := ParseAccount(json.RawMessage(`null`)); !errors.Is(err, ErrAbsent) {
		t.Error(err)
	}
	for name, text := range map[string]string{
		"no JSON": `{`, "a list": `[]`, "base58": `{"data":["2","base58"],"lamports":1,"owner":"` + owner + `"}`, "parsed": `{"data":{"parsed":{}},"lamports":1,"owner":"` + owner + `"}`,
		"no lamports": `{"data":["AQI=","base64"],"owner":"` + owner + `"}`, "no owner": `{"data":["AQI=","base64"],"lamports":1}`,
		"no base64": `{"data":["!","base64"],"lamports":1,"owner":"` + owner + `"}`, "negative": `{"data":["AQI=","base64"],"lamports":-1,"owner":"` + owner + `"}`,
	} {
		if a, err := ParseAccount(json.RawMessage(text)); err == nil || errors.Is(err, ErrAbsent) {
			t.Errorf("%s: %+v, %v", name, a, err)
		}
	}
}

// seenReply is a node's answer about an escrow that another program opened for its
// offerer: the swap program is called in the course of instruction 0.
func seenReply(t testing.TB, version string) (reply string, d *SwapData) {
	t.Helper()
	userKey, user := wallet(1)
	_, lp := wallet(200)
	d = trial.Must(firstV1.NewSwapData(Spec{Kind: chains.HTLC, Claim: ClaimHash{PaymentHash: [32]byte{1}}, Offerer: user, Claimer: lp, Token: WSOL, Amount: 5, Sequence: 9, Expiry: 2_000_000_000, PayIn: true, DepositToken: WSOL}))(t)
	called := trial.Must(firstV1.InitInstruction(d, user, 7))(t)
	outer := Instruction{Program: Key{99}, Accounts: called.Accounts, Data: []byte{1}}
	tx := &Tx{Payer: user, Blockhash: Hash{5}, Instructions: []Instruction{outer, {Program: firstV1.Swap}}}
	trial.Do(t, tx.Sign(userKey))
	full := trial.Must(tx.Transaction())(t)
	keys := append([]Key(nil), full.Message.AccountKeys...)
	loaded := ""
	if version == "0" {
		// The last account comes from a table instead.
		last := len(keys) - 1
		full.Message.AccountKeys = full.Message.AccountKeys[:last]
		full.Message.Header.NumReadonlyUnsignedAccounts--
		full.Message.AddressTableLookups = solana.MessageAddressTableLookupSlice{{AccountKey: Key{50}, ReadonlyIndexes: []uint8{3}}}
		full.Message.SetVersion(solana.MessageVersionV0)
		loaded = fmt.Sprintf(`,"loadedAddresses":{"writable":[],"readonly":["%s"]}`, keys[last])
	}
	raw := trial.Must(full.MarshalBinary())(t)
	index := map[Key]int{}
	for i, k := range keys {
		index[k] = i
	}
	var accounts []string
	for _, a := range called.Accounts {
		accounts = append(accounts, fmt.Sprint(index[a.PublicKey]))
	}
	event := Event{Kind: Initialized, Hash: d.PaymentHash, TxoHash: [32]byte{4}, Sequence: d.Sequence}
	logs := trial.Must(json.Marshal(logOf(firstV1.Swap, event.Bytes())))(t)
	return fmt.Sprintf(`{"slot":77,"blockTime":1700000000,"version":%q,"transaction":[%q,"base64"],"meta":{"err":null,"logMessages":%s,"innerInstructions":[{"index":0,"instructions":[{"programIdIndex":%d,"accounts":[%s],"data":%q}]}]%s}}`,
		version, base64Text(raw), logs, index[firstV1.Swap], strings.Join(accounts, ","), base58.Encode(called.Data), loaded), d
}

// An escrow that another program opens for its offerer is found too, whatever the
// version of the transaction (§21.9).
func TestParseSeen(t *testing.T) {
	for _, version := range []string{"legacy", "0"} {
		reply, d := seenReply(t, version)
		tx, known, err := ParseSeen(json.RawMessage(reply))
		if err != nil || !known || tx.Slot != 77 || tx.Time != 1_700_000_000 || tx.Failed || len(tx.ID) < 64 || len(tx.Instructions) != 3 {
			t.Fatalf("%s: %+v, %v, %v", version, tx, known, err)
		}
		all := newestFirst(firstV1, []SeenTx{tx})
		if len(all) != 1 || all[0].Kind != Initialized || all[0].Opened == nil || all[0].Opened.Terms() != d.Terms() || all[0].Opened.Claimer != d.Claimer || *all[0].Opened.TxoHash != [32]byte{4} {
			t.Errorf("%s: %+v", version, all)
		}
		failed, _, err := ParseSeen(json.RawMessage(strings.Replace(reply, `"err":null`, `"err":{"InstructionError":[0,{"Custom":6001}]}`, 1)))
		if err != nil || !failed.Failed || len(newestFirst(firstV1, []SeenTx{failed})) != 0 {
			t.Errorf("%s: failed %v, %v", version, failed.Failed, err)
		}
	}
	if _, known, err := ParseSeen(json.RawMessage(`null`)); known || err != nil {
		t.Error(known, err)
	}
	good, _ := seenReply(t, "legacy")
	v0, _ := seenReply(t, "0")
	for name, text := range map[string]string{
		"no JSON":              `{`,
		"no outcome":           `{"slot":1,"blockTime":1,"meta":null,"transaction":["","base64"]}`,
		"no time":              strings.Replace(good, `"blockTime":1700000000`, `"blockTime":null`, 1),
		"no slot":              strings.Replace(good, `"slot":77,`, ``, 1),
		"another encoding":     strings.Replace(good, `"base64"`, `"base58"`, 1),
		"no transaction":       strings.Replace(good, `"transaction":["`, `"transaction":["!`, 1),
		"an empty one":         `{"slot":1,"blockTime":1,"meta":{"err":null},"transaction":["","base64"]}`,
		"a program out of it":  strings.Replace(good, `"programIdIndex":`, `"programIdIndex":9`, 1),
		"negative index":       strings.Replace(good, `"programIdIndex":`, `"programIdIndex":-`, 1),
		"an account out of it": strings.Replace(good, `"accounts":[`, `"accounts":[300,`, 1),
		"data of no base":      strings.Replace(good, `"data":"`, `"data":"0`, 1),
		"accounts untold":      strings.Replace(v0, `"loadedAddresses"`, `"other"`, 1),
		"more accounts":        strings.Replace(v0, `"writable":[]`, `"writable":["`+WSOL.String()+`"]`, 1),
	} {
		if tx, known, err := ParseSeen(json.RawMessage(text)); err == nil {
			t.Errorf("%s: %+v, %v", name, tx, known)
		}
	}
}

func FuzzReplies(f *testing.F) {
	for _, version := range []string{"legacy", "0"} {
		reply, _ := seenReply(f, version)
		f.Add(reply)
	}
	f.Add(`{"data":["AQI=","base64"],"lamports":1,"owner":"So11111111111111111111111111111111111111112"}`)
	f.Add(`null`)
	f.Fuzz(func(t *testing.T, text string) {
		if tx, known, err := ParseSeen(json.RawMessage(text)); err == nil && known {
			for _, p := range []Programs{firstV1, firstV2} {
				for _, o := range newestFirst(p, []SeenTx{tx}) {
					if o.Opened != nil && o.Kind != Initialized {
						t.Fatal("an escrow is opened by its end")
					}
				}
				for _, ix := range tx.Instructions {
					_ = p.Name(ix)
				}
			}
		}
		if a, err := ParseAccount(json.RawMessage(text)); err == nil {
			_, _ = DecodeTokenAccount(a.Owner, a.Data)
		}
	})
}
