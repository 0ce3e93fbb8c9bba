package e2e

import (
	"bytes"
	_ "embed"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/btcsuite/btcd/btcutil/psbt"

	"github.com/swapper-go/swapper/httpapi"
	"github.com/swapper-go/swapper/internal/devnet/lightning"
	"github.com/swapper-go/swapper/internal/trial"
)

// members are the members of the reference's answers, and their types, by swap
// and operation, as seen in one recorded swap of each kind. Items of lists have
// the path [], objects that name their type have it in angle brackets.
//
//go:embed testdata/members.json
var membersText []byte

// notTheirs are members that the recorded answers have not: either nothing of
// the kind happened in them, or they are additions (docs/differences.md).
var notTheirs = []string{
	"actionError", // additions: interface-additions
	"swapKey",
	"quote.fees.networkInput",
	"escrow.nonce", "escrow.confirmations", "escrow.address", "vault",
	"currentAction<SignPSBT>.txs[]<FUNDED_PSBT>.networkFee",
	"currentAction<SignPSBT>.txs[]<RAW_PSBT>.maxNetworkFee",
	"flags",                // of version 1.0.1 of the interface, which the recording predates
	"currentAction<Wait>",  // a state that the recording did not stop at
	"steps[]<Refund>",      // nothing was refunded in the recordings of other types
	"steps[]<Settlement>.", // transactions of it, where the recording ended before
	"steps[]<Payment>.",    // the same
}

// plain speaks to the service as curl does: addresses and JSON written by hand.
type plain struct {
	t    *testing.T
	base string
	swap string                       // of the recording, for the members
	seen map[string]map[string]string // members by operation
}

// call returns the answer to a request: POST with a body, else GET.
func (p *plain) call(status int, operation, query, body string) map[string]any {
	p.t.Helper()
	raw := p.raw(status, operation, query, body)
	var answer map[string]any
	if err := json.Unmarshal(raw, &answer); err != nil {
		p.t.Fatalf("%s: %v: %s", operation, err, raw)
	}
	if p.seen != nil && status == http.StatusOK {
		name := p.swap + " " + operation
		if p.seen[name] == nil {
			p.seen[name] = map[string]string{}
		}
		collect(answer, "", p.seen[name])
	}
	return answer
}

func (p *plain) raw(status int, operation, query, body string) []byte {
	p.t.Helper()
	method, target := http.MethodGet, p.base+"/"+operation+query
	if body != "" {
		method = http.MethodPost
	}
	request, err := http.NewRequestWithContext(p.t.Context(), method, target, strings.NewReader(body))
	if err != nil {
		p.t.Fatal(err)
	}
	if body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		p.t.Fatal(err)
	}
	defer response.Body.Close()
	raw, err := io.ReadAll(response.Body)
	if err != nil {
		p.t.Fatal(err)
	}
	if response.StatusCode != status {
		p.t.Fatalf("%s %s%s: %s, want %d: %s", method, operation, query, response.Status, status, raw)
	}
	return raw
}

// collect notes the members of a value and their types.
func collect(v any, path string, into map[string]string) {
	kind := map[string]string{"map[string]interface {}": "object", "[]interface {}": "array", "string": "string", "bool": "boolean", "float64": "number", "<nil>": "null"}[fmt.Sprintf("%T", v)]
	if path != "" && !strings.Contains(into[path], kind) {
		into[path] = strings.TrimPrefix(into[path]+"|"+kind, "|")
	}
	switch v := v.(type) {
	case map[string]any:
		if name, ok := v["type"].(string); ok && path != "" {
			path += "<" + name + ">"
		}
		for name, member := range v {
			collect(member, strings.TrimPrefix(path+"."+name, "."), into)
		}
	case []any:
		for _, item := range v {
			collect(item, path+"[]", into)
		}
	}
}

// compare holds the members that were seen to those of the recordings.
func (p *plain) compare() {
	var theirs map[string]map[string]string
	if err := json.Unmarshal(membersText, &theirs); err != nil {
		p.t.Fatal(err)
	}
	known := map[string]map[string]string{} // by operation, of any swap
	for name, members := range theirs {
		_, operation, _ := strings.Cut(name, " ")
		if known[operation] == nil {
			known[operation] = map[string]string{}
		}
		for path, kind := range members {
			known[operation][path] = kind
			ours, ok := p.seen[name][path]
			if !ok {
				p.t.Errorf("%s: %s (%s) is missing", name, path, kind)
			}
			for k := range strings.SplitSeq(ours, "|") {
				if ok && k != "null" && !strings.Contains(kind, k) {
					p.t.Errorf("%s: %s is of type %s, theirs of %s", name, path, ours, kind)
				}
			}
		}
	}
	for name, members := range p.seen {
		_, operation, _ := strings.Cut(name, " ")
		for path := range members {
			if _, ok := known[operation][path]; ok {
				continue
			}
			if !func() bool {
				for _, allowed := range notTheirs {
					if strings.HasPrefix(path, allowed) {
						return true
					}
				}
				return false
			}() {
				p.t.Errorf("%s: %s is not among the reference's members", name, path)
			}
		}
	}
}

// follow does by hand what a swap asks for until it is over.
func (p *plain) follow(w *world, id, query string, preimage string) map[string]any {
	p.t.Helper()
	paid := false
	for deadline := time.Now().Add(3 * time.Minute); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		ask := "?swapId=" + id + query
		s := p.call(http.StatusOK, "getSwapStatus", ask, "")
		if s["isFinished"] == true {
			return s
		}
		if s["requiresSecretReveal"] == true {
			p.call(http.StatusOK, "getSwapStatus", ask+"&secret="+preimage, "")
			continue
		}
		action, ok := s["currentAction"].(map[string]any)
		if !ok {
			continue
		}
		var signed []string
		switch action["type"] {
		case "SignSmartChainTransaction":
			var txs []string
			for _, tx := range action["txs"].([]any) {
				txs = append(txs, tx.(string))
			}
			var err error
			if signed, err = w.user.SignEVM(txs); err != nil {
				p.t.Fatal(err)
			}
		case "SignPSBT":
			signed = []string{p.signPSBT(w, action["txs"].([]any)[0].(map[string]any))}
		case "SendToAddress":
			tx := action["txs"].([]any)[0].(map[string]any)
			if tx["type"] != "BOLT11_PAYMENT_REQUEST" {
				p.t.Fatalf("pay %v", tx)
			}
			if !paid {
				if err := w.net.Payer.Start(tx["address"].(string), lightning.Limits{}); err != nil {
					p.t.Fatal(err)
				}
				paid = true
			}
			continue
		case "Wait":
			continue
		}
		text, err := json.Marshal(map[string]any{"swapId": id, "signedTxs": signed})
		if err != nil {
			p.t.Fatal(err)
		}
		p.call(http.StatusOK, "submitTransaction", "", string(text))
	}
	p.t.Fatalf("%s is not over", id)
	return nil
}

func (p *plain) signPSBT(w *world, tx map[string]any) string {
	p.t.Helper()
	raw, err := base64.StdEncoding.DecodeString(tx["psbtBase64"].(string))
	if err != nil || hex.EncodeToString(raw) != tx["psbtHex"] {
		p.t.Fatalf("%v: the two forms of the PSBT differ: %v", err, tx)
	}
	packet, err := psbt.NewFromRawBytes(bytes.NewReader(raw), false)
	if err != nil {
		p.t.Fatal(err)
	}
	var inputs []int
	for _, i := range tx["signInputs"].([]any) {
		inputs = append(inputs, int(i.(float64)))
	}
	if err := w.net.Wallet.SignPSBT(packet, inputs...); err != nil {
		p.t.Fatal(err)
	}
	var out bytes.Buffer
	if err := packet.Serialize(&out); err != nil {
		p.t.Fatal(err)
	}
	return hex.EncodeToString(out.Bytes())
}

// A swap in each direction with requests written by hand, as the reference's
// were that were recorded. Their answers have the same members of the same types.
func TestPlainRequests(t *testing.T) {
	trial.OnlyFull(t)
	w := start(t, options{})
	check := newValidated(t, httpapi.New(w.client, httpapi.Options{}))
	check.lax = true
	server := httptest.NewServer(check)
	defer server.Close()
	seen := map[string]map[string]string{}
	invoice := trial.Must(w.net.Recipient.NewInvoice(lightning.InvoiceOptions{AmountMsat: 20_000_000}))(t)
	preimage, hash := lightning.Preimage("by hand")
	user, btc := w.address(), w.net.Wallet.Address.String()
	wallet := "&bitcoinAddress=" + btc + "&bitcoinPublicKey=" + w.net.Wallet.PublicKey()
	for _, c := range []struct{ name, typ, body, query string }{
		{"to_btc", "TO_BTC", `{"srcToken":"CITREA-CBTC","dstToken":"BITCOIN-BTC","amount":"200000","amountType":"EXACT_OUT","srcAddress":"` + user + `","dstAddress":"` + w.net.Taproot.Address.String() + `"}`, ""},
		{"to_btcln", "TO_BTCLN", `{"srcToken":"CITREA-CBTC","dstToken":"LIGHTNING-BTC","amount":"20000","amountType":"EXACT_OUT","srcAddress":"` + user + `","dstAddress":"` + invoice + `"}`, ""},
		{"from_btcln_auto", "FROM_BTCLN_AUTO", `{"srcToken":"LIGHTNING-BTC","dstToken":"CITREA-CBTC","amount":"50000","amountType":"EXACT_IN","dstAddress":"` + user + `","paymentHash":"` + hex.EncodeToString(hash[:]) + `"}`, ""},
		{"spv_vault_from_btc", "SPV_VAULT_FROM_BTC", `{"srcToken":"BITCOIN-BTC","dstToken":"CITREA-CBTC","amount":"150000","amountType":"EXACT_IN","srcAddress":"` + btc + `","dstAddress":"` + user + `"}`, wallet},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := &plain{t: t, base: server.URL, swap: c.name, seen: seen}
			s := p.call(http.StatusOK, "createSwap", "", c.body)
			if s["swapType"] != c.typ {
				t.Fatalf("a swap of type %v", s["swapType"])
			}
			end := p.follow(w.in(t), s["swapId"].(string), c.query, hex.EncodeToString(preimage[:]))
			if end["isSuccess"] != true || end["isFailed"] != false || end["isExpired"] != false {
				t.Errorf("ended as %v", end["state"])
			}
		})
	}
	p := &plain{t: t, base: server.URL, seen: seen}
	p.compare()
	p.queries(w)
	p.refusals(w)
}

// queries asks everything that is no swap's course.
func (p *plain) queries(w *world) {
	t := p.t
	user, btc := w.address(), w.net.Wallet.Address.String()
	list := func(operation, query string) []map[string]any {
		var all []map[string]any
		if err := json.Unmarshal(p.raw(http.StatusOK, operation, query, ""), &all); err != nil {
			t.Fatalf("%s: %v", operation, err)
		}
		return all
	}
	for _, query := range []string{"?signer=" + user, "?signer=" + strings.ToLower(user) + "&chainId=CITREA"} {
		if all := list("listSwaps", query); len(all) != 4 {
			t.Errorf("%d swaps", len(all))
		}
		if pending := list("listPendingSwaps", query); len(pending) != 0 {
			t.Errorf("%d swaps are pending", len(pending))
		}
	}
	for side, want := range map[string]int{"INPUT": 5, "OUTPUT": 5} {
		if got := list("getSupportedTokens", "?side="+side); len(got) != want {
			t.Errorf("%s: %d tokens", side, len(got))
		}
		if got := list("getSwapCounterTokens", "?token=CITREA-CBTC&side="+side); len(got) != 2 {
			t.Errorf("%s: %d tokens against CBTC", side, len(got))
		}
	}
	limits := p.call(http.StatusOK, "getSwapLimits", "?srcToken=BITCOIN-BTC&dstToken=CITREA-WBTC", "")
	if limits["input"].(map[string]any)["min"] == nil || limits["output"].(map[string]any)["min"] == nil {
		t.Errorf("limits %v", limits)
	}
	invoice := trial.Must(w.net.Recipient.NewInvoice(lightning.InvoiceOptions{Preimage: [32]byte{1}, AmountMsat: 12_000}))(t)
	for text, want := range map[string]string{btc: "BITCOIN", "bitcoin:" + btc + "?amount=0.5&label=a%20b": "BITCOIN", invoice: "LIGHTNING", "lightning:" + strings.ToUpper(invoice): "LIGHTNING", user: "CITREA"} {
		got := p.call(http.StatusOK, "parseAddress", "?address="+url.QueryEscape(text), "")
		if got["type"] != want {
			t.Errorf("%s is %v", text, got)
		}
		if amount, has := got["amount"].(map[string]any); has != (strings.Contains(text, "amount=") || want == "LIGHTNING") || has && amount["rawAmount"] != map[bool]string{true: "12", false: "50000000"}[want == "LIGHTNING"] {
			t.Errorf("%s: amount %v", text, got["amount"])
		}
	}
	for query, rate := range map[string]bool{
		"?wallet=" + btc + "&token=BITCOIN-BTC&targetChain=CITREA&gasDrop=true&minBitcoinFeeRate=3": true,
		"?wallet=" + btc + "&token=BITCOIN-BTC&feeRate=2":                                           true,
		"?wallet=" + user + "&token=CITREA-CBTC&feeRate=1000000,1000":                               false,
		"?wallet=" + user + "&token=CITREA-CBTC&feeMultiplier=1.5":                                  false,
		"?wallet=" + user + "&token=CITREA-WBTC":                                                    false,
	} {
		got := p.call(http.StatusOK, "getSpendableBalance", query, "")
		if _, has := got["feeRate"].(float64); has != rate || got["balance"] == nil {
			t.Errorf("%s: %v", query, got)
		}
	}
}

// refusals are the errors of the specification (§7) and of its input rules. Each
// says in a sentence what is wrong, has a stable code, and names the field.
func (p *plain) refusals(w *world) {
	user, btc := w.address(), w.net.Wallet.Address.String()
	body := func(change string) string {
		good := map[string]any{"srcToken": "CITREA-CBTC", "dstToken": "BITCOIN-BTC", "amount": "100000", "amountType": "EXACT_OUT", "srcAddress": user, "dstAddress": btc}
		var other map[string]any
		if err := json.Unmarshal([]byte(change), &other); err != nil {
			p.t.Fatal(err)
		}
		for k, v := range other {
			if good[k] = v; v == nil {
				delete(good, k)
			}
		}
		text, _ := json.Marshal(good)
		return string(text)
	}
	unpaid := p.call(http.StatusOK, "createSwap", "", `{"srcToken":"LIGHTNING-BTC","dstToken":"CITREA-WBTC","amount":"50000","amountType":"EXACT_IN","dstAddress":"`+user+`"}`)["swapId"].(string)
	none := strings.Repeat("ab", 48)
	for _, c := range []struct{ operation, query, body, code, field string }{
		{"createSwap", "", body(`{"amount":"-5"}`), "invalid_input", "amount"},
		{"createSwap", "", body(`{"amount":"1.5"}`), "invalid_input", "amount"},
		{"createSwap", "", body(`{"amount":null}`), "invalid_input", "amount"},
		{"createSwap", "", body(`{"amount":"1"}`), "amount_out_of_bounds", "amount"},
		{"createSwap", "", body(`{"amountType":"EXACT"}`), "invalid_input", "amountType"},
		{"createSwap", "", body(`{"srcToken":"CITREA-NOPE"}`), "invalid_input", "srcToken"},
		{"createSwap", "", body(`{"dstToken":"DOGE-DOGE"}`), "unsupported", "dstToken"},
		{"createSwap", "", body(`{"srcAddress":null}`), "invalid_input", "srcAddress"},
		{"createSwap", "", body(`{"dstAddress":"` + user + `"}`), "invalid_input", "dstAddress"},
		{"createSwap", "", body(`{"gasAmount":"1000"}`), "invalid_input", "gasAmount"},
		{"createSwap", "", body(`{"paymentHash":"abcd"}`), "invalid_input", "paymentHash"},
		{"createSwap", "", body(`{"slippage":"1"}`), "invalid_input", "slippage"},
		{"createSwap", "", `{"srcToken"`, "invalid_input", ""},
		{"getSwapStatus", "", "", "invalid_input", "swapId"},
		{"getSwapStatus", "?swapId=" + none, "", "not_found", ""},
		{"getSwapStatus", "?swapId=" + unpaid + "&secret=" + strings.Repeat("00", 32), "", "invalid_input", "secret"},
		{"getSwapStatus", "?swapId=" + unpaid + "&bitcoinAddress=" + btc, "", "invalid_input", "bitcoinPublicKey"},
		{"getSwapStatus", "?swapId=" + unpaid + "&signer=nobody", "", "invalid_input", "signer"},
		{"submitTransaction", "", `{"swapId":"` + none + `","signedTxs":["0x00"]}`, "not_found", ""},
		{"submitTransaction", "", `{"swapId":"` + unpaid + `","signedTxs":[]}`, "invalid_input", "signedTxs"},
		{"submitTransaction", "", `{"swapId":"` + unpaid + `","signedTxs":["0x00"]}`, "invalid_input", "signedTxs[0]"},
		{"settleWithLnurl", "", `{"swapId":"` + none + `"}`, "not_found", ""},
		{"settleWithLnurl", "", `{"swapId":"` + unpaid + `"}`, "invalid_input", "lnurlWithdraw"},
		{"settleWithLnurl", "", `{"swapId":"` + unpaid + `","lnurlWithdraw":"` + btc + `"}`, "invalid_input", "lnurlWithdraw"},
		{"listSwaps", "", "", "invalid_input", "signer"},
		{"listSwaps", "?signer=nobody", "", "invalid_input", "signer"},
		{"listPendingSwaps", "?signer=" + user + "&chainId=SOLANA", "", "invalid_input", "chainId"},
		{"getSupportedTokens", "?side=LEFT", "", "invalid_input", "side"},
		{"getSwapCounterTokens", "?token=NOPE&side=INPUT", "", "invalid_input", "token"},
		{"getSwapLimits", "?srcToken=BITCOIN-BTC", "", "invalid_input", "dstToken"},
		{"parseAddress", "?address=nobody", "", "invalid_input", "address"},
		{"parseAddress", "", "", "invalid_input", "address"},
		{"getSpendableBalance", "?wallet=" + btc + "&token=LIGHTNING-BTC", "", "unsupported", "token"},
		{"getSpendableBalance", "?wallet=" + user + "&token=CITREA-CBTC&feeRate=1,1&feeMultiplier=2", "", "invalid_input", ""},
		{"getSpendableBalance", "?wallet=" + btc + "&token=BITCOIN-BTC&feeRate=-1", "", "invalid_input", "feeRate"},
	} {
		status := map[string]int{"invalid_input": 400, "amount_out_of_bounds": 400, "not_found": 404, "invalid_state": 409, "unsupported": 400}[c.code]
		got := p.call(status, c.operation, c.query, c.body)
		sentence, _ := got["error"].(string)
		if got["code"] != c.code || sentence == "" || c.field != "" && got["field"] != c.field {
			p.t.Errorf("%s %s%s: %v, want %s at %q", c.operation, c.query, c.body, got, c.code, c.field)
		}
	}
}
