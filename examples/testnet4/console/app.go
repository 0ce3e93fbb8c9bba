// Package console holds what the programs of examples/testnet4 share: a wallet for test
// money, the networks, and the dialogue with the user. The programs themselves make the swaps.
package console

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"math/big"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/httpapi"
	"github.com/swapper-go/swapper/storage/bolt"
	"github.com/swapper-go/swapper/swappertest"
	"github.com/swapper-go/swapper/tokens"
	"github.com/swapper-go/swapper/verify"
)

// A Program makes one swap; App has everything that it needs.
type Program func(ctx context.Context, app *App) error

// Options are the flags of a program.
type Options struct {
	Chain string // of the smart chain's side
	Token string // identifier of the smart chain's token
	Sats  int64  // amount on Bitcoin's or Lightning's side
	To    string // who is paid on Bitcoin or Lightning; "" if the user named none

	yes, refund, recover bool
	service              string // somebody's, which is not trusted; "": a client of one's own
}

// App is a running program.
type App struct {
	Options
	Client  swapper.Service
	Keys    *Keys
	Network Network

	out   io.Writer
	in    *bufio.Reader
	shown map[string]string // what Follow said last of each step
}

// Command is how a program was called. The zero Network is chosen by the flag -network.
type Command struct {
	Name    string
	Args    []string // without the name
	In      io.Reader
	Out     io.Writer
	Getenv  func(string) string
	Network Network
}

// ErrStopped is returned when the user stopped a program that has a swap under way.
var ErrStopped = errors.New("stopped; nothing is lost: run the same command again to go on")

// Main runs the program that the first argument names, and ends the process.
func Main(programs map[string]Program) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := choose(ctx, Command{Name: filepath.Base(os.Args[0]), Args: os.Args[1:], In: os.Stdin, Out: os.Stdout, Getenv: os.Getenv}, programs)
	stop()
	switch {
	case err == nil || errors.Is(err, flag.ErrHelp):
	case errors.Is(err, ErrStopped):
		fmt.Fprintln(os.Stderr, "\n"+err.Error())
		os.Exit(130) // as shells say of a program that was interrupted
	default:
		fmt.Fprintln(os.Stderr, explain(err))
		if _, ok := errors.AsType[misuse](err); ok {
			os.Exit(2)
		}
		os.Exit(1)
	}
}

// choose runs the program that the first argument names.
func choose(ctx context.Context, c Command, programs map[string]Program) error {
	names := strings.Join(slices.Sorted(maps.Keys(programs)), ", ")
	flags := flag.NewFlagSet(c.Name, flag.ContinueOnError) // none comes before the name
	flags.SetOutput(c.Out)
	flags.Usage = func() {
		fmt.Fprintf(c.Out, "Usage: %s PROGRAM [flags], with one of %s; PROGRAM -help lists the flags.\n", c.Name, names)
	}
	if err := flags.Parse(c.Args); err != nil {
		return misuse{err}
	}
	if flags.NArg() == 0 {
		return misuse{fmt.Errorf("the first argument must be one of %s; -help after it lists the flags", names)}
	}
	p, ok := programs[c.Args[0]]
	if !ok {
		return misuse{fmt.Errorf("%q is not a program: the first argument must be one of %s", c.Args[0], names)}
	}
	c.Name, c.Args = c.Name+" "+c.Args[0], c.Args[1:]
	return Run(ctx, c, p)
}

// misuse is an error of the command line, for which the exit status is 2.
type misuse struct{ error }

// Unwrap returns what is wrong.
func (m misuse) Unwrap() error { return m.error }

// Run runs a program: it opens the wallet, the store and the client, and closes them.
func Run(ctx context.Context, c Command, p Program) (err error) {
	flags := flag.NewFlagSet(c.Name, flag.ContinueOnError)
	flags.SetOutput(c.Out)
	var o Options
	name, file, dir := "", "", ""
	flags.StringVar(&name, "network", "", "testnet4: the public test networks; local: one that runs in this process, without internet (default testnet4, or local with -running)")
	flags.StringVar(&file, "running", "", "the local network that examples/devnet runs in another process: the `file` into which it has printed; with it swaps can be resumed, refunded and recovered")
	flags.StringVar(&o.Chain, "chain", "CITREA", "the smart chain: "+anyChain())
	flags.StringVar(&o.Token, "token", "", "the token on the smart chain, by its ticker (default: the chain's own)")
	flags.Int64Var(&o.Sats, "sats", 20_000, "the amount on Bitcoin or Lightning, in sats")
	flags.StringVar(&o.To, "to", "", "who is paid: an address, an invoice or a Lightning address (default: this wallet); swaps to the smart chain always pay this wallet")
	flags.StringVar(&dir, "dir", "", "where the key and the swaps are kept (default: swapper-testnet4 in the user's configuration folder; for a network of -running, beside its file; for -network local, nowhere)")
	flags.StringVar(&o.service, "service", "", "the base `URL` of somebody's swap service, whose answers are verified (default: a client of this program's own)")
	flags.BoolVar(&o.yes, "yes", false, "do not ask")
	flags.BoolVar(&o.refund, "refund", false, "get back what can be refunded, and make no new swap")
	flags.BoolVar(&o.recover, "recover", false, "find this wallet's swaps on the chains, after the folder was lost")
	if err := flags.Parse(c.Args); err != nil {
		return misuse{err}
	}
	if name == "" {
		name = "testnet4"
		if file != "" {
			name = "local"
		}
	}
	switch {
	case flags.NArg() > 0:
		return misuse{fmt.Errorf("%q is not a flag; see -help", flags.Arg(0))}
	case o.Sats <= 0:
		return misuse{fmt.Errorf("-sats must be above 0, not %d", o.Sats)}
	case file != "" && name != "local":
		return misuse{errors.New("-running is a local network: leave -network out, or make it local")}
	case o.service != "" && o.recover:
		return misuse{errors.New("-recover needs a client of this program's own: leave -service out")}
	}
	if c.Network == nil {
		switch {
		case file != "":
			if c.Network, err = Running(ctx, file); err != nil {
				return err
			}
			dir = cmp.Or(dir, file+".wallet")
		case name == "testnet4":
			c.Network = Testnet4()
		case name == "local":
			network, err := swappertest.New(ctx, swappertest.Options{Solana: swappertest.SolanaOptions{Version: "v1"}, Starknet: swappertest.StarknetOptions{On: true}})
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, network.Close()) }()
			c.Network = Local(network)
			if dir == "" { // swaps of a network that ends with this process are worth nothing after it
				if dir, err = os.MkdirTemp("", "swapper-local"); err != nil {
					return err
				}
				defer os.RemoveAll(dir)
			}
		default:
			return misuse{fmt.Errorf("-network must be testnet4 or local, not %q", name)}
		}
	}
	if o.Chain = strings.ToUpper(o.Chain); !slices.Contains(smartChains, o.Chain) {
		return misuse{fmt.Errorf("-chain must be %s, not %q", anyChain(), o.Chain)}
	}
	if dir == "" {
		parent, err := os.UserConfigDir()
		if err != nil {
			return fmt.Errorf("%w: name a folder with -dir", err)
		}
		dir = filepath.Join(parent, "swapper-"+c.Network.Name())
	}
	return run(ctx, c, o, dir, p)
}

func run(ctx context.Context, c Command, o Options, dir string, p Program) error {
	config := c.Network.Config()
	keys, err := OpenKeys(c.Getenv(KeyVariable), filepath.Join(dir, "key"), config.Network)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	name := "swaps.db"
	if o.service != "" {
		name = "agreed.db" // with a service
	}
	store, err := bolt.Open(ctx, filepath.Join(dir, name), bolt.Options{})
	if err != nil {
		return err
	}
	defer store.Close()
	config.Store = store
	var client swapper.Service
	var own *swapper.Client
	if o.service != "" {
		v, err := distrust(o.service, config)
		if err != nil {
			return err
		}
		defer v.(io.Closer).Close()
		client = v
	} else {
		if own, err = swapper.Open(ctx, config); err != nil {
			return err
		}
		ended := make(chan struct{})
		go func() { defer close(ended); _ = own.Run(ctx) }() // until it is closed
		defer func() { own.Close(); <-ended }()
		client = own
	}

	if o.Token == "" {
		native, _ := tokens.Native(o.Chain)
		o.Token = native.Ticker
	}
	o.Token = o.Chain + "-" + strings.ToUpper(o.Token)
	a := &App{Options: o, Client: client, Keys: keys, Network: c.Network, out: c.Out, in: bufio.NewReader(c.In)}
	a.say("Wallet on %s (its secret is in %s):", c.Network.Name(), keys.Where)
	for _, chain := range append([]string{"BITCOIN"}, smartChains...) {
		a.say("  %-8s %s", chain, keys.Address(chain))
	}
	switch {
	case o.recover:
		return a.recoverAll(ctx, own)
	case o.refund:
		return a.refundAll(ctx)
	}
	err = p(ctx, a)
	if ctx.Err() != nil && err != nil {
		return ErrStopped
	}
	return err
}

// distrust returns a client of somebody's service that verifies its answers with the nodes
// and prices of a configuration.
func distrust(url string, own swapper.Config) (swapper.Service, error) {
	remote, err := httpapi.NewClient(url, httpapi.ClientOptions{})
	if err != nil {
		return nil, misuse{fmt.Errorf("-service: %w", err)}
	}
	return verify.Wrap(remote, verify.Config{Network: own.Network, Chains: own.Chains, Store: own.Store, Bitcoin: own.Bitcoin, Prices: own.Prices,
		Policy: own.Policy, LNURL: own.LNURL, HTTP: own.HTTP, Now: own.Now})
}

// anyChain lists the smart chains for users.
func anyChain() string {
	last := len(smartChains) - 1
	return strings.Join(smartChains[:last], ", ") + " or " + smartChains[last]
}

func (a *App) say(format string, args ...any) { fmt.Fprintf(a.out, format+"\n", args...) }

// ask asks a question that is answered with y or n; n is what an empty line means.
func (a *App) ask(question string) bool {
	if a.yes {
		return true
	}
	fmt.Fprintf(a.out, "%s [y/N] ", question)
	answer, _ := a.in.ReadString('\n') // the end of the input answers nothing
	if !strings.EqualFold(strings.TrimSpace(answer), "y") {
		a.say("Nothing was done.")
		return false
	}
	return true
}

// Balance shows how much of a token can be swapped after the swap's own costs. If it
// is nothing, it says where to get some, or, on the local network, gets it.
func (a *App) Balance(ctx context.Context, token string) error {
	chain, _, _ := strings.Cut(token, "-")
	in := swapper.GetSpendableBalanceInput{Wallet: a.Keys.Address(chain), Token: token}
	if chain == "BITCOIN" {
		in.TargetChain = a.Chain
	}
	for funded := false; ; funded = true {
		b, err := a.Client.GetSpendableBalance(ctx, in)
		if err != nil {
			return err
		}
		if b.Balance.RawAmount.Sign() > 0 {
			a.say("To spend: %s %s on %s", b.Balance.Amount, b.Balance.Symbol, chain)
			return nil
		}
		if funded {
			return fmt.Errorf("the wallet has no %s that it could swap", token)
		}
		how, err := a.Network.Fund(ctx, a.Keys, chain)
		if err != nil {
			return err
		}
		a.say("The wallet has nothing on %s that it could swap; %s", chain, how)
	}
}

// Accept shows a quote with everything that it costs and asks whether to go on.
func (a *App) Accept(s *swapper.SwapOutputBase) bool {
	q := s.Quote
	a.say("\nQuote (%s), good until %s:", s.SwapType, q.Expiry.Local().Format("15:04:05 MST"))
	a.say("  pay       %s %s on %s", q.InputAmount.Amount, q.InputAmount.Symbol, q.InputAmount.Chain)
	a.say("  receive   %s %s on %s, at %s", q.OutputAmount.Amount, q.OutputAmount.Symbol, q.OutputAmount.Chain, q.OutputAddress)
	a.say("  within it %s %s for the provider", q.Fees.Swap.Amount, q.Fees.Swap.Symbol)
	if n := q.Fees.NetworkOutput; n != nil {
		a.say("            %s %s for the network that pays out", n.Amount, n.Symbol)
	}
	a.say("  besides   the fee of the transactions that you send on %s", q.InputAmount.Chain)
	if n := q.Fees.NetworkInput; n != nil {
		a.say("            about %s %s, for a wallet with one coin", n.Amount, n.Symbol)
	}
	if f := s.Flags; f != nil && f.LightningPaymentWillLikelyFail {
		a.say("  Careful: the payment will likely fail. You would get your money back.")
	}
	return a.ask("Proceed?")
}

// Amount is the amount of the flag -sats.
func (a *App) Amount() *big.Int { return big.NewInt(a.Sats) }

// explain adds to an error what a user can do about it.
func explain(err error) string {
	text := strings.Replace(err.Error(), "dstAddress: ", "-to: ", 1) // the flag; other programs have no say in it
	var notReady *swapper.NotReady
	if errors.As(err, &notReady) || fault.CodeOf(err) == fault.Upstream {
		text += "\nThe network cannot be reached, or does not offer this at the moment. Is this machine online? With -network local nothing outside of it is needed."
	}
	return text
}
