package swapper

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/chainreader"
	"github.com/swapper-go/swapper/internal/engine"
	"github.com/swapper-go/swapper/storage"
	"github.com/swapper-go/swapper/swap"
	"slices"
	"time"
)

// GetSwapStatus implements [Service]. What it reports of the chains is at most
// a second old, and a secret is stored durably before it returns. If the action
// cannot be built now, the state is returned all the same and ActionError says
// why; if the caller's wallet or fee rate makes it impossible, the call fails
// with an error that names the field.
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
	ahead := c.reader.Ahead(early, r, c.engine.StoredView(r).Action, caller)
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
			c.config.Logger.Warn("building the swap's action failed", "swap", storage.Label(in.SwapID), "err", err)
			err = fault.New(fault.Internal, "the transactions to sign could not be built; try again later")
		}
		out.ActionError = &ActionError{Code: CodeOf(err), Error: err.Error()}
		if s, ok := v.Action.(*swap.Sign); ok && s.For != swap.ActionInit { // null would mean that nothing is left to do
			out.CurrentAction = actionOf(chainreader.Todo{Wait: s.Delayed()})
		}
		return out, nil
	}
	out.CurrentAction = actionOf(todo)
	if v.Blocked != nil {
		out.ActionError = &ActionError{Code: CodeOf(v.Blocked), Error: v.Blocked.Error()}
	}
	return out, nil
}

// look returns what a pass finds or, when that takes too long, what the store has.
func (c *Client) look(ctx context.Context, id string) (*engine.Result, error) {
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
	return &engine.Result{Record: r, Observation: &swap.Observation{}, At: c.config.Now()}, nil
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
		return fault.Invalid("secret", "must be exactly 64 hexadecimal digits")
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
var errSilent = fault.New(fault.Upstream, "the chain or the Bitcoin backend did not answer within %s; try again later", statusPatience)
