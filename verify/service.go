package verify

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/balance"
	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/address"
	"github.com/swapper-go/swapper/internal/swap"
	"github.com/swapper-go/swapper/tokens"
)

// GetSwapStatus implements [swapper.Service]. It shows what was agreed, what the wallet's
// own nodes say of the escrow, and the service's word of the state, marked as such; a quote
// that has changed is refused. An action is verified, or withheld with an ActionError that
// says so. Once the escrow has expired, the refund is made from what the wallet's own nodes
// say, whatever the service says or does not say. A secret is refused before the service
// hears of it. The nodes are asked while the service is, and once more for an action.
func (v *verifier) GetSwapStatus(ctx context.Context, in swapper.GetSwapStatusInput) (*swapper.GetSwapStatusOutput, error) {
	if err := in.Validate(); err != nil {
		return nil, err
	}
	t, version, err := v.agreed(ctx, in.SwapID)
	if err != nil {
		return nil, err
	}
	o, err := v.chains(ctx)
	if err != nil {
		return nil, err
	}
	if err := v.reaches(o, t); err != nil {
		return nil, err
	}
	if in.Secret != "" {
		if err := t.learn(in.Secret); err != nil {
			return nil, err
		}
		in.Secret = "" // the service hears of it when it may
	}
	switch t.Type {
	case swapper.SwapSPVVaultFromBTC:
		return v.throughVault(ctx, o, version, t, in)
	case swapper.SwapFromBTC:
		return v.fromDeposit(ctx, o, version, t, in)
	case swapper.SwapTrustedFromBTC, swapper.SwapTrustedFromLN:
		return v.onTrust(ctx, o, version, t, in)
	}
	var got *swapper.GetSwapStatusOutput
	var fact *chains.EscrowFact
	var refused error
	var g errgroup.Group
	g.Go(func() error { got, refused = v.told(ctx, o, t, in); return nil })
	g.Go(func() error { fact = v.fact(ctx, o, t); return nil })
	_ = g.Wait() // both keep their errors
	due := v.refundable(t, fact)
	if t.receives() {
		return v.receive(ctx, o, version, t, in, got, fact, refused)
	}
	state, known := without(fact, due)
	if refused != nil && !known {
		return nil, refused
	}
	if refused == nil {
		state = asTold(got.State)
	}
	out := &swapper.GetSwapStatusOutput{ListSwapOutput: v.byEscrowNow(in.SwapID, t, state, fact)}
	switch {
	case due:
		if out.CurrentAction, err = v.refund(ctx, o, in, t); err != nil {
			err = overtaken(err, out)
		}
	case refused == nil:
		err = v.act(ctx, o, version, t, in, got, fact, out)
	}
	if err != nil {
		return nil, err
	}
	return out, nil
}

// without is the state of a swap for which the service is not needed any more.
func without(fact *chains.EscrowFact, due bool) (swapper.SwapState, bool) {
	switch {
	case due:
		return swapper.SwapState{Number: swap.OutRefundable, Name: "REFUNDABLE"}, true
	case fact == nil || fact.Err != nil:
		return swapper.SwapState{}, false
	case fact.State == chains.EscrowClaimed:
		return swapper.SwapState{Number: swap.OutClaimed, Name: "CLAIMED"}, true
	case fact.State == chains.EscrowRefunded:
		return swapper.SwapState{Number: swap.OutRefunded, Name: "REFUNDED"}, true
	}
	return swapper.SwapState{}, false
}

// patience is how long the service may take to answer, so that a silent one does not keep
// the wallet from what it can do alone.
const patience = 20 * time.Second

// longest is how long a call may take that the wallet cannot do without the service.
const longest = time.Minute

// told asks the service for a status, and compares it with what was agreed.
func (v *verifier) told(ctx context.Context, o *opened, t terms, in swapper.GetSwapStatusInput) (*swapper.GetSwapStatusOutput, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	got, err := v.service.GetSwapStatus(ctx, in)
	if err != nil {
		return nil, err
	}
	if got == nil {
		return nil, fault.New(fault.Upstream, "the service gave no answer")
	}
	return got, v.unchanged(o, "", in.SwapID, t, got.SwapOutputBase)
}

// act fills in the action of a status.
func (v *verifier) act(ctx context.Context, o *opened, version uint64, t terms, in swapper.GetSwapStatusInput, got *swapper.GetSwapStatusOutput, fact *chains.EscrowFact, out *swapper.GetSwapStatusOutput) error {
	switch a := got.CurrentAction.(type) {
	case nil:
		return nil
	case *swapper.Wait:
		out.CurrentAction = wait(a)
		return nil
	case *swapper.SignSmartChainTransaction:
		sign, err := v.signing(ctx, o, in.SwapID, version, t, in, got, fact)
		switch {
		case err == nil:
			out.CurrentAction = sign
		case fault.CodeOf(err) == fault.Unsupported:
			out.ActionError, err = &swapper.ActionError{Code: fault.Unsupported, Error: err.Error()}, nil
		}
		return err
	default:
		out.ActionError = &swapper.ActionError{Code: fault.Unsupported, Error: fmt.Sprintf("the service's action %s is not verified yet, and is withheld", a.Type())}
		return nil
	}
}

// maxPoll is the longest time that a wallet waits before it looks again.
const maxPoll = time.Minute

// wait is what the service says of how long to wait, within bounds.
func wait(said *swapper.Wait) *swapper.Wait {
	w := &swapper.Wait{Name: "Awaiting LP payout", Description: "Told by the service, not verified: wait.", ExpectedTime: said.ExpectedTime, PollTime: said.PollTime}
	if w.PollTime < 0 || w.PollTime > maxPoll {
		w.PollTime = maxPoll
	}
	return w
}

// unchanged compares a later answer with what was agreed; at is where in the answer the swap is.
func (v *verifier) unchanged(o *opened, at, id string, t terms, got swapper.SwapOutputBase) error {
	q := got.Quote
	amount := func(field string, got, want *big.Int) error {
		return same(reasonAgreed, at+"quote."+field+".rawAmount", text(got), text(want))
	}
	return errors.Join(
		same(reasonID, at+"swapId", got.SwapID, id),
		same(reasonType, at+"swapType", string(got.SwapType), string(t.Type)),
		ofToken(at+"quote.inputAmount", q.InputAmount, t.Src),
		ofToken(at+"quote.outputAmount", q.OutputAmount, t.Dst),
		amount("inputAmount", q.InputAmount.RawAmount, t.Input),
		amount("outputAmount", q.OutputAmount.RawAmount, t.Output),
		v.sameRecipient(o, at, t, q.OutputAddress),
	)
}

// GetSupportedTokens implements [swapper.Service]: tokens of chains that are not
// configured are left out, and the others must be those that the wallet knows.
func (v *verifier) GetSupportedTokens(ctx context.Context, in swapper.GetSupportedTokensInput) ([]swapper.Token, error) {
	ctx, cancel := context.WithTimeout(ctx, longest)
	defer cancel()
	got, err := v.service.GetSupportedTokens(ctx, in)
	return v.known(ctx, got, err)
}

// GetSwapCounterTokens implements [swapper.Service], as GetSupportedTokens does.
func (v *verifier) GetSwapCounterTokens(ctx context.Context, in swapper.GetSwapCounterTokensInput) ([]swapper.Token, error) {
	ctx, cancel := context.WithTimeout(ctx, longest)
	defer cancel()
	got, err := v.service.GetSwapCounterTokens(ctx, in)
	return v.known(ctx, got, err)
}

func (v *verifier) known(ctx context.Context, got []swapper.Token, err error) ([]swapper.Token, error) {
	if err != nil {
		return nil, err
	}
	o, err := v.chains(ctx)
	if err != nil {
		return nil, err
	}
	var all []swapper.Token
	for i, said := range got {
		known, ok := o.tokens.ByID(said.ID)
		if !ok {
			continue
		}
		want := swapper.TokenOf(known)
		at := fmt.Sprintf("[%d].", i)
		if err := errors.Join(
			same(reasonToken, at+"chainId", said.ChainID, want.ChainID),
			same(reasonToken, at+"ticker", said.Ticker, want.Ticker),
			same(reasonToken, at+"decimals", fmt.Sprint(said.Decimals), fmt.Sprint(want.Decimals)),
			v.sameToken(o, at+"address", said, want),
		); err != nil {
			return nil, err
		}
		all = append(all, want)
	}
	return all, nil
}

// sameToken compares the addresses of a token in the chain's canonical form.
func (v *verifier) sameToken(o *opened, field string, said, want swapper.Token) error {
	address := said.Address
	if chain := o.byID[want.ChainID]; chain != nil {
		if canonical, err := chain.TokenAddress(address); err == nil {
			address = canonical
		}
	}
	return same(reasonToken, field, address, want.Address)
}

// GetSwapLimits implements [swapper.Service]. The limits are the service's word: they say
// which amounts it takes, and no money depends on them.
func (v *verifier) GetSwapLimits(ctx context.Context, in swapper.GetSwapLimitsInput) (*swapper.GetSwapLimitsOutput, error) {
	ctx, cancel := context.WithTimeout(ctx, longest)
	defer cancel()
	return v.service.GetSwapLimits(ctx, in)
}

// ParseAddress implements [swapper.Service]: the text is read here, and the service is not
// asked. What an LNURL link or a Lightning address takes, its own service is asked for by the
// wallet.
func (v *verifier) ParseAddress(ctx context.Context, in swapper.ParseAddressInput) (*swapper.ParseAddressOutput, error) {
	if err := in.Validate(); err != nil {
		return nil, err
	}
	o, err := v.chains(ctx)
	if err != nil {
		return nil, err
	}
	r, err := o.parser.Recognise(in.Address)
	if err != nil {
		return nil, fault.At("address", err)
	}
	if r.Type == address.LNURL {
		out, err := v.config.LNURL.ParseLink(ctx, v.config.Network, in.Address)
		return out, fault.At("address", err)
	}
	amount := func(a *tokens.Amount) *swapper.Amount {
		if a == nil {
			return nil
		}
		out := swapper.AmountOf(*a)
		return &out
	}
	return &swapper.ParseAddressOutput{Address: r.Address, Type: r.Type, Min: amount(r.Min), Max: amount(r.Max), Amount: amount(r.Amount)}, nil
}

// GetSpendableBalance implements [swapper.Service] by the wallet's own nodes, and the service
// is not asked.
func (v *verifier) GetSpendableBalance(ctx context.Context, in swapper.GetSpendableBalanceInput) (*swapper.GetSpendableBalanceOutput, error) {
	if err := in.Validate(); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, longest)
	defer cancel()
	o, err := v.chains(ctx)
	if err != nil {
		return nil, err
	}
	token, err := o.tokens.Resolve(in.Token)
	if err == nil {
		err = v.reachesFrom(token)
	}
	if err != nil {
		return nil, fault.At("token", err)
	}
	own := balance.Estimator{Bitcoin: v.config.Bitcoin, Chain: func(id string) (chains.Chain, bool) { c, ok := o.byID[id]; return c, ok }}
	got, err := own.Estimate(ctx, balance.Query{Token: token, Wallet: in.Wallet, TargetChain: in.TargetChain, GasDrop: in.GasDrop,
		FeeRate: in.FeeRate, MinFeeRate: in.MinBitcoinFeeRate, FeeMultiplier: in.FeeMultiplier})
	if err != nil {
		return nil, err
	}
	out := &swapper.GetSpendableBalanceOutput{Balance: swapper.AmountOf(got.Amount)}
	if token == tokens.BTC() {
		out.FeeRate = &got.FeeRateSatVB
	}
	return out, nil
}
