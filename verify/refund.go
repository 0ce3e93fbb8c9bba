package verify

import (
	"context"
	"fmt"
	"time"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/tokens"
)

// refundable reports whether the swap's escrow can be taken back by its expiry alone: by
// our own clock and the chain's, with the network's grace.
func (v *verifier) refundable(t terms, fact *chains.EscrowFact) bool {
	return !t.receives() && fact != nil && fact.Err == nil && fact.State == chains.EscrowOpen &&
		min(v.config.Now().Unix(), fact.Head.Time) > t.Escrow.Expiry+int64(chains.RefundGrace/time.Second)
}

// refund is the refund of an expired escrow, made here: a service that is silent or
// lies cannot keep the money locked.
func (v *verifier) refund(ctx context.Context, o *opened, in swapper.GetSwapStatusInput, t terms) (swapper.Action, error) {
	chain := o.byID[t.Src.Chain]
	signer, err := signerOf(chain, in.Signer, t.Payer)
	if err != nil {
		return nil, err
	}
	k, ok := chain.Contract(t.Escrow.Version)
	if !ok {
		return nil, fault.New(fault.Unsupported, "the contracts %s of %s are not known", t.Escrow.Version, t.Src.Chain)
	}
	u, err := k.Build(ctx, chains.Plan{SwapID: in.SwapID, Signer: signer, Steps: []chains.Step{{Kind: chains.StepRefund, Escrow: *t.Escrow}}})
	if err != nil {
		return nil, err
	}
	return &swapper.SignSmartChainTransaction{Name: "Refund", Chain: t.Src.Chain, Txs: u.Txs, RequiredSigner: u.Signer,
		Description: fmt.Sprintf("Takes %s back out of the swap contract, to %s.", tokens.NewAmount(t.Input, t.Src), t.Payer)}, nil
}

// send sends signed transactions of a plan through the wallet's own nodes.
func (v *verifier) send(ctx context.Context, chain chains.Chain, k chains.Contract, plan chains.Plan, in swapper.SubmitTransactionInput) (*swapper.SubmitTransactionOutput, error) {
	plan.SwapID = in.SwapID
	txs, err := k.Check(plan, in.SignedTxs)
	if err != nil {
		return nil, err
	}
	if err := k.Admit(ctx, plan, txs); err != nil {
		return nil, err
	}
	out := &swapper.SubmitTransactionOutput{}
	for _, tx := range txs {
		if err := chain.Send(ctx, tx); err != nil {
			return nil, err
		}
		out.TxHashes = append(out.TxHashes, tx.ID)
	}
	return out, nil
}
