package httpapi

import (
	"bytes"
	"encoding/json"
	"maps"
	"math"
	"math/big"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/swapper-go/swapper"
)

// appendSwaps appends the JSON of swaps, as json.Encoder would write it without escaping
// HTML: statuses are most of what a busy service writes, and reflection is most of what
// they would cost. ok is false for any other type, and for what is better left to
// json.Encoder, errors among it; then b is to be dropped.
func appendSwaps(b []byte, body any) (_ []byte, ok bool) {
	t := swapText{b: b}
	switch v := body.(type) {
	case *swapper.GetSwapStatusOutput:
		t.status(v)
	case *created:
		t.open('{')
		t.base(&v.SwapOutputBase)
		if v.SwapKey != "" {
			t.text(swapKeyMember, v.SwapKey)
		}
		t.close('}')
	case swapper.List[swapper.ListSwapOutput]:
		t.open('[')
		for i := range v {
			t.comma()
			t.open('{')
			t.listed(&v[i])
			t.close('}')
		}
		t.close(']')
	default:
		return b, false
	}
	return t.b, !t.odd
}

// swapText is JSON that is being written. The tests hold each member to what package
// encoding/json makes of it.
type swapText struct {
	b   []byte
	odd bool // something is not as it always is
}

func (t *swapText) open(c byte)  { t.b = append(t.b, c) }
func (t *swapText) close(c byte) { t.b = append(t.b, c) }

// comma separates what follows from what is there.
func (t *swapText) comma() {
	if last := t.b[len(t.b)-1]; last != '{' && last != '[' {
		t.b = append(t.b, ',')
	}
}

// key begins a member. Names are plain.
func (t *swapText) key(name string) {
	t.comma()
	t.b = append(t.b, '"')
	t.b = append(t.b, name...)
	t.b = append(t.b, '"', ':')
}

func (t *swapText) object(name string) {
	t.key(name)
	t.open('{')
}

func (t *swapText) list(name string) {
	t.key(name)
	t.open('[')
}

func (t *swapText) text(name, s string) {
	t.key(name)
	t.string(s)
}

// string writes a text. What has to be escaped is left to package encoding/json.
func (t *swapText) string(s string) {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c >= utf8.RuneSelf || c == '"' || c == '\\' {
			var b bytes.Buffer
			e := json.NewEncoder(&b)
			e.SetEscapeHTML(false)
			t.odd = e.Encode(s) != nil || t.odd
			t.b = append(t.b, bytes.TrimSuffix(b.Bytes(), []byte("\n"))...)
			return
		}
	}
	t.b = append(t.b, '"')
	t.b = append(t.b, s...)
	t.b = append(t.b, '"')
}

// given writes a text that is not there when it is empty.
func (t *swapText) given(name, s string) {
	if s != "" {
		t.text(name, s)
	}
}

func (t *swapText) int(name string, n int64) {
	t.key(name)
	t.b = strconv.AppendInt(t.b, n, 10)
}

func (t *swapText) bool(name string, is bool) {
	t.key(name)
	t.b = strconv.AppendBool(t.b, is)
}

func (t *swapText) number(name string, f float64) {
	t.key(name)
	if abs := math.Abs(f); abs != 0 && !(abs >= 1e-6 && abs < 1e21) { // written with an exponent, or not at all
		t.odd = true
		return
	}
	t.b = strconv.AppendFloat(t.b, f, 'f', -1, 64)
}

func (t *swapText) amount(name string, a *swapper.Amount) {
	t.object(name)
	t.text("amount", a.Amount)
	t.key("rawAmount")
	t.b = append(t.b, '"')
	t.b = appendInteger(t.b, a.RawAmount)
	t.b = append(t.b, '"')
	t.int("decimals", int64(a.Decimals))
	t.text("symbol", a.Symbol)
	t.text("chain", a.Chain)
	t.close('}')
}

// appendInteger appends the digits of a number, 0 for none.
func appendInteger(b []byte, n *big.Int) []byte {
	switch {
	case n == nil:
		return append(b, '0')
	case n.IsInt64():
		return strconv.AppendInt(b, n.Int64(), 10)
	}
	return n.Append(b, 10)
}

func (t *swapText) base(s *swapper.SwapOutputBase) {
	t.text("swapId", s.SwapID)
	t.text("swapType", string(s.SwapType))

	t.object("state")
	t.int("number", int64(s.State.Number))
	t.text("name", s.State.Name)
	t.text("description", s.State.Description)
	t.close('}')

	t.object("quote")
	t.amount("inputAmount", &s.Quote.InputAmount)
	t.amount("outputAmount", &s.Quote.OutputAmount)
	t.object("fees")
	t.amount("swap", &s.Quote.Fees.Swap)
	if fee := s.Quote.Fees.NetworkOutput; fee != nil {
		t.amount("networkOutput", fee)
	}
	if fee := s.Quote.Fees.NetworkInput; fee != nil {
		t.amount("networkInput", fee)
	}
	t.close('}')
	t.int("expiry", s.Quote.Expiry.UnixMilli())
	t.text("outputAddress", s.Quote.OutputAddress)
	t.close('}')

	t.int("createdAt", s.CreatedAt.UnixMilli())
	t.list("steps")
	for i := range s.Steps {
		t.comma()
		t.step(&s.Steps[i])
	}
	t.close(']')
	if l := s.LNURL; l != nil {
		t.object("lnurl")
		t.given("withdraw", l.Withdraw)
		t.given("pay", l.Pay)
		if a := l.SuccessAction; a != nil {
			t.object("successAction")
			t.text("description", a.Description)
			t.given("text", a.Text)
			t.given("url", a.URL)
			t.close('}')
		}
		t.close('}')
	}
	if f := s.Flags; f != nil {
		t.object("flags")
		t.bool("lightningRecipientIsNonCustodialWallet", f.LightningRecipientIsNonCustodialWallet)
		t.bool("lightningPaymentWillLikelyFail", f.LightningPaymentWillLikelyFail)
		t.bool("lightningPaymentWithLongHTLCExpiration", f.LightningPaymentWithLongHTLCExpiration)
		t.close('}')
	}
}

func (t *swapText) step(s *swapper.Step) {
	t.open('{')
	t.text("type", string(s.Type))
	t.text("side", string(s.Side))
	t.text("chain", s.Chain)
	t.text("title", s.Title)
	t.text("description", s.Description)
	t.text("status", string(s.Status))
	t.given("setupTxId", s.SetupTxID)
	if c := s.Confirmations; c != nil {
		t.object("confirmations")
		t.int("current", int64(c.Current))
		t.int("target", int64(c.Target))
		t.int("etaSeconds", int64(seconds(c.ETA)))
		t.close('}')
	}
	t.given("initTxId", s.InitTxID)
	t.given("settleTxId", s.SettleTxID)
	t.given("refundTxId", s.RefundTxID)
	t.close('}')
}

func (t *swapText) listed(s *swapper.ListSwapOutput) {
	t.base(&s.SwapOutputBase)
	t.bool("isFinished", s.IsFinished)
	t.bool("isSuccess", s.IsSuccess)
	t.bool("isFailed", s.IsFailed)
	t.bool("isExpired", s.IsExpired)
}

func (t *swapText) status(s *swapper.GetSwapStatusOutput) {
	t.open('{')
	t.listed(&s.ListSwapOutput)
	t.key("currentAction")
	if s.CurrentAction == nil {
		t.b = append(t.b, "null"...)
	} else {
		t.action(s.CurrentAction)
	}
	if e := s.ActionError; e != nil {
		t.object("actionError")
		t.text("code", string(e.Code))
		t.text("error", e.Error)
		t.close('}')
	}
	if s.RequiresSecretReveal != nil {
		t.bool("requiresSecretReveal", *s.RequiresSecretReveal)
	}
	if e := s.Escrow; e != nil {
		t.object("escrow")
		t.key("data")
		t.raw(e.Data)
		t.given("initTxId", e.InitTxID)
		t.given("nonce", e.Nonce)
		if e.Confirmations != 0 {
			t.int("confirmations", int64(e.Confirmations))
		}
		t.given("address", e.Address)
		t.close('}')
	}
	if v := s.Vault; v != nil {
		t.object("vault")
		t.text("owner", v.Owner)
		t.text("vaultId", v.VaultID)
		t.close('}')
	}
	if len(s.AsOf) > 0 {
		t.object("asOf")
		for _, chain := range slices.Sorted(maps.Keys(s.AsOf)) {
			t.comma()
			t.string(chain)
			t.b = strconv.AppendUint(append(t.b, ':'), s.AsOf[chain], 10)
		}
		t.close('}')
	}
	t.close('}')
}

// raw writes JSON of another hand, without white space.
func (t *swapText) raw(data json.RawMessage) {
	b := bytes.NewBuffer(t.b)
	t.odd = json.Compact(b, data) != nil || t.odd
	t.b = b.Bytes()
}

func (t *swapText) action(a swapper.Action) {
	t.open('{')
	t.text("type", a.Type())
	switch a := a.(type) {
	case *swapper.SendToAddress:
		t.about(a.Name, a.Description, a.Chain)
		t.list("txs")
		for i := range a.Txs {
			tx := &a.Txs[i]
			t.comma()
			t.open('{')
			t.text("type", string(tx.Type))
			t.text("address", tx.Address)
			t.text("hyperlink", tx.Hyperlink)
			t.amount("amount", &tx.Amount)
			t.close('}')
		}
		t.close(']')
	case *swapper.SignPSBT:
		t.psbts(a)
	case *swapper.SignSmartChainTransaction:
		t.about(a.Name, a.Description, a.Chain)
		t.list("txs")
		for _, tx := range a.Txs {
			t.comma()
			t.string(tx)
		}
		t.close(']')
		t.text("requiredSigner", a.RequiredSigner)
	case *swapper.Wait:
		t.text("name", a.Name)
		t.text("description", a.Description)
		t.number("expectedTimeSeconds", seconds(a.ExpectedTime))
		t.number("pollTimeSeconds", seconds(a.PollTime))
	default:
		t.odd = true
	}
	t.close('}')
}

// seconds is a duration as JSON has it.
func seconds(d time.Duration) float64 {
	if d < 0 {
		return -1
	}
	return d.Seconds()
}

func (t *swapText) about(name, description, chain string) {
	t.text("name", name)
	t.text("description", description)
	t.text("chain", chain)
}

func (t *swapText) psbts(s *swapper.SignPSBT) {
	if (len(s.Funded) > 0) == (len(s.Raw) > 0) {
		t.odd = true
		return
	}
	t.about(s.Name, s.Description, s.Chain)
	t.list("txs")
	for i := range s.Funded {
		p := &s.Funded[i]
		t.comma()
		t.open('{')
		t.text("type", "FUNDED_PSBT")
		t.text("psbtHex", p.PSBTHex)
		t.text("psbtBase64", p.PSBTBase64)
		t.list("signInputs")
		for _, n := range p.SignInputs {
			t.comma()
			t.b = strconv.AppendInt(t.b, int64(n), 10)
		}
		t.close(']')
		t.number("feeRate", p.FeeRate)
		if p.NetworkFee != nil {
			t.amount("networkFee", p.NetworkFee)
		}
		t.close('}')
	}
	for i := range s.Raw {
		p := &s.Raw[i]
		t.comma()
		t.open('{')
		t.text("type", "RAW_PSBT")
		t.text("psbtHex", p.PSBTHex)
		t.text("psbtBase64", p.PSBTBase64)
		t.int("in1sequence", int64(p.In1Sequence))
		t.number("feeRate", p.FeeRate)
		if p.MaxNetworkFee != nil {
			t.amount("maxNetworkFee", p.MaxNetworkFee)
		}
		t.close('}')
	}
	t.close(']')
}
