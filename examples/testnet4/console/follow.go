package console

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/tokens"
)

// Follow does what a swap asks of its user until it has ended, and shows how it moves.
// It may be stopped at any moment: what was sent is kept, and Resume goes on with it.
func (a *App) Follow(ctx context.Context, id string) error {
	asked := ""  // the payment that the user was told of
	refused := 0 // signatures one after the other that came too late
	a.shown = make(map[string]string)
	for {
		s, err := a.status(ctx, id)
		if err != nil {
			return err
		}
		a.progress(s)
		if s.IsFinished {
			return a.outcome(s)
		}
		expected := 2 * time.Second
		if s.ActionError != nil {
			a.once("problem", "    not yet possible: %s", s.ActionError.Error)
		}
		switch action := s.CurrentAction.(type) {
		case nil:
		case *swapper.SendToAddress:
			expected = 0 // it is the user's turn
			tx := action.Txs[0]
			if asked != tx.Address {
				asked = tx.Address
				if err := a.deposit(tx); err != nil {
					return err
				}
			}
		case *swapper.Wait:
			expected = action.PollTime
		default:
			if ctx.Err() != nil { // the user has stopped the program
				return context.Cause(ctx)
			}
			err := a.sign(ctx, id, action)
			if err == nil {
				refused = 0
				continue
			}
			// What was signed may no longer be what the chain accepts, as a claim when the
			// relay has moved: the next status has a new action.
			if refused++; refused == 3 || fault.CodeOf(err) != fault.InvalidState {
				return err
			}
			a.once("problem", "    not yet possible: %s", err)
		}
		if err := a.Network.Wait(ctx, expected); err != nil {
			return err
		}
	}
}

// status asks for the state of a swap as this wallet, for which payments on Bitcoin are
// made ready.
func (a *App) status(ctx context.Context, id string) (*swapper.GetSwapStatusOutput, error) {
	return a.Client.GetSwapStatus(ctx, swapper.GetSwapStatusInput{SwapID: id,
		BitcoinAddress: a.Keys.Address("BITCOIN"), BitcoinPublicKey: a.Keys.BitcoinPublicKey()})
}

func (a *App) sign(ctx context.Context, id string, action swapper.Action) error {
	if s, ok := action.(*swapper.SignSmartChainTransaction); ok && s.Name == "Settle manually" {
		native, _ := tokens.Native(s.Chain)
		if err := a.Balance(ctx, native.ID()); err != nil { // for the fee of the claim
			return err
		}
	}
	signed, err := a.Keys.Sign(ctx, action)
	if err != nil {
		return err
	}
	_, err = a.Client.SubmitTransaction(ctx, swapper.SubmitTransactionInput{SwapID: id, SignedTxs: signed})
	if fault.CodeOf(err) == fault.Timeout && ctx.Err() == nil {
		return nil // it is stored and under way, or is asked for again
	}
	return err
}

// deposit tells the user what to pay, or pays it on the local network.
func (a *App) deposit(tx swapper.SendToAddressTx) error {
	a.say("  pay %s %s to %s", tx.Amount.Amount, tx.Amount.Symbol, tx.Address)
	if tx.Type != "BOLT11_PAYMENT_REQUEST" {
		return nil
	}
	paid, err := a.Network.Pay(tx.Address)
	if paid && err == nil {
		a.say("  (paid by the local network's user)")
	}
	return err
}

// progress prints the state and the steps of a swap that have changed.
func (a *App) progress(s *swapper.GetSwapStatusOutput) {
	a.once("state", "  %s: %s", s.State.Name, s.State.Description)
	for i, step := range s.Steps {
		if c := step.Confirmations; c != nil && c.Current < c.Target {
			eta := "time unknown"
			if c.ETA >= 0 {
				eta = "about " + c.ETA.String()
			}
			a.once(fmt.Sprint("confirmations ", i), "    %d of %d confirmations, %s", c.Current, c.Target, eta)
		}
		for _, id := range []string{step.SetupTxID, step.InitTxID, step.SettleTxID, step.RefundTxID} {
			if id == "" {
				continue
			}
			link := a.Network.Explorer(step.Chain, id)
			if link == "" {
				link = id
			}
			what := "transaction"
			if step.Chain == "LIGHTNING" {
				what = "payment" // and its hash
			}
			a.once(id, "    %s on %s: %s", what, step.Chain, link)
		}
	}
}

// once prints a line unless it is what was printed last about the same thing.
func (a *App) once(about, format string, args ...any) {
	line := fmt.Sprintf(format, args...)
	if a.shown[about] != line {
		a.shown[about] = line
		a.say("%s", line)
	}
}

func (a *App) outcome(s *swapper.GetSwapStatusOutput) error {
	switch {
	case s.IsSuccess:
		a.say("Done: %s %s were received.", s.Quote.OutputAmount.Amount, s.Quote.OutputAmount.Symbol)
		return nil
	case s.IsExpired:
		return errors.New("the quote expired before anything was paid; run the command again for another")
	}
	if comesBack(s) {
		a.say("The swap has ended as REFUNDED: %s", s.State.Description)
		return nil
	}
	a.say("The swap has ended as %s: %s", s.State.Name, s.State.Description)
	return fmt.Errorf("the swap %s failed", s.SwapID)
}

// Resume goes on with the swaps of the given types that an earlier run began; done says
// that there was one. A quote that nothing was paid for yet may be declined.
func (a *App) Resume(ctx context.Context, types ...swapper.SwapType) (done bool, err error) {
	pending, err := a.Client.ListPendingSwaps(ctx, swapper.ListSwapsInput{Signer: a.signer()})
	if err != nil {
		return false, err
	}
	for _, p := range pending {
		if !slices.Contains(types, p.SwapType) {
			continue
		}
		s, err := a.status(ctx, p.SwapID)
		if fault.CodeOf(err) == fault.NotFound {
			continue // a service lists it, and this wallet has not agreed to it
		}
		if err != nil {
			return done, err
		}
		if s.IsFinished {
			continue
		}
		a.say("\nThe swap %s of %s has not ended:", p.SwapID, p.CreatedAt.Local().Format("2006-01-02 15:04:05 MST"))
		if isOffer(s) && !a.Accept(&s.SwapOutputBase) {
			continue
		}
		if err := a.Follow(ctx, p.SwapID); err != nil {
			return true, err
		}
		done = true
	}
	return done, nil
}

// signer is the wallet's address on the smart chain: who pays there, or is paid.
func (a *App) signer() string { return a.Keys.Address(a.Chain) }

// isOffer reports whether nothing was paid or signed for a swap yet.
func isOffer(s *swapper.GetSwapStatusOutput) bool {
	for _, step := range s.Steps {
		if step.Type == "Payment" || step.Type == "Setup" {
			return step.Status == "awaiting" // the first of them comes first
		}
	}
	switch c := s.CurrentAction.(type) { // a service's steps are not shown
	case *swapper.SignSmartChainTransaction:
		return c.Name == "Initiate swap"
	case *swapper.SendToAddress, *swapper.SignPSBT:
		return true
	}
	return false
}

// refundAll signs every refund that is possible now, and waits for those that are under way.
func (a *App) refundAll(ctx context.Context) error {
	all, err := a.Client.ListPendingSwaps(ctx, swapper.ListSwapsInput{Signer: a.signer()})
	if err != nil {
		return err
	}
	refunded := 0
	for _, p := range all {
		s, err := a.status(ctx, p.SwapID)
		if fault.CodeOf(err) == fault.NotFound {
			continue // as in Resume
		}
		if err != nil {
			return err
		}
		if !refundable(s) {
			a.say("%s, %s %s: %s", p.SwapID, p.Quote.InputAmount.Amount, p.Quote.InputAmount.Symbol, s.State.Description)
			if e := s.ActionError; e != nil {
				a.say("    not yet possible: %s", e.Error)
			}
			continue
		}
		if s.CurrentAction != nil && !a.ask(fmt.Sprintf("Refund %s %s of %s?", p.Quote.InputAmount.Amount, p.Quote.InputAmount.Symbol, p.SwapID)) {
			continue
		}
		if err := a.Follow(ctx, p.SwapID); err != nil {
			return err
		}
		refunded++
	}
	if refunded == 0 {
		a.say("Nothing can be refunded at the moment.")
	}
	return nil
}

// refundable reports whether a swap is to be refunded by a signature, or its refund was
// signed and is under way.
func refundable(s *swapper.GetSwapStatusOutput) bool {
	if s.CurrentAction != nil {
		sign, ok := s.CurrentAction.(*swapper.SignSmartChainTransaction)
		return ok && sign.Name == "Refund"
	}
	if len(s.Steps) == 0 { // a service's are not shown
		return s.ActionError == nil && comesBack(s)
	}
	return s.ActionError == nil && slices.ContainsFunc(s.Steps, func(step swapper.Step) bool { return step.Type == "Refund" && step.Status == "awaiting" })
}

// comesBack reports whether a swap's state, which a service may tell late, is that of a refund.
func comesBack(s *swapper.GetSwapStatusOutput) bool {
	return s.State.Name == "REFUNDABLE" || s.State.Name == "REFUNDED"
}

// recoverAll finds the wallet's swaps on the chains.
func (a *App) recoverAll(ctx context.Context, own *swapper.Client) error {
	a.say("Reading the history of %s; this takes some minutes ...", a.Chain)
	found, err := own.Recover(ctx, a.Keys.Address(a.Chain))
	for _, s := range found {
		a.say("  %s %s: %s", s.SwapType, s.SwapID, s.State.Description)
	}
	if err != nil {
		return err
	}
	a.say("%d swaps were found that were not stored. Run the program again to go on with what is pending, with -refund to get it back.", len(found))
	return nil
}
