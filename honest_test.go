package swapper

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"flag"
	"io"
	"log/slog"
	"math/big"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/chains/bitcoin/mempoolspace"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/devnet"
	devevm "github.com/swapper-go/swapper/internal/devnet/evm"
	"github.com/swapper-go/swapper/internal/devnet/lightning"
	"github.com/swapper-go/swapper/internal/devnet/lp"
	lpwire "github.com/swapper-go/swapper/internal/lp"
	"github.com/swapper-go/swapper/internal/lp/discovery"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/price"
	"github.com/swapper-go/swapper/storage/bolt"
)

// honest is a client of a local network whose LPs are honest.
type honest struct {
	*Client
	net   *devnet.Net
	world world
	spent []string // payment hashes that were used
	begun sync.Once
}

// deal replaces the client's list of LPs. The client keeps what it remembers of the first
// one in a goroutine of its own, which has taken that list once it stores a lie.
func (h *honest) deal(t interface {
	Context() context.Context
	Fatal(...any)
}, d *discovery.Directory) {
	h.begun.Do(func() {
		h.offers.Punish("http://127.0.0.1:1", lpwire.Pair{}, lpwire.Lie("", "it is %d", 5))
		for {
			data, _, err := h.config.Store.Note(t.Context(), "lp/penalties")
			if err != nil {
				t.Fatal(err)
			}
			if len(data) > 0 {
				return
			}
			time.Sleep(time.Millisecond)
		}
	})
	h.offers, h.quoter.Offers = d, d
}

// world is what tokens are worth, and how LPs have set up their business.
type world struct {
	sats map[string]*big.Rat // a base unit, by ticker
	lps  []func(o *lp.Options)
	gas  uint64 // wei per unit in the first block; 0: cheap
}

var decimalsOf = map[string]int{"CBTC": 18, "WBTC": 8, "USDC": 6}

// market is the price of a token, micro-sats per whole token, of which percent are
// taken.
func (w world) market(ticker string, permille int64) *big.Int {
	p := new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(decimalsOf[ticker])+6), nil))
	p.Mul(p, w.sats[ticker]).Mul(p, big.NewRat(permille, 1000))
	return new(big.Int).Quo(p.Num(), p.Denom())
}

// priced makes an LP that values tokens at some thousandths of the market's price.
func priced(permille int64, terms map[string]lp.Terms, more func(*lp.Options)) func(world, *lp.Options) {
	return func(w world, o *lp.Options) {
		tokens := lp.DefaultTokens(o.EVM.Contracts())
		for i, ticker := range []string{"CBTC", "WBTC", "USDC"} {
			tokens[i].Price.MicroSat = w.market(ticker, permille)
		}
		o.Tokens, o.Terms = tokens, terms
		if more != nil {
			more(o)
		}
	}
}

// one is a world of a single ordinary LP.
func one() world {
	return world{sats: map[string]*big.Rat{"CBTC": big.NewRat(1, 1e10), "WBTC": big.NewRat(1, 1), "USDC": big.NewRat(1, 1000)}}
}

func (w world) with(lps ...func(world, *lp.Options)) world {
	for _, of := range lps {
		w.lps = append(w.lps, func(o *lp.Options) { of(w, o) })
	}
	return w
}

// worlds are networks in which an LP's rounding weighs differently.
func worlds() map[string]world {
	cheap := map[string]lp.Terms{"TO_BTC": {Max: 5_000_000, Min: 700}, "TO_BTCLN": {Max: 1_000_000, Min: 1}, "FROM_BTC_SPV": {PPM: 25_000, Min: 600, Max: 5_000_000},
		"FROM_BTCLN_AUTO": {Min: 1, Max: 1_000_000}, "FROM_BTC_TRUSTED": {Min: 1, Max: 100_000}, "FROM_BTCLN_TRUSTED": {Min: 1, Max: 100_000}}
	dear := map[string]lp.Terms{"TO_BTC": {Base: 900, PPM: 3000, Min: 5000, Max: 2_000_000}, "TO_BTCLN": {Base: 900, PPM: 3000, Min: 3000, Max: 500_000},
		"FROM_BTC_SPV": {Base: 900, PPM: 3000, Min: 2000, Max: 9_000_000}, "FROM_BTCLN_AUTO": {Base: 900, PPM: 3000, Min: 2000, Max: 2_000_000}}
	small := map[string]lp.Terms{"TO_BTC": {Base: 10, PPM: 3000, Max: 100_000, Min: 700}, "TO_BTCLN": {Base: 1, PPM: 3000, Max: 100_000, Min: 1},
		"FROM_BTC_SPV": {Base: 10, PPM: 3000, Min: 600, Max: 100_000}, "FROM_BTCLN_AUTO": {Base: 1, PPM: 3000, Min: 1, Max: 100_000},
		"FROM_BTC_TRUSTED": {Min: 1, Max: 100_000}, "FROM_BTCLN_TRUSTED": {Min: 1, Max: 100_000}}
	coarse := func(o *lp.Options) {
		o.Deposit, o.GasMax = 1_000_000, new(big.Int).Mul(big.NewInt(1e18), big.NewInt(10))
	}
	units := func(o *lp.Options) {
		coarse(o)
		c := o.EVM.Contracts()
		o.VaultUnit = func(token string) int64 {
			return map[string]int64{c.Dollar.Hex(): 1000, c.Token.Hex(): 3}[token] + map[bool]int64{true: 1e16}[token == devevm.Native.Hex()]
		}
	}
	return map[string]world{
		"usual": one().with(priced(1000, nil, nil), priced(1004, cheap, nil), priced(996, dear, nil)),
		// A base unit of WBTC is worth 50 sats, and vaults count in units of up to 300.
		"coarse": world{sats: map[string]*big.Rat{"CBTC": big.NewRat(1, 1e15), "WBTC": big.NewRat(50, 1), "USDC": big.NewRat(3, 10)}}.
			with(priced(1000, small, coarse), priced(996, small, units)),
	}
}

// newHonest starts a network on which nothing but quotes happens, as fast as can
// be: the LPs do not look at the chains.
func newHonest(t *testing.T, w world) *honest {
	t.Helper()
	n := trial.Must(devnet.Start(t.Context(), devnet.Options{LPs: len(w.lps), EVM: func(o *devevm.Options) { o.BaseFee = w.gas }, LP: func(i int, o *lp.Options) {
		if o.Poll = time.Hour; i < len(w.lps) {
			w.lps[i](o)
		}
	}}))(t)
	t.Cleanup(func() {
		if err := n.Close(); err != nil {
			t.Error(err)
		}
	})
	store := trial.Must(bolt.Open(t.Context(), filepath.Join(t.TempDir(), "swaps"), bolt.Options{}))(t)
	t.Cleanup(func() { store.Close() })
	backend := trial.Must(mempoolspace.New(mempoolspace.Options{Network: n.Bitcoin.Network(), URLs: []string{n.Bitcoin.URL()}}))(t)
	prices := price.Fixed{Prices: map[string]*big.Int{}, USD: 0.001}
	for ticker := range decimalsOf {
		prices.Prices["CITREA-"+ticker] = w.market(ticker, 1000)
	}
	c := trial.Must(Open(t.Context(), Config{Network: n.Bitcoin.Network(), Store: store, Chains: []chains.Factory{n.Chain()},
		LPs: LPs{URLs: n.LPURLs(), Trusted: n.LPURLs()[0]}, LNURL: LNURLOptions{AllowLocal: true}, Bitcoin: backend, Prices: prices, Now: n.Clock.Now,
		Logger: slog.New(slog.NewTextHandler(io.Discard, nil))}))(t)
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return &honest{Client: c, net: n, world: w}
}

// whole draws a number that is as likely small as large: bits first.
func whole(t *rapid.T, label string, bits int) *big.Int {
	n := rapid.IntRange(1, bits).Draw(t, label+" bits")
	raw := rapid.SliceOfN(rapid.Byte(), (n+7)/8, (n+7)/8).Draw(t, label)
	v := new(big.Int).SetBytes(raw)
	v.Rsh(v, uint(len(raw)*8-n))
	return v.SetBit(v, n-1, 1)
}

// units draws an amount around what sats are worth in a token, to its last digit.
func (h *honest) units(t *rapid.T, label, token string) *big.Int {
	if rapid.IntRange(0, 9).Draw(t, label+" anything") == 9 {
		return whole(t, label, 256)
	}
	sats := whole(t, label+" worth", rapid.SampledFrom([]int{14, 17, 20, 23}).Draw(t, label+" most"))
	unit := int64(1)
	if _, ticker, _ := strings.Cut(token, "-"); h.world.sats[ticker] != nil {
		worth := h.world.sats[ticker]
		unit = max(new(big.Int).Quo(worth.Denom(), worth.Num()).Int64(), 1)
	}
	v := sats.Mul(sats, big.NewInt(unit))
	switch rapid.IntRange(0, 2).Draw(t, label+" form") {
	case 0:
		v.Add(v, big.NewInt(rapid.Int64Range(0, unit-1).Draw(t, label+" rest")))
	case 1: // a round decimal
		digits := int64(len(v.String()))
		round := new(big.Int).Exp(big.NewInt(10), big.NewInt(rapid.Int64Range(0, digits-1).Draw(t, label+" zeros")), nil)
		v.Sub(v, new(big.Int).Rem(v, round))
	}
	return v
}

func (h *honest) address(t *rapid.T, label string) string {
	switch rapid.IntRange(0, 49).Draw(t, label+" kind") {
	case 49:
		return h.net.LPs[0].Account().Address.Hex()
	case 48:
		return "0x" + strings.Repeat("0", 40)
	case 47:
		return strings.ToLower(h.net.EVM.User.Address.Hex())
	case 44, 45, 46:
		return "0x" + hex.EncodeToString(rapid.SliceOfN(rapid.Byte(), 20, 20).Draw(t, label))
	}
	return h.net.EVM.User.Address.Hex()
}

func (h *honest) bitcoinAddress(t *rapid.T) string {
	kind := rapid.SampledFrom([]bitcoin.AddressType{bitcoin.P2PKH, bitcoin.P2SH, bitcoin.P2WPKH, bitcoin.P2WSH}).Draw(t, "address type")
	length := 20
	if kind == bitcoin.P2WSH {
		length = 32
	}
	if rapid.Bool().Draw(t, "taproot") {
		return h.net.Taproot.Address.String()
	}
	a, err := bitcoin.NewAddress(kind, rapid.SliceOfN(rapid.Byte(), length, length).Draw(t, "program"), h.net.Bitcoin.Network())
	if err != nil {
		t.Fatal(err)
	}
	return a.String()
}

func (h *honest) smart(t *rapid.T) string {
	return rapid.SampledFrom([]string{"CITREA-CBTC", "CITREA-WBTC", "CITREA-USDC"}).Draw(t, "token")
}

func kindOfAmount(t *rapid.T) AmountType {
	return rapid.SampledFrom([]AmountType{ExactIn, ExactOut}).Draw(t, "amount type")
}

func (h *honest) toBitcoin(t *rapid.T) CreateSwapInput {
	in := CreateSwapInput{SrcToken: h.smart(t), DstToken: "BITCOIN-BTC", AmountType: kindOfAmount(t), SrcAddress: h.address(t, "payer"), DstAddress: h.bitcoinAddress(t)}
	in.Amount = h.units(t, "amount", in.fixed())
	return in
}

func (in CreateSwapInput) fixed() string {
	if in.AmountType == ExactIn {
		return in.SrcToken
	}
	return in.DstToken
}

func timeout(t *rapid.T, label string) *time.Duration {
	if rapid.IntRange(0, 2).Draw(t, label+" given") < 2 {
		return nil
	}
	d := min(time.Duration(whole(t, label, 28).Int64())*time.Second, maxTimeout)
	return &d
}

func (h *honest) toLightning(t *rapid.T) CreateSwapInput {
	in := CreateSwapInput{SrcToken: h.smart(t), DstToken: "LIGHTNING-BTC", AmountType: ExactOut, SrcAddress: h.address(t, "payer"),
		LightningPaymentHTLCTimeout: timeout(t, "timeout"), LightningPaymentMaxHTLCTimeout: timeout(t, "longest timeout")}
	if rapid.IntRange(0, 3).Draw(t, "link") == 0 {
		in.AmountType, in.DstAddress = kindOfAmount(t), h.net.Alice.LNURL
		in.Amount = h.units(t, "amount", in.fixed())
		return in
	}
	o := lightning.InvoiceOptions{Preimage: sha256.Sum256(rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, "preimage")), AmountMsat: whole(t, "msat", 33).Int64(),
		Expiry: time.Duration(rapid.Int64Range(1, 1_000_000).Draw(t, "invoice expiry")) * time.Second, FinalCLTV: rapid.Uint64Range(1, rapid.SampledFrom([]uint64{100, 600, 3000}).Draw(t, "most CLTV")).Draw(t, "final CLTV")}
	switch rapid.IntRange(0, 3).Draw(t, "text") {
	case 0:
		o.Description = cut(rapid.String().Draw(t, "description"), 600)
	case 1:
		o.DescriptionHash = &o.Preimage
	}
	sats := (o.AmountMsat + 999) / 1000
	in.Amount = big.NewInt(sats)
	text, err := h.net.Recipient.NewInvoice(o)
	if err != nil { // drawn before
		text = h.net.Alice.LNURL
	}
	in.DstAddress = text
	return in
}

// cut shortens a text to whole characters within a number of bytes.
func cut(s string, most int) string {
	for len(s) > most {
		r := []rune(s)
		s = string(r[:len(r)-1])
	}
	return s
}

func (h *honest) gas(t *rapid.T) *big.Int {
	switch rapid.IntRange(0, 4).Draw(t, "gas") {
	case 0, 1:
		return nil
	case 2:
		return whole(t, "gas amount", 60)
	case 3:
		return whole(t, "gas amount", 54)
	}
	return h.units(t, "gas amount", "CITREA-CBTC")
}

func (h *honest) fromLightning(t *rapid.T) CreateSwapInput {
	in := CreateSwapInput{SrcToken: "LIGHTNING-BTC", DstToken: h.smart(t), AmountType: kindOfAmount(t), DstAddress: h.address(t, "recipient"), GasAmount: h.gas(t)}
	in.Amount = h.units(t, "amount", in.fixed())
	switch rapid.IntRange(0, 9).Draw(t, "hash") {
	case 9:
		in.PaymentHash = strings.Repeat("0", 64)
	case 7, 8:
		in.PaymentHash = hex.EncodeToString(rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, "payment hash"))
	case 6:
		if len(h.spent) > 0 {
			in.PaymentHash = h.spent[len(h.spent)-1]
		}
	}
	if rapid.IntRange(0, 3).Draw(t, "described") == 3 {
		in.LightningInvoiceDescription = cut(rapid.StringN(0, 700, -1).Draw(t, "description"), maxDescription)
	}
	if rapid.IntRange(0, 3).Draw(t, "hashed") == 3 {
		in.LightningInvoiceDescriptionHash = hex.EncodeToString(rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, "description hash"))
		if rapid.Bool().Draw(t, "upper case") {
			in.LightningInvoiceDescriptionHash = strings.ToUpper(in.LightningInvoiceDescriptionHash)
		}
	}
	if rapid.IntRange(0, 9).Draw(t, "voucher") == 0 {
		in.SrcAddress = h.net.Voucher.LNURL
	}
	return in
}

func (h *honest) fromBitcoin(t *rapid.T) CreateSwapInput {
	in := CreateSwapInput{SrcToken: "BITCOIN-BTC", DstToken: h.smart(t), AmountType: kindOfAmount(t), DstAddress: h.address(t, "recipient"), GasAmount: h.gas(t)}
	in.Amount = h.units(t, "amount", in.fixed())
	return in
}

func (h *honest) trustedGas(t *rapid.T) CreateGasSwapInput {
	in := CreateGasSwapInput{SrcToken: rapid.SampledFrom([]string{"BITCOIN-BTC", "LIGHTNING-BTC"}).Draw(t, "paid with"), ChainID: "CITREA",
		Amount: h.units(t, "amount", "CITREA-CBTC"), DstAddress: h.address(t, "recipient")}
	if in.SrcToken == "BITCOIN-BTC" && rapid.Bool().Draw(t, "refundable") {
		in.RefundAddress = h.bitcoinAddress(t)
	}
	return in
}

// judge demands that a refusal names what is wrong with the request, the same
// over Go and HTTP, and that it cost nobody anything.
func (h *honest) judge(t *rapid.T, in any, err error) {
	t.Helper()
	if boxed := h.offers.Penalties(); len(boxed) > 0 {
		t.Fatalf("%+v\nmade an honest LP a liar: %s", in, boxed[0].Reason)
	}
	if err == nil {
		return
	}
	e, ok := errors.AsType[*fault.Error](err)
	switch {
	case !ok || e.Field == "":
		t.Fatalf("%+v\nis refused without a field: %v", in, err)
	case e.Code != fault.InvalidInput && e.Code != fault.AmountOutOfBounds:
		t.Fatalf("%+v\nis refused with the code %s: %v", in, e.Code, err)
	case e.Error() != err.Error():
		t.Fatalf("%+v\nis refused over HTTP with %q, over Go with %q", in, e, err)
	}
}

// meet gives the client a list of LPs of which none has lied yet.
func (h *honest) meet(t *rapid.T) {
	if len(h.offers.LPs()) > 0 && len(h.offers.Penalties()) == 0 {
		return
	}
	verifiers := make([]discovery.Chain, len(h.chains))
	for i, ch := range h.chains {
		verifiers[i] = ch
	}
	h.deal(t, discovery.NewDirectory(discovery.Setup{Client: h.lps, Chains: verifiers, Tokens: h.registry, URLs: h.config.LPs.URLs, Now: h.config.Now}))
	if err := h.offers.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// A legal request, however odd, makes no honest LP a liar, and what is refused is
// refused by the name of the field. The same requests each time, 20 of each kind, at full
// depth 100; others by -rapid.seed, more of them by -rapid.checks.
func TestLegalRequestsCostHonestLPsNothing(t *testing.T) {
	t.Parallel()
	usual := map[string]string{"rapid.seed": "7"}
	if !trial.Full() {
		usual["rapid.checks"] = "20"
	}
	for name, value := range usual {
		if f := flag.Lookup(name); f.Value.String() == f.DefValue {
			trial.Do(t, f.Value.Set(value))
		}
	}
	for name, w := range worlds() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHonest(t, w)
			for name, draw := range map[string]func(*rapid.T) CreateSwapInput{
				"to bitcoin": h.toBitcoin, "to lightning": h.toLightning, "from lightning": h.fromLightning, "from bitcoin": h.fromBitcoin,
			} {
				h.check(t, name, func(r *rapid.T) (any, error) {
					in := draw(r)
					_, err := h.CreateSwap(t.Context(), in)
					if err == nil {
						h.spent = append(h.spent, in.PaymentHash)
					}
					return in, err
				})
			}
			h.check(t, "trusted gas swap", func(r *rapid.T) (any, error) {
				in := h.trustedGas(r)
				_, err := h.CreateGasSwap(t.Context(), in)
				return in, err
			})
		})
	}
}

// check makes random requests of a kind.
func (h *honest) check(t *testing.T, name string, ask func(*rapid.T) (in any, err error)) {
	t.Run(name, func(t *testing.T) {
		quoted, refused := 0, map[string]int{}
		rapid.Check(t, func(r *rapid.T) {
			h.meet(r)
			in, err := ask(r)
			h.judge(r, in, err)
			if e, ok := errors.AsType[*fault.Error](err); ok {
				refused[e.Field]++
			} else {
				quoted++
			}
		})
		t.Logf("quoted %d, refused for %v", quoted, refused)
		asked := quoted
		for _, n := range refused {
			asked += n
		}
		if quoted == 0 && asked >= 100 {
			t.Error("no request was answered: the test shows nothing")
		}
	})
}
