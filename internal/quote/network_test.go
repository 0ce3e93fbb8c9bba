package quote

import (
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"math/big"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/chains/bitcoin/mempoolspace"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/chainio"
	"github.com/swapper-go/swapper/internal/devnet"
	devlightning "github.com/swapper-go/swapper/internal/devnet/lightning"
	devlp "github.com/swapper-go/swapper/internal/devnet/lp"
	"github.com/swapper-go/swapper/internal/engine"
	"github.com/swapper-go/swapper/internal/lightning"
	"github.com/swapper-go/swapper/internal/lnurl"
	"github.com/swapper-go/swapper/internal/lp"
	"github.com/swapper-go/swapper/internal/lp/discovery"
	"github.com/swapper-go/swapper/internal/lp/lphttp"
	"github.com/swapper-go/swapper/internal/lp/verify"
	"github.com/swapper-go/swapper/internal/swap"
	"github.com/swapper-go/swapper/internal/tokenlist"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/storage"
	"github.com/swapper-go/swapper/tokens"
)

// bank is a quoter on a local network with an EVM chain, on which nobody but the LP is
// needed, and Solana's older program, on which the user opens escrows himself.
type bank struct {
	*testing.T
	*Quoter
	net   *devnet.Net
	coins *tokenlist.Registry
	setup discovery.Setup // of Offers
}

func open(t *testing.T) *bank {
	t.Helper()
	n, err := devnet.Start(t.Context(), devnet.Options{Solana: "v1", LP: func(_ int, o *devlp.Options) { o.Poll = time.Hour }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := n.Close(); err != nil {
			t.Error(err)
		}
	})
	b := &bank{T: t, net: n}
	backend := trial.Must(mempoolspace.New(mempoolspace.Options{Network: n.Bitcoin.Network(), URLs: []string{n.Bitcoin.URL()}, TipAge: -1}))(t)
	all, store, lists, known := map[string]chains.Chain{}, new(storage.Memory), []tokenlist.Chain{}, []discovery.Chain{}
	for _, f := range n.Chains() {
		c := trial.Must(f.Open(t.Context(), chains.Env{Network: n.Bitcoin.Network(), Bitcoin: backend, Now: n.Clock.Now, Rand: rand.Reader,
			HTTP: http.DefaultTransport, Log: slog.New(slog.DiscardHandler), Notes: store}))(t)
		all[f.ID()], known = c, append(known, c)
		lists = append(lists, tokenlist.Chain{ID: f.ID(), Tokens: c.Info().Tokens, TokenAddress: c.TokenAddress})
	}
	b.coins = trial.Must(tokenlist.New(lists...))(t)
	lps := lphttp.NewClient(lphttp.Options{Now: n.Clock.Now, AllowLocal: true})
	reader := chainio.New(all, backend, lps)
	e := engine.New(engine.Config{Store: store, Reader: reader, Flows: swap.Flows(), Now: n.Clock.Now, Log: slog.New(slog.DiscardHandler)})
	b.setup = discovery.Setup{Client: lps, Chains: known, Tokens: b.coins, URLs: n.LPURLs(), Now: n.Clock.Now}
	b.Quoter = &Quoter{Engine: e, Reader: reader, Offers: discovery.NewDirectory(b.setup), LPs: lps, Prices: n.Prices.Market(),
		LNURL: lnurl.New(lnurl.Config{Network: n.Bitcoin.Network(), AllowLocal: true, Now: n.Clock.Now}), Policy: verify.Policy{AnyNode: true}, Rand: rand.Reader}
	return b
}

// Swaps that are paid to an address on Bitcoin are refused, before anybody is asked, where the
// backend could not find the payment; others are not.
func TestPaymentsToAnAddressNeedAnIndex(t *testing.T) {
	b := open(t)
	b.Reader.Bitcoin = struct{ bitcoin.Backend }{b.Reader.Bitcoin}
	b.net.LPs[0].Misbehave(devlp.Fault{Down: true})
	for name, create := range map[string]func() error{
		"FROM_BTC": func() error {
			_, err := b.Create(t.Context(), b.ask("BITCOIN-BTC", "SOLANA-WBTC", 200_000, true))
			return err
		},
		"TRUSTED_FROM_BTC": func() error {
			_, err := b.CreateGas(t.Context(), GasRequest{Src: b.coin("BITCOIN-BTC"), Chain: "CITREA", Amount: big.NewInt(1e14), Address: b.user("CITREA"), LP: b.net.LPs[0].URL()})
			return err
		},
	} {
		if err := create(); fault.CodeOf(err) != fault.Unsupported || !strings.Contains(err.Error(), "bitcoin.AddressIndex") {
			t.Errorf("%s: %v", name, err)
		}
	}
	b.net.LPs[0].Misbehave(devlp.Fault{})
	b.create(b.ask("BITCOIN-BTC", "CITREA-WBTC", 200_000, true))
}

func (b *bank) coin(name string) tokens.Token {
	b.Helper()
	return trial.Must(b.coins.Resolve(name))(b)
}

func (b *bank) user(chain string) string {
	if chain == "SOLANA" {
		return b.net.Solana.User.Address.String()
	}
	return b.net.EVM.User.Address.Hex()
}

func (b *bank) invoice(sats int64) string {
	b.Helper()
	preimage, _ := devlightning.Preimage(fmt.Sprint(b.Name(), sats))
	return trial.Must(b.net.Recipient.NewInvoice(devlightning.InvoiceOptions{Preimage: preimage, AmountMsat: sats * 1000}))(b)
}

// ask is a request that is quoted: the amount is in the source's units if in, else in the
// destination's.
func (b *bank) ask(src, dst string, amount int64, in bool) Request {
	q := Request{Src: b.coin(src), Dst: b.coin(dst), Amount: big.NewInt(amount), ExactIn: in}
	switch q.Dst {
	case tokens.BTC():
		q.SrcAddress, q.DstAddress = b.user(q.Src.Chain), b.net.Taproot.Address.String()
	case tokens.LightningBTC():
		q.SrcAddress, q.DstAddress = b.user(q.Src.Chain), b.net.Alice.LNURL
	default:
		q.DstAddress = b.user(q.Dst.Chain)
	}
	return q
}

func (b *bank) create(q Request) *Made {
	b.Helper()
	return trial.Must(b.Create(b.Context(), q))(b)
}

// Every type is quoted on the side that was asked for, and stored with what the user needs
// to pay, to be paid, and to get the swap back.
func TestEveryTypeIsQuoted(t *testing.T) {
	b := open(t)
	paid := b.ask("CITREA-WBTC", "LIGHTNING-BTC", 40_000, false)
	paid.DstAddress = b.invoice(40_000)
	withGas := b.ask("BITCOIN-BTC", "CITREA-WBTC", 200_000, true)
	withGas.GasAmount = big.NewInt(1e15)
	hashed := b.ask("LIGHTNING-BTC", "CITREA-WBTC", 90_000, false)
	hashed.PaymentHash = strings.Repeat("5a", 32)
	described := b.ask("LIGHTNING-BTC", "SOLANA-WBTC", 100_000, true)
	described.Description = "for the boat"
	voucher := b.ask("LIGHTNING-BTC", "CITREA-CBTC", 40_000, true)
	voucher.SrcAddress = b.net.Voucher.LNURL
	for _, c := range []struct {
		name string
		ask  Request
		typ  swap.Type
		kept func(r *swap.Record) bool // that what the type needs is kept
	}{
		{"to bitcoin", b.ask("CITREA-WBTC", "BITCOIN-BTC", 100_000, false), swap.ToBTC, func(r *swap.Record) bool {
			return r.Escrow != nil && r.Bitcoin.Address == b.net.Taproot.Address.String() && r.Bitcoin.Sats == 100_000
		}},
		{"to bitcoin, exact in, on Solana", b.ask("SOLANA-WBTC", "BITCOIN-BTC", 100_000, true), swap.ToBTC, func(r *swap.Record) bool { return r.Bitcoin.Sats < 100_000 && r.Bitcoin.Sats > 90_000 }},
		{"to an invoice", paid, swap.ToBTCLN, func(r *swap.Record) bool { return r.Lightning.Invoice == paid.DstAddress && r.Lightning.Link == "" }},
		{"to a link", b.ask("CITREA-WBTC", "LIGHTNING-BTC", 30_000, false), swap.ToBTCLN, func(r *swap.Record) bool {
			return strings.HasPrefix(r.Lightning.Invoice, "lnbcrt300u") && r.Lightning.Link != ""
		}},
		{"to a link, exact in", b.ask("CITREA-WBTC", "LIGHTNING-BTC", 60_000, true), swap.ToBTCLN, func(r *swap.Record) bool { return r.Lightning.Link != "" }},
		{"from Lightning, claimed for the user", hashed, swap.FromBTCLNAuto, func(r *swap.Record) bool {
			return r.Lightning.OwnHash && r.Lightning.Hash == hashed.PaymentHash && r.Lightning.Preimage == chains.Preimage{}
		}},
		{"from a link that pays", voucher, swap.FromBTCLNAuto, func(r *swap.Record) bool {
			return r.Lightning.Withdraw != nil && r.Lightning.Preimage != chains.Preimage{}
		}},
		{"from Lightning, opened by the user", described, swap.FromBTCLN, func(r *swap.Record) bool {
			inv, err := lightning.Decode(r.Lightning.Invoice)
			return err == nil && inv.Description != nil && *inv.Description == described.Description
		}},
		{"from bitcoin through a vault", withGas, swap.SPVFromBTC, func(r *swap.Record) bool {
			return r.Vault != nil && r.Terms.GasDrop.Raw.Cmp(withGas.GasAmount) >= 0 && r.Bitcoin.Sats == 200_000 && r.Bitcoin.MinerSats > 0
		}},
		{"from bitcoin through a vault, exact out", b.ask("BITCOIN-BTC", "CITREA-CBTC", 2e15, false), swap.SPVFromBTC, func(r *swap.Record) bool { return r.Terms.GasDrop == nil }},
		{"from bitcoin, opened by the user", b.ask("BITCOIN-BTC", "SOLANA-WBTC", 200_000, true), swap.FromBTC, func(r *swap.Record) bool {
			return r.Escrow != nil && r.Bitcoin.Address != "" && r.Bitcoin.Sats == 200_000
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := *b
			b.T = t
			m := b.create(c.ask)
			fixed, other := m.Terms.Output, m.Terms.Input
			if c.ask.ExactIn {
				fixed, other = other, fixed
			}
			if m.Type != c.typ || fixed.Raw.Cmp(c.ask.Amount) != 0 || other.Raw.Sign() <= 0 || m.Terms.SwapFee.Raw.Sign() <= 0 {
				t.Errorf("%s: %s for %s, fee %s; want %s with %s", m.Type, m.Terms.Input.Raw, m.Terms.Output.Raw, m.Terms.SwapFee.Raw, c.typ, c.ask.Amount)
			}
			chain := c.ask.Dst.Chain
			if c.typ == swap.ToBTC || c.typ == swap.ToBTCLN {
				chain = c.ask.Src.Chain
			}
			if m.Signer != b.user(chain) || m.LP.URL != b.net.LPURLs()[0] || m.Expiry <= swap.At(b.net.Clock.Now()) || !c.kept(m.Record) {
				t.Errorf("the record lacks something: %+v", m.Record)
			}
			e := trial.Must(b.Engine.Store.Get(t.Context(), m.ID))(t)
			stored, err := swap.Decode(e.ID, e.Version, e.Body)
			if err != nil || stored.Seed != m.Seed || !stored.OwnedBy("", m.SwapKey) || stored.OwnedBy("", strings.Repeat("0", 32)) {
				t.Errorf("stored as %+v, %v", stored, err)
			}
		})
	}
}

// Gas is bought of the one LP that is trusted, with what it tells to pay.
func TestGasIsQuoted(t *testing.T) {
	b := open(t)
	ask := func(src string) GasRequest {
		return GasRequest{Src: b.coin(src), Chain: "CITREA", Amount: big.NewInt(1e14), Address: b.user("CITREA"), LP: b.net.LPURLs()[0]}
	}
	with := func(change func(*GasRequest)) GasRequest { q := ask("LIGHTNING-BTC"); change(&q); return q }
	for _, src := range []string{"LIGHTNING-BTC", "BITCOIN-BTC"} {
		m, err := b.CreateGas(t.Context(), ask(src))
		if err != nil {
			t.Fatalf("%s: %v", src, err)
		}
		if m.Terms.Output.Raw.Int64() != 1e14 || m.Terms.Recipient != b.user("CITREA") || (m.Lightning != nil) != (src == "LIGHTNING-BTC") || (m.Bitcoin != nil) != (src == "BITCOIN-BTC") {
			t.Errorf("%s: %+v", src, m.Record)
		}
	}
	for field, q := range map[string]GasRequest{
		"chainId":       with(func(q *GasRequest) { q.Chain = "GOAT" }),
		"dstAddress":    with(func(q *GasRequest) { q.Address = b.user("SOLANA") }),
		"refundAddress": with(func(q *GasRequest) { q.RefundAddress = b.net.Taproot.Address.String() }), // what is paid over Lightning goes back by itself
		"lp":            with(func(q *GasRequest) { q.LP = "provider" }),
	} {
		b.refuses(field, q.Src.ID(), func() error { _, err := b.CreateGas(t.Context(), q); return err })
	}
	if _, err := b.CreateGas(t.Context(), with(func(q *GasRequest) { q.Src = b.coin("CITREA-WBTC") })); fault.CodeOf(err) != fault.Unsupported {
		t.Errorf("for a token: %v", err)
	}
}

// refuses demands that a request is refused by the name of a field.
func (b *bank) refuses(field, what string, create func() error) {
	b.Helper()
	err := create()
	e, ok := errors.AsType[*fault.Error](err)
	if !ok || e.Field != field || e.Code != fault.InvalidInput && e.Code != fault.AmountOutOfBounds {
		b.Errorf("%s: got %v, want it to be refused by the field %s", what, err, field)
	}
}

// A repeated request is answered with the swap and the key of the first time; the same
// idempotency key for something else is refused, and other callers have their own.
func TestRepeatedRequests(t *testing.T) {
	b := open(t)
	q := b.ask("LIGHTNING-BTC", "CITREA-WBTC", 50_000, true)
	q.Caller, q.Key = "shop", "order 7"
	first, again := b.create(q), b.create(q)
	if first.Repeated || !again.Repeated || again.ID != first.ID || again.SwapKey != first.SwapKey {
		t.Errorf("the first time %s %v, again %s %v", first.ID, first.Repeated, again.ID, again.Repeated)
	}
	other := q
	other.Caller = "another shop"
	if m := b.create(other); m.Repeated || m.ID == first.ID || m.SwapKey == first.SwapKey {
		t.Error("another caller with the same key gets the first one's swap")
	}
	changed := q
	changed.Amount = big.NewInt(50_001)
	b.refuses("idempotencyKey", "another request", func() error { _, err := b.Create(t.Context(), changed); return err })
	q.Key = ""
	if one, two := b.create(q), b.create(q); one.ID == two.ID || one.SwapKey == two.SwapKey {
		t.Error("two requests without a key are one swap")
	}
}

// What can be seen to be wrong is refused by its field, without costing the LP its good name.
func TestRequestsAreRead(t *testing.T) {
	b := open(t)
	payout, payin := b.ask("CITREA-WBTC", "BITCOIN-BTC", 100_000, false), b.ask("LIGHTNING-BTC", "CITREA-WBTC", 50_000, true)
	lightningOut := b.ask("CITREA-WBTC", "LIGHTNING-BTC", 40_000, false)
	invoice := b.invoice(40_000)
	used := payin
	used.PaymentHash = strings.Repeat("77", 32)
	b.create(used)
	for _, c := range []struct {
		what, field string
		ask         Request
		change      func(*Request)
	}{
		{"no payer", "srcAddress", payout, func(q *Request) { q.SrcAddress = "" }},
		{"a payer of another chain", "srcAddress", payout, func(q *Request) { q.SrcAddress = b.user("SOLANA") }},
		{"a recipient of another network", "dstAddress", payout, func(q *Request) { q.DstAddress = "bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq" }},
		{"the token itself is paid", "dstAddress", payin, func(q *Request) { q.DstAddress = q.Dst.Address }},
		{"the LP is paid", "dstAddress", payin, func(q *Request) { q.DstAddress = b.net.LPs[0].Account().Address.Hex() }},
		{"an invoice for another amount", "amount", lightningOut, func(q *Request) { q.DstAddress, q.Amount = invoice, big.NewInt(40_001) }},
		{"an invoice that does not fix the amount", "dstAddress", lightningOut, func(q *Request) { q.DstAddress = b.invoice(0) }},
		{"exact in for an invoice", "amountType", lightningOut, func(q *Request) { q.DstAddress, q.ExactIn = invoice, true }},
		{"a long invoice", "dstAddress", lightningOut, func(q *Request) { q.DstAddress = "lnbcrt1" + strings.Repeat("q", 8000) }},
		{"a link that pays, to be paid", "dstAddress", lightningOut, func(q *Request) { q.DstAddress = b.net.Voucher.LNURL }},
		{"more than a link takes", "amount", lightningOut, func(q *Request) { q.Amount = big.NewInt(1_000_001) }},
		{"a link to be paid, that should pay", "srcAddress", payin, func(q *Request) { q.SrcAddress = b.net.Alice.LNURL }},
		{"gas beside a payout", "gasAmount", payout, func(q *Request) { q.GasAmount = big.NewInt(1) }},
		{"a hash of nothing", "paymentHash", payin, func(q *Request) { q.PaymentHash = strings.Repeat("0", 64) }},
		{"a hash that is used", "paymentHash", payin, func(q *Request) { q.PaymentHash = used.PaymentHash }},
		{"a hash for bitcoin", "paymentHash", payout, func(q *Request) { q.PaymentHash = used.PaymentHash }},
		{"both descriptions", "lightningInvoiceDescriptionHash", payin, func(q *Request) { q.Description, q.DescriptionHash = "x", strings.Repeat("5", 64) }},
		{"a timeout of a payin", "lightningPaymentHTLCTimeout", payin, func(q *Request) { q.HTLCTimeout = time.Hour }},
		{"less than a satoshi", "amount", b.ask("LIGHTNING-BTC", "CITREA-CBTC", 1, false), func(*Request) {}},
		{"too little for a watchtower", "amount", b.ask("BITCOIN-BTC", "CITREA-WBTC", 1, true), func(*Request) {}},
		{"more than the LP takes", "amount", payin, func(q *Request) { q.Amount = big.NewInt(1e12) }},
	} {
		c.change(&c.ask)
		b.refuses(c.field, c.what, func() error { _, err := b.Create(t.Context(), c.ask); return err })
	}
	if boxed := b.Offers.Penalties(); len(boxed) > 0 {
		t.Errorf("a wrong request costs the LP its good name: %v", boxed)
	}
}

// A lie is refused by the check that names it, and no swap is stored.
func TestLiesAreNotStored(t *testing.T) {
	b := open(t)
	cheap := devlp.Fault{Invoice: func(o *devlightning.InvoiceOptions) { o.AmountMsat += 1000 }}
	for _, c := range []struct {
		ask   Request
		fault devlp.Fault
		check lp.Check
	}{
		{b.ask("CITREA-WBTC", "BITCOIN-BTC", 100_000, true), devlp.Fault{StrangeAuth: true}, lp.CheckAuth},
		{b.ask("BITCOIN-BTC", "SOLANA-WBTC", 200_000, true), devlp.Fault{StrangeAuth: true}, lp.CheckAuth},
		{b.ask("LIGHTNING-BTC", "CITREA-WBTC", 50_000, true), cheap, lp.CheckBTCSum},
		{b.ask("LIGHTNING-BTC", "SOLANA-WBTC", 50_000, true), cheap, lp.CheckRequested},
		{b.ask("BITCOIN-BTC", "CITREA-WBTC", 200_000, true), devlp.Fault{SpentVault: true}, lp.CheckUTXOSpent},
	} {
		b.Offers = discovery.NewDirectory(b.setup) // which has caught nobody yet
		b.net.LPs[0].Misbehave(c.fault)
		m, err := b.Create(t.Context(), c.ask)
		if lie, ok := errors.AsType[*lp.LPError](err); !ok || lie.Check != c.check {
			t.Errorf("%s to %s: got %v, %v; want the check %s", c.ask.Src.ID(), c.ask.Dst.ID(), m, err, c.check)
		}
	}
	for e, err := range b.Engine.Store.Find(t.Context(), storage.Query{Index: swap.ByChange}) {
		t.Errorf("stored %s, %v", e.ID, err)
	}
}

// A probe teaches the bounds of the side that LPs do not announce, and stores nothing.
func TestProbeTeachesBounds(t *testing.T) {
	b := open(t)
	trial.Do(t, b.Offers.Reload(t.Context()))
	for _, pair := range [][2]string{{"CITREA-WBTC", "BITCOIN-BTC"}, {"LIGHTNING-BTC", "CITREA-WBTC"}, {"BITCOIN-BTC", "CITREA-USDC"}} {
		src, dst := b.coin(pair[0]), b.coin(pair[1])
		typ := trial.Must(swap.Route(src, dst, b.Reader.Info))(t)
		smart, exactIn := dst, false
		if lp.Service(typ).ToBitcoin() {
			smart, exactIn = src, true
		}
		if err := b.Probe(t.Context(), src, dst, exactIn); err != nil {
			t.Errorf("%s to %s: %v", src.ID(), dst.ID(), err)
		}
		l := b.Offers.Limits(lp.Service(typ), smart.Chain, smart.Address)
		if side := map[bool]discovery.Range{true: l.Input, false: l.Output}[exactIn]; side.Min == nil || side.Max == nil || side.Min.Cmp(side.Max) >= 0 {
			t.Errorf("%s to %s: learned %v to %v", src.ID(), dst.ID(), side.Min, side.Max)
		}
	}
	if err := b.Probe(t.Context(), b.coin("CITREA-WBTC"), b.coin("LIGHTNING-BTC"), false); fault.CodeOf(err) != fault.Unsupported {
		t.Errorf("a payout over Lightning, which needs an invoice: %v", err)
	}
}

// A watchtower's pay is known for swaps that one settles, at the fees of the moment.
func TestWatchtowersPay(t *testing.T) {
	b := open(t)
	for typ, coin := range map[swap.Type]string{swap.SPVFromBTC: "CITREA-WBTC", swap.FromBTCLNAuto: "CITREA-WBTC", swap.FromBTC: "SOLANA-WBTC"} {
		pay, err := b.WatchtowerPay(t.Context(), typ, b.coin(coin))
		if err != nil || len(pay) == 0 {
			t.Errorf("%s: %v, %v", typ, pay, err)
		}
		for version, p := range pay {
			if p.Sats.Sign() <= 0 || p.Min == nil {
				t.Errorf("%s, %s: %s sats of at least %v", typ, version, p.Sats, p.Min)
			}
		}
	}
	if pay, err := b.WatchtowerPay(t.Context(), swap.ToBTC, b.coin("CITREA-WBTC")); pay != nil || err != nil {
		t.Errorf("a payout promises a watchtower %v, %v", pay, err)
	}
}
