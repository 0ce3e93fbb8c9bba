package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"math/big"
	"strings"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/tokens"
)

var commands = []command{
	{"tokens", "", "list the tokens, or those that one can be swapped for", tokenFlags, (*cli).tokens},
	{"limits", "<from> <to>", "show the smallest and largest amounts of a pair of tokens", nil, (*cli).limits},
	{"parse", "<address>", "say what an address, invoice, link or URI is", nil, (*cli).parseAddress},
	{"balance", "<token> <wallet>", "show how much of a wallet's balance can be swapped", balanceFlags, (*cli).balance},
	{"quote", "", "ask what a swap costs; a quote that is not used expires", createFlags, (*cli).quote},
	{"create", "", "create a swap, and show what its user has to do first", createFlags, (*cli).create},
	{"status", "<swap>", "show the state of a swap, and what its user has to do now", statusFlags, (*cli).status},
	{"submit", "<swap> [transaction ...]", "hand in what was signed; without transactions they are read from the input, one a line", nil, (*cli).submit},
	{"list", "<signer>", "list the swaps of a wallet on a smart chain", listFlags, (*cli).list},
}

func tokenFlags(f *flag.FlagSet, r *request) {
	f.StringVar(&r.from, "from", "", "only tokens that this one can be swapped for")
	f.StringVar(&r.to, "to", "", "only tokens that can be swapped for this one")
}

func balanceFlags(f *flag.FlagSet, r *request) {
	f.StringVar(&r.chain, "chain", "", "the smart chain to swap to; for balances on Bitcoin")
}

func createFlags(f *flag.FlagSet, r *request) {
	f.StringVar(&r.from, "from", "", "the token that is paid, for example CITREA-CBTC; required")
	f.StringVar(&r.to, "to", "", "the token that is received; required")
	f.StringVar(&r.in, "in", "", "how much is paid, as a decimal number: 0.0002")
	f.StringVar(&r.out, "out", "", "how much is received, in place of -in")
	f.StringVar(&r.source, "payer", "", "the payer's address, for a token of a smart chain; or an LNURL-withdraw link")
	f.StringVar(&r.receiver, "recipient", "", "the recipient's address, invoice, Lightning address or LNURL; required")
	f.StringVar(&r.gas, "gas", "", "base units of the chain's own token to receive besides")
}

func statusFlags(f *flag.FlagSet, r *request) {
	f.BoolVar(&r.watch, "watch", false, "follow the swap until it is over")
	f.StringVar(&r.bitcoin, "bitcoin", "", "the wallet's address on Bitcoin, for a transaction whose inputs are chosen")
	f.StringVar(&r.public, "public-key", "", "the public key of -bitcoin, in hex")
}

func listFlags(f *flag.FlagSet, r *request) {
	f.BoolVar(&r.pending, "pending", false, "only swaps that are not over")
	f.StringVar(&r.chain, "chain", "", "only swaps of this chain")
}

func (c *cli) tokens(ctx context.Context, r *request) error {
	var all []swapper.Token
	var err error
	switch {
	case r.from != "" && r.to != "":
		return errors.New("-from and -to cannot be combined")
	case r.from != "":
		all, err = c.swaps.GetSwapCounterTokens(ctx, swapper.GetSwapCounterTokensInput{Token: r.from, Side: swapper.SideInput})
	case r.to != "":
		all, err = c.swaps.GetSwapCounterTokens(ctx, swapper.GetSwapCounterTokensInput{Token: r.to, Side: swapper.SideOutput})
	default:
		all, err = c.everyToken(ctx)
	}
	if err != nil || c.json {
		return c.print(all, err)
	}
	return c.table("TOKEN\tNAME\tDECIMALS\tADDRESS", func(row func(...any)) {
		for _, t := range all {
			row(t.ID, t.Name, t.Decimals, t.Address)
		}
	})
}

// everyToken returns the tokens of both sides, each once.
func (c *cli) everyToken(ctx context.Context) ([]swapper.Token, error) {
	all, err := c.swaps.GetSupportedTokens(ctx, swapper.GetSupportedTokensInput{Side: swapper.SideInput})
	if err != nil {
		return nil, err
	}
	received, err := c.swaps.GetSupportedTokens(ctx, swapper.GetSupportedTokensInput{Side: swapper.SideOutput})
	known := make(map[string]bool)
	for _, t := range all {
		known[t.ID] = true
	}
	for _, t := range received {
		if !known[t.ID] {
			all = append(all, t)
		}
	}
	return all, err
}

func (c *cli) limits(ctx context.Context, r *request) error {
	l, err := c.swaps.GetSwapLimits(ctx, swapper.GetSwapLimitsInput{SrcToken: r.args[0], DstToken: r.args[1]})
	if err != nil || c.json {
		return c.print(l, err)
	}
	return c.table("\tLEAST\tMOST", func(row func(...any)) {
		row("pay", amount(&l.Input.Min), amount(l.Input.Max))
		row("receive", amount(&l.Output.Min), amount(l.Output.Max))
	})
}

func (c *cli) parseAddress(ctx context.Context, r *request) error {
	p, err := c.swaps.ParseAddress(ctx, swapper.ParseAddressInput{Address: r.args[0]})
	if err != nil || c.json {
		return c.print(p, err)
	}
	return c.table("TYPE\tAMOUNT\tLEAST\tMOST\tADDRESS", func(row func(...any)) {
		row(p.Type, amount(p.Amount), amount(p.Min), amount(p.Max), p.Address)
	})
}

func (c *cli) balance(ctx context.Context, r *request) error {
	b, err := c.swaps.GetSpendableBalance(ctx, swapper.GetSpendableBalanceInput{Token: r.args[0], Wallet: r.args[1], TargetChain: r.chain})
	if err != nil || c.json {
		return c.print(b, err)
	}
	_, err = fmt.Fprintln(c.out, amount(&b.Balance))
	return err
}

func (c *cli) quote(ctx context.Context, r *request) error {
	s, err := c.newSwap(ctx, r)
	if err != nil || c.json {
		return c.print(s, err)
	}
	return c.showQuote(s)
}

func (c *cli) create(ctx context.Context, r *request) error {
	s, err := c.newSwap(ctx, r)
	if err != nil {
		return err
	}
	r.args = []string{s.SwapID}
	if !c.json {
		if err := c.showQuote(s); err != nil {
			return err
		}
	}
	return c.status(ctx, r)
}

func (c *cli) newSwap(ctx context.Context, r *request) (*swapper.CreateSwapOutput, error) {
	in := swapper.CreateSwapInput{SrcToken: r.from, DstToken: r.to, SrcAddress: r.source, DstAddress: r.receiver, AmountType: swapper.ExactIn}
	text, token, name := r.in, r.from, "in"
	switch {
	case r.from == "" || r.to == "":
		return nil, errors.New("-from and -to are required: the tokens that are paid and received")
	case (r.in == "") == (r.out == ""):
		return nil, errors.New("either -in or -out is required: how much is paid, or received")
	case r.out != "":
		text, token, name, in.AmountType = r.out, r.to, "out", swapper.ExactOut
	}
	if r.gas != "" {
		var ok bool
		if in.GasAmount, ok = new(big.Int).SetString(r.gas, 10); !ok {
			return nil, fmt.Errorf("-gas must be a whole number of base units, not %q", r.gas)
		}
	}
	all, err := c.everyToken(ctx) // which tell the decimals
	if err != nil {
		return nil, err
	}
	for _, t := range all {
		if t.ID != token {
			continue
		}
		if in.Amount, err = tokens.ParseDecimal(text, t.Decimals); err != nil {
			return nil, fmt.Errorf("-%s: %w", name, err)
		}
		return c.swaps.CreateSwap(ctx, in)
	}
	return nil, fmt.Errorf("%q is not a token of the service; see tokens", token)
}

func (c *cli) submit(ctx context.Context, r *request) error {
	signed := r.args[1:]
	if len(signed) == 0 {
		lines := bufio.NewScanner(c.in)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			if line := strings.TrimSpace(lines.Text()); line != "" {
				signed = append(signed, line)
			}
		}
		if err := lines.Err(); err != nil {
			return err
		}
	}
	out, err := c.swaps.SubmitTransaction(ctx, swapper.SubmitTransactionInput{SwapID: r.args[0], SignedTxs: signed})
	if err != nil || c.json {
		return c.print(out, err)
	}
	for _, hash := range out.TxHashes {
		if _, err := fmt.Fprintln(c.out, hash); err != nil {
			return err
		}
	}
	return nil
}

func (c *cli) list(ctx context.Context, r *request) error {
	in := swapper.ListSwapsInput{Signer: r.args[0], ChainID: r.chain}
	list := c.swaps.ListSwaps
	if r.pending {
		list = c.swaps.ListPendingSwaps
	}
	all, err := list(ctx, in)
	if err != nil || c.json {
		return c.print(all, err)
	}
	return c.table("CREATED\tPAY\tRECEIVE\tSTATE\tSWAP", func(row func(...any)) {
		for _, s := range all {
			row(when(s.CreatedAt), amount(&s.Quote.InputAmount), amount(&s.Quote.OutputAmount), s.State.Name, s.SwapID)
		}
	})
}
