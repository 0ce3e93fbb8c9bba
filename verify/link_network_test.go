package verify_test

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"math/big"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/storage"
	"github.com/swapper-go/swapper/swappertest"
)

// watched is a service whose requests a test sees, and whose swaps it may change.
type watched struct {
	swapper.Service
	mu      sync.Mutex
	created []swapper.CreateSwapInput
	settled int
}

func (s *watched) CreateSwap(ctx context.Context, in swapper.CreateSwapInput) (*swapper.CreateSwapOutput, error) {
	s.mu.Lock()
	s.created = append(s.created, in)
	s.mu.Unlock()
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
	parsed := trial.Must(v.ParseAddress(w.Context(), swapper.ParseAddressInput{Address: link}))(w)
	if _, pays := parsed.LNURL.(*swapper.LNURLPay); !pays || parsed.Min == nil {
		w.Fatalf("the link reads as %+v", parsed)
	}
	in := swapper.CreateSwapInput{SrcToken: w.chain + "-WBTC", DstToken: "LIGHTNING-BTC", Amount: big.NewInt(50_000), AmountType: swapper.ExactOut,
		SrcAddress: w.net.User.Address(w.chain), DstAddress: link}
	made := trial.Must(v.CreateSwap(w.Context(), in))(w)
	if asked := s.created[0].DstAddress; asked != made.Quote.OutputAddress || !strings.HasPrefix(asked, "lnbcrt") || made.LNURL == nil || made.LNURL.Pay != link {
		w.Errorf("the service was asked to pay %s, and the wallet sees %+v", asked, made.SwapOutputBase)
	}
	end := trial.Must(w.net.User.Finish(w.Context(), v, made.SwapID))(w)
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
		"more than it takes": {"amount", fault.InvalidInput, func(in *swapper.CreateSwapInput) {
			in.AmountType, in.Amount = swapper.ExactIn, new(big.Int).Lsh(in.Amount, 80)
		}},
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

// An exact input is sent to a link by an invoice for what it buys, which the wallet gets from the
// link's own service. What the swap service says of that decides no more than whether there is
// a swap.
func spendsExactly(w *world) {
	if w.chain != "CITREA" {
		trial.OnlyFull(w.T)
	}
	s := &watched{Service: w.service.Service}
	w.service.Service = s
	v := w.wallet()
	in := swapper.CreateSwapInput{SrcToken: w.chain + "-WBTC", DstToken: "LIGHTNING-BTC", Amount: big.NewInt(50_000), AmountType: swapper.ExactIn,
		SrcAddress: w.net.User.Address(w.chain), DstAddress: w.net.PayLink(), IdempotencyKey: "exact"}
	before := w.balance()
	made := trial.Must(v.CreateSwap(w.Context(), in))(w)
	spends := made.Quote.InputAmount.RawAmount.Int64()
	if spends > 50_000 || spends < 50_000-50-2 {
		w.Errorf("the swap takes %d, want 50,000 at most and a thousandth less at least", spends)
	}
	if len(s.created) != 2 || s.created[0].IdempotencyKey != "" || s.created[1].IdempotencyKey != in.IdempotencyKey || s.created[1].DstAddress != made.Quote.OutputAddress {
		w.Errorf("the service was asked for %+v", s.created)
	}
	for _, asked := range s.created {
		if !strings.HasPrefix(asked.DstAddress, "lnbcrt") || asked.AmountType != swapper.ExactOut {
			w.Errorf("the service was asked for %+v", asked)
		}
	}
	end := trial.Must(w.net.User.Finish(w.Context(), v, made.SwapID))(w)
	if spent := before.Sub(before, w.balance()); !end.IsSuccess || spent.Int64() != spends {
		w.Errorf("%s were spent, want %d; the swap ends as %+v", spent, spends, end.ListSwapOutput)
	}

	in.IdempotencyKey = ""
	var first swapper.CreateSwapOutput
	takes := func(out *swapper.CreateSwapOutput, n int64) { out.Quote.InputAmount.RawAmount = big.NewInt(n) }
	for name, lie := range map[string][2]func(*swapper.CreateSwapOutput){ // in the first answer, and in the second
		"the first takes half":     {func(out *swapper.CreateSwapOutput) { takes(out, 25_000) }, nil},
		"the first takes double":   {func(out *swapper.CreateSwapOutput) { takes(out, 100_000) }, nil},
		"the swap takes more":      {nil, func(out *swapper.CreateSwapOutput) { takes(out, 50_001) }},
		"the swap takes much less": {nil, func(out *swapper.CreateSwapOutput) { takes(out, 49_900) }},
		"somebody's invoice": {nil, func(out *swapper.CreateSwapOutput) {
			out.Quote.OutputAddress = w.net.Invoice(out.Quote.OutputAmount.RawAmount.Int64())
		}},
		"less is paid":                   {nil, func(out *swapper.CreateSwapOutput) { out.Quote.OutputAmount.RawAmount = big.NewInt(40_000) }},
		"the swap of the first invoice":  {func(out *swapper.CreateSwapOutput) { first = *out }, func(out *swapper.CreateSwapOutput) { *out = first }},
		"the first with another's terms": {func(out *swapper.CreateSwapOutput) { first = *out }, func(out *swapper.CreateSwapOutput) { out.Quote = first.Quote }},
	} {
		answers := 0
		w.service.created = func(out *swapper.CreateSwapOutput) {
			if change := lie[answers]; change != nil {
				change(out)
			}
			answers++
		}
		if _, err := v.CreateSwap(w.Context(), in); !refuses(err) || answers != 2 {
			w.Errorf("%s: got %v after %d answers, want a refusal after two", name, err, answers)
		}
	}
	for name, change := range map[string]func(*swapper.CreateSwapOutput){
		"nothing":     func(out *swapper.CreateSwapOutput) { out.Quote.InputAmount.RawAmount = nil },
		"zero":        func(out *swapper.CreateSwapOutput) { takes(out, 0) },
		"less than 0": func(out *swapper.CreateSwapOutput) { takes(out, -1) },
	} {
		w.service.created = change
		if _, err := v.CreateSwap(w.Context(), in); fault.CodeOf(err) != fault.Upstream {
			w.Errorf("a first quote that takes %s: got %v", name, err)
		}
	}
	w.service.created = func(out *swapper.CreateSwapOutput) { takes(out, 1) }
	w.refusedAt("more than the link takes", second(v.CreateSwap(w.Context(), in)), fault.InvalidInput, "amount")
	w.service.created = nil
}

// Under one idempotency key a link gives one invoice, and the service one swap.
func keepsKeys(w *world) {
	if w.chain != "CITREA" {
		trial.OnlyFull(w.T)
	}
	s := &watched{Service: w.service.Service}
	w.service.Service = s
	store := new(storage.Memory)
	for _, kind := range []swapper.AmountType{swapper.ExactOut, swapper.ExactIn} {
		v := w.walletOf(w.service, store)
		in := swapper.CreateSwapInput{SrcToken: w.chain + "-WBTC", DstToken: "LIGHTNING-BTC", Amount: big.NewInt(50_000), AmountType: kind,
			SrcAddress: w.net.User.Address(w.chain), DstAddress: w.net.PayLink(), IdempotencyKey: "of " + string(kind)}

		// The answer is lost, and with it the wallet's process.
		w.service.created = func(out *swapper.CreateSwapOutput) { *out = swapper.CreateSwapOutput{} }
		if _, err := v.CreateSwap(w.Context(), in); err == nil {
			w.Error("an empty answer is believed")
		}
		w.service.created = nil
		if kind == swapper.ExactIn { // whose first quote had nothing to reckon with
			s.created = nil
		}
		v = w.walletOf(w.service, store)
		var both [2]*swapper.CreateSwapOutput
		var g errgroup.Group
		for i := range both {
			g.Go(func() (err error) { both[i], err = v.CreateSwap(w.Context(), in); return err })
		}
		trial.Do(w, g.Wait())
		again := trial.Must(v.CreateSwap(w.Context(), in))(w)
		for _, out := range both {
			if out.SwapID != again.SwapID || asText(w.T, out.Quote) != asText(w.T, again.Quote) {
				w.Errorf("%s: one key leads to %+v and %+v", kind, out.SwapOutputBase, again.SwapOutputBase)
			}
		}
		for _, asked := range s.created {
			if asked.IdempotencyKey != "" && asked.DstAddress != again.Quote.OutputAddress {
				w.Errorf("%s: the service was asked to pay %s, and the swap pays %s", kind, asked.DstAddress, again.Quote.OutputAddress)
			}
		}

		before := len(s.created)
		other := in
		other.Amount = big.NewInt(60_000)
		w.refusedAt("another amount", second(v.CreateSwap(w.Context(), other)), fault.InvalidInput, "idempotencyKey")
		if len(s.created) != before {
			w.Errorf("%s: the service heard of a request that was refused", kind)
		}
		for name, lie := range map[string]func(*swapper.CreateSwapOutput){
			"another swap": func(out *swapper.CreateSwapOutput) { out.SwapID = "another" },
			"other terms": func(out *swapper.CreateSwapOutput) {
				out.Quote.InputAmount.RawAmount.Sub(out.Quote.InputAmount.RawAmount, big.NewInt(1))
			},
			"another end":   func(out *swapper.CreateSwapOutput) { out.Quote.Expiry.Time = out.Quote.Expiry.Add(time.Millisecond) },
			"other invoice": func(out *swapper.CreateSwapOutput) { out.Quote.OutputAddress = w.net.Invoice(50_000) },
		} {
			w.service.created = lie
			if _, err := v.CreateSwap(w.Context(), in); !refuses(err) {
				w.Errorf("%s: %s: got %v, want a refusal", kind, name, err)
			}
		}
		w.service.created, s.created = nil, nil
		if kind == swapper.ExactIn {
			continue
		}
		end, err := w.net.User.Finish(w.Context(), v, again.SwapID)
		if err != nil || !end.IsSuccess {
			w.Fatalf("the swap ends as %+v, %v", end, err)
		}
		// A swap that is over still has its key.
		w.service.created = func(out *swapper.CreateSwapOutput) { out.SwapID = "another" }
		if _, err := v.CreateSwap(w.Context(), in); !refuses(err) {
			w.Errorf("a second swap for the key: got %v, want a refusal", err)
		}
		w.service.created, s.created = nil, nil
	}
}

// changesAnswers changes each part of what the service answers to a request: the answer is
// refused, or the wallet sees of the quote what an honest one says.
func (w *world) changesAnswers(v swapper.Service, in swapper.CreateSwapInput) {
	w.Helper()
	honest := trial.Must(w.service.Service.CreateSwap(w.Context(), in))(w)
	paths := slices.Sorted(maps.Keys(changes(w.T, []byte(asText(w.T, honest)))))
	paths = slices.DeleteFunc(paths, func(p string) bool { return strings.HasPrefix(p, "/steps") }) // which are left out
	refused, tried := 0, 0
	for n, path := range paths {
		if !trial.Full() && n%4 != 0 {
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
	return trial.Must(w.net.WithdrawLink())(w)
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
	made := trial.Must(v.CreateSwap(w.Context(), in))(w)
	if asked := s.created[0].SrcAddress; asked != "" || made.LNURL == nil || made.LNURL.Withdraw != in.SrcAddress {
		w.Errorf("the service hears of the link %q, and the wallet sees %+v", asked, made.LNURL)
	}
	settle := func(id, link string) (*swapper.SettleWithLnurlOutput, error) {
		return v.SettleWithLnurl(w.Context(), swapper.SettleWithLnurlInput{SwapID: id, LnurlWithdraw: link})
	}
	w.refusedAt("a second link", second(settle(made.SwapID, w.withdrawLink())), fault.InvalidInput, "lnurlWithdraw")
	w.refusedAt("an unknown swap", second(settle("unknown", "")), fault.NotFound, "")
	w.service.status = func(out *swapper.GetSwapStatusOutput) {
		out.CurrentAction.(*swapper.SendToAddress).Txs[0].Address = w.net.Invoice(50_000)
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
	end := trial.Must(w.net.User.Finish(w.Context(), v, made.SwapID))(w)
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
