package engine

import (
	"context"
	"errors"
	"math/big"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/lp"
	"github.com/swapper-go/swapper/lnurl"
	"github.com/swapper-go/swapper/swap"
	"github.com/swapper-go/swapper/watchtower"
)

// Poster tells an LP what a user signed or wants. *lp.Client is one.
type Poster interface {
	// PostSPV returns nil when the LP took it. An error that lp.PostRefused knows
	// is a refusal; any other leaves it unknown whether the LP has the PSBT.
	PostSPV(ctx context.Context, base, chain, quoteID string, psbt []byte) (txID string, err error)
	// SetRefundAddress says where a payment of gas on trust goes back to; url is
	// that of the swap. Saying it twice is a refusal with the code lp.CodeRefundIsSet.
	SetRefundAddress(ctx context.Context, url, paymentHash string, sequence *big.Int, address string) (lp.Status, error)
}

// Broadcaster sends Bitcoin transactions; every [bitcoin.Backend] is one.
type Broadcaster interface {
	// Broadcast returns a *bitcoin.RejectedError when the network refuses; sending
	// the same bytes again is safe.
	Broadcast(ctx context.Context, raw []byte) (bitcoin.Hash, error)
}

// Payer hands an invoice to an LNURL-withdraw service. *lnurl.Client is one.
type Payer interface {
	SubmitInvoice(ctx context.Context, w lnurl.WithdrawParams, invoice string) error
}

// Performing is the [Performer] of real chains and services.
type Performing struct {
	Chains    map[string]chains.Chain
	LPs       Poster
	LNURL     Payer
	Bitcoin   Broadcaster
	Messenger watchtower.Messenger // nil: nothing is published, and the user settles
}

// Perform implements [Performer].
func (p *Performing) Perform(ctx context.Context, r *swap.Record, e swap.Effect) swap.Outcome {
	switch e.Kind {
	case swap.SendTx:
		return p.send(ctx, r, e.Step)
	case swap.PostPSBT:
		_, err := p.LPs.PostSPV(ctx, r.LP.URL, r.Chain, r.Vault.QuoteID, r.Bitcoin.PSBT)
		return Outcome(lp.PostRefused(err), err)
	case swap.CallWithdraw:
		w := r.Lightning.Withdraw
		err := p.LNURL.SubmitInvoice(ctx, w.Params, r.Lightning.Invoice)
		return Outcome(err != nil && !errors.Is(err, lnurl.ErrUnknownOutcome), err)
	case swap.Publish:
		if p.Messenger == nil {
			return swap.Outcome{Refused: true, Reason: "no messenger is configured"}
		}
		return Outcome(false, p.Messenger.Publish(ctx, watchtower.Witness{Chain: r.Chain, Escrow: r.Escrow.Real.Data, Preimage: r.Lightning.Preimage}))
	case swap.Broadcast:
		_, err := p.Bitcoin.Broadcast(ctx, r.Bitcoin.Tx)
		_, refused := errors.AsType[*bitcoin.RejectedError](err)
		return Outcome(refused, err)
	case swap.SetRefund:
		return p.setRefund(ctx, r)
	}
	return swap.Outcome{Refused: true, Reason: "unknown effect"}
}

func (p *Performing) send(ctx context.Context, r *swap.Record, step int) swap.Outcome {
	c, ok := p.Chains[r.Chain]
	if !ok || r.Submission == nil || step >= len(r.Submission.Txs) {
		return swap.Outcome{Reason: "the chain is not configured"}
	}
	tx := r.Submission.Txs[step].Signed
	err := c.Send(ctx, tx)
	o := Outcome(fault.CodeOf(err) == fault.InvalidState, err)
	o.Tx = tx.ID
	return o
}

// setRefund counts an address that is set already as set: an answer may have
// been lost.
func (p *Performing) setRefund(ctx context.Context, r *swap.Record) swap.Outcome {
	s, err := p.LPs.SetRefundAddress(ctx, r.LPURL(), r.Gas.Hash, r.Gas.Sequence, r.Gas.RefundTo)
	e, refused := errors.AsType[*lp.RequestError](err)
	switch {
	case refused && e.Code == lp.CodeRefundIsSet:
		return swap.Outcome{Done: true}
	case err == nil && s.Code != lp.CodeDone && s.Code != lp.CodeRefundIsSet:
		return swap.Outcome{Refused: true, Reason: swap.ReasonOr(s.Message, "no reason given")}
	}
	return Outcome(refused, err)
}

func Outcome(refused bool, err error) swap.Outcome {
	if err == nil {
		return swap.Outcome{Done: true}
	}
	return swap.Outcome{Refused: refused, Reason: err.Error()}
}
