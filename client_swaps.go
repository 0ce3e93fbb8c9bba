package swapper

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"
	"time"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/chains/lightning"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/lnurl"
	"github.com/swapper-go/swapper/storage"
	"github.com/swapper-go/swapper/swap"
)

// GetSwapStatus implements [Service]. The facts are at most a second old; a
// secret is durable when it returns. An action that cannot be built now does not
// hide the state: ActionError says why. One that the caller's wallet or fee rate
// makes impossible is an error that names the field.
func (c *Client) GetSwapStatus(ctx context.Context, in GetSwapStatusInput) (_ *GetSwapStatusOutput, err error) {
	ctx, end, err := c.life.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer end(&err)
	if err := in.Validate(); err != nil {
		return nil, err
	}
	r, err := c.engine.Load(ctx, in.SwapID)
	if err != nil {
		return nil, err
	}
	caller, err := c.caller(r, in)
	if err != nil {
		return nil, err
	}
	if in.Secret != "" {
		if err := c.reveal(ctx, r, in.Secret); err != nil {
			return nil, err
		}
	}
	early, cancel := context.WithTimeoutCause(ctx, statusPatience, errSilent)
	defer cancel()
	ahead := c.world.Ahead(early, r, c.engine.Show(r).Action, caller)
	defer ahead.Drop()
	res, err := c.look(ctx, in.SwapID)
	if err != nil {
		return nil, err
	}
	v := c.engine.View(res)
	out := &GetSwapStatusOutput{ListSwapOutput: withFlags(c.base(res.Record, v), v.Row), RequiresSecretReveal: v.Reveal, Escrow: c.escrowOf(res.Record)}
	late, cancel := context.WithTimeoutCause(ctx, statusPatience, errSilent)
	defer cancel()
	todo, err := ahead.Todo(late, res.Record, v.Action)
	if err != nil {
		if ofCaller(err) {
			return nil, err
		}
		if fault.CodeOf(err) == fault.Internal {
			c.config.Logger.Warn("action not built", "swap", storage.Label(in.SwapID), "err", err)
			err = fault.New(fault.Internal, "the action cannot be built now")
		}
		out.ActionError = &ActionError{Code: CodeOf(err), Error: err.Error()}
		if s, ok := v.Action.(*swap.Sign); ok && s.For != swap.ActionInit { // null would say that nothing is to be done any more
			out.CurrentAction = actionOf(swap.Todo{Wait: s.Delayed()})
		}
		return out, nil
	}
	out.CurrentAction = actionOf(todo)
	if v.Blocked != nil {
		out.ActionError = &ActionError{Code: CodeOf(v.Blocked), Error: v.Blocked.Error()}
	}
	return out, nil
}

// ofCaller reports whether an action cannot be built for the wallet or at the rate
// that the caller names, and could be for another.
func ofCaller(err error) bool {
	e, ok := errors.AsType[*fault.Error](err)
	return ok && e.Code == fault.InvalidInput && slices.Contains([]string{"bitcoinAddress", "bitcoinPublicKey", "bitcoinFeeRate", "signer"}, e.Field)
}

// statusPatience is how long a status waits for the outside world, and again for
// what its action is built from. A pass that takes longer goes on without it.
const statusPatience = 5 * time.Second

// errSilent is why waiting ended.
var errSilent = fault.New(fault.Upstream, "the chain or the Bitcoin backend did not answer within %s", statusPatience)

// look returns what a pass finds or, when that takes too long, what the store has.
func (c *Client) look(ctx context.Context, id string) (*swap.Result, error) {
	waiting, cancel := context.WithTimeoutCause(ctx, statusPatience, errSilent)
	defer cancel()
	res, err := c.engine.Advance(waiting, id, nil)
	if err == nil || waiting.Err() == nil || ctx.Err() != nil {
		return res, err
	}
	r, err := c.engine.Load(ctx, id)
	if err != nil {
		return nil, err
	}
	return &swap.Result{Record: r, Observation: &swap.Observation{}, At: c.config.Now()}, nil
}

// caller reads what a status request says of the wallet at hand.
func (c *Client) caller(r *swap.Record, in GetSwapStatusInput) (swap.Caller, error) {
	var caller swap.Caller
	if in.Signer != "" {
		ch, ok := c.byID[r.Chain]
		if !ok {
			return caller, fault.New(fault.Unsupported, "chain %s is not configured", r.Chain)
		}
		a, err := ch.Address(in.Signer, false)
		if err != nil {
			return caller, fault.At("signer", err)
		}
		caller.Signer = a
	}
	if in.BitcoinAddress != "" {
		a, err := bitcoin.ParseAddress(in.BitcoinAddress, c.config.Network)
		if err != nil {
			return caller, fault.Invalid("bitcoinAddress", "%w", err)
		}
		w, err := bitcoin.NewWallet(a, in.BitcoinPublicKey)
		if err != nil {
			return caller, err
		}
		caller.Wallet = &w
	}
	if in.BitcoinFeeRate != nil {
		caller.FeeRate = *in.BitcoinFeeRate
	}
	return caller, nil
}

// reveal stores a preimage, if it is that of the swap. It may be given again.
func (c *Client) reveal(ctx context.Context, r *swap.Record, s Secret) error {
	preimage, err := preimageOf(s)
	if err != nil {
		return fault.Invalid("secret", "is not 64 hexadecimal digits")
	}
	sum := sha256.Sum256(preimage[:])
	if r.Lightning == nil || r.Lightning.Hash != hex.EncodeToString(sum[:]) {
		return fault.Invalid("secret", "is not the preimage of the swap's payment hash")
	}
	if r.Lightning.Preimage == preimage {
		return nil
	}
	_, err = c.engine.Advance(ctx, r.ID, swap.Reveal{Preimage: preimage})
	return err
}

// SubmitTransaction implements [Service].
func (c *Client) SubmitTransaction(ctx context.Context, in SubmitTransactionInput) (_ *SubmitTransactionOutput, err error) {
	ctx, end, err := c.life.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer end(&err)
	if err := in.Validate(); err != nil {
		return nil, err
	}
	ids, err := c.engine.Submit(ctx, c.world, in.SwapID, in.SignedTxs)
	if err != nil {
		return nil, err
	}
	return &SubmitTransactionOutput{TxHashes: ids}, nil
}

// settlePoll is how often the LP is asked while a payment is awaited (protocol:
// swap-flows-escrow.md §11).
const settlePoll = 2 * time.Second

// SettleWithLnurl implements [Service]. The invoice is handed to the service
// once; when the service's answer is lost, the LP is asked whether the payment
// came, and only another call hands it over again.
func (c *Client) SettleWithLnurl(ctx context.Context, in SettleWithLnurlInput) (_ *SettleWithLnurlOutput, err error) {
	ctx, end, err := c.life.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer end(&err)
	if err := in.Validate(); err != nil {
		return nil, err
	}
	r, err := c.engine.Load(ctx, in.SwapID)
	if err != nil {
		return nil, err
	}
	if r.Type != swap.FromBTCLNAuto && r.Type != swap.FromBTCLN {
		return nil, fault.New(fault.Unsupported, "a swap of type %s is not paid over Lightning", r.Type)
	}
	if r.State != 0 {
		return nil, fault.New(fault.InvalidState, "the swap is not waiting for a payment")
	}
	use, err := c.withdrawal(ctx, r, in.LnurlWithdraw)
	if err != nil {
		return nil, err
	}
	res, err := c.engine.Advance(ctx, r.ID, use)
	if err != nil {
		// The payment may have come while this call was on its way.
		if now, e := c.engine.Load(ctx, r.ID); e == nil && fault.CodeOf(err) == fault.InvalidState && now.State > 0 {
			return &SettleWithLnurlOutput{PaymentHash: now.Lightning.Hash}, nil
		}
		return nil, err
	}
	for {
		switch state := res.Record.State; {
		case state > 0:
			return &SettleWithLnurlOutput{PaymentHash: res.Record.Lightning.Hash}, nil
		case state < 0:
			return nil, fault.New(fault.InvalidState, "the invoice expired unpaid")
		}
		if try := res.Record.Tried[string(swap.CallWithdraw)]; try.Outcome == swap.Refused {
			return nil, fault.New(fault.Upstream, "the LNURL service does not pay: %s", try.Reason)
		}
		select {
		case <-ctx.Done():
			return nil, fault.New(fault.Timeout, "the payment did not come in time, ask for the swap's status: %w", context.Cause(ctx))
		case <-time.After(settlePoll):
		}
		if res, err = c.engine.Advance(ctx, r.ID, nil); err != nil {
			return nil, err
		}
	}
}

// withdrawal resolves the link that a payment is to come from.
func (c *Client) withdrawal(ctx context.Context, r *swap.Record, link string) (swap.UseWithdraw, error) {
	switch have := r.Lightning.Withdraw != nil; {
	case have && link != "":
		return swap.UseWithdraw{}, fault.Invalid("lnurlWithdraw", "must not be given: the swap has a link")
	case have:
		return swap.UseWithdraw{}, nil
	case link == "":
		return swap.UseWithdraw{}, fault.Invalid("lnurlWithdraw", "is required: the swap has no link")
	}
	d, err := c.lnurl.Resolve(ctx, link)
	if err != nil {
		return swap.UseWithdraw{}, fault.At("lnurlWithdraw", err)
	}
	w, ok := d.(*lnurl.Withdraw)
	if !ok {
		return swap.UseWithdraw{}, fault.Invalid("lnurlWithdraw", "is no LNURL-withdraw link")
	}
	invoice, err := lightning.Decode(r.Lightning.Invoice)
	if err != nil {
		return swap.UseWithdraw{}, err
	}
	if msat := invoice.AmountMsat; msat == nil || *msat < w.Params.MinWithdrawable || *msat > w.Params.MaxWithdrawable {
		return swap.UseWithdraw{}, fault.Invalid("lnurlWithdraw", "pays from %d to %d msat, not the invoice's amount", w.Params.MinWithdrawable, w.Params.MaxWithdrawable)
	}
	return swap.UseWithdraw{Link: w.Params.URL, With: &swap.Withdraw{Params: w.Params}}, nil
}

// ListSwaps implements [Service]: newest first, no chain and no LP is asked.
func (c *Client) ListSwaps(ctx context.Context, in ListSwapsInput) (_ []ListSwapOutput, err error) {
	ctx, end, err := c.life.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer end(&err)
	return c.list(ctx, in, false, listable)
}

// ListPendingSwaps implements [Service]: newest first, no chain and no LP is asked.
func (c *Client) ListPendingSwaps(ctx context.Context, in ListPendingSwapsInput) (_ []ListSwapOutput, err error) {
	ctx, end, err := c.life.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer end(&err)
	return c.list(ctx, in, true, listable)
}

// listable reports whether lists show swaps of a type: all but gas for on-chain
// bitcoin (protocol: utilities.md §3, swap-flows-spv-and-core.md B2).
func listable(t swap.Type) bool { return t != swap.TrustedFromBTC }

func (c *Client) list(ctx context.Context, in ListSwapsInput, pending bool, show func(swap.Type) bool) ([]ListSwapOutput, error) {
	if err := in.Validate(); err != nil {
		return nil, err
	}
	if in.ChainID != "" && c.byID[in.ChainID] == nil {
		return nil, fault.Invalid("chainId", "%s is not configured", in.ChainID)
	}
	out := []ListSwapOutput{}
	valid := false
	var last error
	for _, ch := range c.chains {
		id := ch.Info().ID
		if in.ChainID != "" && in.ChainID != id {
			continue
		}
		signer, err := ch.Address(in.Signer, false)
		if err != nil {
			last = err
			continue
		}
		valid = true
		for r, err := range c.engine.List(ctx, id, signer, pending) {
			if err != nil {
				if errors.Is(err, swap.ErrUnreadable) {
					c.config.Logger.Error("a stored swap cannot be read", "err", err)
					continue
				}
				return nil, err
			}
			if show(r.Type) {
				out = append(out, c.listed(r))
			}
		}
	}
	if !valid {
		if last == nil {
			last = fault.Invalid("signer", "no chain is configured")
		}
		return nil, fault.At("signer", last)
	}
	return out, nil
}
