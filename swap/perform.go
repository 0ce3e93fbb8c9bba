package swap

import (
	"context"
	"encoding/json"
	"errors"
	"math/big"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/lnurl"
	"github.com/swapper-go/swapper/swap/lp"
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

// Messenger publishes a preimage to the watchtowers.
//
// Publish returns nil once at least one relay took the message. It may be called
// again with the same content, and is safe for concurrent use.
type Messenger interface {
	Publish(ctx context.Context, m Witness) error
}

// Witness is what a watchtower needs to claim an escrow for the user. From the
// moment it is published the preimage is known to everybody.
type Witness struct {
	Chain    string
	Escrow   json.RawMessage // the chain's own form
	Preimage Secret
}

// Performing is the [Performer] of real chains and services.
type Performing struct {
	Chains    map[string]chains.Chain
	LPs       Poster
	LNURL     Payer
	Bitcoin   Broadcaster
	Messenger Messenger // nil: nothing is published, and the user settles
}

// Perform implements [Performer].
func (p *Performing) Perform(ctx context.Context, r *Record, e Effect) Outcome {
	switch e.Kind {
	case SendTx:
		return p.send(ctx, r, e.Step)
	case PostPSBT:
		_, err := p.LPs.PostSPV(ctx, r.LP.URL, r.Chain, r.Vault.QuoteID, r.Bitcoin.PSBT)
		return outcome(lp.PostRefused(err), err)
	case CallWithdraw:
		w := r.Lightning.Withdraw
		err := p.LNURL.SubmitInvoice(ctx, w.Params, r.Lightning.Invoice)
		return outcome(err != nil && !errors.Is(err, lnurl.ErrUnknownOutcome), err)
	case Publish:
		if p.Messenger == nil {
			return Outcome{Refused: true, Reason: "no messenger is configured"}
		}
		return outcome(false, p.Messenger.Publish(ctx, Witness{Chain: r.Chain, Escrow: r.Escrow.Real.Data, Preimage: r.Lightning.Preimage}))
	case Broadcast:
		_, err := p.Bitcoin.Broadcast(ctx, r.Bitcoin.Tx)
		_, refused := errors.AsType[*bitcoin.RejectedError](err)
		return outcome(refused, err)
	case SetRefund:
		return p.setRefund(ctx, r)
	}
	return Outcome{Refused: true, Reason: "unknown effect"}
}

func (p *Performing) send(ctx context.Context, r *Record, step int) Outcome {
	c, ok := p.Chains[r.Chain]
	if !ok || r.Submission == nil || step >= len(r.Submission.Txs) {
		return Outcome{Reason: "the chain is not configured"}
	}
	tx := r.Submission.Txs[step].Signed
	err := c.Send(ctx, tx)
	o := outcome(fault.CodeOf(err) == fault.InvalidState, err)
	o.Tx = tx.ID
	return o
}

// setRefund counts an address that is set already as set: an answer may have
// been lost.
func (p *Performing) setRefund(ctx context.Context, r *Record) Outcome {
	s, err := p.LPs.SetRefundAddress(ctx, r.lpURL(), r.Gas.Hash, r.Gas.Sequence, r.Gas.RefundTo)
	e, refused := errors.AsType[*lp.RequestError](err)
	switch {
	case refused && e.Code == lp.CodeRefundIsSet:
		return Outcome{Done: true}
	case err == nil && s.Code != lp.CodeDone && s.Code != lp.CodeRefundIsSet:
		return Outcome{Refused: true, Reason: reasonOr(s.Message, "no reason given")}
	}
	return outcome(refused, err)
}

func outcome(refused bool, err error) Outcome {
	if err == nil {
		return Outcome{Done: true}
	}
	return Outcome{Refused: refused, Reason: err.Error()}
}
