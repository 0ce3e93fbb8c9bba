package engine

import (
	"context"
	"time"

	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/lightning"
	"github.com/swapper-go/swapper/internal/lnurl"
	"github.com/swapper-go/swapper/internal/swap"
)

// Links asks what is behind an LNURL; [*lnurl.Client] is one.
type Links interface {
	Resolve(ctx context.Context, link string) (lnurl.Details, error)
}

// Settle has a swap's invoice paid from an LNURL-withdraw link, the swap's own or, if
// it has none, the given one, and waits for the payment. It returns the payment hash.
// The invoice is sent to the link's service once; if the response is lost, the LP is
// asked whether the payment came, and only another call sends it again. owned says
// whether the caller is the swap's owner or the service itself.
//
// Errors: fault.NotFound for an unknown id; fault.Unsupported for a swap that is not
// paid over Lightning; fault.InvalidState for one that awaits no payment, or whose LP takes
// none any more;
// fault.InvalidInput for a link that is missing, superfluous, or does not pay the
// invoice; fault.Upstream if its service refuses; fault.Timeout when ctx ends first.
func (g *Engine) Settle(ctx context.Context, links Links, id, link string, owned func(*swap.Record) bool) (hash string, err error) {
	r, err := g.Load(ctx, id)
	if err != nil {
		return "", err
	}
	if r.Type != swap.FromBTCLNAuto && r.Type != swap.FromBTCLN {
		return "", fault.At("swapId", fault.New(fault.Unsupported, "swaps of type %s are not paid over Lightning", r.Type))
	}
	if r.State != 0 {
		return "", fault.New(fault.InvalidState, "the swap is not awaiting payment")
	}
	use, err := withdrawal(ctx, links, r, link, owned(r))
	if err != nil {
		return "", err
	}
	use.ByOwner = owned(r)
	if use.With == nil && !use.ByOwner {
		return "", fault.At("swapId", fault.New(fault.Unsupported, "the swap's own LNURL-withdraw link pays for its owner alone; call as the owner or with the swap's key, or pay the invoice"))
	}
	sub := g.feed.add()
	if sub == nil {
		return "", ErrClosed
	}
	defer g.feed.remove(sub)
	res, err := g.Advance(ctx, r.ID, use)
	if err != nil {
		// The payment may have come while this call was on its way.
		if now, e := g.Advance(ctx, r.ID, nil); e == nil && fault.CodeOf(err) == fault.InvalidState {
			switch {
			case now.Record.State > 0:
				return now.Record.Lightning.Hash, nil
			case cancelled(now):
				return "", swap.ErrCancelled
			}
		}
		return "", err
	}
	poll := time.NewTimer(settlePoll)
	defer poll.Stop()
	for {
		switch state := res.Record.State; {
		case state > 0:
			return res.Record.Lightning.Hash, nil
		case state < 0:
			return "", fault.New(fault.InvalidState, "the invoice expired before it was paid; create a new swap")
		}
		if cancelled(res) {
			return "", swap.ErrCancelled
		}
		if try := res.Record.Tried[string(swap.CallWithdraw)]; try.Outcome == swap.Refused {
			return "", fault.New(fault.Upstream, "the LNURL service refused to pay: %s", try.Reason)
		}
		select {
		case <-ctx.Done():
		case <-sub.wake: // another pass may have seen the payment
			for _, c := range g.feed.take(sub) {
				if c.Record.ID == r.ID {
					res = &Result{Record: c.Record, Observation: &swap.Observation{}, At: g.Now()}
				}
			}
		case <-poll.C:
			res, err = g.Advance(ctx, r.ID, nil)
			poll.Reset(settlePoll)
		}
		switch {
		case ctx.Err() != nil:
			return "", fault.New(fault.Timeout, "the payment has not arrived yet; check the swap's status: %w", context.Cause(ctx))
		case err != nil:
			return "", err
		}
	}
}

func cancelled(res *Result) bool {
	return swap.Cancelled(swap.Decision{R: res.Record, Obs: res.Observation, Now: res.At})
}

// withdrawal resolves the link that a payment is to come from.
func withdrawal(ctx context.Context, links Links, r *swap.Record, link string, byOwner bool) (swap.UseWithdraw, error) {
	switch have := r.Lightning.Withdraw != nil; {
	case have && link != "" && !r.ReplacesWithdraw(byOwner):
		return swap.UseWithdraw{}, fault.Invalid("lnurlWithdraw", "must be empty: the swap already has an LNURL-withdraw link")
	case have && link == "":
		return swap.UseWithdraw{}, nil
	case link == "":
		return swap.UseWithdraw{}, fault.Invalid("lnurlWithdraw", "is required: the swap was created without an LNURL-withdraw link")
	}
	d, err := links.Resolve(ctx, link)
	if err != nil {
		return swap.UseWithdraw{}, fault.At("lnurlWithdraw", err)
	}
	w, ok := d.(*lnurl.Withdraw)
	if !ok {
		return swap.UseWithdraw{}, fault.Invalid("lnurlWithdraw", "is not an LNURL-withdraw link")
	}
	if have := r.Lightning.Withdraw; have != nil && have.Params.URL == w.Params.URL { // the same once more
		return swap.UseWithdraw{}, nil
	}
	invoice, err := lightning.Decode(r.Lightning.Invoice)
	if err != nil {
		return swap.UseWithdraw{}, err
	}
	if msat := invoice.AmountMsat; msat == nil || *msat < w.Params.MinWithdrawable || *msat > w.Params.MaxWithdrawable {
		return swap.UseWithdraw{}, fault.Invalid("lnurlWithdraw", "pays out between %d and %d msat, which does not include the invoice's amount", w.Params.MinWithdrawable, w.Params.MaxWithdrawable)
	}
	return swap.UseWithdraw{Link: w.Params.URL, With: Withdrawal(w)}, nil
}

// Withdrawal is what a record keeps of an LNURL-withdraw link.
func Withdrawal(w *lnurl.Withdraw) *swap.Withdraw {
	p := w.Params
	return &swap.Withdraw{Params: swap.WithdrawParams{K1: p.K1, Callback: p.Callback, MinWithdrawable: p.MinWithdrawable, MaxWithdrawable: p.MaxWithdrawable, URL: p.URL}}
}

// settlePoll is how often the LP is asked while a payment is awaited (protocol:
// swap-flows-escrow.md §11).
const settlePoll = 2 * time.Second
