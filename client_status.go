package swapper

import (
	"context"
	"encoding/hex"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/btc/psbt"
	"github.com/swapper-go/swapper/internal/engine"
	"github.com/swapper-go/swapper/internal/swap"
	"github.com/swapper-go/swapper/storage"
)

// GetSwapStatus implements [Service]. What it reports of the chains is at most
// a second old (a fifth of one on regtest, whose blocks come at once), or holds as of the blocks that AsOf names, and a secret is stored durably before it returns. If the action
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
	owned, own := owns(ctx, in.SwapKey), false
	q := engine.StatusRequest{ID: in.SwapID, Caller: func(r *swap.Record) (swap.Caller, error) {
		caller, err := c.caller(r, in)
		own = owned(r) || in.Secret != "" && r.ProvedBy(*preimageOf(in.Secret))
		caller.Discreet = !own
		return caller, err
	}}
	if in.Secret != "" {
		q.Preimage = preimageOf(in.Secret)
	}
	s, err := c.engine.Status(ctx, c.reader, q)
	if err != nil {
		return nil, err
	}
	return c.status(s, own), nil
}

// status is how a swap stands, as its owner or another caller sees it.
func (c *Client) status(s *engine.Status, owned bool) *GetSwapStatusOutput {
	out := &GetSwapStatusOutput{ListSwapOutput: withFlags(c.base(s.Record, s.View, owned), s.View.Row), RequiresSecretReveal: s.View.Reveal,
		Escrow: c.escrowOf(s.Record), Vault: vaultOf(s.Record), CurrentAction: actionOf(s.Built), AsOf: s.AsOf}
	if f := s.Built.Funded; f != nil {
		out.Quote.Fees.NetworkInput = bitcoinAmount(f.Fee)
	}
	if s.Problem != nil {
		if shown := fault.Public(s.Problem); shown != s.Problem.Error() {
			c.config.Logger.Info("the swap's action could not be built", "swap", storage.Label(s.Record.ID), "shown", shown, "err", s.Problem)
		}
		out.ActionError = &ActionError{Code: fault.CodeOf(s.Problem), Error: fault.Public(s.Problem)}
	}
	return out
}

// caller reads what a status request says of the wallet at hand.
func (c *Client) caller(r *swap.Record, in GetSwapStatusInput) (swap.Caller, error) {
	var caller swap.Caller
	if in.Signer != "" {
		ch, ok := c.byID[r.Chain]
		if !ok {
			return caller, fault.At("swapId", fault.New(fault.Unsupported, "chain %s is not configured", r.Chain))
		}
		a, err := ch.Address(in.Signer)
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
		w, err := psbt.NewWallet(a, in.BitcoinPublicKey)
		if err != nil {
			return caller, fault.At("bitcoinPublicKey", err)
		}
		caller.Wallet = &w
	}
	if in.BitcoinFeeRate != nil {
		caller.FeeRate = *in.BitcoinFeeRate
	}
	return caller, nil
}

// preimageOf reads a secret that was validated.
func preimageOf(s Secret) *chains.Preimage {
	var out chains.Preimage
	_, _ = hex.Decode(out[:], []byte(s.Reveal()))
	return &out
}
