package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/big"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/swappertest"
)

// tour makes the swaps and counts the money.
type tour struct {
	out     io.Writer
	network *swappertest.Network
	client  *swapper.Client
}

// direction is one swap of the tour, and who gets what it pays out.
type direction struct {
	title     string
	in        swapper.CreateSwapInput
	recipient *swappertest.User
}

// line is one line of the final table, in base units.
type line struct {
	title          string
	quote          swapper.SwapQuote
	paid, received *big.Int
	took           time.Duration
}

func (t *tour) directions() ([]direction, error) {
	to, err := t.network.NewUser()
	if err != nil {
		return nil, err
	}
	payer := t.network.User
	from, onSolana, onStarknet := payer.Address("CITREA"), payer.Address("SOLANA"), payer.Address("STARKNET")
	return []direction{
		{title: "Bitcoin to Citrea", recipient: to,
			in: swapper.CreateSwapInput{SrcToken: "BITCOIN-BTC", DstToken: "CITREA-WBTC", Amount: big.NewInt(500_000), AmountType: swapper.ExactIn, DstAddress: to.Address("CITREA")}},
		{title: "Citrea to Bitcoin", recipient: to,
			in: swapper.CreateSwapInput{SrcToken: "CITREA-WBTC", DstToken: "BITCOIN-BTC", Amount: big.NewInt(200_000), AmountType: swapper.ExactOut, SrcAddress: from, DstAddress: to.Address("BITCOIN")}},
		{title: "Lightning to Citrea", recipient: to,
			in: swapper.CreateSwapInput{SrcToken: "LIGHTNING-BTC", DstToken: "CITREA-USDC", Amount: big.NewInt(100_000), AmountType: swapper.ExactIn, DstAddress: to.Address("CITREA")}},
		{title: "Citrea to Lightning", recipient: to,
			in: swapper.CreateSwapInput{SrcToken: "CITREA-USDC", DstToken: "LIGHTNING-BTC", Amount: big.NewInt(75_000), AmountType: swapper.ExactOut, SrcAddress: from, DstAddress: to.Invoice(75_000)}},
		// The providers' program on Solana is v1: who is paid there opens the escrow himself.
		{title: "Bitcoin to Solana", recipient: payer,
			in: swapper.CreateSwapInput{SrcToken: "BITCOIN-BTC", DstToken: "SOLANA-WBTC", Amount: big.NewInt(500_000), AmountType: swapper.ExactIn, DstAddress: onSolana}},
		{title: "Solana to Bitcoin", recipient: to,
			in: swapper.CreateSwapInput{SrcToken: "SOLANA-USDC", DstToken: "BITCOIN-BTC", Amount: big.NewInt(200_000), AmountType: swapper.ExactOut, SrcAddress: onSolana, DstAddress: to.Address("BITCOIN")}},
		{title: "Lightning to Solana", recipient: payer,
			in: swapper.CreateSwapInput{SrcToken: "LIGHTNING-BTC", DstToken: "SOLANA-USDC", Amount: big.NewInt(100_000), AmountType: swapper.ExactIn, DstAddress: onSolana}},
		{title: "Solana to Lightning", recipient: to,
			in: swapper.CreateSwapInput{SrcToken: "SOLANA-WBTC", DstToken: "LIGHTNING-BTC", Amount: big.NewInt(75_000), AmountType: swapper.ExactOut, SrcAddress: onSolana, DstAddress: to.Invoice(75_000)}},
		{title: "Bitcoin to Starknet", recipient: to,
			in: swapper.CreateSwapInput{SrcToken: "BITCOIN-BTC", DstToken: "STARKNET-WBTC", Amount: big.NewInt(500_000), AmountType: swapper.ExactIn, DstAddress: to.Address("STARKNET")}},
		{title: "Starknet to Bitcoin", recipient: to,
			in: swapper.CreateSwapInput{SrcToken: "STARKNET-USDC", DstToken: "BITCOIN-BTC", Amount: big.NewInt(200_000), AmountType: swapper.ExactOut, SrcAddress: onStarknet, DstAddress: to.Address("BITCOIN")}},
		{title: "Lightning to Starknet", recipient: to,
			in: swapper.CreateSwapInput{SrcToken: "LIGHTNING-BTC", DstToken: "STARKNET-USDC", Amount: big.NewInt(100_000), AmountType: swapper.ExactIn, DstAddress: to.Address("STARKNET")}},
		{title: "Starknet to Lightning", recipient: to,
			in: swapper.CreateSwapInput{SrcToken: "STARKNET-WBTC", DstToken: "LIGHTNING-BTC", Amount: big.NewInt(75_000), AmountType: swapper.ExactOut, SrcAddress: onStarknet, DstAddress: to.Invoice(75_000)}},
	}, nil
}

func (t *tour) all(ctx context.Context, directions []direction) error {
	var lines []line
	for _, d := range directions {
		l, err := t.one(ctx, d)
		if err != nil {
			return fmt.Errorf("%s: %w", d.title, err)
		}
		lines = append(lines, l)
	}
	return t.table(lines)
}

// one makes one swap and checks what the balances say of it.
func (t *tour) one(ctx context.Context, d direction) (line, error) {
	fmt.Fprintf(t.out, "\n%s\n", d.title)
	began := time.Now()
	had, before, err := t.balances(ctx, d)
	if err != nil {
		return line{}, err
	}
	swap, err := t.client.CreateSwap(ctx, d.in)
	if err != nil {
		return line{}, err
	}
	q := swap.Quote
	fmt.Fprintf(t.out, "  quote: %s %s for %s %s\n", q.InputAmount.Amount, q.InputAmount.Symbol, q.OutputAmount.Amount, q.OutputAmount.Symbol)
	var last swapper.SwapState
	end, err := t.network.User.FinishUntil(ctx, t.client, swap.SwapID, func(s *swapper.GetSwapStatusOutput) bool {
		if s.State != last {
			fmt.Fprintf(t.out, "  %5.1f s  %-22s %s\n", time.Since(began).Seconds(), s.State.Name, s.State.Description)
			last = s.State
		}
		return s.IsFinished
	})
	if err != nil {
		return line{}, err
	}
	if !end.IsSuccess {
		return line{}, fmt.Errorf("ended as %s", end.State.Name)
	}
	// An LP may take a held payment a moment after the swap is settled.
	l := line{title: d.title, quote: end.Quote, took: time.Since(began)}
	for range 100 {
		has, after, err := t.balances(ctx, d)
		if err != nil {
			return line{}, err
		}
		l.paid, l.received = new(big.Int).Sub(had, has), new(big.Int).Sub(after, before)
		if err = l.check(); err == nil {
			return l, nil
		}
		select {
		case <-ctx.Done():
			return line{}, errors.Join(err, context.Cause(ctx))
		case <-time.After(50 * time.Millisecond):
		}
	}
	return line{}, l.check()
}

// balances are what the payer has of the source token and the recipient of the
// destination's, as the chains say, past the library.
func (t *tour) balances(ctx context.Context, d direction) (payer, recipient *big.Int, err error) {
	if payer, err = t.network.User.Balance(ctx, d.in.SrcToken); err == nil {
		recipient, err = d.recipient.Balance(ctx, d.in.DstToken)
	}
	return payer, recipient, err
}

// check compares the balances with the quote. Miners take their fee from the bitcoin
// that is paid.
func (l line) check() error {
	if want := l.quote.OutputAmount.RawAmount; l.received.Cmp(want) != 0 {
		return fmt.Errorf("received %s, quoted %s", l.received, want)
	}
	want := l.quote.InputAmount.RawAmount
	if c := l.paid.Cmp(want); c < 0 || c > 0 && l.quote.InputAmount.Chain != "BITCOIN" {
		return fmt.Errorf("paid %s, quoted %s", l.paid, want)
	}
	return nil
}

func (t *tour) table(lines []line) error {
	fmt.Fprintln(t.out, "\nWhat the balances on the chains say:")
	w := tabwriter.NewWriter(t.out, 0, 0, 3, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "\tpaid\treceived\tprovider's fee\tnetwork fees\ttime\t")
	for _, l := range lines {
		q := l.quote
		var network []string
		if q.Fees.NetworkOutput != nil {
			network = append(network, q.Fees.NetworkOutput.Amount+" "+q.Fees.NetworkOutput.Symbol)
		}
		if miner := new(big.Int).Sub(l.paid, q.InputAmount.RawAmount); miner.Sign() > 0 {
			network = append(network, miner.String()+" sats to miners")
		}
		if network == nil {
			network = []string{"none"}
		}
		fmt.Fprintf(w, "%s\t%s %s\t%s %s\t%s %s\t%s\t%.1f s\t\n", l.title, units(l.paid, q.InputAmount), q.InputAmount.Symbol,
			units(l.received, q.OutputAmount), q.OutputAmount.Symbol, q.Fees.Swap.Amount, q.Fees.Swap.Symbol, strings.Join(network, " + "), l.took.Seconds())
	}
	return w.Flush()
}

// units writes base units of the token of another amount.
func units(n *big.Int, like swapper.Amount) string {
	r := new(big.Rat).SetFrac(n, new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(like.Decimals)), nil))
	return r.FloatString(like.Decimals)
}
