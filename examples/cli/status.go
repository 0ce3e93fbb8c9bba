package main

import (
	"context"
	"fmt"
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
			return nil
		}
		pause := 2 * time.Second
		if a := s.CurrentAction; a != nil && a.Wait != nil {
			pause = min(max(time.Duration(a.Wait.PollTimeSeconds*float64(time.Second)), 500*time.Millisecond), 30*time.Second)
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

// progress is a swap in one line: its steps, and what is waited for.
func progress(s *swapper.GetSwapStatusOutput) string {
	var parts []string
	for _, step := range s.Steps {
		text := string(step.Type) + " " + strings.ReplaceAll(string(step.Status), "_", " ")
		if n := step.Confirmations; n != nil && n.Current < n.Target {
			text += fmt.Sprintf(" %d/%d", n.Current, n.Target)
			if n.ETASeconds >= 0 {
				text += fmt.Sprintf(", %s left", (time.Duration(n.ETASeconds) * time.Second).Round(time.Minute))
			}
		}
		parts = append(parts, text)
	}
	return fmt.Sprintf("[%s] %s", strings.Join(parts, " | "), s.State.Name)
}

func (c *cli) showStatus(s *swapper.GetSwapStatusOutput, draw bool) error {
	fmt.Fprintf(c.out, "%s: %s\n", s.State.Name, s.State.Description)
	err := c.table("STEP\tCHAIN\tSTATUS\tTRANSACTIONS", func(row func(...any)) {
		for _, step := range s.Steps {
			var ids []string
			for _, id := range []string{step.SetupTxID, step.InitTxID, step.SettleTxID, step.RefundTxID} {
				if id != "" {
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
	a := s.CurrentAction
	switch {
	case a == nil && s.IsFinished:
		line("\nThe swap has ended.")
	case a == nil:
	case a.SendToAddress != nil:
		line("\n%s: %s", a.SendToAddress.Name, a.SendToAddress.Description)
		for _, tx := range a.SendToAddress.Txs {
			line("%s to %s", amount(&tx.Amount), tx.Address)
			if err == nil && draw {
				text := tx.Hyperlink
				if tx.Type == "BOLT11_PAYMENT_REQUEST" {
					text = strings.ToUpper(text) // which takes fewer modules
				}
				err = c.drawQR(text)
			}
		}
	case a.SignPSBT != nil:
		line("\n%s: %s Sign, and hand in with submit:", a.SignPSBT.Name, a.SignPSBT.Description)
		for _, p := range a.SignPSBT.Funded {
			line("%s", p.PSBTBase64)
			line("Miners get %s of it.", amount(p.NetworkFee))
		}
		for _, p := range a.SignPSBT.Raw {
			line("%s", p.PSBTBase64)
			line("Miners may get %s of it at most.", amount(p.MaxNetworkFee))
		}
	case a.SignSmartChainTransaction != nil:
		t := a.SignSmartChainTransaction
		line("\n%s: %s Sign as %s, and hand in with submit:", t.Name, t.Description, t.RequiredSigner)
		for _, tx := range t.Txs {
			line("%s", tx)
		}
	case a.Wait != nil:
		line("\n%s: %s", a.Wait.Name, a.Wait.Description)
	}
	return err
}
