package verify_test

import (
	"context"
	"encoding/json"
	"errors"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/storage"
	"github.com/swapper-go/swapper/tokens"
	"github.com/swapper-go/swapper/verify"
)

// sunny is a chain whose head is known.
type sunny struct{ moon }

func (s sunny) Open(context.Context, chains.Env) (chains.Chain, error) { return s, nil }
func (sunny) Heads(context.Context) (chains.Heads, error)              { return chains.Heads{}, nil }

// onTrust is a request for gas, and an honest service's answers to it.
func onTrust(t *testing.T, typ swapper.SwapType) (swapper.CreateSwapInput, *service) {
	from, chain, to, dest := tokens.LightningBTC(), "LIGHTNING", invoice(t, 10_300_000), "BOLT11_PAYMENT_REQUEST"
	if typ == swapper.SwapTrustedFromBTC {
		from, chain, to, dest = tokens.BTC(), "BITCOIN", address(t, 1), "BITCOIN_ADDRESS"
	}
	in := swapper.CreateSwapInput{SrcToken: from.ID(), DstToken: coin.ID(), Amount: big.NewInt(10_000), AmountType: swapper.ExactOut, DstAddress: "moon1"}
	base := swapper.SwapOutputBase{SwapID: "gas", SwapType: typ, State: swapper.SwapState{Name: "PR_CREATED", Description: "pay"}, CreatedAt: swapper.Timestamp{Time: noon},
		Quote: swapper.SwapQuote{InputAmount: units(10_300, from), OutputAmount: units(10_000, coin), OutputAddress: "moon1", Expiry: swapper.Timestamp{Time: noon.Add(time.Minute)}, Fees: swapper.SwapQuoteFees{Swap: units(300, from)}}}
	return in, &service{created: &swapper.CreateSwapOutput{SwapOutputBase: base}, status: &swapper.GetSwapStatusOutput{ListSwapOutput: swapper.ListSwapOutput{SwapOutputBase: base},
		CurrentAction: &swapper.SendToAddress{Name: "pay", Chain: chain, Txs: swapper.List[swapper.SendToAddressTx]{{Type: dest, Address: to, Hyperlink: "x", Amount: units(10_300, from)}}}}}
}

func trusting(t *testing.T, s swapper.Service, most int64) swapper.Service {
	t.Helper()
	return trial.Must(verify.Wrap(s, verify.Config{Network: bitcoin.Regtest, Chains: []chains.Factory{sunny{}}, Store: new(storage.Memory), Bitcoin: regtest{}, Prices: prices, Now: clock, MaxTrustedSats: most}))(t)
}

var trusted = []swapper.SwapType{swapper.SwapTrustedFromBTC, swapper.SwapTrustedFromLN}

// A provider is trusted only by a wallet that says so, and with no more than it says. What
// happened is marked.
func TestTrustedSwapsNeedAPolicy(t *testing.T) {
	for _, typ := range trusted {
		for most, reason := range map[int64]string{10_299: "quote", 10_300: ""} {
			in, s := onTrust(t, typ)
			v := trusting(t, s, most)
			_, err := v.CreateSwap(t.Context(), in)
			refused, _ := errors.AsType[*verify.RefusedError](err)
			if reason == "" && err != nil || reason != "" && (refused == nil || refused.Reason != reason) {
				t.Errorf("%s, at most %d: got %v, want %q", typ, most, err, reason)
			}
			if err != nil {
				continue
			}
			s.status.IsFinished, s.status.IsSuccess = true, true
			s.listed = []swapper.ListSwapOutput{s.status.ListSwapOutput}
			got := trial.Must(v.GetSwapStatus(t.Context(), swapper.GetSwapStatusInput{SwapID: "gas"}))(t)
			listed := trial.Must(v.ListSwaps(t.Context(), swapper.ListSwapsInput{Signer: "moon1"}))(t)
			for _, o := range append(listed, got.ListSwapOutput) {
				if !o.IsSuccess || !strings.HasPrefix(o.State.Description, "No contract secures this swap, and nothing shows how it went. Told by the service, not verified") {
					t.Errorf("%s: got %+v", typ, o)
				}
			}
			if _, err := v.SubmitTransaction(t.Context(), swapper.SubmitTransactionInput{SwapID: "gas", SignedTxs: []string{"0x"}}); fault.CodeOf(err) != fault.InvalidState {
				t.Errorf("%s: a transaction: got %v", typ, err)
			}
		}
	}
	in, s := onTrust(t, swapper.SwapTrustedFromLN)
	if _, err := trusting(t, s, 0).CreateSwap(t.Context(), in); fault.CodeOf(err) != fault.Unsupported || s.asked != 0 {
		t.Errorf("without a policy: got %v, the service was asked %d times", err, s.asked)
	}
}

// gasOf is the request for gas by its own operation, where onTrust makes one by createSwap.
func gasOf(in swapper.CreateSwapInput) swapper.CreateGasSwapInput {
	return swapper.CreateGasSwapInput{SrcToken: in.SrcToken, ChainID: coin.Chain, Amount: in.Amount, DstAddress: in.DstAddress}
}

// Gas is bought within what the wallet trusts a provider with, and the service is not asked
// for what is refused anyway.
func TestGasNeedsAPolicy(t *testing.T) {
	for _, typ := range trusted {
		for most, code := range map[int64]fault.Code{0: fault.Unsupported, 10_299: fault.Upstream, 10_300: ""} {
			in, s := onTrust(t, typ)
			got, err := trusting(t, s, most).CreateGasSwap(t.Context(), gasOf(in))
			if code != fault.CodeOf(err) && (code != "" || err != nil) || (s.asked > 0) != (most > 0) {
				t.Errorf("%s, at most %d: got %v, asked %d times; want %q", typ, most, err, s.asked, code)
			}
			if err == nil && (got.SwapType != typ || got.Quote.OutputAddress != "moon1" || got.Quote.OutputAmount.RawAmount.Cmp(in.Amount) != 0) {
				t.Errorf("%s: got %+v", typ, got)
			}
		}
		for field, change := range map[string]func(*swapper.CreateGasSwapInput){
			"chainId":       func(in *swapper.CreateGasSwapInput) { in.ChainID = "SUN" },
			"dstAddress":    func(in *swapper.CreateGasSwapInput) { in.DstAddress = "sun1" },
			"srcToken":      func(in *swapper.CreateGasSwapInput) { in.SrcToken = coin.ID() },
			"refundAddress": func(in *swapper.CreateGasSwapInput) { in.RefundAddress = "bc1q" },
			"amount":        func(in *swapper.CreateGasSwapInput) { in.Amount = nil },
		} {
			in, s := onTrust(t, typ)
			bad := gasOf(in)
			change(&bad)
			_, err := trusting(t, s, 20_000).CreateGasSwap(t.Context(), bad)
			if e, _ := errors.AsType[*fault.Error](err); e == nil || e.Field != field || s.asked != 0 {
				t.Errorf("%s: %s: got %v, asked %d times", typ, field, err, s.asked)
			}
		}
	}
}

// Each leaf of the answer to a request for gas is changed: it is refused, or makes no difference
// but where the answer is marked as the service's word.
func TestEveryLeafOfAGasQuoteIsVerified(t *testing.T) {
	harmless := map[string]string{"/swapId": "the service's choice", "/quote/expiry": "the service's choice",
		"/state/number": "marked as the service's word", "/state/name": "marked as the service's word", "/state/description": "marked as the service's word",
		"/quote/inputAmount/rawAmount": "within the policy", "/quote/inputAmount/amount": "follows from it",
		"/quote/fees/swap/rawAmount": "within the policy", "/quote/fees/swap/amount": "follows from it"}
	for _, typ := range trusted {
		in, s := onTrust(t, typ)
		honest := trial.Must(trusting(t, s, 20_000).CreateGasSwap(t.Context(), gasOf(in)))(t)
		want, refused := leaves(t, honest), 0
		all := changes(t, []byte(asText(t, s.created)))
		for _, other := range []swapper.SwapType{swapper.SwapSPVVaultFromBTC, swapper.SwapFromBTCLNAuto, swapper.SwapToBTC} {
			changed := *s.created
			changed.SwapType = other
			all["/swapType "+string(other)] = []byte(asText(t, changed))
		}
		for path, changed := range all {
			s.created = new(swapper.CreateSwapOutput)
			if json.Unmarshal(changed, s.created) != nil {
				refused++
				continue
			}
			got, err := trusting(t, s, 20_000).CreateGasSwap(t.Context(), gasOf(in))
			if err != nil {
				refused++
				continue
			}
			for leaf, is := range leaves(t, got) {
				if is != want[leaf] && harmless[leaf] == "" {
					t.Errorf("%s: %s: %s is believed: %s, want %s", typ, path, leaf, is, want[leaf])
				}
			}
		}
		if len(all) < 60 || refused < 30 {
			t.Errorf("%s: %d changes were tried and %d refused, want at least 60 and 30", typ, len(all), refused)
		}
	}
}

// harmlessOnTrust are the parts of a trusted swap's status that the service can change.
var harmlessOnTrust = map[string]string{
	"/state/number": "marked as the service's word", "/state/name": "marked as the service's word", "/state/description": "marked as the service's word",
	"/isFinished": "marked as the service's word", "/isSuccess": "marked as the service's word", "/isFailed": "marked as the service's word", "/isExpired": "marked as the service's word",
}

// Each leaf of a trusted swap's status is changed: it is refused, withheld or makes no
// difference to what is paid.
func TestEveryLeafOfATrustedSwapIsVerified(t *testing.T) {
	for _, typ := range trusted {
		in, s := onTrust(t, typ)
		v := trusting(t, s, 20_000)
		if _, err := v.CreateSwap(t.Context(), in); err != nil {
			t.Fatal(err)
		}
		see := func() (*swapper.GetSwapStatusOutput, error) {
			return v.GetSwapStatus(t.Context(), swapper.GetSwapStatusInput{SwapID: "gas"})
		}
		text := asText(t, s.status)
		honest, err := see()
		if err != nil || !deposits(honest) || !strings.Contains(honest.CurrentAction.(*swapper.SendToAddress).Description, "No contract secures this") {
			t.Fatalf("%s: got %+v, %v", typ, honest, err)
		}
		want, refused := leaves(t, honest), 0
		all := changes(t, []byte(text))
		s.status.CurrentAction.(*swapper.SendToAddress).Txs[0].Address = map[bool]string{true: address(t, 2), false: invoice(t, 10_400_000)}[typ == swapper.SwapTrustedFromBTC]
		all["/currentAction/txs/0/address another's"] = []byte(asText(t, s.status))
		for path, changed := range all {
			s.status = new(swapper.GetSwapStatusOutput)
			if json.Unmarshal(changed, s.status) != nil {
				refused++
				continue
			}
			got, err := see()
			if err != nil {
				refused++
				continue
			}
			none := withheld(got)
			for leaf, is := range leaves(t, got) {
				if is != want[leaf] && harmlessOnTrust[leaf] == "" && !(none && (strings.HasPrefix(leaf, "/currentAction") || strings.HasPrefix(leaf, "/actionError"))) {
					t.Errorf("%s: %s: %s is believed: %s, want %s", typ, path, leaf, is, want[leaf])
				}
			}
		}
		if len(all) < 100 || refused < 30 {
			t.Errorf("%s: %d changes were tried and %d refused, want at least 100 and 30", typ, len(all), refused)
		}
	}
}

// Gas is bought of a provider who is trusted, and arrives.
func trustsProviders(w *world) {
	c := w.net.Config()
	v := trial.Must(verify.Wrap(w.service, verify.Config{Network: c.Network, Chains: c.Chains, Bitcoin: c.Bitcoin, Prices: c.Prices, Now: c.Now, Store: new(storage.Memory), MaxTrustedSats: 100_000}))(w)
	gas := map[string]*big.Int{"CITREA": big.NewInt(2e14), "SOLANA": big.NewInt(1e8), "STARKNET": new(big.Int).Mul(big.NewInt(100), big.NewInt(1e18))}[w.chain] // worth some ten thousand sats
	for _, from := range []string{"LIGHTNING-BTC", "BITCOIN-BTC"} {
		made := trial.Must(v.CreateGasSwap(w.Context(), swapper.CreateGasSwapInput{SrcToken: from, ChainID: w.chain, Amount: gas, DstAddress: w.net.User.Address(w.chain)}))(w)
		end := trial.Must(w.net.User.Finish(w.Context(), v, made.SwapID))(w)
		if !end.IsSuccess || !strings.HasPrefix(end.State.Description, "No contract secures this swap") {
			w.Errorf("%s: the swap ends as %+v", from, end.ListSwapOutput)
		}
	}
}
