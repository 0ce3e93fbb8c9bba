package verify

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/btc/psbt"
	"github.com/swapper-go/swapper/internal/lp"
	lpverify "github.com/swapper-go/swapper/internal/lp/verify"
	"github.com/swapper-go/swapper/internal/swap"
	"github.com/swapper-go/swapper/tokens"
)

// depositTerms are the Bitcoin payment that claims the escrow of a FROM_BTC.
type depositTerms struct {
	Address       string
	Confirmations uint16
	TxID          bitcoin.Hash      // that was sent from here, the zero value if none was
	Confirmed     swapper.Timestamp // when the wallet's own Bitcoin backend was first seen to show it; zero: not yet
}

// depositRecord is the swap as the library's own code reads it that builds and checks payments.
func (t terms) depositRecord(id string) *swap.Record {
	return &swap.Record{Head: swap.Head{ID: id, Type: swap.FromBTC, Chain: t.Dst.Chain, Contract: t.Escrow.Version, Seed: t.Seed},
		Bitcoin: &swap.BitcoinPart{Address: t.Deposit.Address, Sats: t.Input.Uint64(), Confirmations: uint32(t.Deposit.Confirmations)}}
}

// paid is a payment to the address of a FROM_BTC that the wallet's own backend shows.
type paid struct {
	tx   *bitcoin.Tx
	vout uint32
}

// deposited asks the wallet's own backend for the payment; nil if there is none, or no
// escrow yet for which it could be.
func (v *verifier) deposited(ctx context.Context, o *opened, t terms) (*paid, error) {
	if t.Deposit == nil {
		return nil, nil
	}
	a, err := bitcoin.ParseAddress(t.Deposit.Address, v.config.Network)
	if err != nil {
		return nil, err
	}
	txs, err := o.reader.Received(ctx, swap.ReceivedAsk{Address: t.Deposit.Address, Sats: t.Input.Uint64()})
	if err != nil {
		return nil, err
	}
	var best *paid
	for _, tx := range txs {
		for n, out := range tx.Msg.TxOut {
			if out.Value == t.Input.Int64() && string(out.PkScript) == string(a.Script()) && (best == nil || tx.Confirmations > best.tx.Confirmations) {
				best = &paid{tx, uint32(n)}
			}
		}
	}
	return best, nil
}

func (p *paid) enough(t terms) bool {
	return p != nil && p.tx.Confirmations >= uint32(t.Deposit.Confirmations)
}

// fromDeposit is the status of a FROM_BTC: the escrow that the service wants opened is
// verified, the payment is asked for once the wallet's own nodes show it open and final, and
// the claim is made here.
func (v *verifier) fromDeposit(ctx context.Context, o *opened, version uint64, t terms, in swapper.GetSwapStatusInput) (*swapper.GetSwapStatusOutput, error) {
	var got *swapper.GetSwapStatusOutput
	var fact *chains.EscrowFact
	var seen *paid
	var refused, unseen error
	var g errgroup.Group
	asked := in
	asked.BitcoinAddress, asked.BitcoinPublicKey, asked.BitcoinFeeRate = "", "", nil // the coins are chosen here
	g.Go(func() error { got, refused = v.told(ctx, o, t, asked); return nil })
	g.Go(func() error { fact = v.fact(ctx, o, t); return nil })
	g.Go(func() error { seen, unseen = v.deposited(ctx, o, t); return nil })
	_ = g.Wait() // all keep their errors
	known := fact != nil && fact.Err == nil
	if refused != nil && (!known || fact.State == chains.EscrowNone) {
		return nil, refused
	}
	out := &swapper.GetSwapStatusOutput{ListSwapOutput: v.byEscrowNow(in.SwapID, t, stateTold(got, refused), fact)}
	open := known && fact.State == chains.EscrowOpen && fact.Final
	switch {
	case out.IsFinished || known && fact.State != chains.EscrowNone && !open:
		return out, nil
	case open && unseen != nil:
		out.ActionError = &swapper.ActionError{Code: fault.CodeOf(unseen), Error: "the wallet's own Bitcoin backend does not say whether the payment was made: " + fault.Public(unseen)}
		return out, nil
	case open && seen.enough(t):
		return out, v.depositClaim(ctx, o, version, t, in, got, seen, out)
	case open && seen != nil:
		out.CurrentAction = &swapper.Wait{Name: "Bitcoin confirmations", Description: fmt.Sprintf("By the wallet's own Bitcoin backend the payment has %d of %d confirmations.", seen.tx.Confirmations, t.Deposit.Confirmations), ExpectedTime: -time.Second, PollTime: 10 * time.Second}
		return out, nil
	case refused != nil || got.CurrentAction == nil:
		return out, nil
	}
	err := error(fault.New(fault.Unsupported, "the service's action %s is withheld: the wallet's own nodes do not show what it is for", got.CurrentAction.Type()))
	switch a := got.CurrentAction.(type) {
	case *swapper.Wait:
		out.CurrentAction, err = wait(a), nil
	case *swapper.SignSmartChainTransaction:
		if !open {
			out.CurrentAction, err = v.userOpening(ctx, o, in.SwapID, version, t, got, fact)
		}
	case *swapper.SendToAddress:
		if open {
			out.CurrentAction, err = v.payDeposit(ctx, o, t, in, a, fact)
		}
	}
	if fault.CodeOf(err) == fault.Unsupported {
		out.ActionError, err = &swapper.ActionError{Code: fault.Unsupported, Error: err.Error()}, nil
	}
	if err != nil {
		return nil, err
	}
	return out, nil
}

// userOpening verifies the transactions by which the user opens the escrow from which he is
// paid. A swap has one escrow, which is stored before the opening is handed out.
func (v *verifier) userOpening(ctx context.Context, o *opened, id string, version uint64, t terms, got *swapper.GetSwapStatusOutput, fact *chains.EscrowFact) (swapper.Action, error) {
	said := got.CurrentAction.(*swapper.SignSmartChainTransaction)
	chain := o.byID[t.Dst.Chain]
	signer, err := chain.Address(said.RequiredSigner)
	if err != nil {
		signer = said.RequiredSigner
	}
	if err := errors.Join(
		same(reasonAction, "currentAction.chain", said.Chain, t.Dst.Chain),
		same(reasonAction, "currentAction.requiredSigner", signer, t.Recipient),
	); err != nil {
		return nil, err
	}
	k, r, err := read(chain, t, chains.PlanText{Txs: said.Txs, Signer: t.Recipient})
	if err != nil {
		return nil, refusedTxs(fieldTxs, err)
	}
	step := r.Plan.Steps[0]
	if step.Kind != chains.StepInit {
		return nil, &RefusedError{Reason: reasonAction, Field: fieldTxs, Said: step.Kind.String(), True: "the opening of the swap's escrow"}
	}
	if err := v.step(t, step, fact); err != nil {
		return nil, err
	}
	info := chain.Info()
	agreed := lpverify.Agreed{User: t.Recipient, Token: t.Dst, Native: info.Native, Contract: k, Now: v.config.Now(), Policy: lpverify.Policy(v.config.Policy)}
	g, gctx := errgroup.WithContext(ctx)
	g.Go(func() (err error) { agreed.NativePrice, err = v.config.Prices.Price(gctx, info.Native); return err })
	g.Go(func() error { return v.cheap(gctx, k, t, t.Recipient, r.MaxFee) })
	if !r.Authorized {
		g.Go(func() error {
			_, err := k.VerifyInit(gctx, step.Escrow, step.Auth, r.Plan.FeeRate, t.Recipient)
			return refusedAuth(err)
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	next := t
	var then string
	switch t.Type {
	case swapper.SwapFromBTC:
		if got.Escrow == nil || got.Escrow.Address == "" || got.Escrow.Confirmations == 0 {
			return nil, fault.New(fault.Unsupported, "the service does not say which bitcoin payment claims the escrow (escrow.address and escrow.confirmations), so that its claim condition cannot be verified")
		}
		err = lpverify.FromBTCTold(agreed, v.config.Network, lpverify.ToldDeposit{Address: got.Escrow.Address, Confirmations: got.Escrow.Confirmations, Sats: t.Input, Output: t.Output}, step.Escrow)
		next.Deposit = &depositTerms{Address: got.Escrow.Address, Confirmations: uint16(min(got.Escrow.Confirmations, 1<<15))}
		then = fmt.Sprintf("once %s were paid to %s", tokens.NewAmount(t.Input, t.Src), got.Escrow.Address)
	default:
		err = lpverify.FromBTCLNTold(agreed, t.Hash, t.Input, t.Output, step.Escrow)
		then = "by the secret of the Lightning payment, which the wallet keeps until the escrow is final"
	}
	if bad, ok := errors.AsType[*lp.LPError](err); ok {
		return nil, &RefusedError{Reason: reasonAction, Field: fieldTxs, Said: "the opening of another escrow", True: bad.Public(), Err: err}
	}
	if err != nil {
		return nil, err
	}
	if t.Escrow == nil {
		next.Escrow = &step.Escrow
		if err := v.keep(ctx, id, version, next); err != nil {
			return nil, err
		}
	} else if next.Deposit != nil {
		if err := errors.Join(
			same(reasonAgreed, "escrow.address", next.Deposit.Address, t.Deposit.Address),
			same(reasonAgreed, "escrow.confirmations", fmt.Sprint(next.Deposit.Confirmations), fmt.Sprint(t.Deposit.Confirmations)),
		); err != nil {
			return nil, err
		}
	}
	return &swapper.SignSmartChainTransaction{Name: "Initiate swap", Chain: t.Dst.Chain, Txs: r.Txs, RequiredSigner: t.Recipient,
		Description: fmt.Sprintf("Opens an escrow of %s, which is paid out to %s %s, until %s. At most %s are staked on it: the deposit comes back with the payout, and a reward goes to whoever claims. The network charges %s at most.",
			tokens.NewAmount(t.Output, t.Dst), t.Recipient, then, time.Unix(step.Escrow.Expiry, 0).UTC().Format(time.RFC3339), tokens.NewAmount(staked(step.Escrow), info.Native), tokens.NewAmount(r.MaxFee, info.Native))}, nil
}

// staked is what the opening of an escrow puts down beside its amount, in base units of the native token.
func staked(e chains.Escrow) *big.Int {
	sum := new(big.Int)
	for _, n := range []*big.Int{e.SecurityDeposit, e.ClaimerBounty} {
		if n != nil {
			sum.Add(sum, n)
		}
	}
	return sum
}

// payDeposit asks for the bitcoin, if the service asks for it too: to the address that claims
// the escrow which the wallet's own nodes show open and final, with time left.
func (v *verifier) payDeposit(ctx context.Context, o *opened, t terms, in swapper.GetSwapStatusInput, said *swapper.SendToAddress, fact *chains.EscrowFact) (swapper.Action, error) {
	if len(said.Txs) != 1 || said.Chain != tokens.Bitcoin || said.Txs[0].Type != "BITCOIN_ADDRESS" {
		return nil, &RefusedError{Reason: reasonAction, Field: "currentAction.txs", Said: fmt.Sprintf("%d payments on %s", len(said.Txs), said.Chain), True: "one payment on Bitcoin"}
	}
	tx := said.Txs[0]
	if err := errors.Join(
		same(reasonAction, "currentAction.txs[0].address", tx.Address, t.Deposit.Address),
		ofToken("currentAction.txs[0].amount", tx.Amount, t.Src),
		same(reasonAction, "currentAction.txs[0].amount.rawAmount", text(tx.Amount.RawAmount), text(t.Input)),
	); err != nil {
		return nil, err
	}
	if err := v.mayDeposit(t, fact); err != nil {
		return nil, err
	}
	caller, err := v.caller(in)
	if err != nil {
		return nil, err
	}
	amount := tokens.NewAmount(t.Input, t.Src)
	what := fmt.Sprintf("Pays %s to %s, for which the swap contract gives %s to %s.", amount, t.Deposit.Address, tokens.NewAmount(t.Output, t.Dst), t.Recipient)
	if caller.Wallet == nil {
		return &swapper.SendToAddress{Name: "Deposit on Bitcoin", Description: what, Chain: tokens.Bitcoin,
			Txs: swapper.List[swapper.SendToAddressTx]{{Type: "BITCOIN_ADDRESS", Address: t.Deposit.Address, Hyperlink: swap.BitcoinLink(t.Deposit.Address, t.Input.Int64()), Amount: swapper.AmountOf(amount)}}}, nil
	}
	todo, err := o.reader.BuildAction(ctx, t.depositRecord(in.SwapID), &swap.Pay{Fund: &swap.Fund{}}, caller)
	if err != nil {
		return nil, err
	}
	return t.signPSBT(what, todo), nil
}

// mayDeposit refuses a payment that would come too late or be made twice.
func (v *verifier) mayDeposit(t terms, fact *chains.EscrowFact) error {
	switch {
	case t.Deposit.TxID != bitcoin.Hash{}:
		return fault.New(fault.InvalidState, "the payment %s was sent already; the wallet's own Bitcoin backend does not show it yet", t.Deposit.TxID)
	case fact == nil || fact.Err != nil || fact.State != chains.EscrowOpen || !fact.Final:
		return &RefusedError{Reason: reasonChain, Field: "currentAction", Said: "a payment of bitcoin", True: "none: the wallet's own nodes do not show the escrow open and final"}
	case lp.DutyOpenToPay.TooLate(lp.SendTimeout(t.Escrow.Expiry, int64(t.Deposit.Confirmations)), fact.Head, v.config.Now()):
		return &RefusedError{Reason: reasonChain, Field: "currentAction", Said: "a payment of bitcoin", True: fmt.Sprintf("none: the escrow ends at %s, too soon for the payment to be confirmed", time.Unix(t.Escrow.Expiry, 0).UTC().Format(time.RFC3339))}
	}
	return nil
}

func (t terms) depositStep(seen *paid) chains.Step {
	return chains.Step{Kind: chains.StepClaimBitcoin, Escrow: *t.Escrow, Payment: &chains.Payment{TxID: seen.tx.ID, Vout: seen.vout, Confirmations: t.Deposit.Confirmations,
		Condition: chains.Condition{Kind: chains.Onchain, Script: seen.tx.Msg.TxOut[seen.vout].PkScript, Sats: t.Input.Uint64(), Confirmations: t.Deposit.Confirmations}}}
}

// depositClaim is the action once the payment is confirmed: to wait for a watchtower, and
// then to claim.
func (v *verifier) depositClaim(ctx context.Context, o *opened, version uint64, t terms, in swapper.GetSwapStatusInput, got *swapper.GetSwapStatusOutput, seen *paid, out *swapper.GetSwapStatusOutput) error {
	if t.Deposit.Confirmed.IsZero() {
		next := *t.Deposit
		next.Confirmed = v.now()
		t.Deposit = &next
		if err := v.keep(ctx, in.SwapID, version, t); err != nil {
			return err
		}
	}
	if v.leavesToOthers(t.Deposit.Confirmed, got, out) {
		return nil
	}
	signer, err := signerOf(o.byID[t.Dst.Chain], in.Signer, t.Recipient)
	if err != nil {
		return err
	}
	todo, err := o.reader.BuildAction(ctx, t.depositRecord(in.SwapID), t.depositSign(in.SwapID, signer, seen), swap.Caller{Signer: signer})
	if err != nil {
		return overtaken(err, out)
	}
	out.CurrentAction = t.settle(chains.Unsigned{Txs: todo.Txs, Signer: todo.Signer})
	return nil
}

func (t terms) depositSign(id, signer string, seen *paid) *swap.Sign {
	return &swap.Sign{AnySigner: true, Plan: chains.Plan{SwapID: id, Seed: t.Seed, Signer: signer, Steps: []chains.Step{t.depositStep(seen)}}}
}

// submitDeposit sends a payment through the wallet's own Bitcoin backend, a claim through the
// wallet's own nodes, and gives the opening to the service.
func (v *verifier) submitDeposit(ctx context.Context, o *opened, version uint64, t terms, in swapper.SubmitTransactionInput) (*swapper.SubmitTransactionOutput, error) {
	ctx, cancel := context.WithTimeout(ctx, longest)
	defer cancel()
	if t.Escrow == nil {
		return nil, fault.Invalid(fieldSigned, "must carry out the current action, and no opening of this swap's escrow was verified yet: ask for its status")
	}
	if _, err := psbt.Parse(in.SignedTxs[0]); err == nil {
		return v.sendDeposit(ctx, o, version, t, in)
	}
	fact := v.fact(ctx, o, t)
	if fact.Err == nil && fact.State == chains.EscrowOpen {
		seen, err := v.deposited(ctx, o, t)
		if err != nil {
			return nil, err
		}
		if !seen.enough(t) {
			return nil, fault.New(fault.InvalidState, "there is nothing to claim: the wallet's own Bitcoin backend does not show the payment with its confirmations")
		}
		checked, err := o.reader.Check(ctx, t.depositRecord(in.SwapID), t.depositSign(in.SwapID, "", seen), in.SignedTxs)
		if err != nil {
			return nil, err
		}
		out := &swapper.SubmitTransactionOutput{}
		for _, tx := range checked.Txs {
			if err := o.byID[t.Dst.Chain].Send(ctx, tx.Signed); err != nil {
				return nil, err
			}
			out.TxHashes = append(out.TxHashes, tx.ID)
		}
		return out, nil
	}
	return v.submitOpening(ctx, o, t, in)
}

// submitOpening gives the service a signed opening of the swap's own escrow.
func (v *verifier) submitOpening(ctx context.Context, o *opened, t terms, in swapper.SubmitTransactionInput) (*swapper.SubmitTransactionOutput, error) {
	_, r, err := read(o.byID[t.Dst.Chain], t, chains.PlanText{Txs: in.SignedTxs, Signed: true})
	if err != nil {
		return nil, err
	}
	step := r.Plan.Steps[0]
	if step.Kind != chains.StepInit || r.Plan.Signer != t.Recipient {
		return nil, fault.Invalid(fieldSigned, "must be the opening of the swap's escrow, signed by %s", t.Recipient)
	}
	if err := v.step(t, step, nil); err != nil {
		return nil, fault.Invalid(fieldSigned, "%w", err)
	}
	if _, err := v.service.SubmitTransaction(ctx, in); err != nil {
		return nil, err
	}
	return &swapper.SubmitTransactionOutput{TxHashes: r.IDs}, nil
}

func (v *verifier) sendDeposit(ctx context.Context, o *opened, version uint64, t terms, in swapper.SubmitTransactionInput) (*swapper.SubmitTransactionOutput, error) {
	checked, err := o.reader.Check(ctx, t.depositRecord(in.SwapID), &swap.Fund{}, in.SignedTxs)
	if err != nil {
		return nil, err
	}
	id := checked.PSBT.TxID
	if t.Deposit.TxID != id {
		if err := v.mayDeposit(t, v.fact(ctx, o, t)); err != nil {
			return nil, err
		}
		next := *t.Deposit
		next.TxID = id
		t.Deposit = &next
		if err := v.keep(ctx, in.SwapID, version, t); err != nil {
			return nil, err
		}
	}
	if _, err := v.config.Bitcoin.Broadcast(ctx, checked.PSBT.Tx); err != nil {
		return nil, err
	}
	return &swapper.SubmitTransactionOutput{TxHashes: swapper.List[string]{id.String()}}, nil
}
