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
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/tokens"
)

var commands = []command{
	{"tokens", "", "list the tokens, or those that one can be swapped for", "-from LIGHTNING-BTC", tokenFlags, (*cli).tokens},
	{"limits", "<from> <to>", "show the smallest and largest amounts of a pair of tokens", "LIGHTNING-BTC CITREA-CBTC", nil, (*cli).limits},
	{"parse", "<address>", "say what an address, invoice, link or URI is", "bitcoin:bc1...?amount=0.001", nil, (*cli).parseAddress},
	{"balance", "<token> <wallet>", "show how much of a wallet's balance can be swapped", "CITREA-CBTC 0x...", balanceFlags, (*cli).balance},
	{"quote", "", "ask what a swap costs; status says how to take the quote, which otherwise expires", "-from LIGHTNING-BTC -to CITREA-CBTC -in 0.0002 -recipient 0x...", createFlags, (*cli).quote},
	{"create", "", "create a swap, and show what its user has to do first", "-from CITREA-CBTC -to BITCOIN-BTC -out 0.0005 -payer 0x... -recipient bc1...", swapFlags, (*cli).create},
	{"status", "<swap>", "show the state of a swap, and what its user has to do now", "-watch <swap>", statusFlags, (*cli).status},
	{"submit", "<swap> [transaction ...]", "hand in what was signed; without transactions they are read from the input, one a line", "<swap> < signed.txt", nil, (*cli).submit},
	{"settle", "<swap> [link]", "have a swap's invoice paid through an LNURL-withdraw link; without one through the link that it was created with", "<swap> lnurl1...", nil, (*cli).settle},
	{"gas", "<chain> <recipient>", "buy a little of a chain's own token, for its fees, from a provider who has to be trusted; with -store, also -running or -lp", "-store swaps.db -running local.json -out 0.0001 CITREA 0x...", gasFlags, (*cli).buyGas},
	{"recover", "<signer>", "find the swaps of a wallet on its chain that the store has lost; with -store", "-store swaps.db 0x...", nil, (*cli).recover},
	{"list", "<signer>", "list the swaps of a wallet on a smart chain", "-pending 0x...", listFlags, (*cli).list},
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
	f.StringVar(&r.out, "out", "", "how much is received, in place of -in; neither is needed to pay an invoice that names its amount")
	f.StringVar(&r.source, "payer", "", "the payer's address, for a token of a smart chain; or an LNURL-withdraw link")
	f.StringVar(&r.receiver, "recipient", "", "the recipient's address, invoice, Lightning address or LNURL; required")
	f.StringVar(&r.gas, "gas", "", "how much of the destination chain's own token to receive as well, as a decimal number")
}

func swapFlags(f *flag.FlagSet, r *request) {
	createFlags(f, r)
	qrFlag(f, r)
}

func gasFlags(f *flag.FlagSet, r *request) {
	f.StringVar(&r.from, "from", "LIGHTNING-BTC", "what is paid: LIGHTNING-BTC or BITCOIN-BTC")
	f.StringVar(&r.out, "out", "", "how much of the chain's own token is received, as a decimal number; required")
	qrFlag(f, r)
}

func qrFlag(f *flag.FlagSet, r *request) {
	f.BoolVar(&r.qr, "qr", false, "draw what is to be paid as a QR code, also where the output is not a terminal")
}

func statusFlags(f *flag.FlagSet, r *request) {
	f.BoolVar(&r.watch, "watch", false, "follow the swap until it has ended")
	f.StringVar(&r.bitcoin, "bitcoin", "", "the wallet's address on Bitcoin, for a transaction whose inputs are chosen")
	f.StringVar(&r.public, "public-key", "", "the public key of -bitcoin, in hex")
	qrFlag(f, r)
}

func listFlags(f *flag.FlagSet, r *request) {
	f.BoolVar(&r.pending, "pending", false, "only swaps that have not ended")
	f.StringVar(&r.chain, "chain", "", "only swaps of this chain")
	f.IntVar(&r.limit, "limit", 50, "how many swaps to list at most; 0: all")
	f.StringVar(&r.after, "after", "", "list those after this swap, the last of the page before")
}

func (c *cli) tokens(ctx context.Context, r *request) error {
	var all []swapper.Token
	var err error
	switch {
	case r.from != "" && r.to != "":
		return misuse{errors.New("-from and -to cannot be combined")}
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
	return c.begun(ctx, r, s, err)
}

// begun shows a swap that was created, and what its user has to do first.
func (c *cli) begun(ctx context.Context, r *request, s *swapper.CreateSwapOutput, err error) error {
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
	if c.asks {
		if err := c.complete(ctx, r); err != nil {
			return nil, err
		}
	}
	switch {
	case r.from == "" || r.to == "":
		return nil, misuse{errors.New("-from and -to are required: the tokens that are paid and received; cli tokens lists them")}
	case r.in != "" && r.out != "":
		return nil, misuse{errors.New("-in and -out cannot be combined: one of them follows from the other")}
	case r.in == "" && r.out == "":
		r.out = c.invoiced(ctx, r.receiver)
	}
	if r.in == "" && r.out == "" {
		return nil, misuse{errors.New("either -in or -out is required: how much is paid, or received")}
	}
	all, err := c.everyToken(ctx) // which tell the decimals
	if err != nil {
		return nil, err
	}
	from, err := tokenOf(all, r.from)
	if err != nil {
		return nil, err
	}
	to, err := tokenOf(all, r.to)
	if err != nil {
		return nil, err
	}
	in := swapper.CreateSwapInput{SrcToken: from.ID, DstToken: to.ID, SrcAddress: r.source, DstAddress: r.receiver, AmountType: swapper.ExactIn}
	name, text, of := "in", r.in, from
	if r.in == "" {
		in.AmountType = swapper.ExactOut
		name, text, of = "out", r.out, to
	}
	in.Amount, err = decimal(name, text, of.Decimals)
	if err == nil && r.gas != "" {
		in.GasAmount, err = gasAmount("gas", r.gas, to.ChainID)
	}
	if err != nil {
		return nil, err
	}
	s, err := c.swaps.CreateSwap(ctx, in)
	if e, ok := errors.AsType[*fault.Error](err); ok && e.Code == fault.AmountOutOfBounds && !c.json {
		native, known := tokens.Native(to.ChainID)
		switch {
		case e.Field == "amount":
			err = inUnits(e, name, of)
		case e.Field == "gasAmount" && known:
			err = inUnits(e, "gas", swapper.Token{Ticker: native.Ticker, Decimals: native.Decimals})
		}
	}
	return s, err
}

// invoiced is the amount that an invoice names, as a decimal number; "" if the text is something else.
func (c *cli) invoiced(ctx context.Context, text string) string {
	if text == "" {
		return ""
	}
	p, err := c.swaps.ParseAddress(ctx, swapper.ParseAddressInput{Address: text})
	if err != nil || p.Type != "LIGHTNING" || p.Amount == nil {
		return ""
	}
	return p.Amount.Amount
}

// inUnits says in units of a token what the bounds of an amount are.
func inUnits(e *fault.Error, flag string, t swapper.Token) error {
	unit := func(raw *big.Int) string {
		number := tokens.NewAmount(raw, tokens.Token{Decimals: t.Decimals, DisplayDecimals: t.Decimals}).Decimal()
		if strings.Contains(number, ".") {
			number = strings.TrimRight(strings.TrimRight(number, "0"), ".")
		}
		return number + " " + t.Ticker
	}
	switch {
	case e.Min != nil && e.Max != nil:
		return fault.New(e.Code, "-%s: must be from %s to %s", flag, unit(e.Min), unit(e.Max))
	case e.Min != nil:
		return fault.New(e.Code, "-%s: must be at least %s", flag, unit(e.Min))
	case e.Max != nil:
		return fault.New(e.Code, "-%s: must be at most %s", flag, unit(e.Max))
	}
	return e
}

// tokenOf finds a token by its identifier, in any case.
func tokenOf(all []swapper.Token, id string) (swapper.Token, error) {
	for _, t := range all {
		if strings.EqualFold(t.ID, id) {
			return t, nil
		}
	}
	return swapper.Token{}, fault.Invalid("", "%q is not a token of the service; cli tokens lists them", id)
}

// decimal reads the amount of a flag.
func decimal(name, text string, decimals int) (*big.Int, error) {
	amount, err := tokens.ParseDecimal(text, decimals)
	if err != nil {
		return nil, misuse{fmt.Errorf("-%s: %w", name, err)}
	}
	if amount.Sign() == 0 {
		return nil, misuse{fmt.Errorf("-%s: must be above 0", name)}
	}
	return amount, nil
}

// gasAmount reads an amount of a chain's own token.
func gasAmount(name, text, chain string) (*big.Int, error) {
	native, ok := tokens.Native(chain)
	if !ok {
		return nil, misuse{fmt.Errorf("-%s: %s has no own token that is known here", name, chain)}
	}
	return decimal(name, text, native.Decimals)
}

func (c *cli) settle(ctx context.Context, r *request) error {
	in := swapper.SettleWithLnurlInput{SwapID: r.args[0]}
	if len(r.args) > 1 {
		in.LnurlWithdraw = r.args[1]
	}
	out, err := c.swaps.SettleWithLnurl(ctx, in)
	if err != nil || c.json {
		return c.print(out, err)
	}
	_, err = fmt.Fprintln(c.out, "paid; payment hash", out.PaymentHash)
	return err
}

// own is the service in this process, which does more than one at an address.
func (c *cli) own(name string) (*swapper.Client, error) {
	client, ok := c.swaps.(*swapper.Client)
	if !ok {
		return nil, misuse{fmt.Errorf("%s works only with -store, which runs the service in this process; a service behind -url does not offer it", name)}
	}
	return client, nil
}

func (c *cli) buyGas(ctx context.Context, r *request) error {
	chain := strings.ToUpper(r.args[0])
	if r.out == "" {
		return misuse{errors.New("-out is required: how much is received")}
	}
	amount, err := gasAmount("out", r.out, chain)
	if err != nil {
		return err
	}
	s, err := c.swaps.CreateGasSwap(ctx, swapper.CreateGasSwapInput{SrcToken: strings.ToUpper(r.from), ChainID: chain, Amount: amount, DstAddress: r.args[1]})
	return c.begun(ctx, r, s, err)
}

func (c *cli) recover(ctx context.Context, r *request) error {
	client, err := c.own("recover")
	if err != nil {
		return err
	}
	found, err := client.Recover(ctx, r.args[0])
	if err != nil && len(found) == 0 {
		return err
	}
	return errors.Join(c.swapsTable(found), err)
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
	in := swapper.ListSwapsInput{Signer: r.args[0], ChainID: r.chain, Limit: r.limit, After: r.after}
	list := c.swaps.ListSwaps
	if r.pending {
		list = c.swaps.ListPendingSwaps
	}
	page, err := list(ctx, in)
	if err != nil {
		return err
	}
	if err := c.swapsTable(page); err != nil || c.json || r.limit == 0 || len(page) < r.limit {
		return err
	}
	_, err = fmt.Fprintf(c.out, "There may be more; the next page: -after %s\n", page[len(page)-1].SwapID)
	return err
}

func (c *cli) swapsTable(all []swapper.ListSwapOutput) error {
	if c.json {
		return c.print(all, nil)
	}
	return c.table("CREATED\tPAY\tRECEIVE\tSTATE\tSWAP", func(row func(...any)) {
		for _, s := range all {
			row(when(s.CreatedAt), amount(&s.Quote.InputAmount), amount(&s.Quote.OutputAmount), s.State.Name, s.SwapID)
		}
	})
}
