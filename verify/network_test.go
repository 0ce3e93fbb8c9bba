package verify_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/chains/evm"
	"github.com/swapper-go/swapper/chains/solana"
	"github.com/swapper-go/swapper/chains/starknet"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/storage"
	"github.com/swapper-go/swapper/swappertest"
	"github.com/swapper-go/swapper/verify"
)

// world is a network with a service that tests let lie, and the user's own nodes.
type world struct {
	*testing.T
	net     *swappertest.Network
	service *liar
	chain   string
}

// liar is a service whose answers a test may change before they leave it.
type liar struct {
	swapper.Service
	created func(*swapper.CreateSwapOutput)
	status  func(*swapper.GetSwapStatusOutput)
	secrets int                              // heard
	taken   []swapper.SubmitTransactionInput // everything that was submitted
	lose    bool                             // what is submitted goes nowhere
	gone    bool                             // nothing is answered any more
}

func (l *liar) CreateSwap(ctx context.Context, in swapper.CreateSwapInput) (*swapper.CreateSwapOutput, error) {
	out, err := l.Service.CreateSwap(ctx, in)
	if err == nil && l.created != nil {
		l.created(out)
	}
	return out, err
}

func (l *liar) GetSwapStatus(ctx context.Context, in swapper.GetSwapStatusInput) (*swapper.GetSwapStatusOutput, error) {
	if in.Secret != "" {
		l.secrets++
	}
	if l.gone {
		return nil, errors.New("gone")
	}
	out, err := l.Service.GetSwapStatus(ctx, in)
	if err == nil && l.status != nil {
		l.status(out)
	}
	return out, err
}

func (l *liar) SubmitTransaction(ctx context.Context, in swapper.SubmitTransactionInput) (*swapper.SubmitTransactionOutput, error) {
	l.taken = append(l.taken, in)
	if l.gone {
		return nil, errors.New("gone")
	}
	if l.lose {
		return &swapper.SubmitTransactionOutput{TxHashes: swapper.List[string]{"told"}}, nil
	}
	return l.Service.SubmitTransaction(ctx, in)
}

// grounds are the chains that swaps are tried on.
var grounds = []struct {
	chain, token string
	options      swappertest.Options
}{
	{"CITREA", "WBTC", swappertest.Options{}},
	{"SOLANA", "WBTC", swappertest.Options{Solana: swappertest.SolanaOptions{Version: "v2"}}},
	{"STARKNET", "WBTC", swappertest.Options{Starknet: swappertest.StarknetOptions{On: true}}},
	{"SOLANA", "WBTC", swappertest.Options{Solana: swappertest.SolanaOptions{Version: "v1"}}}, // at full depth
}

// part is something that wallets do through a service on one network.
type part struct {
	name string
	run  func(*world)
}

// once is a part whose rule knows no chain: it runs on the first one, at full depth on all.
func once(run func(*world)) func(*world) {
	return func(w *world) {
		if w.chain != grounds[0].chain {
			trial.OnlyFull(w.T)
		}
		run(w)
	}
}

// Wallets that do not trust their service, on every family of chains. What takes longest has
// a network of its own beside the other parts'.
func TestThroughAService(t *testing.T) {
	t.Parallel()
	for _, g := range trial.Of(3, grounds) {
		t.Run(g.chain+g.options.Solana.Version, func(t *testing.T) {
			t.Parallel()
			through(t, g.chain, g.options, []part{
				{"money is sent", sends},
				{"transactions that are refused", refusesTransactions},
				{"every byte of an opening", verifiesEveryByte},
				{"an invoice is paid once", once(paysOnce)},
				{"a bitcoin payment counts once", paysBitcoinOnce},
				{"submissions", submits},
				{"ends are what own nodes show", ends},
				{"money is received", receives},
				{"invoices that are refused", once(refusesInvoices)},
				{"secrets are kept", keepsSecrets},
				{"escrows for Lightning payments", opensFromLightning},
				{"lists", once(lies)},
				{"gas of a provider who is trusted", trustsProviders},
				{"links are paid", once(paysLinks)},
				{"an exact amount is sent to a link", spendsExactly},
				{"keys of swaps to links", keepsKeys},
				{"links that pay", once(settlesByLinks)},
				{"balances", balances},
				{"a wallet without a Bitcoin backend", withoutBitcoin},
				{"early refund", refunds},
				{"claim without the service", claimsAlone},
				{"bitcoin is paid to a vault", paysVaults},
				{"payments to vaults that are refused", refusesVaults},
				{"signed payments to vaults", refusesSignedVaults},
				{"bitcoin is paid to an address", paysDeposits},
				{"deposits that are refused", refusesDeposits},
				{"claim of a deposit without the service", claimsDepositAlone},
				{"claim from a vault without the service", claimsFromVaultAlone},
				{"refund without the service", refundsAlone},
			})
		})
		t.Run(g.chain+g.options.Solana.Version+" beside", func(t *testing.T) {
			if g.chain != grounds[0].chain { // before a network is started for it
				trial.OnlyFull(t)
			}
			t.Parallel()
			through(t, g.chain, g.options, []part{{"every leaf of a status", verifiesEveryLeaf}})
		})
	}
}

// through starts a network with a service, and does the parts one after another.
func through(t *testing.T, chain string, options swappertest.Options, parts []part) {
	net := swappertest.Start(t, options)
	client := trial.Must(swapper.Open(t.Context(), net.Config()))(t)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- client.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		<-ended
		if err := client.Close(); err != nil {
			t.Error(err)
		}
	})
	for _, part := range parts {
		t.Run(part.name, func(t *testing.T) {
			net.Misbehave()
			part.run(&world{T: t, net: net, service: &liar{Service: client}, chain: chain})
		})
	}
}

// wallet is a wallet that does not trust the service.
func (w *world) wallet() swapper.Service { return w.walletOf(w.service, new(storage.Memory)) }

func (w *world) walletOf(s swapper.Service, store storage.Store) swapper.Service {
	w.Helper()
	c := w.net.Config()
	return trial.Must(verify.Wrap(s, verify.Config{Network: bitcoin.Regtest, Chains: c.Chains, Bitcoin: c.Bitcoin, Prices: c.Prices, Now: c.Now, Store: store, LNURL: c.LNURL}))(w)
}

// out asks for a swap out of the smart chain.
func (w *world) out(s swapper.Service, typ swapper.SwapType) *swapper.CreateSwapOutput {
	w.Helper()
	in := swapper.CreateSwapInput{SrcToken: w.chain + "-WBTC", Amount: big.NewInt(50_000), AmountType: swapper.ExactOut, SrcAddress: w.net.User.Address(w.chain),
		DstToken: "LIGHTNING-BTC", DstAddress: ""}
	if typ == swapper.SwapToBTC {
		in.DstToken, in.DstAddress = "BITCOIN-BTC", w.net.User.Address("BITCOIN")
	} else {
		in.DstAddress = w.net.Invoice(50_000)
	}
	swap := trial.Must(s.CreateSwap(w.Context(), in))(w)
	if swap.SwapType != typ {
		w.Fatalf("the swap is a %s, want %s", swap.SwapType, typ)
	}
	return swap
}

func (w *world) balance() *big.Int {
	w.Helper()
	return trial.Must(w.net.User.Balance(w.Context(), w.chain+"-WBTC"))(w)
}

// A wallet sends to Bitcoin and Lightning through a service that it does not trust, and
// pays what was agreed on.
func sends(w *world) {
	v := w.wallet()
	for _, typ := range []swapper.SwapType{swapper.SwapToBTCLN, swapper.SwapToBTC} {
		before := w.balance()
		s := w.out(v, typ)
		end, err := w.net.User.Finish(w.Context(), v, s.SwapID)
		if err != nil {
			w.Fatalf("%s: %v", typ, err)
		}
		if !end.IsSuccess || end.IsFailed || end.IsExpired {
			w.Errorf("%s ends as %+v", typ, end.ListSwapOutput)
		}
		if paid := before.Sub(before, w.balance()); paid.Cmp(s.Quote.InputAmount.RawAmount) != 0 {
			w.Errorf("%s cost %s, want the agreed %s", typ, paid, s.Quote.InputAmount.RawAmount)
		}
	}
}

// A provider that does not pay: the wallet takes its money back, early with the
// provider's signature.
func refunds(w *world) {
	w.net.Misbehave(swappertest.LPFault{NotPayable: true})
	v := w.wallet()
	before := w.balance()
	s := w.out(v, swapper.SwapToBTCLN)
	end := trial.Must(w.net.User.Finish(w.Context(), v, s.SwapID))(w)
	if end.IsSuccess || !end.IsFailed {
		w.Errorf("the swap ends as %+v", end.ListSwapOutput)
	}
	if after := w.balance(); after.Cmp(before) != 0 {
		w.Errorf("the user has %s, had %s", after, before)
	}
}

// action is the current action of a swap once it is one that is signed.
func (w *world) action(s swapper.Service, id string) (*swapper.SignSmartChainTransaction, error) {
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		out, err := s.GetSwapStatus(w.Context(), swapper.GetSwapStatusInput{SwapID: id})
		if err != nil {
			return nil, err
		}
		if sign, ok := out.CurrentAction.(*swapper.SignSmartChainTransaction); ok {
			return sign, nil
		}
		if out.ActionError != nil {
			return nil, fmt.Errorf("%s: %s", out.ActionError.Code, out.ActionError.Error)
		}
	}
	return nil, fmt.Errorf("no action to sign")
}

// Each way of a service to steal with transactions, none of which reaches the wallet.
func refusesTransactions(w *world) {
	honest := w.service.Service
	mallory := trial.Must(w.net.NewUser())(w)
	other := w.out(honest, swapper.SwapToBTCLN) // another swap of the same user, with its own invoice
	theirs := trial.Must(w.action(honest, other.SwapID))(w)
	bitcoinSwap := w.out(honest, swapper.SwapToBTC)
	toBitcoin := trial.Must(w.action(honest, bitcoinSwap.SwapID))(w)
	sign := func(change func(*swapper.SignSmartChainTransaction)) func(*swapper.GetSwapStatusOutput) {
		return func(out *swapper.GetSwapStatusOutput) { change(out.CurrentAction.(*swapper.SignSmartChainTransaction)) }
	}
	for _, typ := range []swapper.SwapType{swapper.SwapToBTCLN, swapper.SwapToBTC} {
		for name, lie := range map[string]func(*swapper.GetSwapStatusOutput){
			"an opening that pays another invoice": sign(func(s *swapper.SignSmartChainTransaction) { s.Txs = theirs.Txs }),
			"an opening that pays another address": sign(func(s *swapper.SignSmartChainTransaction) { s.Txs = toBitcoin.Txs }),
			"two openings":                         sign(func(s *swapper.SignSmartChainTransaction) { s.Txs = slices.Concat(s.Txs, theirs.Txs) }),
			"nothing":                              sign(func(s *swapper.SignSmartChainTransaction) { s.Txs = nil }),
			"the end is missing":                   sign(func(s *swapper.SignSmartChainTransaction) { s.Txs = s.Txs[:len(s.Txs)-1] }),
			"garbage":                              sign(func(s *swapper.SignSmartChainTransaction) { s.Txs = swapper.List[string]{"0x"} }),
			"another signer":                       sign(func(s *swapper.SignSmartChainTransaction) { s.RequiredSigner = mallory.Address(w.chain) }),
			"another chain":                        sign(func(s *swapper.SignSmartChainTransaction) { s.Chain = "MARS" }),
		} {
			if typ == swapper.SwapToBTC && name == "an opening that pays another address" {
				// Its address is the same one, and so is the amount: it is the same payment.
				continue
			}
			v := w.wallet()
			w.service.status = nil
			s := w.out(v, typ)
			w.service.status = lie
			got, err := w.action(v, s.SwapID)
			if !refuses(err) {
				w.Errorf("%s, %s: got %+v, %v, want a refusal", typ, name, got, err)
			}
			w.service.status = nil
			if _, err := w.action(v, s.SwapID); err != nil {
				w.Errorf("%s, %s: after the lie the truth is refused: %v", typ, name, err)
			}
		}
	}
}

// An invoice is paid once: neither another opening for a swap whose opening was handed
// out, nor a second swap for the same invoice, reaches the wallet.
func paysOnce(w *world) {
	v := w.wallet()
	in := swapper.CreateSwapInput{SrcToken: w.chain + "-WBTC", Amount: big.NewInt(50_000), AmountType: swapper.ExactOut, SrcAddress: w.net.User.Address(w.chain),
		DstToken: "LIGHTNING-BTC", DstAddress: w.net.Invoice(50_000)}
	first := trial.Must(v.CreateSwap(w.Context(), in))(w)
	second := trial.Must(v.CreateSwap(w.Context(), in))(w)
	if _, err := w.action(v, first.SwapID); err != nil {
		w.Fatal(err)
	}
	if got, err := w.action(v, second.SwapID); !refuses(err) {
		w.Errorf("a second swap for the invoice: got %+v, %v, want a refusal", got, err)
	}
	theirs := trial.Must(w.action(w.service.Service, second.SwapID))(w)
	w.service.status = func(out *swapper.GetSwapStatusOutput) {
		out.CurrentAction.(*swapper.SignSmartChainTransaction).Txs = theirs.Txs
	}
	if got, err := w.action(v, first.SwapID); !refuses(err) {
		w.Errorf("a second opening for the swap: got %+v, %v, want a refusal", got, err)
	}
}

// A bitcoin payment counts for one swap: a second one to the same address, of the same amount
// and with the same nonce, would let a provider take both escrows by one payment.
func paysBitcoinOnce(w *world) {
	v := w.wallet()
	first, second := w.out(v, swapper.SwapToBTC), w.out(v, swapper.SwapToBTC)
	if _, err := w.action(v, first.SwapID); err != nil {
		w.Fatal(err)
	}
	theirs, err := w.action(w.service.Service, first.SwapID)
	if err != nil {
		w.Fatal(err)
	}
	status := trial.Must(w.service.Service.GetSwapStatus(w.Context(), swapper.GetSwapStatusInput{SwapID: first.SwapID}))(w)
	w.service.status = func(out *swapper.GetSwapStatusOutput) {
		out.Escrow, out.CurrentAction.(*swapper.SignSmartChainTransaction).Txs = status.Escrow, theirs.Txs
	}
	if got, err := w.action(v, second.SwapID); !refuses(err) || !strings.Contains(err.Error(), "pays for it already") {
		w.Errorf("the payment of another swap: got %+v, %v, want a refusal", got, err)
	}
	trial.Do(w, w.net.Advance(2*time.Hour))
	w.service.status = nil
	other := w.wallet() // which does not know the first payment
	later := w.out(other, swapper.SwapToBTC)
	w.service.status = func(out *swapper.GetSwapStatusOutput) {
		out.Escrow, out.CurrentAction.(*swapper.SignSmartChainTransaction).Txs = status.Escrow, theirs.Txs
	}
	_, err = w.action(other, later.SwapID)
	if refused, ok := errors.AsType[*verify.RefusedError](err); !ok || refused.Field != "escrow.nonce" {
		w.Errorf("a payment from before the swap: got %v, want a refusal of its nonce", err)
	}
}

// The service gets what carries out the verified step and nothing else, and its word for
// what it did does not count.
func submits(w *world) {
	v := w.wallet()
	s, other := w.out(v, swapper.SwapToBTCLN), w.out(v, swapper.SwapToBTCLN)
	sign := func(id string) []string {
		w.Helper()
		a := trial.Must(w.action(v, id))(w)
		return trial.Must(w.net.User.Sign(a))(w)
	}
	theirs := sign(other.SwapID)
	submit := func(txs []string) (*swapper.SubmitTransactionOutput, error) {
		return v.SubmitTransaction(w.Context(), swapper.SubmitTransactionInput{SwapID: s.SwapID, SignedTxs: txs})
	}
	if got, err := submit(theirs); err == nil {
		w.Errorf("before the opening was verified: got %v", got)
	}
	ours := sign(s.SwapID)
	for name, txs := range map[string][]string{"another swap's": theirs, "too many": slices.Concat(ours, theirs), "unsigned": {"0x"}, "none": nil} {
		if got, err := submit(txs); err == nil {
			w.Errorf("%s: got %v", name, got)
		}
	}
	if len(w.service.taken) != 0 {
		w.Fatalf("the service got %+v", w.service.taken)
	}
	w.service.lose = true
	got, err := submit(ours)
	if err != nil || len(got.TxHashes) != len(ours) || slices.Contains(got.TxHashes, "told") || len(w.service.taken) != 1 {
		w.Errorf("what was verified: got %+v, %v", got, err)
	}
}

// The service says that a swap is paid, refunded or over; the wallet's own nodes know better.
func ends(w *world) {
	v := w.wallet()
	s := w.out(v, swapper.SwapToBTCLN)
	if _, err := w.action(v, s.SwapID); err != nil {
		w.Fatal(err)
	}
	w.service.status = func(out *swapper.GetSwapStatusOutput) {
		out.CurrentAction = nil
		out.IsFinished, out.IsSuccess, out.IsFailed, out.IsExpired = true, true, true, true
		out.State.Name = "CLAIMED"
	}
	out := trial.Must(v.GetSwapStatus(w.Context(), swapper.GetSwapStatusInput{SwapID: s.SwapID}))(w)
	if out.IsFinished || out.IsSuccess || out.IsFailed || out.IsExpired || !strings.HasPrefix(out.State.Description, "By the wallet's own nodes the escrow is not open.") {
		w.Errorf("got %+v", out.ListSwapOutput)
	}
}

// A service that is silent once the money is locked, with a provider that does not pay:
// the wallet takes its money back alone, once the escrow has expired.
func refundsAlone(w *world) {
	w.net.Misbehave(swappertest.LPFault{NeverPay: true, NoRefund: true})
	v := w.wallet()
	before := w.balance()
	s := w.out(v, swapper.SwapToBTCLN)
	opened := func(out *swapper.GetSwapStatusOutput) bool {
		return strings.HasPrefix(out.State.Description, "By the wallet's own nodes the escrow is open")
	}
	if _, err := w.net.User.FinishUntil(w.Context(), v, s.SwapID, opened); err != nil {
		w.Fatal(err)
	}
	w.service.gone = true
	if out, err := v.GetSwapStatus(w.Context(), swapper.GetSwapStatusInput{SwapID: s.SwapID}); err == nil {
		w.Fatalf("before the end, without the service: got %+v", out)
	}
	trial.Do(w, w.net.Advance(5*24*time.Hour+30*time.Minute))
	end := trial.Must(w.net.User.Finish(w.Context(), v, s.SwapID))(w)
	if !end.IsFailed || end.IsSuccess {
		w.Errorf("the swap ends as %+v", end.ListSwapOutput)
	}
	if after := w.balance(); after.Cmp(before) != 0 {
		w.Errorf("the user has %s, had %s", after, before)
	}
}

// A list shows of the wallet's own swaps what its own nodes show, and marks the others. Every
// change of it by the service is refused, or changes nothing of what was agreed.
func lies(w *world) {
	v := w.wallet()
	paid, open := w.out(v, swapper.SwapToBTCLN), w.out(v, swapper.SwapToBTC)
	if _, err := w.net.User.Finish(w.Context(), v, paid.SwapID); err != nil {
		w.Fatal(err)
	}
	if _, err := w.action(v, open.SwapID); err != nil {
		w.Fatal(err)
	}
	other := w.out(w.service.Service, swapper.SwapToBTC)
	in := swapper.ListSwapsInput{Signer: w.net.User.Address(w.chain)}
	honest := trial.Must(w.service.Service.ListSwaps(w.Context(), in))(w)
	var told []swapper.ListSwapOutput
	for _, o := range honest {
		if o.SwapID == paid.SwapID || o.SwapID == open.SwapID || o.SwapID == other.SwapID {
			told = append(told, o)
		}
	}
	if len(told) != 3 {
		w.Fatalf("the service lists %d of 3 swaps", len(told))
	}
	for i := range told { // the ends are turned round
		told[i].IsFinished, told[i].IsSuccess = !told[i].IsFinished, !told[i].IsSuccess
	}
	s := &service{Service: w.service.Service, listed: told}
	w.service.Service = s
	got := trial.Must(v.ListSwaps(w.Context(), in))(w)
	for i, o := range got {
		want := map[string]string{paid.SwapID: "By the wallet's own nodes the provider has proven", open.SwapID: "By the wallet's own nodes the escrow is not open", other.SwapID: "Not a swap"}[o.SwapID]
		if o.SwapID != told[i].SwapID || !strings.HasPrefix(o.State.Description, want) || o.SwapID != other.SwapID && o.IsSuccess != (o.SwapID == paid.SwapID) {
			w.Errorf("got %+v, want %q", o, want)
		}
	}
	tried, refused := triesList(w.T, v, s, asText(w.T, told))
	if tried < 100 || refused < 30 {
		w.Errorf("%d changes were tried and %d refused, want at least 100 and 30", tried, refused)
	}
}

// in asks for a swap from Lightning.
func (w *world) in(s swapper.Service) *swapper.CreateSwapOutput {
	w.Helper()
	return trial.Must(s.CreateSwap(w.Context(), swapper.CreateSwapInput{SrcToken: "LIGHTNING-BTC", DstToken: w.chain + "-WBTC", Amount: big.NewInt(50_000), AmountType: swapper.ExactIn, DstAddress: w.net.User.Address(w.chain)}))(w)
}

// opensItself reports whether the user opens the escrow of a swap from Lightning.
func (w *world) opensItself() bool { return w.in(w.service).SwapType == swapper.SwapFromBTCLN }

// A wallet is paid from Lightning through a service that it does not trust: the secret is
// made by the wallet, and the service hears of it when the money is there.
func receives(w *world) {
	v := w.wallet()
	before := w.balance()
	s := w.in(v)
	end := trial.Must(w.net.User.Finish(w.Context(), v, s.SwapID))(w)
	if !end.IsSuccess || end.IsFailed {
		w.Errorf("the swap ends as %+v", end.ListSwapOutput)
	}
	if got := before.Sub(w.balance(), before); got.Cmp(s.Quote.OutputAmount.RawAmount) != 0 {
		w.Errorf("received %s, want the agreed %s", got, s.Quote.OutputAmount.RawAmount)
	}
	told := 1
	if s.SwapType == swapper.SwapFromBTCLN { // the claim alone reveals it
		told = 0
	}
	if w.service.secrets != told {
		w.Errorf("the service heard the secret %d times, want %d", w.service.secrets, told)
	}
}

// Each way of a service to have another invoice paid than the swap's.
func refusesInvoices(w *world) {
	other := w.in(w.wallet())
	theirs := trial.Must(w.service.Service.GetSwapStatus(w.Context(), swapper.GetSwapStatusInput{SwapID: other.SwapID}))(w)
	for name, lie := range map[string]func(*swapper.SendToAddress){
		"another swap's": func(a *swapper.SendToAddress) {
			a.Txs[0].Address = theirs.CurrentAction.(*swapper.SendToAddress).Txs[0].Address
		},
		"somebody's": func(a *swapper.SendToAddress) { a.Txs[0].Address = w.net.Invoice(50_000) },
		"garbage":    func(a *swapper.SendToAddress) { a.Txs[0].Address = "lnbcrt1" },
		"two":        func(a *swapper.SendToAddress) { a.Txs = append(a.Txs, a.Txs[0]) },
		"none":       func(a *swapper.SendToAddress) { a.Txs = nil },
		"an address": func(a *swapper.SendToAddress) {
			a.Chain, a.Txs[0].Type, a.Txs[0].Address = "BITCOIN", "BITCOIN_ADDRESS", w.net.User.Address("BITCOIN")
		},
	} {
		v := w.wallet()
		s := w.in(v)
		w.service.status = func(out *swapper.GetSwapStatusOutput) { lie(out.CurrentAction.(*swapper.SendToAddress)) }
		out, err := v.GetSwapStatus(w.Context(), swapper.GetSwapStatusInput{SwapID: s.SwapID})
		if !refuses(err) {
			w.Errorf("%s: got %+v, %v, want a refusal", name, out, err)
		}
		w.service.status = nil
	}
}

// The service asks for the secret before the money is there, or when there is less of it
// than was agreed: it does not hear of it.
func keepsSecrets(w *world) {
	if w.opensItself() {
		w.Skip("the user opens the escrow here, and the service never hears the secret")
	}
	v := w.wallet()
	s := w.in(v)
	reveal := true
	escrow := swapper.EscrowInfo{Data: []byte(`{"offerer":"` + w.net.User.Address(w.chain) + `"}`)}
	w.service.status = func(out *swapper.GetSwapStatusOutput) {
		out.CurrentAction, out.RequiresSecretReveal, out.Escrow = nil, &reveal, &escrow
	}
	out, err := v.GetSwapStatus(w.Context(), swapper.GetSwapStatusInput{SwapID: s.SwapID})
	if err != nil || !waits(out) || out.IsFinished {
		w.Errorf("before the payment: got %+v, %v, want to wait", out, err)
	}

	more := func(a *swapper.Amount) { a.RawAmount = new(big.Int).Add(a.RawAmount, big.NewInt(1)) }
	w.service.created = func(out *swapper.CreateSwapOutput) { more(&out.Quote.OutputAmount) }
	w.service.status = func(out *swapper.GetSwapStatusOutput) { more(&out.Quote.OutputAmount) }
	s = w.in(v)
	end, err := w.net.User.FinishUntil(w.Context(), v, s.SwapID, func(*swapper.GetSwapStatusOutput) bool { return false })
	if !refuses(err) {
		w.Errorf("an escrow of less than was agreed: got %+v, %v, want a refusal", end, err)
	}
	if w.service.secrets != 0 {
		w.Errorf("the service heard the secret %d times, want never", w.service.secrets)
	}
}

// Once the secret is out, a service that falls silent and has no watchtower cannot keep
// the wallet from what it has paid for.
func claimsAlone(w *world) {
	if w.opensItself() {
		w.Skip("the user opens the escrow here, and claims without the service in any case")
	}
	w.net.Misbehave(swappertest.WatchtowerFault{Off: true})
	w.service.status = func(out *swapper.GetSwapStatusOutput) { // shows who offers the escrow alone, by which it is searched
		if out.Escrow == nil {
			return
		}
		var data map[string]any
		if err := json.Unmarshal(out.Escrow.Data, &data); err != nil {
			w.Error(err)
		}
		maps.DeleteFunc(data, func(name string, _ any) bool { return name != "offerer" && name != "accounts" })
		out.Escrow.Data = json.RawMessage(asText(w.T, data))
	}
	v := w.wallet()
	before := w.balance()
	s := w.in(v)
	if _, err := w.net.User.FinishUntil(w.Context(), v, s.SwapID, func(*swapper.GetSwapStatusOutput) bool { return w.service.secrets > 0 }); err != nil {
		w.Fatal(err)
	}
	w.service.gone = true
	trial.Do(w, w.net.Advance(3*time.Minute))
	end := trial.Must(w.net.User.Finish(w.Context(), v, s.SwapID))(w)
	if !end.IsSuccess {
		w.Errorf("the swap ends as %+v", end.ListSwapOutput)
	}
	if got := before.Sub(w.balance(), before); got.Cmp(s.Quote.OutputAmount.RawAmount) != 0 {
		w.Errorf("received %s, want the agreed %s", got, s.Quote.OutputAmount.RawAmount)
	}
}

// effect is what a transaction does: all of it but the price that the wallet's account
// pays for it, and its place among the account's transactions.
func (w *world) effect(text string) string {
	w.Helper()
	var err error
	var does any
	switch w.chain {
	case "SOLANA":
		tx, e := solana.UnsignedTransaction(text)
		err = e
		if e == nil {
			does, err = tx.MarshalBinary()
		}
	case "STARKNET":
		tx, e := starknet.UnsignedTransaction(text)
		err = e
		if e == nil {
			does = []any{tx.Sender, tx.ChainID, tx.Invoke.Calldata, tx.Invoke.PayMasterData, tx.Invoke.AccountDeploymentData, tx.Invoke.NonceDataMode, tx.Invoke.FeeMode}
		}
	default:
		tx, e := evm.UnsignedTransaction(text)
		err = e
		if e == nil {
			does = []any{tx.ChainId(), tx.To(), tx.Value(), tx.Data(), tx.AccessList()}
		}
	}
	if err != nil {
		w.Fatal(err)
	}
	return asText(w.T, does)
}

// A digit of an opening is changed, wherever it stands: the action is refused, or it does
// the same.
func verifiesEveryByte(w *world) {
	v := w.wallet()
	tries := trial.Of(60, make([]struct{}, 1500))
	refused := 0
	var s *swapper.CreateSwapOutput
	for n := range tries {
		if s == nil {
			s = w.out(v, swapper.SwapToBTCLN)
		}
		honest := ""
		w.service.status = func(out *swapper.GetSwapStatusOutput) {
			txs := out.CurrentAction.(*swapper.SignSmartChainTransaction).Txs
			at := len(txs) - 1
			honest = txs[at]
			b := []byte(honest)
			i := n * len(b) / len(tries)
			for !strings.ContainsRune("0123456789abcdef", rune(b[i])) {
				i = (i + 1) % len(b)
			}
			b[i] = "123456789abcdef0"[strings.IndexByte("0123456789abcdef", b[i])]
			txs[at] = string(b)
		}
		got, err := w.action(v, s.SwapID)
		w.service.status = nil
		if err != nil {
			refused++
			continue
		}
		if said := got.Txs[len(got.Txs)-1]; w.effect(said) != w.effect(honest) {
			w.Errorf("change %d of %d is believed:\n%s\nwhere the truth is\n%s", n, len(tries), said, honest)
		}
		s = nil // its escrow is agreed on by now
	}
	if refused < len(tries)/2 {
		w.Errorf("%d of %d changes were refused, want at least half", refused, len(tries))
	}
}
