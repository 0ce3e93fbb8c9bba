package chainio

import (
	"cmp"
	"context"
	"errors"
	"math/big"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/lnurl"
	"github.com/swapper-go/swapper/internal/lp"
	"github.com/swapper-go/swapper/internal/swap"
	"github.com/swapper-go/swapper/watchtower"
)

// LPClient tells an LP what a user signed or wants. *lphttp.Client is one.
type LPClient interface {
	// PostSPV returns nil when the LP took it. An error that lp.PostRefused knows
	// is a refusal; any other leaves it unknown whether the LP has the PSBT.
	PostSPV(ctx context.Context, base, chain, quoteID string, psbt []byte) (txID string, err error)
	// SetRefundAddress says where the payment of a trusted gas swap is refunded to; url is
	// that of the swap. Saying it twice is a refusal with the code lp.CodeRefundIsSet.
	SetRefundAddress(ctx context.Context, url, paymentHash string, sequence *big.Int, address string) (lp.Status, error)
}

// Broadcaster sends Bitcoin transactions; every [bitcoin.Backend] is one.
type Broadcaster interface {
	// Broadcast returns a *bitcoin.RejectedError when the network refuses; sending
	// the same bytes again is safe.
	Broadcast(ctx context.Context, raw []byte) (bitcoin.Hash, error)
}

// Withdrawer hands an invoice to an LNURL-withdraw service. *lnurl.Client is one.
type Withdrawer interface {
	SubmitInvoice(ctx context.Context, w lnurl.WithdrawParams, invoice string) error
}

// Executor is the engine.Executor of real chains and services.
type Executor struct {
	Chains    map[string]chains.Chain
	LPs       LPClient
	LNURL     Withdrawer
	Bitcoin   Broadcaster
	Messenger watchtower.Messenger // nil: nothing is published, and the user settles
	Claimer   watchtower.Claimer   // claims for users; nil: others do
}

// Execute implements engine.Executor.
func (p *Executor) Execute(ctx context.Context, r *swap.Record, e swap.Effect) swap.Outcome {
	switch e.Kind {
	case swap.SendTx:
		return p.send(ctx, r, e.Step)
	case swap.PostPSBT:
		_, err := p.LPs.PostSPV(ctx, r.LP.URL, r.Chain, r.Vault.QuoteID, r.Bitcoin.PSBT)
		o := outcome(lp.PostRefused(err) || notSent(err), err)
		o.Again = lp.PostAgain(err) || notSent(err)
		return o
	case swap.CallWithdraw:
		w := r.Lightning.Withdraw.Params
		err := p.LNURL.SubmitInvoice(ctx, lnurl.WithdrawParams{K1: w.K1, Callback: w.Callback, MinWithdrawable: w.MinWithdrawable, MaxWithdrawable: w.MaxWithdrawable}, r.Lightning.Invoice)
		o := outcome(err != nil && !errors.Is(err, lnurl.ErrUnknownOutcome), err)
		o.Of = w.K1
		return o
	case swap.Publish:
		if p.Messenger == nil && p.Claimer == nil {
			return swap.Outcome{Refused: true, Reason: "no messenger is configured"}
		}
		return p.publish(ctx, watchtower.Message{Chain: r.Chain, Escrow: r.Escrow.Real.Data, Preimage: r.Lightning.Preimage})
	case swap.HandOver:
		return p.handOver(ctx, r)
	case swap.Broadcast:
		_, err := p.Bitcoin.Broadcast(ctx, r.Bitcoin.Tx)
		_, refused := errors.AsType[*bitcoin.RejectedError](err)
		return outcome(refused, err)
	case swap.SetRefund:
		return p.setRefund(ctx, r)
	}
	return swap.Outcome{Refused: true, Reason: "unknown effect"}
}

// notSent reports whether a PSBT is too large to be posted, and was not.
func notSent(err error) bool {
	_, answered := errors.AsType[*lp.RequestError](err)
	return !answered && fault.CodeOf(err) == fault.InvalidInput
}

// publish gives a preimage to the claimer and to the messenger, or to the one that there is.
// The effect is repeated, so that the one that failed gets it again.
func (p *Executor) publish(ctx context.Context, m watchtower.Message) swap.Outcome {
	switch {
	case p.Claimer != nil && p.Messenger != nil:
		return outcome(false, watchtower.Messengers{p.Claimer, p.Messenger}.Publish(ctx, m))
	case p.Claimer != nil:
		err := p.Claimer.Publish(ctx, m)
		return outcome(fault.CodeOf(err) == fault.InvalidInput, err) // which says that it has left nothing
	}
	return outcome(false, p.Messenger.Publish(ctx, m))
}

// handOver leaves the claim of what Bitcoin has confirmed to the claimer.
func (p *Executor) handOver(ctx context.Context, r *swap.Record) swap.Outcome {
	var err error
	if r.Vault != nil {
		err = p.Claimer.Withdraw(ctx, watchtower.Withdrawal{Chain: r.Chain, Version: r.Contract, Owner: r.Vault.Owner, ID: r.Vault.VaultID, TxID: r.Bitcoin.TxID, From: r.From})
	} else {
		err = p.Claimer.Prove(ctx, watchtower.Payment{Chain: r.Chain, Escrow: r.Escrow.Real.Data, TxID: r.Bitcoin.TxID, Vout: r.Bitcoin.Vout, Condition: r.Bitcoin.Condition()})
	}
	return outcome(fault.CodeOf(err) == fault.InvalidInput, err)
}

func (p *Executor) send(ctx context.Context, r *swap.Record, step int) swap.Outcome {
	c, ok := p.Chains[r.Chain]
	if !ok || r.Submission == nil || step >= len(r.Submission.Txs) {
		return swap.Outcome{Reason: "the chain is not configured"}
	}
	tx := r.Submission.Txs[step].Signed
	err := c.Send(ctx, tx)
	o := outcome(fault.CodeOf(err) == fault.InvalidState, err)
	o.Tx = tx.ID
	return o
}

// setRefund counts an address that is set already as set: an answer may have
// been lost.
func (p *Executor) setRefund(ctx context.Context, r *swap.Record) swap.Outcome {
	s, err := p.LPs.SetRefundAddress(ctx, r.LPURL(), r.Gas.Hash, r.Gas.Sequence, r.Gas.RefundTo)
	e, refused := errors.AsType[*lp.RequestError](err)
	switch {
	case refused && e.Code == lp.CodeRefundIsSet:
		return swap.Outcome{Done: true}
	case err == nil && s.Code != lp.CodeDone && s.Code != lp.CodeRefundIsSet:
		return swap.Outcome{Refused: true, Reason: cmp.Or(s.Message, "no reason given")}
	}
	return outcome(refused, err)
}

// outcome is Done without an error; refused says that the error is final. The reason is stored,
// and shown to callers.
func outcome(refused bool, err error) swap.Outcome {
	if err == nil {
		return swap.Outcome{Done: true}
	}
	return swap.Outcome{Refused: refused, Reason: fault.Public(err), Err: err}
}
