package verify_test

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"math/big"
	"slices"
	"strings"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/depth"
	"github.com/swapper-go/swapper/swappertest"
)

// watched is a service whose requests a test sees, and whose swaps it may change.
type watched struct {
	swapper.Service
	created []swapper.CreateSwapInput
	settled int
}

func (s *watched) CreateSwap(ctx context.Context, in swapper.CreateSwapInput) (*swapper.CreateSwapOutput, error) {
	s.created = append(s.created, in)
	return s.Service.CreateSwap(ctx, in)
}

func (s *watched) SettleWithLnurl(context.Context, swapper.SettleWithLnurlInput) (*swapper.SettleWithLnurlOutput, error) {
	s.settled++
	return nil, fault.New(fault.Internal, "the service is not to hear of links")
}

func (s *watched) ParseAddress(context.Context, swapper.ParseAddressInput) (*swapper.ParseAddressOutput, error) {
	s.settled++
	return nil, fault.New(fault.Internal, "the service is not to hear of links")
}

// A link is paid by the invoice that the wallet got from the link's own service. What that
// service says afterwards is read with the preimage that the wallet's own nodes show.
func paysLinks(w *world) {
	s := &watched{Service: w.service.Service}
	w.service.Service = s
	v := w.wallet()
	link := w.net.PayLink()
	parsed, err := v.ParseAddress(w.Context(), swapper.ParseAddressInput{Address: link})
	if err != nil || parsed.LNURL == nil || parsed.LNURL.Pay == nil || parsed.Min == nil {
		w.Fatalf("the link reads as %+v, %v", parsed, err)
	}
	in := swapper.CreateSwapInput{SrcToken: w.chain + "-WBTC", DstToken: "LIGHTNING-BTC", Amount: big.NewInt(50_000), AmountType: swapper.ExactOut,
		SrcAddress: w.net.User.Address(w.chain), DstAddress: link}
	made, err := v.CreateSwap(w.Context(), in)
	if err != nil {
		w.Fatal(err)
	}
	if asked := s.created[0].DstAddress; asked != made.Quote.OutputAddress || !strings.HasPrefix(asked, "lnbcrt") || made.LNURL == nil || made.LNURL.Pay != link {
		w.Errorf("the service was asked to pay %s, and the wallet sees %+v", asked, made.SwapOutputBase)
	}
	end, err := w.net.User.Finish(w.Context(), v, made.SwapID)
	if err != nil {
		w.Fatal(err)
	}
	if !end.IsSuccess || end.LNURL == nil || end.LNURL.SuccessAction == nil || end.LNURL.SuccessAction.Description == "" {
		w.Errorf("the swap ends as %+v, %+v", end.ListSwapOutput, end.LNURL)
	}

	w.service.created = func(out *swapper.CreateSwapOutput) { out.Quote.OutputAddress = w.net.Invoice(50_000) }
	if _, err := v.CreateSwap(w.Context(), in); !refuses(err) {
		w.Errorf("another invoice than the link's: got %v, want a refusal", err)
	}
	w.service.created = nil
	w.changesAnswers(v, in)

	before := len(s.created)
	for name, c := range map[string]struct {
		field  string
		code   fault.Code
		change func(*swapper.CreateSwapInput)
	}{
		"exact input":     {"amountType", fault.InvalidInput, func(in *swapper.CreateSwapInput) { in.AmountType = swapper.ExactIn }},
		"a key":           {"idempotencyKey", fault.InvalidInput, func(in *swapper.CreateSwapInput) { in.IdempotencyKey = "one" }},
		"too much":        {"amount", fault.AmountOutOfBounds, func(in *swapper.CreateSwapInput) { in.Amount = big.NewInt(1 << 50) }},
		"a withdraw link": {"dstAddress", fault.InvalidInput, func(in *swapper.CreateSwapInput) { in.DstAddress = w.withdrawLink() }},
		"no link":         {"dstAddress", fault.InvalidInput, func(in *swapper.CreateSwapInput) { in.DstAddress = "lnurl1" }},
	} {
		changed := in
		c.change(&changed)
		w.refusedAt(name, second(v.CreateSwap(w.Context(), changed)), c.code, c.field)
	}
	w.net.Misbehave(swappertest.LNURLFault{WrongHash: true})
	if _, err := v.CreateSwap(w.Context(), in); fault.CodeOf(err) != fault.Upstream {
		w.Errorf("an invoice that does not belong to the link: got %v", err)
	}
	if len(s.created) != before || s.settled != 0 {
		w.Errorf("the service heard of %d swaps that were refused, and %d times of a link", len(s.created)-before, s.settled)
	}
}

// changesAnswers changes each part of what the service answers to a request: the answer is
// refused, or the wallet sees of the quote what an honest one says.
func (w *world) changesAnswers(v swapper.Service, in swapper.CreateSwapInput) {
	w.Helper()
	honest, err := w.service.Service.CreateSwap(w.Context(), in)
	if err != nil {
		w.Fatal(err)
	}
	paths := slices.Sorted(maps.Keys(changes(w.T, []byte(asText(w.T, honest)))))
	paths = slices.DeleteFunc(paths, func(p string) bool { return strings.HasPrefix(p, "/steps") }) // which are left out
	refused, tried := 0, 0
	for n, path := range paths {
		if !depth.Full() && n%4 != 0 {
			continue
		}
		tried++
		var want map[string]string
		broken := false
		w.service.created = func(out *swapper.CreateSwapOutput) {
			want = leaves(w.T, out.Quote)
			changed := changes(w.T, []byte(asText(w.T, out)))[path]
			*out = swapper.CreateSwapOutput{}
			broken = json.Unmarshal(changed, out) != nil
		}
		got, err := v.CreateSwap(w.Context(), in)
		if err != nil || broken {
			refused++
			continue
		}
		at, _, _ := strings.Cut(path, " ")
		for leaf, is := range leaves(w.T, got.Quote) {
			if is != want[leaf] && harmless[at] == "" {
				w.Errorf("%s: /quote%s is believed: %s, want %s", path, leaf, is, want[leaf])
			}
		}
	}
	w.service.created = nil
	if tried < 15 || refused < tried/3 {
		w.Errorf("%d changes were tried and %d refused, want at least 15, and a third of them", tried, refused)
	}
}

// withdrawLink is a link that pays one payment of 1,000 to 1,000,000 sats.
func (w *world) withdrawLink() string {
	w.Helper()
	link, err := w.net.WithdrawLink()
	if err != nil {
		w.Fatal(err)
	}
	return link
}

// refusedAt demands an error with a code that names a field.
func (w *world) refusedAt(name string, err error, code fault.Code, field string) {
	w.Helper()
	if e, ok := errors.AsType[*fault.Error](err); !ok || e.Code != code || e.Field != field {
		w.Errorf("%s: got %v, want %s with the code %s", name, err, field, code)
	}
}

// A swap is paid by an LNURL-withdraw link: its service gets the swap's own invoice, from
// the wallet, whatever the swap service wants paid.
func settlesByLinks(w *world) {
	s := &watched{Service: w.service.Service}
	w.service.Service = s
	v := w.wallet()
	in := swapper.CreateSwapInput{SrcToken: "LIGHTNING-BTC", DstToken: w.chain + "-WBTC", Amount: big.NewInt(50_000), AmountType: swapper.ExactIn, DstAddress: w.net.User.Address(w.chain), SrcAddress: w.withdrawLink()}
	before := w.balance()
	made, err := v.CreateSwap(w.Context(), in)
	if err != nil {
		w.Fatal(err)
	}
	if asked := s.created[0].SrcAddress; asked != "" || made.LNURL == nil || made.LNURL.Withdraw != in.SrcAddress {
		w.Errorf("the service hears of the link %q, and the wallet sees %+v", asked, made.LNURL)
	}
	settle := func(id, link string) (*swapper.SettleWithLnurlOutput, error) {
		return v.SettleWithLnurl(w.Context(), swapper.SettleWithLnurlInput{SwapID: id, LnurlWithdraw: link})
	}
	w.refusedAt("a second link", second(settle(made.SwapID, w.withdrawLink())), fault.InvalidInput, "lnurlWithdraw")
	w.refusedAt("an unknown swap", second(settle("unknown", "")), fault.NotFound, "")
	w.service.status = func(out *swapper.GetSwapStatusOutput) {
		out.CurrentAction.SendToAddress.Txs[0].Address = w.net.Invoice(50_000)
	}
	if _, err := settle(made.SwapID, ""); !refuses(err) {
		w.Errorf("somebody's invoice: got %v, want a refusal", err)
	}
	w.service.status = nil
	w.net.Misbehave(swappertest.LNURLFault{Refuse: "closed"})
	if _, err := settle(made.SwapID, ""); fault.CodeOf(err) != fault.Upstream {
		w.Errorf("a link's service that refuses: got %v", err)
	}
	w.net.Misbehave()
	paid, err := settle(made.SwapID, "")
	if err != nil || len(paid.PaymentHash) != 64 || s.settled != 0 {
		w.Fatalf("got %+v, %v; the swap service heard of the link %d times", paid, err, s.settled)
	}
	end, err := w.net.User.Finish(w.Context(), v, made.SwapID)
	if err != nil {
		w.Fatal(err)
	}
	if got := before.Sub(w.balance(), before); !end.IsSuccess || got.Cmp(made.Quote.OutputAmount.RawAmount) != 0 {
		w.Errorf("received %s, want the agreed %s; the swap ends as %+v", got, made.Quote.OutputAmount.RawAmount, end.ListSwapOutput)
	}
	if _, err := settle(made.SwapID, ""); fault.CodeOf(err) != fault.InvalidState {
		w.Errorf("a swap that is paid: got %v", err)
	}

	// A link that is given later, and what no link can pay.
	later := w.in(v)
	w.refusedAt("no link", second(settle(later.SwapID, "")), fault.InvalidInput, "lnurlWithdraw")
	w.refusedAt("a link that takes money", second(settle(later.SwapID, w.net.PayLink())), fault.InvalidInput, "lnurlWithdraw")
	if _, err := settle(later.SwapID, w.withdrawLink()); err != nil {
		w.Error(err)
	}
	w.refusedAt("to Lightning", second(settle(w.out(v, swapper.SwapToBTCLN).SwapID, w.withdrawLink())), fault.InvalidState, "")
	in.SrcAddress = w.net.PayLink()
	w.refusedAt("created with a link that takes money", second(v.CreateSwap(w.Context(), in)), fault.InvalidInput, "srcAddress")
	in.SrcAddress, in.Amount = w.withdrawLink(), big.NewInt(1_500_000)
	w.refusedAt("more than the link pays", second(v.CreateSwap(w.Context(), in)), fault.AmountOutOfBounds, "amount")
}
