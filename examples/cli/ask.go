package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/swapper-go/swapper"
)

// complete asks the person at the terminal for what a new swap lacks.
func (c *cli) complete(ctx context.Context, r *request) error {
	lines := bufio.NewReader(c.in)
	ask := func(value *string, question string) error {
		if *value != "" {
			return nil
		}
		fmt.Fprintf(c.out, "%s: ", question)
		line, err := lines.ReadString('\n')
		if *value = strings.TrimSpace(line); *value == "" {
			if err == nil || errors.Is(err, io.EOF) {
				return misuse{fmt.Errorf("no answer to %q", question)}
			}
			return err
		}
		return nil
	}
	if err := ask(&r.from, "Token to pay, for example LIGHTNING-BTC"); err != nil {
		return err
	}
	if r.to == "" {
		all, err := c.swaps.GetSwapCounterTokens(ctx, swapper.GetSwapCounterTokensInput{Token: strings.ToUpper(r.from), Side: swapper.SideInput})
		if err != nil {
			return err
		}
		ids := make([]string, len(all))
		for i, t := range all {
			ids[i] = t.ID
		}
		if err := ask(&r.to, "Token to receive, of "+strings.Join(ids, ", ")); err != nil {
			return err
		}
	}
	if r.out == "" {
		if err := ask(&r.in, "How much to pay, for example 0.001"); err != nil {
			return err
		}
	}
	if chain, _, _ := strings.Cut(strings.ToUpper(r.from), "-"); chain != "LIGHTNING" && chain != "BITCOIN" {
		if err := ask(&r.source, "Address that pays, on "+chain); err != nil {
			return err
		}
	}
	return ask(&r.receiver, "Address, invoice or link that receives")
}
