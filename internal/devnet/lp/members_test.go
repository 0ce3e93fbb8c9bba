package lp_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	devnet "github.com/swapper-go/swapper/internal/devnet/evm"
	"github.com/swapper-go/swapper/internal/devnet/lightning"
	"github.com/swapper-go/swapper/internal/trial"
)

// Members of answers in their order (protocol: lp-protocol.md §5).
const (
	authMembers   = " prefix timeout signature"
	escrowMembers = "type offerer claimer token refundHandler claimHandler payOut payIn reputation sequence claimData refundData amount depositToken " +
		"securityDeposit claimerBounty kind successActionCommitment"
)

// A client that is not ours sends frames as they come and gets frames with the
// protocol's members, or one JSON object with the same.
func TestAnswersHaveTheProtocolsMembers(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	chain, user, token := k.evm.Network().Chain, k.evm.User.Address.Hex(), k.evm.Contracts().Token.Hex()
	recipient := trial.Must(k.ln.NewNode("recipient", 0))(t)
	preimage, _ := lightning.Preimage(t.Name())
	pr := trial.Must(recipient.NewInvoice(lightning.InvoiceOptions{Preimage: preimage, AmountMsat: 20_000_000}))(t)
	expiry := fmt.Sprint(time.Now().Unix() + 432_000)
	native := devnet.Native.Hex()
	for _, c := range []struct {
		path, query   string
		frames        []string
		early         string // member of a frame of its own
		data, escrow  string
		numbers, bool string
	}{
		{path: "/tobtc/payInvoice", frames: []string{fmt.Sprintf(`{"address":%q,"amount":"100000","exactIn":false,"confirmationTarget":3,"confirmations":2,"nonce":"%d","token":%q,"offerer":%q}`,
			k.wallet.Address, k.nonce(), token, user), `{"feeRate":"1,2"}`},
			data: "amount address satsPervByte networkFee swapFee totalFee total minRequiredExpiry data" + authMembers, escrow: "data"},
		{path: "/tobtcln/payInvoice", frames: []string{fmt.Sprintf(`{"exactIn":false,"pr":%q,"maxFee":"50","expiryTimestamp":%q,"token":%q,"offerer":%q,"amount":null}`, pr, expiry, token, user),
			`{"feeRate":"1,2"}`}, data: "maxFee swapFee total confidence address routingFeeSats data" + authMembers, escrow: "data", numbers: "confidence"},
		{path: "/tobtcln/payInvoice", frames: []string{fmt.Sprintf(`{"exactIn":true,"pr":%q,"maxFee":"100","expiryTimestamp":%q,"token":%q,"offerer":%q,"amount":"20000"}`, pr, expiry, token, user)},
			data: "amount reqId"},
		{path: "/frombtc/getAddress", query: "&depositToken=" + native, frames: []string{fmt.Sprintf(`{"address":%q,"amount":"100000","token":%q,"exactOut":false,"sequence":"9"}`, user, token),
			`{"claimerBounty":{"feePerBlock":"1","safetyFactor":"1","startTimestamp":"1700000000","addBlock":"0","addFee":"1"}}`, `{"feeRate":"1,2"}`},
			data: "amount btcAddress address swapFee total confirmations data" + authMembers, escrow: "data", numbers: "confirmations"},
		{path: "/frombtcln/createInvoice", query: "&depositToken=" + native, frames: []string{fmt.Sprintf(`{"paymentHash":%q,"amount":"50000","address":%q,"token":%q,"description":null,`+
			`"descriptionHash":null,"exactOut":false}`, strings.Repeat("ac", 32), user, token), `{"feeRate":"1,2"}`}, early: "lnPublicKey", data: "pr swapFee total intermediaryKey securityDeposit"},
		{path: "/frombtcln_auto/createInvoice", frames: []string{fmt.Sprintf(`{"paymentHash":%q,"amount":"50000","address":%q,"token":%q,"description":null,"descriptionHash":null,"exactOut":false,`+
			`"gasToken":%q,"gasAmount":"0"}`, strings.Repeat("ab", 32), user, token, native), `{"claimerBounty":"43601210000"}`}, early: "lnPublicKey",
			data: "intermediaryKey pr btcAmountSwap btcAmountGas total totalGas totalFeeBtc swapFeeBtc swapFee gasSwapFeeBtc gasSwapFee claimerBounty"},
		{path: "/frombtc_spv/getQuote", frames: []string{fmt.Sprintf(`{"exactOut":false,"address":%q,"token":%q,"gasAmount":"0","gasToken":%q,"frontingFeeRate":"0"}`, user, token, native),
			`{"amount":"150000"}`, `{"callerFeeRate":"25"}`},
			data: "quoteId expiry address vaultId vaultBtcAddress btcAddress btcUtxo btcFeeRate btcAmount btcAmountSwap btcAmountGas total totalGas totalFeeBtc swapFeeBtc swapFee " +
				"gasSwapFeeBtc gasSwapFee callerFeeShare frontingFeeShare executionFeeShare usedUtxoInputCalculation", numbers: "expiry btcFeeRate", bool: "usedUtxoInputCalculation"},
	} {
		t.Run(c.path, func(t *testing.T) {
			url := k.lp.URL() + c.path + "?chain=" + chain + c.query
			streamed := k.stream(t, url, c.frames)
			if c.early != "" {
				if got, _ := members(t, streamed[0]); !slices.Equal(got, []string{c.early}) {
					t.Errorf("first frame %s", streamed[0])
				}
				streamed = streamed[1:]
			}
			if len(streamed) != 1 {
				t.Fatalf("frames %s", streamed)
			}
			names, values := members(t, streamed[0])
			if !slices.Equal(names, []string{"code", "msg", "data"}) || string(values["code"]) != "20000" {
				t.Fatalf("answer %s", streamed[0])
			}
			names, values = members(t, values["data"])
			if got := strings.Join(names, " "); got != c.data {
				t.Errorf("members %s\nwant    %s", got, c.data)
			}
			for name, v := range values {
				want := byte('"')
				switch {
				case name == c.escrow:
					want = '{'
				case slices.Contains(strings.Fields(c.numbers), name):
					want = 0
				case name == c.bool:
					want = 'f'
				}
				if want != 0 && v[0] != want || want == 0 && (v[0] < '0' || v[0] > '9') {
					t.Errorf("%s is %s", name, v)
				}
			}
			if c.escrow != "" {
				if names, _ := members(t, values[c.escrow]); strings.Replace(strings.Join(names, " "), " extraData", "", 1) != escrowMembers {
					t.Errorf("escrow %s", names)
				}
			}
			if c.early == "" {
				return
			}
			// Without the stream one object has it all, of the same invoice no second time.
			body := strings.ReplaceAll(strings.Replace(strings.Join(c.frames, ""), "}{", ",", 1), `"paymentHash":"a`, `"paymentHash":"0`)
			req := trial.Must(http.NewRequestWithContext(k.ctx, http.MethodPost, url, strings.NewReader(body)))(t)
			req.Header.Set("Accept", "*/*")
			resp := trial.Must(http.DefaultClient.Do(req))(t)
			defer resp.Body.Close()
			names, _ = members(t, trial.Must(io.ReadAll(resp.Body))(t))
			if !slices.Equal(names, []string{c.early, "code", "msg", "data"}) && !slices.Equal(names, []string{"code", "msg", "data", c.early}) {
				t.Errorf("members %s", names)
			}
		})
	}
}

// stream sends frames and returns those of the answer.
func (k *kit) stream(t *testing.T, url string, texts []string) (answer []json.RawMessage) {
	t.Helper()
	pr, pw := io.Pipe()
	go func() {
		for _, text := range texts {
			head := binary.LittleEndian.AppendUint32(nil, uint32(len(text)))
			if _, err := pw.Write(append(head, text...)); err != nil {
				break
			}
		}
		pw.Close()
	}()
	req := trial.Must(http.NewRequestWithContext(k.ctx, http.MethodPost, url, pr))(t)
	req.Header.Set("Content-Type", "application/x-multiple-json")
	req.Header.Set("Accept", "application/x-multiple-json")
	resp := trial.Must(http.DefaultClient.Do(req))(t)
	defer resp.Body.Close()
	if got := resp.Header.Get("Content-Type"); got != "application/x-multiple-json" || resp.StatusCode != http.StatusOK {
		t.Fatalf("%s %s", resp.Status, got)
	}
	body := trial.Must(io.ReadAll(resp.Body))(t)
	for len(body) > 0 {
		if len(body) < 4 || len(body)-4 < int(binary.LittleEndian.Uint32(body)) {
			t.Fatalf("%q is no frame", body)
		}
		n := binary.LittleEndian.Uint32(body)
		answer, body = append(answer, json.RawMessage(body[4:4+n])), body[4+n:]
	}
	return answer
}

// members are the names of an object's members in their order, and their values.
func members(t *testing.T, raw []byte) (names []string, values map[string]json.RawMessage) {
	t.Helper()
	if err := json.Unmarshal(raw, &values); err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	_, _ = d.Token() // it is an object
	for d.More() {
		name := trial.Must(d.Token())(t)
		names = append(names, name.(string))
		var v json.RawMessage
		trial.Do(t, d.Decode(&v))
	}
	return names, values
}
