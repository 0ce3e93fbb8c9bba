// Command devnet runs the whole swap network in one process, without the internet,
// until it is interrupted: Bitcoin, an EVM chain with the swap contracts, Lightning,
// liquidity providers with real funds and a watchtower. It prints as JSON where everything is,
// and the keys of users who have money. Its control address moves the network: see
// package internal/devnet/control for the calls.
//
// A client that has a public network's constants built in runs unpatched if it is
// told where the contracts are, and the chain id and the tokens are where it
// expects them. For Citrea on testnet4, by the constants of its public adapter:
//
//	go run ./examples/devnet -chain-id 5115 \
//	  -token WBTC=0xDF240DC08B0FdaD1d93b74d5048871232f6BEA3d -token USDC=0xE045e6c36cF77FAA2CfB54466D71A3aEF7bbE839
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"github.com/swapper-go/swapper/internal/devnet"
	"github.com/swapper-go/swapper/internal/devnet/bitcoin"
	"github.com/swapper-go/swapper/internal/devnet/control"
	"github.com/swapper-go/swapper/internal/devnet/evm"
	"github.com/swapper-go/swapper/internal/devnet/lp"
	"github.com/swapper-go/swapper/internal/devnet/watchtower"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := run(ctx, os.Stdout, os.Args[1:])
	if errors.Is(err, flag.ErrHelp) {
		os.Exit(2)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// options are what the flags say.
type options struct {
	lps                            int
	mine                           time.Duration
	control                        string
	chain                          string
	chainID                        uint64
	tokens                         map[string]common.Address
	watchtower                     bool
	baseFee, l1FeeRate             uint64
	bitcoinFeeRate                 float64
	bitcoinREST, evmRPC, lpAddress string
}

func parse(args []string) (o options, err error) {
	o.tokens = map[string]common.Address{}
	f := flag.NewFlagSet("devnet", flag.ContinueOnError)
	f.IntVar(&o.lps, "lps", 1, "how many liquidity providers")
	f.DurationVar(&o.mine, "mine", 0, "mine a Bitcoin block this often; 0: only when asked to")
	f.StringVar(&o.control, "control", "127.0.0.1:0", "address of the control calls")
	f.StringVar(&o.chain, "chain", "CITREA", "identifier of the EVM chain")
	f.Uint64Var(&o.chainID, "chain-id", 0, "EVM chain id; 0: 31337")
	f.Func("token", "where a token stands, as WBTC=0x... or USDC=0x...; may be repeated", func(text string) error {
		ticker, at, _ := strings.Cut(text, "=")
		if !common.IsHexAddress(at) {
			return fmt.Errorf("%q is not an address", at)
		}
		o.tokens[ticker] = common.HexToAddress(at)
		return nil
	})
	f.BoolVar(&o.watchtower, "watchtower", true, "a watchtower claims for users; can be changed by a control call")
	f.Uint64Var(&o.baseFee, "basefee", 0, "wei per gas of the EVM chain's first block; 0: 10000000")
	f.Uint64Var(&o.l1FeeRate, "l1fee", 1_000_000, "wei per byte of state difference, the field l1FeeRate of blocks, as Citrea has it; 0: no such field")
	f.Float64Var(&o.bitcoinFeeRate, "feerate", 2, "sat/vB that the LPs' wallets take for right; can be changed by a control call")
	f.StringVar(&o.bitcoinREST, "bitcoin", "127.0.0.1:0", "address of Bitcoin's REST API")
	f.StringVar(&o.evmRPC, "rpc", "127.0.0.1:0", "address of the EVM chain's JSON-RPC")
	f.StringVar(&o.lpAddress, "lp", "127.0.0.1:0", "address of the first liquidity provider")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	if f.NArg() > 0 {
		return o, fmt.Errorf("%q is not a flag", f.Arg(0))
	}
	return o, nil
}

// network is what the local network is started with.
func (o options) network() devnet.Options {
	return devnet.Options{
		LPs: o.lps, Watchtower: true,
		Bitcoin: func(b *bitcoin.Options) { b.Address = o.bitcoinREST },
		EVM: func(e *evm.Options) {
			e.Chain, e.ChainID, e.Tokens, e.BaseFee, e.L1FeeRate, e.Address = o.chain, o.chainID, o.tokens, o.baseFee, o.l1FeeRate, o.evmRPC
		},
		LP: func(i int, l *lp.Options) {
			l.FeeRate = o.bitcoinFeeRate
			if i == 0 {
				l.Address = o.lpAddress
			}
		},
	}
}

func run(ctx context.Context, out io.Writer, args []string) (err error) {
	o, err := parse(args)
	if err != nil {
		return err
	}
	n, err := devnet.Start(ctx, o.network())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, n.Close()) }()
	if !o.watchtower {
		n.Tower.Behave(watchtower.Behaviour{NoEscrows: true, NoVaults: true})
	}
	listener, err := net.Listen("tcp", o.control)
	if err != nil {
		return err
	}
	server := &http.Server{Handler: control.Handler(n), ReadHeaderTimeout: 10 * time.Second}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	e := json.NewEncoder(out)
	e.SetIndent("", "  ")
	d := n.Describe()
	d.Control = "http://" + listener.Addr().String()
	d.Clock = d.Control + "/clock"
	if err := e.Encode(d); err != nil {
		return err
	}
	var tick <-chan time.Time
	if o.mine > 0 {
		ticker := time.NewTicker(o.mine)
		defer ticker.Stop()
		tick = ticker.C
	}
	for {
		select {
		case <-ctx.Done():
			if err := server.Close(); err != nil {
				return err
			}
			<-served
			return nil
		case err := <-served:
			return err
		case <-tick:
			if err := n.Mine(1); err != nil {
				return err
			}
		}
	}
}
