package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/big"
	"text/tabwriter"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/chains/evm"
	"github.com/swapper-go/swapper/internal/devnet"
	"github.com/swapper-go/swapper/internal/devnet/lightning"
	"github.com/swapper-go/swapper/internal/devnet/wallet"
)

// tour makes the swaps and counts the money.
type tour struct {
	out    io.Writer
	net    *devnet.Net
	client *swapper.Client
	user   *wallet.Wallet
}

// direction is one swap of the tour, and where its money is counted.
type direction struct {
	title string
	in    swapper.CreateSwapInput
	payer func(context.Context) (*big.Int, error) // what the user has of the source token
	payee func(context.Context) (*big.Int, error) // what the recipient has of the destination token
	miner bool                                    // the source network takes its fee from the same token
}

// line is one line of the final table, in base units.
type line struct {
	title          string
	quote          swapper.SwapQuote
	paid, received *big.Int
	took           time.Duration
}

func (t *tour) directions() ([]direction, error) {
	fresh, err := t.net.Bitcoin.NewWallet(bitcoin.P2TR)
	if err != nil {
		return nil, err
	}
	invoice, err := t.net.Recipient.NewInvoice(lightning.InvoiceOptions{AmountMsat: 75_000_000, Description: "quickstart"})
	if err != nil {
		return nil, err
	}
	receiver, err := t.net.EVM.NewAccount()
	if err != nil {
		return nil, err
	}
	from, to := t.net.EVM.User.Address, receiver.Address
	wbtc, usdc := t.net.EVM.Contracts().Token, t.net.EVM.Contracts().Dollar
	return []direction{
		{title: "Bitcoin to chain", payer: sats(t.net.Wallet.Balance), payee: t.token(wbtc, to), miner: true,
			in: swapper.CreateSwapInput{SrcToken: "BITCOIN-BTC", DstToken: "CITREA-WBTC", Amount: big.NewInt(500_000), AmountType: swapper.ExactIn, DstAddress: to.Hex()}},
		{title: "Chain to Bitcoin", payer: t.token(wbtc, from), payee: sats(fresh.Balance),
			in: swapper.CreateSwapInput{SrcToken: "CITREA-WBTC", DstToken: "BITCOIN-BTC", Amount: big.NewInt(200_000), AmountType: swapper.ExactOut, SrcAddress: from.Hex(), DstAddress: fresh.Address.String()}},
		{title: "Lightning to chain", payer: sats(t.net.Payer.BalanceSats), payee: t.token(usdc, to),
			in: swapper.CreateSwapInput{SrcToken: "LIGHTNING-BTC", DstToken: "CITREA-USDC", Amount: big.NewInt(100_000), AmountType: swapper.ExactIn, DstAddress: to.Hex()}},
		{title: "Chain to Lightning", payer: t.token(usdc, from), payee: sats(t.net.Recipient.BalanceSats),
			in: swapper.CreateSwapInput{SrcToken: "CITREA-USDC", DstToken: "LIGHTNING-BTC", Amount: big.NewInt(75_000), AmountType: swapper.ExactOut, SrcAddress: from.Hex(), DstAddress: invoice}},
	}, nil
}

func sats(balance func() int64) func(context.Context) (*big.Int, error) {
	return func(context.Context) (*big.Int, error) { return big.NewInt(balance()), nil }
}

// token reads a balance from the chain itself, past the library.
func (t *tour) token(token, owner common.Address) func(context.Context) (*big.Int, error) {
	return func(ctx context.Context) (*big.Int, error) {
		data, err := evm.BalanceCall(owner)
		if err != nil {
			return nil, err
		}
		answer, err := t.net.EVM.Read(ctx, owner, evm.Call{To: token, Data: data})
		return new(big.Int).SetBytes(answer), err
	}
}

func (t *tour) all(ctx context.Context) error {
	directions, err := t.directions()
	if err != nil {
		return err
	}
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
	had, err := d.payer(ctx)
	if err != nil {
		return line{}, err
	}
	before, err := d.payee(ctx)
	if err != nil {
		return line{}, err
	}
	swap, err := t.client.CreateSwap(ctx, d.in)
	if err != nil {
		return line{}, err
	}
	q := swap.Quote
	fmt.Fprintf(t.out, "  quote: %s %s for %s %s\n", q.InputAmount.Amount, q.InputAmount.Symbol, q.OutputAmount.Amount, q.OutputAmount.Symbol)
	t.user.Progress = func(s *swapper.GetSwapStatusOutput) {
		fmt.Fprintf(t.out, "  %5.1f s  %-22s %s\n", time.Since(began).Seconds(), s.State.Name, s.State.Description)
	}
	end, err := t.user.Finish(ctx, swap.SwapID, nil)
	if err != nil {
		return line{}, err
	}
	if !end.IsSuccess {
		return line{}, fmt.Errorf("ended as %s", end.State.Name)
	}
	// An LP may take a held payment a moment after the swap is settled.
	l := line{title: d.title, quote: end.Quote, took: time.Since(began)}
	for range 100 {
		has, err := d.payer(ctx)
		if err != nil {
			return line{}, err
		}
		after, err := d.payee(ctx)
		if err != nil {
			return line{}, err
		}
		l.paid, l.received = new(big.Int).Sub(had, has), new(big.Int).Sub(after, before)
		if err = l.check(d.miner); err == nil {
			return l, nil
		}
		select {
		case <-ctx.Done():
			return line{}, errors.Join(err, context.Cause(ctx))
		case <-time.After(50 * time.Millisecond):
		}
	}
	return line{}, l.check(d.miner)
}

// check compares the balances with the quote.
func (l line) check(miner bool) error {
	if want := l.quote.OutputAmount.RawAmount; l.received.Cmp(want) != 0 {
		return fmt.Errorf("received %s, quoted %s", l.received, want)
	}
	want := l.quote.InputAmount.RawAmount
	if c := l.paid.Cmp(want); c < 0 || c > 0 && !miner {
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
		network := "none"
		if q.Fees.NetworkOutput != nil {
			network = q.Fees.NetworkOutput.Amount + " " + q.Fees.NetworkOutput.Symbol
		}
		if miner := new(big.Int).Sub(l.paid, q.InputAmount.RawAmount); miner.Sign() > 0 {
			network += fmt.Sprintf(" + %s base units to miners", miner)
		}
		fmt.Fprintf(w, "%s\t%s %s\t%s %s\t%s %s\t%s\t%.1f s\t\n", l.title, units(l.paid, q.InputAmount), q.InputAmount.Symbol,
			units(l.received, q.OutputAmount), q.OutputAmount.Symbol, q.Fees.Swap.Amount, q.Fees.Swap.Symbol, network, l.took.Seconds())
	}
	return w.Flush()
}

// units writes base units of the token of another amount.
func units(n *big.Int, like swapper.Amount) string {
	r := new(big.Rat).SetFrac(n, new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(like.Decimals)), nil))
	return r.FloatString(like.Decimals)
}
