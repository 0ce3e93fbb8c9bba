package e2e

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"math/big"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/chains/bitcoin/mempoolspace"
	"github.com/swapper-go/swapper/httpapi"
	"github.com/swapper-go/swapper/internal/devnet/lightning"
	"github.com/swapper-go/swapper/internal/devnet/lp"
	"github.com/swapper-go/swapper/internal/devnet/watchtower"
	lninvoice "github.com/swapper-go/swapper/internal/lightning"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/storage"
	"github.com/swapper-go/swapper/verify"
)

// thief is a service that steals. It has an honest one make swaps, for itself where it can,
// and says of them what it likes.
type thief struct {
	swapper.Service
	ask      func(*swapper.CreateSwapInput)
	created  func(*swapper.CreateSwapOutput)
	status   func(*swapper.GetSwapStatusOutput)
	secret   func(swapper.Secret) // hears it
	swallows bool                 // what is submitted goes nowhere
	taken    int                  // submissions
	fades    bool                 // nothing is answered any more once something was paid
	paid     bool
	lies     int
}

var errFaded = errors.New("gone")

func (s *thief) CreateSwap(ctx context.Context, in swapper.CreateSwapInput) (*swapper.CreateSwapOutput, error) {
	if s.ask != nil {
		s.ask(&in)
	}
	out, err := s.Service.CreateSwap(ctx, in)
	if err == nil && s.created != nil {
		s.created(out)
	}
	return out, err
}

func (s *thief) GetSwapStatus(ctx context.Context, in swapper.GetSwapStatusInput) (*swapper.GetSwapStatusOutput, error) {
	if in.Secret != "" && s.secret != nil {
		s.secret(in.Secret)
	}
	if s.fades && s.paid {
		s.lies++
		return nil, errFaded
	}
	out, err := s.Service.GetSwapStatus(ctx, in)
	if err == nil && s.status != nil {
		s.status(out)
	}
	return out, err
}

func (s *thief) SubmitTransaction(ctx context.Context, in swapper.SubmitTransactionInput) (*swapper.SubmitTransactionOutput, error) {
	s.taken++
	if s.swallows {
		s.lies++
		return &swapper.SubmitTransactionOutput{TxHashes: swapper.List[string]{"told"}}, nil
	}
	return s.Service.SubmitTransaction(ctx, in)
}

// heist is one attempt on a user who wants one swap.
type heist struct {
	*world
	typ   swapper.SwapType
	in    swapper.CreateSwapInput
	thief *thief
	user  swapper.Service // by which the user swaps
	hash  [32]byte        // of the invoice that the user wants paid
	fees  int64           // sats that miners got of the user's wallet
}

// thefts are the ways to steal, by what docs/verify.md names. Short of full depth, they are tried with
// two types of swaps.
var thefts = []struct {
	name  string
	types []swapper.SwapType // nil: all
	fault lp.Fault           // of the LP, which helps
	alone bool               // there is no watchtower
	play  func(*heist)
}{
	{"somebody else is paid, under the user's name", nil, lp.Fault{}, false, func(h *heist) {
		theirs := h.theirs(h.in.Amount)
		h.thief.ask = func(in *swapper.CreateSwapInput) { in.DstAddress = theirs }
		h.quotes(func(q *swapper.SwapQuote) { q.OutputAddress = h.in.DstAddress })
	}},
	{"a smaller swap is made, under the agreed amounts", nil, lp.Fault{}, false, func(h *heist) {
		small := new(big.Int).Div(new(big.Int).Mul(h.in.Amount, big.NewInt(8)), big.NewInt(10))
		h.thief.ask = func(in *swapper.CreateSwapInput) {
			in.Amount = small
			if h.typ == swapper.SwapToBTCLN {
				in.DstAddress = h.theirs(small)
			}
		}
		h.quotes(func(q *swapper.SwapQuote) {
			for _, a := range []*swapper.Amount{&q.InputAmount, &q.OutputAmount, &q.Fees.Swap} {
				a.RawAmount = new(big.Int).Div(new(big.Int).Mul(a.RawAmount, big.NewInt(10)), big.NewInt(8))
			}
			q.OutputAddress = h.in.DstAddress
		})
	}},
	{"the price is a fifth worse", nil, lp.Fault{}, false, func(h *heist) {
		h.quotes(func(q *swapper.SwapQuote) {
			a, by := &q.InputAmount, int64(12)
			if h.in.AmountType == swapper.ExactIn {
				a, by = &q.OutputAmount, 8
			}
			a.RawAmount = new(big.Int).Div(new(big.Int).Mul(a.RawAmount, big.NewInt(by)), big.NewInt(10))
		})
	}},
	{"another token is paid", nil, lp.Fault{}, false, func(h *heist) {
		h.quotes(func(q *swapper.SwapQuote) { q.InputAmount.Symbol, q.OutputAmount.Symbol = "USDC", "USDC" })
	}},
	{"the swap is one in which the LP is trusted", []swapper.SwapType{swapper.SwapFromBTCLNAuto, swapper.SwapFromBTCLN, swapper.SwapSPVVaultFromBTC, swapper.SwapFromBTC}, lp.Fault{NeverOpen: true}, false, func(h *heist) {
		typ := swapper.SwapTrustedFromBTC
		if h.in.SrcToken == "LIGHTNING-BTC" {
			typ = swapper.SwapTrustedFromLN
		}
		h.thief.created = func(out *swapper.CreateSwapOutput) { out.SwapType = typ; h.thief.lies++ }
		h.thief.status = func(out *swapper.GetSwapStatusOutput) { out.SwapType = typ; h.thief.lies++ }
	}},
	{"the action of a swap that pays somebody else", nil, lp.Fault{}, false, func(h *heist) { h.actions(h.another(h.theirs(h.in.Amount)), false) }},
	{"the action of another swap behind the swap's own", nil, lp.Fault{}, false, func(h *heist) { h.actions(h.another(h.theirs(h.in.Amount)), true) }},
	{"a second payment once the first is made", nil, lp.Fault{NeverPay: true, NeverOpen: true, NoRefund: true}, true, func(h *heist) {
		in := h.in
		in.DstAddress = h.theirs(h.in.Amount)
		h.thief.status = func(out *swapper.GetSwapStatusOutput) {
			if !h.thief.paid {
				return
			}
			if second, err := h.client.CreateSwap(h.t.Context(), in); err == nil { // a new one: quotes are short-lived
				h.replace(out, second.SwapID, false)
			}
		}
	}},
	{"the LP does not pay, and the service is silent", nil, lp.Fault{NeverPay: true, NoRefund: true}, true, func(h *heist) { h.thief.fades = true }},
	{"what is submitted is kept", []swapper.SwapType{swapper.SwapToBTC, swapper.SwapToBTCLN, swapper.SwapSPVVaultFromBTC, swapper.SwapFromBTC, swapper.SwapFromBTCLN}, lp.Fault{}, false, func(h *heist) { h.thief.swallows = true }},
	{"the swap is over, it says, and the LP does not pay", nil, lp.Fault{NeverPay: true, NeverOpen: true, NoRefund: true}, false, func(h *heist) {
		h.thief.status = func(out *swapper.GetSwapStatusOutput) {
			if h.thief.paid {
				out.IsFinished, out.IsSuccess, out.State.Name, out.CurrentAction = true, true, "CLAIMED", nil
				h.thief.lies++
			}
		}
	}},
	{"the secret, before there is an escrow", []swapper.SwapType{swapper.SwapFromBTCLNAuto, swapper.SwapFromBTCLN}, lp.Fault{NeverOpen: true}, false, func(h *heist) { h.wantsSecret() }},
	{"the secret, for an escrow of somebody else", []swapper.SwapType{swapper.SwapFromBTCLNAuto}, lp.Fault{}, false, func(h *heist) {
		theirs := h.theirs(nil)
		h.thief.ask = func(in *swapper.CreateSwapInput) { in.DstAddress = theirs }
		h.wantsSecret()
		wants := h.thief.status
		h.quotes(func(q *swapper.SwapQuote) { q.OutputAddress = h.in.DstAddress })
		names := h.thief.status
		h.thief.status = func(out *swapper.GetSwapStatusOutput) { wants(out); names(out) }
	}},
	{"the secret, for an escrow of less", []swapper.SwapType{swapper.SwapFromBTCLNAuto}, lp.Fault{}, false, func(h *heist) {
		h.wantsSecret()
		wants := h.thief.status
		h.quotes(func(q *swapper.SwapQuote) {
			q.OutputAmount.RawAmount = new(big.Int).Add(q.OutputAmount.RawAmount, big.NewInt(500))
		})
		adds := h.thief.status
		h.thief.status = func(out *swapper.GetSwapStatusOutput) { wants(out); adds(out) }
	}},
	{"miners take it", []swapper.SwapType{swapper.SwapSPVVaultFromBTC}, lp.Fault{}, false, func(h *heist) {
		h.thief.status = func(out *swapper.GetSwapStatusOutput) {
			if a := asksFor[*swapper.SignPSBT](out); a != nil {
				for i := range a.Raw {
					a.Raw[i].FeeRate = 9000
				}
				h.thief.lies++
			}
		}
	}},
	{"another vault", []swapper.SwapType{swapper.SwapSPVVaultFromBTC}, lp.Fault{}, false, func(h *heist) {
		h.thief.status = func(out *swapper.GetSwapStatusOutput) {
			if out.Vault != nil {
				out.Vault.VaultID += "1"
				h.thief.lies++
			}
		}
	}},
	{"another address, before there is an escrow", []swapper.SwapType{swapper.SwapFromBTC}, lp.Fault{}, false, func(h *heist) {
		address := h.bitcoinOf()
		h.thief.status = func(out *swapper.GetSwapStatusOutput) {
			if out.CurrentAction != nil {
				out.CurrentAction = &swapper.SendToAddress{Chain: "BITCOIN", Txs: swapper.List[swapper.SendToAddressTx]{{Type: "BITCOIN_ADDRESS", Address: address, Amount: out.Quote.InputAmount}}}
				h.thief.lies++
			}
		}
	}},
	{"another address, once the escrow is open", []swapper.SwapType{swapper.SwapFromBTC}, lp.Fault{}, false, func(h *heist) {
		address := h.bitcoinOf()
		h.thief.status = func(out *swapper.GetSwapStatusOutput) {
			switch out.CurrentAction.(type) {
			case *swapper.SendToAddress, *swapper.SignPSBT:
				out.CurrentAction = &swapper.SendToAddress{Chain: "BITCOIN", Txs: swapper.List[swapper.SendToAddressTx]{{Type: "BITCOIN_ADDRESS", Address: address, Amount: out.Quote.InputAmount}}}
				h.thief.lies++
			}
		}
	}},
}

// usualThefts are the thefts that are tried at the default depth, one of each kind: what package verify refuses of
// each field of an answer, its own tests tell.
var usualThefts = []string{"the action of a swap that pays somebody else", "the LP does not pay, and the service is silent", "the secret, before there is an escrow"}

// A wallet that swaps through package verify with a service that steals, over HTTP, with an LP
// that helps: it has in the end what it had, or what was agreed, but for network fees.
func TestServicesThatSteal(t *testing.T) {
	t.Parallel()
	steals(t, options{})
}

func TestServicesThatStealOnSolana(t *testing.T) {
	trial.OnlyFull(t)
	onSolana(t, steals)
}

func TestServicesThatStealOnStarknet(t *testing.T) {
	trial.OnlyFull(t)
	onStarknet(t, steals)
}

func steals(t *testing.T, o options) {
	o.slow = true
	incoming := groundOf(o.on, nil).incomingTypes()
	types := []swapper.SwapType{incoming["LIGHTNING"], swapper.SwapToBTCLN, incoming["BITCOIN"], swapper.SwapToBTC}
	for _, typ := range trial.Of(2, types) {
		t.Run(string(typ), func(t *testing.T) {
			t.Parallel()
			w := start(t, o)
			for _, th := range thefts {
				if th.types != nil && !slices.Contains(th.types, typ) || !trial.Full() && !slices.Contains(usualThefts, th.name) {
					continue
				}
				t.Run(th.name, func(t *testing.T) {
					w := w.in(t)
					h := w.heist(typ, w.chains())
					if h.in.SrcToken == "BITCOIN-BTC" { // the relay falls behind, and to settle gets dear
						h.in.Amount = big.NewInt(400_000)
					}
					w.net.LPs[0].Misbehave(th.fault)
					defer w.net.LPs[0].Misbehave(lp.Fault{})
					if th.alone {
						w.tower.Behave(watchtower.Behaviour{NoEscrows: true, NoVaults: true, NoProofs: true})
						defer w.tower.Behave(watchtower.Behaviour{})
					}
					th.play(h)
					h.run(nil)
					if h.thief.lies == 0 {
						t.Error("nothing was tried")
					}
				})
			}
		})
	}
}

// nodeThefts are what one of the wallet's two nodes says for the LP, with a service that sees that node alone,
// and the types of swaps of which it makes sense.
var nodeThefts = []struct {
	name  string
	types []swapper.SwapType
	play  func(*heist, *collusion)
}{
	{"an escrow was given back", []swapper.SwapType{swapper.SwapToBTCLN, swapper.SwapToBTC}, func(h *heist, c *collusion) {
		h.net.LPs[0].Misbehave(lp.Fault{NeverPay: true, NoRefund: true})
		h.thief.status = func(out *swapper.GetSwapStatusOutput) {
			if out.State.Name == "REFUNDED" {
				h.thief.lies++
			}
		}
		h.run(func(id string) {
			c.part()
			c.advance(8 * 24 * time.Hour)
			c.giveBack(c.escrow(id))
			h.hours(id, func(a swapper.Action) bool { return nameOf(a) == "Refund" })
			c.agree(c.split.Prevail)
		})
	}},
	{"an escrow is open", []swapper.SwapType{swapper.SwapFromBTCLNAuto, swapper.SwapFromBTC}, func(h *heist, c *collusion) {
		h.net.LPs[0].Misbehave(lp.Fault{NeverRefund: true})
		c.part()
		c.other.lose(true) // what the user signs to open it
		h.thief.secret = func(swapper.Secret) { h.t.Error("the thief hears the secret") }
		h.thief.status = func(out *swapper.GetSwapStatusOutput) {
			if out.RequiresSecretReveal != nil && *out.RequiresSecretReveal || asksFor[*swapper.SendToAddress](out) != nil {
				h.thief.lies++
			}
		}
		h.run(func(id string) {
			h.hours(id, func(swapper.Action) bool { return false })
			c.other.lose(false)
			c.agree(c.split.Prevail)
		})
	}},
	{"a vault is full", []swapper.SwapType{swapper.SwapSPVVaultFromBTC}, func(h *heist, c *collusion) {
		c.part()
		if err := h.net.LPs[0].FillVaults(h.t.Context(), h.tokenAt("WBTC"), 1_000_000); err != nil {
			h.t.Fatal(err)
		}
		c.advance(time.Second)
		h.in.Amount = big.NewInt(200_000)
		h.thief.created = func(*swapper.CreateSwapOutput) { h.thief.lies++ }
		h.run(func(string) { h.t.Error("the user has paid") })
	}},
}

// hours lets three hours go by in which the two nodes contradict each other: the swap does not end, and
// nothing is asked of the user but what may be.
func (h *heist) hours(id string, may func(swapper.Action) bool) {
	h.t.Helper()
	for range 9 {
		for _, pause := range []time.Duration{2 * time.Second, 20 * time.Minute} {
			h.advance(pause)
			s, err := h.user.GetSwapStatus(h.within(30*time.Second), swapper.GetSwapStatusInput{SwapID: id})
			if err != nil {
				h.t.Logf("refused: %v", err)
				continue
			}
			if s.IsFinished {
				h.t.Errorf("it is shown as finished: %s", s.State.Description)
			}
			if a := s.CurrentAction; a != nil && asksFor[*swapper.Wait](s) == nil && !may(a) {
				h.t.Errorf("the user is asked for %q", nameOf(a))
			}
		}
	}
}

// A service that steals, its LP, and one of the two nodes of the wallet, whose user has in the end
// what he had.
func TestServicesThatStealWithANode(t *testing.T) {
	t.Parallel()
	stealsWithANode(t, options{})
}

func TestServicesThatStealWithANodeOfSolana(t *testing.T) {
	trial.OnlyFull(t)
	onSolana(t, stealsWithANode)
}

func TestServicesThatStealWithANodeOfStarknet(t *testing.T) {
	trial.OnlyFull(t)
	onStarknet(t, stealsWithANode)
}

func stealsWithANode(t *testing.T, o options) {
	o.slow = true
	o.net.LP = func(_ int, o *lp.Options) { o.Deposit = 150_000 } // less than a vault swap takes
	for _, th := range trial.Of(1, nodeThefts) {
		for _, typ := range trial.Of(1, th.types) {
			incoming := groundOf(o.on, nil).incomingTypes()
			if typ != incoming["LIGHTNING"] && typ != incoming["BITCOIN"] && typ != swapper.SwapToBTC && typ != swapper.SwapToBTCLN {
				continue
			}
			t.Run(string(typ)+", "+th.name, func(t *testing.T) {
				t.Parallel()
				w := start(t, o)
				c := &collusion{world: w, typ: typ, other: w.second()}
				h := w.heist(typ, w.chains(c.other.first, c.other.url))
				th.play(h, c)
				if h.thief.lies == 0 {
					t.Error("nothing was tried")
				}
			})
		}
	}
}

// heist prepares a swap of a type, by a wallet with nodes of its own.
func (w *world) heist(typ swapper.SwapType, own []chains.Factory) *heist {
	w.t.Helper()
	h := &heist{world: w, typ: typ, thief: &thief{Service: w.client}}
	server := httptest.NewServer(httpapi.New(h.thief, httpapi.Options{}))
	w.t.Cleanup(server.Close)
	remote, err := httpapi.NewClient(server.URL, httpapi.ClientOptions{})
	if err != nil {
		w.t.Fatal(err)
	}
	b, err := mempoolspace.New(mempoolspace.Options{Network: bitcoin.Regtest, URLs: []string{w.net.Bitcoin.URL()}, TipAge: -1})
	if err != nil {
		w.t.Fatal(err)
	}
	h.user, err = verify.Wrap(remote, verify.Config{Network: bitcoin.Regtest, Chains: own, Bitcoin: b, Prices: prices, Now: w.net.Clock.Now, Store: new(storage.Memory)})
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = h.user.(io.Closer).Close() })
	if in, ok := w.incoming()[typ]; ok {
		h.in = in()
		return h
	}
	h.in = w.outgoing()[typ]()
	if typ == swapper.SwapToBTC { // to the user, who is looked at
		h.in.DstAddress = w.net.Wallet.Address.String()
		return h
	}
	inv, err := lninvoice.Decode(h.in.DstAddress)
	if err != nil {
		w.t.Fatal(err)
	}
	h.hash = inv.PaymentHash
	return h
}

// theirs is where the thief would be paid: an amount, if by an invoice.
func (h *heist) theirs(amount *big.Int) string {
	h.t.Helper()
	switch h.typ {
	case swapper.SwapToBTC:
		return h.bitcoinOf()
	case swapper.SwapToBTCLN:
		preimage, _ := lightning.Preimage(rand.Text())
		invoice, err := h.net.Recipient.NewInvoice(lightning.InvoiceOptions{Preimage: preimage, AmountMsat: amount.Int64() * 1000})
		if err != nil {
			h.t.Fatal(err)
		}
		return invoice
	}
	return h.newcomer()
}

// bitcoinOf is an address of the thief.
func (h *heist) bitcoinOf() string {
	h.t.Helper()
	w, err := h.net.Bitcoin.NewWallet(bitcoin.P2WPKH)
	if err != nil {
		h.t.Fatal(err)
	}
	return w.Address.String()
}

// quotes changes what is said of the quote, at first and later.
func (h *heist) quotes(change func(*swapper.SwapQuote)) {
	h.thief.created = func(out *swapper.CreateSwapOutput) { change(&out.Quote); h.thief.lies++ }
	h.thief.status = func(out *swapper.GetSwapStatusOutput) { change(&out.Quote); h.thief.lies++ }
}

// another is a swap of the thief, which the user is to pay for.
func (h *heist) another(to string) string {
	h.t.Helper()
	in := h.in
	in.DstAddress = to
	return h.create(in).SwapID
}

// actions lets the user do what another swap asks for, in place of his own or behind it.
func (h *heist) actions(other string, behind bool) {
	h.thief.status = func(out *swapper.GetSwapStatusOutput) { h.replace(out, other, behind) }
}

func (h *heist) replace(out *swapper.GetSwapStatusOutput, other string, behind bool) {
	theirs, err := h.client.GetSwapStatus(h.t.Context(), swapper.GetSwapStatusInput{SwapID: other})
	if err != nil || theirs.CurrentAction == nil || asksFor[*swapper.Wait](theirs) != nil {
		return
	}
	if !behind {
		out.CurrentAction, out.Escrow, out.Vault = theirs.CurrentAction, theirs.Escrow, theirs.Vault
		h.thief.lies++
		return
	}
	if out.CurrentAction == nil || out.CurrentAction.Type() != theirs.CurrentAction.Type() {
		return
	}
	switch a := out.CurrentAction.(type) {
	case *swapper.SignSmartChainTransaction:
		a.Txs = append(a.Txs, asksFor[*swapper.SignSmartChainTransaction](theirs).Txs...)
	case *swapper.SendToAddress:
		a.Txs = append(a.Txs, asksFor[*swapper.SendToAddress](theirs).Txs...)
	case *swapper.SignPSBT:
		a.Raw = append(a.Raw, asksFor[*swapper.SignPSBT](theirs).Raw...)
	}
	h.thief.lies++
}

// wantsSecret asks for the secret whenever the user has paid, and takes his payment by it.
func (h *heist) wantsSecret() {
	ask := true
	h.thief.status = func(out *swapper.GetSwapStatusOutput) {
		if !h.thief.paid {
			return
		}
		out.RequiresSecretReveal, out.CurrentAction = &ask, nil
		if out.Escrow == nil {
			out.Escrow = &swapper.EscrowInfo{Data: json.RawMessage(`{"offerer":"` + h.address() + `"}`)}
		}
		h.thief.lies++
	}
	h.thief.secret = func(s swapper.Secret) {
		if b, err := hex.DecodeString(s.Reveal()); err == nil && len(b) == 32 {
			h.t.Logf("the thief hears the secret: %v", h.net.LPs[0].Node().Settle([32]byte(b)))
		}
	}
}

// worth is what the user has, and has had others paid, in sats.
func (h *heist) worth() *big.Int {
	h.t.Helper()
	b := h.book()
	sum := new(big.Int).Add(b["user WBTC"], b["user sats"])
	sum.Add(sum, new(big.Int).Div(b["user msat"], big.NewInt(1000)))
	if h.typ == swapper.SwapToBTCLN {
		if state, _ := h.net.Recipient.Invoice(h.hash); state == lightning.Settled {
			sum.Add(sum, h.in.Amount)
		}
	}
	return sum
}

// run swaps as a user does who knows nothing, and looks at what he has in the end. Between, if it is not nil,
// happens once the user has paid.
func (h *heist) run(between func(id string)) {
	h.t.Helper()
	had, usdc, coins := h.worth(), h.tokens()["user USDC"], h.holds(h.address(), h.native())
	allowed := new(big.Int)
	s, err := h.user.CreateSwap(h.within(30*time.Second), h.in)
	if err != nil {
		h.t.Logf("refused: %v", err)
	} else {
		h.drive(s.SwapID, 8)
		if h.thief.paid {
			if between != nil {
				between(s.SwapID)
			}
			h.advance(8 * 24 * time.Hour)
			h.timeOut()
			if h.drive(s.SwapID, 8) {
				allowed.Sub(s.Quote.InputAmount.RawAmount, s.Quote.OutputAmount.RawAmount)
			}
		}
	}
	allowed.Add(allowed, big.NewInt(h.fees))
	var lost *big.Int
	for end := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) { // what is given back may be on its way
		if lost = new(big.Int).Sub(had, h.worth()); lost.Cmp(allowed) <= 0 || time.Now().After(end) {
			break
		}
	}
	h.t.Logf("paid: %t, lies: %d, lost %s of at most %s sats", h.thief.paid, h.thief.lies, lost, allowed)
	if lost.Cmp(allowed) > 0 {
		h.t.Errorf("the user has lost %s sats, of which fees and the agreed price may be %s", lost, allowed)
	}
	if now := h.tokens()["user USDC"]; now.Cmp(usdc) != 0 {
		h.t.Errorf("the user has %s USDC, had %s", now, usdc)
	}
	const bitcoinFees = 100_000 // that pass the policy
	if h.fees > bitcoinFees {
		h.t.Errorf("miners got %d sats", h.fees)
	}
	if gone := new(big.Int).Sub(coins, h.holds(h.address(), h.native())); gone.Cmp(h.gasWorth()) > 0 {
		h.t.Errorf("the network got %s of %s, want %s at most", gone, h.native(), h.gasWorth())
	}
}

// drive does what the swap asks for, looking some times while blocks come, and reports whether it has ended well.
func (h *heist) drive(id string, looks int) bool {
	h.t.Helper()
	user := *h.world.user
	user.Swaps = h.user
	refused := 0
	for range looks {
		s, err := user.Look(h.within(30*time.Second), id)
		switch {
		case err != nil:
			h.t.Logf("refused: %v", err)
			if refused++; refused == 3 && !h.thief.paid {
				return false
			}
		case s.IsFinished:
			return s.IsSuccess
		case s.ActionError != nil:
			h.t.Logf("withheld: %s", s.ActionError.Error)
		case s.CurrentAction != nil && asksFor[*swapper.Wait](s) == nil && !(asksFor[*swapper.SendToAddress](s) != nil && h.thief.paid):
			err := user.Do(h.within(30*time.Second), id, s.CurrentAction)
			h.t.Logf("%s: %v", nameOf(s.CurrentAction), err)
			if err == nil {
				h.thief.paid = true
				if p := asksFor[*swapper.SignPSBT](s); p != nil && len(p.Funded) > 0 && !h.thief.swallows {
					h.fees += p.Funded[0].NetworkFee.RawAmount.Int64()
				}
			}
		}
		h.mine(1)
		h.advance(30 * time.Second)
		time.Sleep(80 * time.Millisecond)
	}
	return false
}
