package e2e

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/btcsuite/btcd/btcutil/psbt"
	"github.com/btcsuite/btcd/wire"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/devnet"
	"github.com/swapper-go/swapper/internal/devnet/lightning"
	"github.com/swapper-go/swapper/internal/trial"
)

// services are LNURL services of a world, once it has started: those that are
// paid belong to the recipient, those that pay to the payer.
type services struct{ paid, paying *lightning.LNURLServer }

// serving adds them to a world's options.
func serving(o options) (options, *services) {
	s := new(services)
	for _, of := range []struct {
		at   **lightning.LNURLServer
		node func(*devnet.Net) *lightning.Node
	}{{&s.paid, func(n *devnet.Net) *lightning.Node { return n.Recipient }}, {&s.paying, func(n *devnet.Net) *lightning.Node { return n.Payer }}} {
		o.net.Services = append(o.net.Services, func(_ context.Context, n *devnet.Net) (devnet.Service, error) {
			var err error
			*of.at, err = lightning.StartLNURL(lightning.LNURLOptions{Node: of.node(n), Now: n.Clock.Now})
			return *of.at, err
		})
	}
	o.config = func(c *swapper.Config) { c.LNURL.Transport = s.paid.Transport() }
	return o, s
}

// raw is what an amount is in base units.
func raw(a swapper.Amount) int64 { return a.RawAmount.Int64() }

// Whatever the terms, the user pays what was agreed on, the LP gets it, and the
// invoice is paid.
func TestLightningIsPaid(t *testing.T) {
	t.Parallel()
	o, services := serving(options{})
	w := start(t, o)
	pay := func(name string, action *lightning.Action) string {
		links := trial.Must(services.paid.AddPay(lightning.Pay{Name: name, MinMsat: 1_000_000, MaxMsat: 500_000_000, Action: action}))(t)
		if action != nil && action.Tag == "url" { // only https addresses are shown, so the service is called at one
			return links.Identifier
		}
		return links.LNURL
	}
	secret := &lightning.Action{Tag: "aes", Description: "your code", Text: "open sesame"}
	for _, test := range trial.Of(2, []struct {
		name, to string
		amount   int64
		exact    swapper.AmountType
		want     *swapper.SuccessAction
	}{
		{"a link, exact out", pay("plain", nil), 50_000, swapper.ExactOut, nil},
		{"a link, exact in", pay("in", nil), 60_000, swapper.ExactIn, nil},
		{"message", pay("message", &lightning.Action{Tag: "message", Text: "thank you"}), 50_000, swapper.ExactOut, &swapper.SuccessAction{Description: "thank you"}},
		{"url", pay("url", &lightning.Action{Tag: "url", Description: "have a look", Path: "/thanks"}), 50_000, swapper.ExactOut, &swapper.SuccessAction{Description: "have a look", URL: "https://" + lightning.Domain + "/thanks"}},
		{"secret", pay("aes", secret), 50_000, swapper.ExactOut, &swapper.SuccessAction{Description: "your code", Text: "open sesame"}},
		{"secret, exact in", pay("aes-in", secret), 60_000, swapper.ExactIn, &swapper.SuccessAction{Description: "your code", Text: "open sesame"}},
	}) {
		t.Run(test.name, func(t *testing.T) {
			w := w.in(t)
			before := w.book()
			s := w.create(swapper.CreateSwapInput{SrcToken: w.token("WBTC"), DstToken: "LIGHTNING-BTC", Amount: big.NewInt(test.amount), AmountType: test.exact, SrcAddress: w.address(), DstAddress: test.to})
			in, out := raw(s.Quote.InputAmount), raw(s.Quote.OutputAmount)
			if test.exact == swapper.ExactIn && in != test.amount || test.exact == swapper.ExactOut && out != test.amount {
				t.Errorf("asked for %d %s, got %d for %d", test.amount, test.exact, out, in)
			}
			if s.LNURL == nil || s.LNURL.Pay == "" || s.LNURL.SuccessAction != nil || s.Quote.OutputAddress == "" {
				t.Errorf("link is shown as %+v, %s", s.LNURL, s.Quote.OutputAddress)
			}
			end := w.ended(s.SwapID, "CLAIMED")
			changed := w.since(before)
			routing := out*1000 + changed["LP msat"] // the LP pays for the route
			if routing > 0 {
				t.Errorf("the LP paid %d msat for %d sats", -changed["LP msat"], out)
			}
			w.only(changed, map[string]int64{"user WBTC": -in, "LP WBTC": in, "recipient msat": out * 1000, "LP msat": changed["LP msat"]})
			got := end.LNURL.SuccessAction
			if (got == nil) != (test.want == nil) || got != nil && *got != *test.want {
				t.Errorf("the service says %+v, want %+v", got, test.want)
			}
		})
	}
}

func TestBitcoinIsPaid(t *testing.T) {
	t.Parallel()
	w := start(t, options{})
	for _, exact := range []swapper.AmountType{swapper.ExactIn, swapper.ExactOut} {
		for _, kind := range trial.Of(1, []bitcoin.AddressType{bitcoin.P2TR, bitcoin.P2PKH}) {
			t.Run(fmt.Sprint(exact, " ", kind), func(t *testing.T) {
				w := w.in(t)
				to := trial.Must(w.net.Bitcoin.NewWallet(kind))(t)
				before := w.book()
				s := w.create(swapper.CreateSwapInput{SrcToken: w.token("WBTC"), DstToken: "BITCOIN-BTC", Amount: big.NewInt(100_000), AmountType: exact, SrcAddress: w.address(), DstAddress: to.Address.String()})
				w.ended(s.SwapID, "CLAIMED")
				in, out := raw(s.Quote.InputAmount), raw(s.Quote.OutputAmount)
				changed := w.since(before)
				// The rest of what the LP's bitcoin lost is the fee of its payment, which the user was charged for.
				if fee := -changed["LP sats"] - out; fee <= 0 || fee > raw(*s.Quote.Fees.NetworkOutput) {
					t.Errorf("the LP paid a fee of %d, charged %d", fee, raw(*s.Quote.Fees.NetworkOutput))
				}
				w.only(changed, map[string]int64{"user WBTC": -in, "LP WBTC": in, "LP sats": changed["LP sats"]})
				if got := to.Balance(); got != out {
					t.Errorf("received %d, want %d", got, out)
				}
			})
		}
	}
}

// Somebody with an empty account is paid from Lightning, with something for fees
// where that was asked for.
func TestLightningPays(t *testing.T) {
	t.Parallel()
	lightningPays(t, options{})
}

func lightningPays(t *testing.T, o options) {
	o.slow = true
	o, services := serving(o)
	w := start(t, o)
	gas := w.drop()
	for _, test := range trial.Of(3, []struct {
		name  string
		exact swapper.AmountType
		gas   *big.Int
		link  bool // the swap is created with the link that pays
		later bool // the link is given to settleWithLnurl
	}{
		{"exact in", swapper.ExactIn, nil, false, false},
		{"exact out", swapper.ExactOut, nil, false, false},
		{"gas", swapper.ExactIn, gas, false, false},
		{"gas, exact out", swapper.ExactOut, gas, false, false},
		{"link", swapper.ExactIn, gas, true, false},
		{"link given later", swapper.ExactOut, nil, false, true},
	}) {
		t.Run(test.name, func(t *testing.T) {
			w := w.in(t)
			to := w.newcomer()
			in := swapper.CreateSwapInput{SrcToken: "LIGHTNING-BTC", DstToken: w.token("WBTC"), Amount: big.NewInt(100_000), AmountType: test.exact, DstAddress: to, GasAmount: test.gas}
			links := trial.Must(services.paying.AddWithdraw(lightning.Withdraw{Name: "withdraw", MinMsat: 1000, MaxMsat: 500_000_000}))(t)
			if test.link {
				in.SrcAddress = links.LNURL
			}
			before := w.book(to)
			s := w.create(in)
			if test.link || test.later {
				settle := swapper.SettleWithLnurlInput{SwapID: s.SwapID}
				if test.later {
					settle.LnurlWithdraw = links.LNURL
				}
				out := trial.Must(w.client.SettleWithLnurl(w.within(30*time.Second), settle))(t)
				if len(out.PaymentHash) != 64 {
					t.Errorf("payment hash %q", out.PaymentHash)
				}
			}
			end := w.ended(s.SwapID, "CLAIM_CLAIMED")
			if shown := end.LNURL != nil && end.LNURL.Withdraw != ""; shown != (test.link || test.later) {
				t.Errorf("link is shown as %+v", end.LNURL)
			}
			paid, got := raw(s.Quote.InputAmount), raw(s.Quote.OutputAmount)
			if test.exact == swapper.ExactIn && paid != 100_000 || test.exact == swapper.ExactOut && got != 100_000 {
				t.Errorf("%d for %d", got, paid)
			}
			w.net.Mine(1)
			w.eventually("settled", func() bool { return w.since(before, to)["LP msat"] != 0 }) // the LP settles last
			w.only(w.since(before, to), map[string]int64{"user msat": -paid * 1000, "LP msat": paid * 1000, "LP WBTC": -got, "recipient WBTC": got})
			w.hasGas(to, test.gas)
		})
	}
}

// hasGas checks the native coins of an account that had none.
func (w *world) hasGas(who string, want *big.Int) {
	w.t.Helper()
	if want == nil {
		want = new(big.Int)
	}
	got := w.coins(who)
	if got.Cmp(want) != 0 {
		w.t.Errorf("%s has %v for fees, want %v", who, got, want)
	}
}

// A vault pays somebody with an empty account, however the transaction is made.
func TestVaultPays(t *testing.T) {
	t.Parallel()
	vaultPays(t, options{})
}

// Two quotes for one output of a vault can both be had; who signs second is told to make
// another one, by the status and by the submission of what was signed before.
func TestSecondQuoteOfAVault(t *testing.T) {
	t.Parallel()
	w := start(t, options{})
	in := swapper.CreateSwapInput{SrcToken: "BITCOIN-BTC", DstToken: w.token("WBTC"), Amount: big.NewInt(100_000), AmountType: swapper.ExactIn, DstAddress: w.address()}
	first, second, third := w.create(in), w.create(in), w.create(in)
	asked := w.status(third.SwapID).CurrentAction
	w.act(first.SwapID)
	s := w.watch(second.SwapID, func(s *swapper.GetSwapStatusOutput) bool { return s.ActionError != nil })
	if s.CurrentAction != nil || s.ActionError.Code != fault.InvalidState || !strings.Contains(s.ActionError.Error, "create a new swap") {
		t.Errorf("the status of the second quote: %+v, %+v", s.CurrentAction, s.ActionError)
	}
	if err := w.user.Do(w.within(30*time.Second), third.SwapID, asked); fault.CodeOf(err) != fault.InvalidState || !strings.Contains(err.Error(), "create a new swap") {
		t.Errorf("signed before, handed in after another: %v", err)
	}
	w.ended(first.SwapID, "CLAIMED")
	w.finish(w.create(in).SwapID)
}

func vaultPays(t *testing.T, o options) {
	w := start(t, o)
	gas := w.drop()
	for _, test := range trial.Of(2, []struct {
		name     string
		exact    swapper.AmountType
		gas      *big.Int
		unfunded bool // the wallet adds its inputs
		taproot  bool
	}{
		{"funded", swapper.ExactIn, nil, false, false},
		{"raw, gas, exact out", swapper.ExactOut, gas, true, true},
		{"funded, taproot, exact out", swapper.ExactOut, nil, false, true},
		{"gas", swapper.ExactIn, gas, false, false},
		{"gas, exact out", swapper.ExactOut, gas, false, false},
		{"raw", swapper.ExactIn, nil, true, false},
	}) {
		t.Run(test.name, func(t *testing.T) {
			w := w.in(t)
			user := *w.user
			if test.taproot {
				user.Bitcoin = w.net.Taproot
			}
			w.user = &user
			to := w.newcomer()
			before := w.book(to)
			s := w.create(swapper.CreateSwapInput{SrcToken: "BITCOIN-BTC", DstToken: w.token("WBTC"), Amount: big.NewInt(200_000), AmountType: test.exact, DstAddress: to, GasAmount: test.gas})
			if test.unfunded {
				w.submitRaw(s.SwapID)
			}
			w.ended(s.SwapID, "CLAIMED")
			paid, got := raw(s.Quote.InputAmount), raw(s.Quote.OutputAmount)
			if test.exact == swapper.ExactIn && paid != 200_000 || test.exact == swapper.ExactOut && got != 200_000 {
				t.Errorf("%d for %d", got, paid)
			}
			changed := w.since(before, to)
			fee, bounty := -changed["user sats"]-paid, changed["tower WBTC"]
			if fee <= 0 || fee > 20_000 || bounty < 0 || bounty > got/50 {
				t.Errorf("%d sats were paid for the transaction, %d for the settlement", fee, bounty)
			}
			want := map[string]int64{"user sats": -paid - fee, "LP sats": paid, "vaults WBTC": -got - bounty, "recipient WBTC": got}
			if bounty != 0 {
				want["tower WBTC"] = bounty
			}
			w.only(changed, want)
			w.hasGas(to, test.gas)
		})
	}
}

// submitRaw adds inputs to the transaction that is asked for, as a wallet that
// chooses its own coins.
func (w *world) submitRaw(id string) {
	w.t.Helper()
	s, err := w.client.GetSwapStatus(w.t.Context(), swapper.GetSwapStatusInput{SwapID: id})
	if err != nil {
		w.t.Fatal(err)
	}
	fund := asksFor[*swapper.SignPSBT](s)
	if fund == nil || len(fund.Raw) != 1 {
		w.t.Fatalf("asks for %+v", s.CurrentAction)
	}
	ask := fund.Raw[0]
	text, err := base64.StdEncoding.DecodeString(ask.PSBTBase64)
	if err != nil {
		w.t.Fatal(err)
	}
	p, err := psbt.NewFromRawBytes(bytes.NewReader(text), false)
	if err != nil {
		w.t.Fatal(err)
	}
	coin := w.user.Bitcoin.Coins()[0]
	in := wire.NewTxIn(&coin.OutPoint, nil, nil)
	in.Sequence = ask.In1Sequence
	p.UnsignedTx.AddTxIn(in)
	script := w.user.Bitcoin.Address.Script()
	p.Inputs = append(p.Inputs, psbt.PInput{WitnessUtxo: wire.NewTxOut(coin.Value, script)})
	change := p.Inputs[0].WitnessUtxo.Value + coin.Value - int64(ask.FeeRate*400)
	for _, out := range p.UnsignedTx.TxOut {
		change -= out.Value
	}
	p.UnsignedTx.AddTxOut(wire.NewTxOut(change, script))
	p.Outputs = append(p.Outputs, psbt.POutput{})
	if err := w.user.Bitcoin.SignPSBT(p, 1); err != nil {
		w.t.Fatal(err)
	}
	signed, err := p.B64Encode()
	if err != nil {
		w.t.Fatal(err)
	}
	if _, err := w.client.SubmitTransaction(w.within(30*time.Second), swapper.SubmitTransactionInput{SwapID: id, SignedTxs: []string{signed}}); err != nil {
		w.t.Fatal(err)
	}
}
