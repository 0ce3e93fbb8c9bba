package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/swapper-go/swapper"
)

func (c *cli) status(ctx context.Context, r *request) error {
	in := swapper.GetSwapStatusInput{SwapID: r.args[0], BitcoinAddress: r.bitcoin, BitcoinPublicKey: r.public}
	if r.watch {
		return c.follow(ctx, in)
	}
	s, err := c.swaps.GetSwapStatus(ctx, in)
	if err != nil || c.json {
		return c.print(s, err)
	}
	return c.showStatus(s, c.live || r.qr)
}

// follow prints a swap's progress until it has ended: one line that is written again on a
// terminal, otherwise a line, or with -json an object, for every change.
func (c *cli) follow(ctx context.Context, in swapper.GetSwapStatusInput) error {
	last := ""
	for {
		s, err := c.swaps.GetSwapStatus(ctx, in)
		if err != nil {
			return err
		}
		if line := progress(s); line != last {
			if err := c.follows(s, line, last); err != nil {
				return err
			}
			last = line
		}
		if s.IsFinished {
			if c.live {
				fmt.Fprintln(c.out)
			}
			if !s.IsSuccess {
				return unsuccessful{fmt.Errorf("the swap has ended as %s: %s", s.State.Name, s.State.Description)}
			}
			if !c.json {
				_, err = fmt.Fprintf(c.out, "The swap has succeeded: %s for %s.\n", amount(&s.Quote.InputAmount), amount(&s.Quote.OutputAmount))
			}
			return err
		}
		pause := 2 * time.Second
		if a, ok := s.CurrentAction.(*swapper.Wait); ok {
			pause = min(max(a.PollTime, 500*time.Millisecond), 30*time.Second)
		}
		if c.pause > 0 {
			pause = min(pause, c.pause)
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(pause):
		}
	}
}

func (c *cli) follows(s *swapper.GetSwapStatusOutput, line, last string) error {
	switch {
	case c.json:
		return c.print(s, nil)
	case c.live:
		_, err := fmt.Fprintf(c.out, "\r%-*s", len(last), line)
		return err
	}
	_, err := fmt.Fprintln(c.out, line)
	return err
}

// progress is a swap in one line: its steps, what is waited for, and what its user has to do.
func progress(s *swapper.GetSwapStatusOutput) string {
	var parts []string
	for _, step := range s.Steps {
		text := string(step.Type) + " " + strings.ReplaceAll(string(step.Status), "_", " ")
		if n := step.Confirmations; n != nil && n.Current < n.Target {
			text += fmt.Sprintf(" %d/%d", n.Current, n.Target)
			if n.ETA >= 0 {
				text += fmt.Sprintf(", %.0f min left", max(1, n.ETA.Round(time.Minute).Minutes()))
			}
		}
		parts = append(parts, text)
	}
	line := fmt.Sprintf("[%s] %s", strings.Join(parts, " | "), s.State.Name)
	if name := todo(s.CurrentAction); name != "" {
		line += "; to be done: " + name + ", see cli status"
	}
	return line
}

// todo names what the user has to do; "" for nothing.
func todo(a swapper.Action) string {
	switch a := a.(type) {
	case *swapper.SendToAddress:
		return a.Name
	case *swapper.SignPSBT:
		return a.Name
	case *swapper.SignSmartChainTransaction:
		return a.Name
	}
	return ""
}

func (c *cli) showStatus(s *swapper.GetSwapStatusOutput, draw bool) error {
	fmt.Fprintf(c.out, "%s: %s\n", s.State.Name, s.State.Description)
	err := c.table("STEP\tCHAIN\tSTATUS\tTRANSACTIONS", func(row func(...any)) {
		for _, step := range s.Steps {
			var ids []string
			for _, id := range []string{step.SetupTxID, step.InitTxID, step.SettleTxID, step.RefundTxID} {
				if id != "" && !slices.Contains(ids, id) {
					ids = append(ids, id)
				}
			}
			row(step.Title, step.Chain, step.Status, strings.Join(ids, " "))
		}
	})
	if err != nil {
		return err
	}
	if s.ActionError != nil {
		fmt.Fprintf(c.out, "\nNot possible now: %s (%s)\n", s.ActionError.Error, s.ActionError.Code)
	}
	return c.showAction(s, draw)
}

// showAction prints what the user has to do, and draws what is to be paid as a QR code.
func (c *cli) showAction(s *swapper.GetSwapStatusOutput, draw bool) (err error) {
	line := func(format string, args ...any) {
		if err == nil {
			_, err = fmt.Fprintf(c.out, format+"\n", args...)
		}
	}
	switch a := s.CurrentAction.(type) {
	case nil:
		if s.IsFinished {
			line("\nThe swap has ended.")
		}
	case *swapper.SendToAddress:
		line("\n%s: %s", a.Name, a.Description)
		for _, tx := range a.Txs {
			line("%s to %s", amount(&tx.Amount), tx.Address)
			if err == nil && draw {
				text := tx.Hyperlink
				if tx.Type == "BOLT11_PAYMENT_REQUEST" {
					text = strings.ToUpper(text) // which takes fewer modules
				}
				err = c.drawQR(text)
			}
		}
		line("Then: cli status -watch %s", s.SwapID)
	case *swapper.SignPSBT:
		line("\n%s: %s", a.Name, a.Description)
		for _, p := range a.Funded {
			line("Sign it, then: cli submit %s", s.SwapID)
			line("%s", p.PSBTBase64)
			line("Miners get %s of it.", amount(p.NetworkFee))
		}
		for _, p := range a.Raw {
			line("Add inputs of your wallet and sign it, then: cli submit %s", s.SwapID)
			line("%s", p.PSBTBase64)
			line("Miners may get %s of it at most.", amount(p.MaxNetworkFee))
			line("To have the inputs chosen: cli status -bitcoin ADDRESS -public-key KEY %s", s.SwapID)
		}
	case *swapper.SignSmartChainTransaction:
		line("\n%s: %s Sign as %s, then: cli submit %s", a.Name, a.Description, a.RequiredSigner, s.SwapID)
		for _, tx := range a.Txs {
			line("%s", tx)
		}
	case *swapper.Wait:
		line("\n%s: %s", a.Name, a.Description)
		line("To follow it: cli status -watch %s", s.SwapID)
	}
	return err
}
