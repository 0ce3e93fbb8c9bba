package verify

import (
	"context"
	"fmt"
	"math/big"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/address"
	"github.com/swapper-go/swapper/internal/lightning"
	"github.com/swapper-go/swapper/internal/swap"
	"github.com/swapper-go/swapper/tokens"
)

// trusts reports whether no contract secures the swap.
func (t terms) trusts() bool {
	return t.Type == swapper.SwapTrustedFromBTC || t.Type == swapper.SwapTrustedFromLN
}

// trusted is the type of a swap for gas that no contract secures, if the policy allows any.
func (v *verifier) trusted(o *opened, t terms) []swapper.SwapType {
	chain := o.byID[t.Dst.Chain]
	switch {
	case v.config.MaxTrustedSats <= 0 || chain == nil || t.Dst.ID() != chain.Info().Native.ID():
		return nil
	case t.Src == tokens.LightningBTC():
		return []swapper.SwapType{swapper.SwapTrustedFromLN}
	}
	return []swapper.SwapType{swapper.SwapTrustedFromBTC}
}

// CreateGasSwap implements [swapper.Service], within [Config.MaxTrustedSats]. What it returns is
// what was verified and is stored. The market is asked while the service is.
func (v *verifier) CreateGasSwap(ctx context.Context, in swapper.CreateGasSwapInput) (*swapper.CreateSwapOutput, error) {
	if err := in.Validate(); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, longest)
	defer cancel()
	o, err := v.chains(ctx)
	if err != nil {
		return nil, err
	}
	want, err := v.wantedGas(o, in)
	if err != nil {
		return nil, err
	}
	asked := in
	asked.Amount = new(big.Int).Set(in.Amount) // a service in this process cannot change what it is compared with
	var got *swapper.CreateSwapOutput
	var market *big.Int
	g, gctx := errgroup.WithContext(ctx)
	g.Go(func() (err error) { got, err = v.service.CreateGasSwap(gctx, asked); return err })
	g.Go(func() (err error) { market, err = v.config.Prices.Price(gctx, want.Dst); return err })
	if err := g.Wait(); err != nil {
		return nil, err
	}
	if got == nil {
		return nil, fault.New(fault.Upstream, "the service gave no answer")
	}
	if err := v.take(o, &want, swapper.CreateSwapInput{Amount: in.Amount, AmountType: swapper.ExactOut}, got.SwapOutputBase, market); err != nil {
		return nil, err
	}
	t, err := v.agree(ctx, got.SwapID, want)
	if err != nil {
		return nil, err
	}
	return &swapper.CreateSwapOutput{SwapOutputBase: t.base(got.SwapID, asTold(got.State)), SwapKey: got.SwapKey}, nil
}

// wantedGas reads what a request for gas says of the swap's terms. It refuses what the wallet
// does not trust anybody with, before the service is asked.
func (v *verifier) wantedGas(o *opened, in swapper.CreateGasSwapInput) (t terms, err error) {
	t = terms{Schema: termsSchema, Key: in.IdempotencyKey, CreatedAt: v.now()}
	if t.Src, err = o.tokens.Resolve(in.SrcToken); err != nil {
		return t, fault.At("srcToken", err)
	}
	chain := o.byID[in.ChainID]
	if chain == nil {
		return t, fault.Invalid("chainId", "%s is not configured", in.ChainID)
	}
	t.Dst = chain.Info().Native
	switch allowed := v.trusted(o, t); {
	case t.Src != tokens.BTC() && t.Src != tokens.LightningBTC():
		return t, fault.At("srcToken", fault.New(fault.Unsupported, "gas can only be bought with bitcoin on Bitcoin or Lightning, not with %s", t.Src.ID()))
	case len(allowed) == 0:
		return t, fault.New(fault.Unsupported, "no contract secures a swap for gas, and the wallet trusts no provider (verify.Config.MaxTrustedSats)")
	default:
		t.Type = allowed[0]
	}
	if err := v.reachesFrom(t.Src); err != nil {
		return t, fault.At("srcToken", err)
	}
	if in.RefundAddress != "" {
		if _, err := bitcoin.ParseAddress(address.Strip(in.RefundAddress), v.config.Network); err != nil {
			return t, fault.Invalid("refundAddress", "%w", err)
		}
	}
	t.Recipient, err = chain.Address(address.Strip(in.DstAddress))
	return t, fault.At("dstAddress", err)
}

// mayTrust refuses a swap that no contract secures above what the wallet wants to risk.
func (v *verifier) mayTrust(t terms) error {
	if most := big.NewInt(v.config.MaxTrustedSats); t.trusts() && t.Input.Cmp(most) > 0 {
		return &RefusedError{Reason: reasonQuote, Field: "quote.inputAmount", Said: text(t.Input) + " sats, for which the provider is trusted", True: fmt.Sprintf("at most %s, which is Config.MaxTrustedSats", most)}
	}
	return nil
}

// trustedNow shows a swap that no contract secures: how it went is the service's word.
func trustedNow(t terms, said swapper.ListSwapOutput) swapper.ListSwapOutput {
	out := swapper.ListSwapOutput{SwapOutputBase: t.base(said.SwapID, asTold(said.State)), IsFinished: said.IsFinished, IsSuccess: said.IsSuccess, IsFailed: said.IsFailed, IsExpired: said.IsExpired}
	out.State.Description = "No contract secures this swap, and nothing shows how it went. " + out.State.Description
	return out
}

// onTrust is the status of a swap that no contract secures. The payment is of the agreed amount,
// and a swap has one invoice or address; whether anything is paid out for it is up to the provider.
func (v *verifier) onTrust(ctx context.Context, o *opened, version uint64, t terms, in swapper.GetSwapStatusInput) (*swapper.GetSwapStatusOutput, error) {
	in.BitcoinAddress, in.BitcoinPublicKey, in.BitcoinFeeRate = "", "", nil // the wallet pays an address
	got, err := v.told(ctx, o, t, in)
	if err != nil {
		return nil, err
	}
	out := &swapper.GetSwapStatusOutput{ListSwapOutput: trustedNow(t, got.ListSwapOutput)}
	if out.IsFinished {
		return out, nil
	}
	switch a := got.CurrentAction.(type) {
	case nil:
	case *swapper.Wait:
		out.CurrentAction = wait(a)
	case *swapper.SendToAddress:
		pay, err := v.trustedPayment(ctx, in.SwapID, version, t, a)
		if err != nil {
			return nil, err
		}
		out.CurrentAction = pay
	default:
		out.ActionError = &swapper.ActionError{Code: fault.Unsupported, Error: fmt.Sprintf("the service's action %s is withheld: a swap that no contract secures needs a payment and nothing else", a.Type())}
	}
	return out, nil
}

// trustedPayment verifies what of a payment to a trusted provider can be verified.
func (v *verifier) trustedPayment(ctx context.Context, id string, version uint64, t terms, said *swapper.SendToAddress) (*swapper.SendToAddress, error) {
	const field = "currentAction.txs"
	typ, name := "BOLT11_PAYMENT_REQUEST", "Deposit on Lightning"
	if t.Type == swapper.SwapTrustedFromBTC {
		typ, name = "BITCOIN_ADDRESS", "Deposit on Bitcoin"
	}
	if len(said.Txs) != 1 || said.Chain != t.Src.Chain || said.Txs[0].Type != typ {
		return nil, &RefusedError{Reason: reasonAction, Field: field, Said: fmt.Sprintf("%d payments on %s", len(said.Txs), said.Chain), True: "one payment on " + t.Src.Chain}
	}
	to := said.Txs[0].Address
	link := "lightning:" + to
	if typ == "BITCOIN_ADDRESS" {
		link = swap.BitcoinLink(to, t.Input.Int64())
	}
	if err := v.payable(t, to); err != nil {
		return nil, &RefusedError{Reason: reasonAction, Field: field + "[0].address", Said: to, True: err.Error(), Err: err}
	}
	switch {
	case t.Invoice == "":
		t.Invoice = to
		if err := v.keep(ctx, id, version, t); err != nil {
			return nil, err
		}
	case !strings.EqualFold(t.Invoice, to):
		return nil, same(reasonAgreed, field+"[0].address", to, t.Invoice)
	}
	amount := tokens.NewAmount(t.Input, t.Src)
	return &swapper.SendToAddress{Name: name, Chain: t.Src.Chain,
		Description: fmt.Sprintf("Pays %s to a provider who is trusted to pay %s to %s for it. No contract secures this: the provider can keep the payment.", amount, tokens.NewAmount(t.Output, t.Dst), t.Recipient),
		Txs:         swapper.List[swapper.SendToAddressTx]{{Type: typ, Address: to, Hyperlink: link, Amount: swapper.AmountOf(amount)}}}, nil
}

// payable refuses what cannot be paid with the agreed amount; the error says what can.
func (v *verifier) payable(t terms, to string) error {
	if t.Type == swapper.SwapTrustedFromBTC {
		_, err := bitcoin.ParseAddress(to, v.config.Network)
		return err
	}
	inv, err := lightning.Decode(to)
	if err == nil {
		err = inv.RequireNetwork(v.config.Network)
	}
	if err != nil {
		return err
	}
	switch sats, ok := inv.AmountSats(); {
	case !ok || t.Input.Cmp(big.NewInt(sats)) != 0:
		return fmt.Errorf("an invoice of %s sats", t.Input)
	case inv.ExpiresAt() <= v.config.Now().Unix():
		return fmt.Errorf("an invoice that has not expired")
	}
	return nil
}
