package verify

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"math/big"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/btc/rawtx"
	"github.com/swapper-go/swapper/internal/lightning"
	"github.com/swapper-go/swapper/internal/lp"
	lpverify "github.com/swapper-go/swapper/internal/lp/verify"
	"github.com/swapper-go/swapper/tokens"
)

// The members of an answer in which transactions come and go.
const (
	fieldTxs    = "currentAction.txs"
	fieldSigned = "signedTxs"
)

// signing judges the transactions that the service wants the wallet to sign, and returns
// what the wallet may sign: the same, as they were read here.
func (v *verifier) signing(ctx context.Context, o *opened, id string, version uint64, t terms, in swapper.GetSwapStatusInput, got *swapper.GetSwapStatusOutput, fact *chains.EscrowFact) (swapper.Action, error) {
	said := got.CurrentAction.(*swapper.SignSmartChainTransaction)
	chain := o.byID[t.Src.Chain]
	signer, err := signerOf(chain, in.Signer, t.Payer)
	if err != nil {
		return nil, err
	}
	asked, err := chain.Address(said.RequiredSigner)
	if err != nil {
		asked = said.RequiredSigner
	}
	if err := errors.Join(
		same(reasonAction, "currentAction.chain", said.Chain, t.Src.Chain),
		same(reasonAction, "currentAction.requiredSigner", asked, signer),
	); err != nil {
		return nil, err
	}
	k, r, err := read(chain, t, chains.PlanText{Txs: said.Txs, Signer: signer})
	if err != nil {
		return nil, refusedTxs(fieldTxs, err)
	}
	step := r.Plan.Steps[0]
	if err := v.step(t, step, fact); err != nil {
		return nil, err
	}
	var payment string // that a new escrow pays for
	if step.Kind == chains.StepInit && t.Escrow == nil {
		if payment, err = v.newEscrow(k, t, step.Escrow, r, got.Escrow); err != nil {
			return nil, err
		}
	}
	g, gctx := errgroup.WithContext(ctx)
	g.Go(func() error { return v.cheap(gctx, k, t, signer, r.MaxFee) })
	out := &swapper.SignSmartChainTransaction{Chain: t.Src.Chain, Txs: r.Txs, RequiredSigner: signer, Name: "Refund",
		Description: fmt.Sprintf("Takes %s back out of the swap contract, to %s. The network charges %s at most.", tokens.NewAmount(t.Input, t.Src), t.Payer, fee(o, t, r))}
	switch step.Kind {
	case chains.StepRefundAuth:
		g.Go(func() error { return refusedAuth(k.VerifyRefund(gctx, step.Escrow, step.Auth)) })
	case chains.StepInit:
		if !r.Authorized {
			g.Go(func() error {
				_, err := k.VerifyInit(gctx, step.Escrow, step.Auth, r.Plan.FeeRate, signer)
				return refusedAuth(err)
			})
		}
		out.Name = "Initiate swap"
		out.Description = fmt.Sprintf("Pays %s into the swap contract, which gives it to a provider for the payment of %s to %s, or back to %s, at the latest from %s on. The network charges %s at most.",
			tokens.NewAmount(t.Input, t.Src), tokens.NewAmount(t.Output, t.Dst), t.Recipient, t.Payer, time.Unix(step.Escrow.Expiry, 0).UTC().Format(time.RFC3339), fee(o, t, r))
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	if payment != "" {
		t.Escrow = &step.Escrow
		if err := v.settleOn(ctx, id, version, t, payment); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func fee(o *opened, t terms, r chains.Reading) tokens.Amount {
	return tokens.NewAmount(r.MaxFee, o.byID[t.Src.Chain].Info().Native)
}

// read reads transactions with the contract set that they call: the swap's own once it
// has an escrow, else any of the chain's.
func read(chain chains.Chain, t terms, text chains.PlanText) (chains.PlanReader, chains.Reading, error) {
	var failed error
	text.About = t.Escrow
	for _, version := range chain.Info().Versions {
		if t.Escrow != nil && version.Name != t.Escrow.Version {
			continue
		}
		contract, _ := chain.Contract(version.Name)
		k, ok := contract.(chains.PlanReader)
		if !ok {
			return nil, chains.Reading{}, fault.New(fault.Unsupported, "transactions on %s cannot be read", t.smart().Chain)
		}
		r, err := k.ReadPlan(text)
		if err == nil && len(r.Plan.Steps) != 1 {
			err = fmt.Errorf("they carry out %d steps, must carry out one", len(r.Plan.Steps))
		}
		if err == nil {
			return k, r, nil
		}
		failed = errors.Join(failed, err)
	}
	return nil, chains.Reading{}, failed
}

// step refuses what a swap to Bitcoin or Lightning does not need of its user, or cannot do
// by what the wallet's own nodes say of its escrow.
func (v *verifier) step(t terms, s chains.Step, fact *chains.EscrowFact) error {
	refused := func(field, said, want string) error {
		return &RefusedError{Reason: reasonAction, Field: field, Said: said, True: want}
	}
	switch {
	case s.Kind != chains.StepInit && s.Kind != chains.StepRefund && s.Kind != chains.StepRefundAuth:
		return refused(fieldTxs, s.Kind.String(), "the opening of the swap's escrow, or its refund")
	case t.Escrow == nil && s.Kind != chains.StepInit:
		return refused(fieldTxs, s.Kind.String(), "the opening of the swap's escrow: it has none yet")
	case t.Escrow == nil:
		return nil
	case string(s.Escrow.Hash) != string(t.Escrow.Hash):
		return refused(fieldTxs, fmt.Sprintf("%s of the escrow %x", s.Kind, s.Escrow.Hash), fmt.Sprintf("about the escrow %x, the only one of this swap", t.Escrow.Hash))
	}
	want := chains.EscrowOpen
	if s.Kind == chains.StepInit {
		want = chains.EscrowNone
	}
	if fact != nil && fact.Err == nil && fact.State != want {
		return &RefusedError{Reason: reasonChain, Field: fieldTxs, Said: s.Kind.String(), True: "nothing: by the wallet's own nodes the escrow is " + fact.State.String()}
	}
	return nil
}

// nonceSlack is how far the time in the nonce of a bitcoin payment may lie from the creation
// of the swap: what was paid to the recipient before counts for no new escrow.
const nonceSlack = time.Hour

// newEscrow compares the escrow that an opening makes with what was agreed, and returns
// the payment that claims it: the invoice's hash, or the identity of a bitcoin output.
func (v *verifier) newEscrow(k chains.Contract, t terms, e chains.Escrow, r chains.Reading, told *swapper.EscrowInfo) (payment string, err error) {
	now := v.config.Now()
	want := lpverify.ToldOpening{Agreed: lpverify.Agreed{User: t.Payer, Token: t.Src, Contract: k, Now: now, Policy: lpverify.Policy(v.config.Policy)}, Pays: t.Input, Latest: t.Latest}
	if t.Type == swapper.SwapToBTCLN {
		inv, err := lightning.Decode(t.Recipient)
		if err != nil {
			return "", err
		}
		payment = hex.EncodeToString(inv.PaymentHash[:])
		want.Condition = chains.Condition{Kind: chains.HTLC, PaymentHash: inv.PaymentHash}
	} else {
		to, err := bitcoin.ParseAddress(t.Recipient, v.config.Network)
		if err != nil {
			return "", err
		}
		want.Condition = chains.Condition{Kind: chains.OnchainNonced, Script: to.Script(), Sats: t.Output.Uint64(), Nonce: r.Nonce, Confirmations: r.Confirmations}
		if r.Confirmations == 0 && told != nil && told.Nonce != "" && told.Confirmations > 0 {
			nonce, err := strconv.ParseUint(told.Nonce, 10, 64)
			if err != nil {
				return "", &RefusedError{Reason: reasonAction, Field: "escrow.nonce", Said: told.Nonce, True: "a decimal number of 64 bits"}
			}
			want.Condition.Nonce, want.Condition.Confirmations = nonce, uint16(min(told.Confirmations, lpverify.MaxPayoutConfirmations+1))
		}
		switch c := want.Condition.Confirmations; {
		case c == 0:
			return "", fault.New(fault.Unsupported, "the service does not say of the escrow which nonce and how many confirmations the payment to %s needs, so that its claim condition cannot be verified", t.Recipient)
		case c > lpverify.MaxPayoutConfirmations:
			return "", &RefusedError{Reason: reasonAction, Field: "escrow.confirmations", Said: strconv.Itoa(int(c)), True: "from 1 to " + strconv.Itoa(lpverify.MaxPayoutConfirmations)}
		}
		if !rawtx.NonceMadeWithin(want.Condition.Nonce, t.CreatedAt.Time, nonceSlack) {
			return "", &RefusedError{Reason: reasonAction, Field: "escrow.nonce", Said: strconv.FormatUint(want.Condition.Nonce, 10), True: "a nonce that was made within an hour of the swap"}
		}
		output := rawtx.NoncedTxoHash(want.Condition.Nonce, int64(want.Condition.Sats), want.Condition.Script)
		payment = "bitcoin:" + hex.EncodeToString(output[:])
		want.Latest = lpverify.ToBTCMaxExpiry(now, want.Condition.Confirmations, lpverify.PayoutTarget)
	}
	err = lpverify.ToldEscrow(want, e)
	if bad, ok := errors.AsType[*lp.LPError](err); ok {
		return "", &RefusedError{Reason: reasonAction, Field: fieldTxs, Said: "the opening of another escrow", True: bad.Public(), Err: err}
	}
	return payment, err
}

// feeSlack is how many times what the wallet's own nodes say an opening costs the
// transactions may offer to the network: fees rise meanwhile, and services add to them.
const feeSlack = 4

// cheap bounds what the network can charge for the transactions.
func (v *verifier) cheap(ctx context.Context, k chains.Contract, t terms, signer string, maxFee *big.Int) error {
	usual, err := k.Estimate(ctx, chains.Cost{Kind: chains.StepInit, Token: t.smart().Address, Payer: signer}, "")
	if err != nil {
		return fmt.Errorf("what the network charges: %w", err)
	}
	if most := new(big.Int).Mul(usual, big.NewInt(feeSlack)); maxFee.Cmp(most) > 0 {
		return &RefusedError{Reason: reasonAction, Field: fieldTxs, Said: "a fee of up to " + maxFee.String() + " base units", True: "at most " + most.String()}
	}
	return nil
}

// refusedTxs are transactions that do not carry out what they should.
func refusedTxs(field string, err error) error {
	if fault.CodeOf(err) == fault.Unsupported {
		return err
	}
	return &RefusedError{Reason: reasonAction, Field: field, Said: "transactions that do something else", True: "nothing but a step of the swap: " + err.Error(), Err: err}
}

// refusedAuth is an authorisation that the contract would not take.
func refusedAuth(err error) error {
	bad, ok := errors.AsType[*chains.AuthError](err)
	if !ok {
		return err
	}
	return &RefusedError{Reason: reasonAction, Field: fieldTxs, Said: "an authorization of the provider", True: "one that the contract takes: " + bad.Public(), Err: err}
}

// SubmitTransaction implements [swapper.Service]: the service gets what carries out a step
// that this wallet has verified, and nothing else. The hashes are those of the
// transactions, whatever the service says. Refunds after the expiry go to the wallet's
// own nodes instead.
func (v *verifier) SubmitTransaction(ctx context.Context, in swapper.SubmitTransactionInput) (*swapper.SubmitTransactionOutput, error) {
	if err := in.Validate(); err != nil {
		return nil, err
	}
	o, err := v.chains(ctx)
	if err != nil {
		return nil, err
	}
	t, version, err := v.agreed(ctx, in.SwapID)
	if err != nil {
		return nil, err
	}
	if err := v.reaches(o, t); err != nil {
		return nil, err
	}
	switch {
	case t.trusts():
		return nil, fault.New(fault.InvalidState, "there is nothing to sign: the swap needs a payment and nothing else")
	case t.Type == swapper.SwapSPVVaultFromBTC:
		return v.submitVault(ctx, o, version, t, in)
	case t.Type == swapper.SwapFromBTC:
		return v.submitDeposit(ctx, o, version, t, in)
	case t.Type == swapper.SwapFromBTCLN && t.Escrow != nil && t.Revealed.IsZero():
		ctx, cancel := context.WithTimeout(ctx, longest)
		defer cancel()
		return v.submitOpening(ctx, o, t, in)
	case t.receives():
		return v.submitClaim(ctx, o, t, in)
	}
	if t.Escrow == nil {
		return nil, fault.Invalid(fieldSigned, "must carry out the current action, and no opening of this swap's escrow was verified yet: ask for its status")
	}
	k, r, err := read(o.byID[t.Src.Chain], t, chains.PlanText{Txs: in.SignedTxs, Signed: true})
	if err != nil {
		return nil, err
	}
	step := r.Plan.Steps[0]
	if step.Kind == chains.StepInit && r.Plan.Signer != t.Payer {
		return nil, fault.Invalid(fieldSigned, "must be signed by %s, not by %s", t.Payer, r.Plan.Signer)
	}
	if err := v.step(t, step, nil); err != nil {
		return nil, fault.Invalid(fieldSigned, "%w", err)
	}
	if step.Kind == chains.StepRefund {
		return v.send(ctx, o.byID[t.Src.Chain], k, r.Plan, in)
	}
	ctx, cancel := context.WithTimeout(ctx, longest)
	defer cancel()
	if _, err := v.service.SubmitTransaction(ctx, in); err != nil {
		return nil, err
	}
	return &swapper.SubmitTransactionOutput{TxHashes: r.IDs}, nil
}
