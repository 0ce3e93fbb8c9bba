// Command devnet runs the whole swap network in one process, without the internet, until it is
// interrupted: Bitcoin, an EVM chain with the swap contracts, Lightning, liquidity providers with
// funds and a watchtower, and with flags also Solana with the swap programs and Starknet with
// the swap contracts. It prints the addresses of everything and the keys of funded users as
// JSON. Its control address accepts the calls that swappertest.Listen describes.
//
// A client with a public network's constants built in runs unmodified if it
// can be configured with the contract addresses, and if the chain id and the
// token addresses are those that it expects. For Citrea on testnet4, with the
// constants of its public adapter:
//
//	go run ./examples/devnet -chain-id 5115 \
//	  -token WBTC=0xDF240DC08B0FdaD1d93b74d5048871232f6BEA3d -token USDC=0xE045e6c36cF77FAA2CfB54466D71A3aEF7bbE839
//
// On Solana the programs and mints have their addresses of Solana's devnet:
//
//	go run ./examples/devnet -solana v1 -slot 400ms -solana-rpc 127.0.0.1:8899
//
// On Starknet the contracts and tokens have their addresses of Sepolia, and the chain has Sepolia's id:
//
//	go run ./examples/devnet -starknet -starknet-block 2s -starknet-rpc 127.0.0.1:5050
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/swapper-go/swapper/swappertest"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := run(ctx, os.Stdout, os.Args[1:])
	if err == nil || errors.Is(err, flag.ErrHelp) {
		return
	}
	fmt.Fprintln(os.Stderr, err)
	if _, ok := errors.AsType[misuse](err); ok {
		os.Exit(2)
	}
	os.Exit(1)
}

// misuse is an error of the command line, for which the exit status is 2.
type misuse struct{ error }

// Unwrap returns what is wrong.
func (m misuse) Unwrap() error { return m.error }

// parse reads the flags; watchtower is false if users have to claim themselves.
func parse(args []string) (o swappertest.Options, watchtower bool, err error) {
	o.EVM.Tokens = map[string]string{}
	f := flag.NewFlagSet("devnet", flag.ContinueOnError)
	f.Usage = func() {
		fmt.Fprintln(f.Output(), "usage: devnet [flags]: run the whole swap network on this machine until it is interrupted, and print its addresses and the keys of funded users as JSON\n\n"+
			"For example: devnet -mine 1s -solana v1 -starknet > local.json\n\nFlags:")
		f.PrintDefaults()
	}
	f.IntVar(&o.LPs, "lps", 1, "how many liquidity providers")
	f.DurationVar(&o.MineEvery, "mine", 0, "mine a Bitcoin block this often; 0: when asked to, and for payouts of providers")
	f.BoolVar(&o.HoldPayouts, "hold-payouts", false, "bitcoin that a provider sends to a user stays unconfirmed until a block is asked for")
	f.StringVar(&o.Listen.Control, "control", "127.0.0.1:0", "address of the control calls, which it lists: curl http://ADDRESS/")
	f.StringVar(&o.EVM.Chain, "chain", "CITREA", "identifier of the EVM chain")
	f.Uint64Var(&o.EVM.ChainID, "chain-id", 0, "EVM chain id; 0: 31337")
	f.Func("token", "address of a token, as WBTC=0x... or USDC=0x...; may be repeated", func(text string) error {
		ticker, at, _ := strings.Cut(text, "=")
		o.EVM.Tokens[ticker] = at
		return nil
	})
	f.BoolVar(&watchtower, "watchtower", true, "a watchtower claims for users; can be changed by a control call")
	f.Uint64Var(&o.EVM.BaseFee, "basefee", 0, "wei per gas of the EVM chain's first block; 0: 10000000")
	f.Uint64Var(&o.EVM.L1FeeRate, "l1fee", 1_000_000, "wei per byte of state difference, the field l1FeeRate of blocks, as Citrea has it; 0: no such field")
	f.Float64Var(&o.FeeRate, "feerate", 2, "sat/vB that the LPs' wallets take for right; can be changed by a control call")
	f.StringVar(&o.Listen.Bitcoin, "bitcoin", "127.0.0.1:0", "address of Bitcoin's REST API")
	f.StringVar(&o.Listen.EVM, "rpc", "127.0.0.1:0", "address of the EVM chain's JSON-RPC")
	f.StringVar(&o.Solana.Version, "solana", "", "adds Solana, with providers on this version of the swap program: v1 or v2")
	f.DurationVar(&o.Solana.SlotTime, "slot", 0, "a block comes on Solana this often, as 400ms, and takes its time to be confirmed and final; 0: with each transaction, final at once")
	f.StringVar(&o.Listen.Solana, "solana-rpc", "127.0.0.1:0", "address of Solana's JSON-RPC; websockets also on the next port")
	f.BoolVar(&o.Starknet.On, "starknet", false, "adds Starknet")
	f.DurationVar(&o.Starknet.BlockTime, "starknet-block", 0, "a block is closed on Starknet this often, as 2s, and transactions are pre-confirmed until then; 0: with each transaction")
	f.StringVar(&o.Listen.Starknet, "starknet-rpc", "127.0.0.1:0", "address of Starknet's JSON-RPC")
	f.StringVar(&o.Listen.LP, "lp", "127.0.0.1:0", "address of the first liquidity provider")
	if err := f.Parse(args); err != nil {
		return o, watchtower, err
	}
	if f.NArg() > 0 {
		return o, watchtower, fmt.Errorf("%q is not a flag; see -help", f.Arg(0))
	}
	return o, watchtower, nil
}

func run(ctx context.Context, out io.Writer, args []string) (err error) {
	o, watchtower, err := parse(args)
	if err != nil {
		return misuse{err}
	}
	n, err := swappertest.New(ctx, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, n.Close()) }()
	if !watchtower {
		n.Misbehave(swappertest.WatchtowerFault{Off: true})
	}
	if err := n.Describe(out); err != nil {
		return err
	}
	<-ctx.Done()
	return nil
}
