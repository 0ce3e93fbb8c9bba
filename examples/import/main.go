// Command import imports the swaps of the reference service from one of its
// SQLite files, of which the service keeps one for each chain:
//
//	go run ./examples/import -dry-run CHAIN_atomiqsdk-0-CITREA.sqlite3
//	go run ./examples/import -store swaps.db CHAIN_atomiqsdk-0-CITREA.sqlite3
//
// The first command checks every record and stores nothing; the second stores what
// can be stored. Stop the reference service first. The import can be repeated: swaps
// that are already stored are left unchanged. The exit status is 1 if a record was
// refused.
//
// The output names records by their ids. Whoever has an id can look at the swap, so keep the
// output private. With -store, the refused records are kept in a file beside the
// store, swaps.db.refused, one JSON object {"id", "error", "record"} a line: they hold preimages.
//
// The file's name tells the Bitcoin network and the chain, unless -network and -chain do.
// Solana and Starknet need a node, -rpc. For a network with contracts of its own, such as a
// local one, -contracts names a file with them, in the form that examples/devnet prints; -lp
// names a provider whose swaps come over from plain http or from an address that is not public.
//
// For Solana the reference keeps a second file, STORE_solAccounts.sqlite3: accounts whose rent
// comes back when their owners close them. The command reads it and names each account; it
// does not close them, and they belong to no swap.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/chains/evm"
	"github.com/swapper-go/swapper/chains/solana"
	"github.com/swapper-go/swapper/chains/starknet"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/storage/bolt"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	err := run(ctx, os.Args[1:], os.Stdout)
	if err == nil || errors.Is(err, flag.ErrHelp) {
		return
	}
	fmt.Fprintln(os.Stderr, "import:", err)
	if _, ok := errors.AsType[misuse](err); ok {
		os.Exit(2)
	}
	os.Exit(1)
}

// misuse is an error of the command line, for which the exit status is 2.
type misuse struct{ error }

// Unwrap returns what is wrong.
func (m misuse) Unwrap() error { return m.error }

// options are what the command line says.
type options struct {
	file    string
	store   string
	network bitcoin.Network
	chain   string
	rpc     string
	lps     []string // base URLs
	own     *own     // nil: the published contracts
	dry     bool
}

func run(ctx context.Context, args []string, out io.Writer) error {
	o, err := read(args, out)
	if err != nil {
		return misuse{err}
	}
	records, err := open(ctx, o.file)
	if err != nil {
		return err
	}
	defer records.Close()
	client, shut, err := o.client(ctx)
	if err != nil {
		return err
	}
	defer shut()

	kept := &refused{path: o.refusedFile()}
	var stored, present, failed int
	for r, e := range client.Import(ctx, swapper.ImportInput{ChainID: o.chain, Records: records.All(ctx), DryRun: o.dry}) {
		switch {
		case e != nil:
			err = e
		case r.Err != nil:
			failed++
			fmt.Fprintf(out, "%s is refused (%s): %v\n", records.id, fault.CodeOf(r.Err), r.Err)
			kept.add(records.id, r.Err, records.data)
		case r.Present:
			present++
			fmt.Fprintf(out, "%s, %s in state %s: present\n", records.id, r.Swap.SwapType, r.Swap.State.Name)
		default:
			stored++
			fmt.Fprintf(out, "%s, %s in state %s: imported\n", records.id, r.Swap.SwapType, r.Swap.State.Name)
		}
	}
	if err := errors.Join(err, kept.Close(err == nil)); err != nil {
		return err
	}
	if err := rents(ctx, o, out); err != nil {
		return err
	}
	done := "imported"
	if o.dry {
		done = "can be imported"
	}
	fmt.Fprintf(out, "%d %s, %d already present, %d refused\n", stored, done, present, failed)
	if failed > 0 {
		if kept.path != "" {
			return fmt.Errorf("%d records were refused; they are in %s", failed, kept.path)
		}
		return fmt.Errorf("%d records were refused", failed)
	}
	return nil
}

// read reads the command line.
func read(args []string, out io.Writer) (o options, err error) {
	flags := flag.NewFlagSet("import", flag.ContinueOnError)
	flags.SetOutput(out)
	flags.StringVar(&o.store, "store", "", "file of the store to import into, made if it is missing")
	flags.BoolVar(&o.dry, "dry-run", false, "judge every record, store none")
	flags.StringVar(&o.chain, "chain", "", "chain of the records, as CITREA; that of the file's name if not given")
	flags.StringVar(&o.rpc, "rpc", "", "URL of a node of the chain; for the EVM chains a public one if not given")
	flags.Func("lp", "base URL of a provider that may be called by plain http, or at an address that is not public; may be repeated", func(s string) error {
		o.lps = append(o.lps, s)
		return nil
	})
	contracts := flags.String("contracts", "", "JSON file with the contracts of an own network, in the form that examples/devnet prints")
	network := flags.String("network", "", "Bitcoin network, as mainnet or testnet4; that of the file's name if not given")
	flags.Usage = func() {
		fmt.Fprintln(out, "usage: import [flags] <file>: import the swaps of the reference service from one of its SQLite files\n\n"+
			"For example: import -dry-run CHAIN_atomiqsdk-0-CITREA.sqlite3\n\nFlags:")
		flags.PrintDefaults()
	}
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	switch flags.NArg() {
	case 0:
		return o, fmt.Errorf("name one SQLite file of the reference service, such as CHAIN_atomiqsdk-0-CITREA.sqlite3")
	case 1:
	default:
		return o, fmt.Errorf("name one SQLite file of the reference service, behind the flags: %q is one argument too many", flags.Arg(1))
	}
	o.file = flags.Arg(0)
	number, chain, named := origin(o.file)
	if o.chain == "" {
		o.chain = chain
	}
	switch {
	case o.store == "" && !o.dry:
		return o, fmt.Errorf("-store is required, unless -dry-run is given")
	case o.chain == "" || *network == "" && !named:
		return o, fmt.Errorf("%s is not named CHAIN_atomiqsdk-<network>-<chain>.sqlite3: give -chain and -network", filepath.Base(o.file))
	case *network == "":
		o.network = number
	default:
		if o.network, err = bitcoin.ParseNetwork(*network); err != nil {
			return o, err
		}
	}
	if *contracts != "" {
		o.own, err = readOwn(*contracts)
	}
	return o, err
}

// origin reads what the reference service says by the name of a file.
func origin(file string) (n bitcoin.Network, chain string, ok bool) {
	name, isPrefixed := strings.CutPrefix(filepath.Base(file), "CHAIN_atomiqsdk-")
	name, isSQLite := strings.CutSuffix(name, ".sqlite3")
	number, chain, isWhole := strings.Cut(name, "-")
	i, err := strconv.Atoi(number)
	n = bitcoin.Network(i)
	return n, chain, isPrefixed && isSQLite && isWhole && chain != "" && err == nil && n.Valid()
}

// factory is the chain of the records.
func (o options) factory() (chains.Factory, error) {
	var rpc []string
	if o.rpc != "" {
		rpc = []string{o.rpc}
	}
	if o.own != nil {
		return o.own.factory(o, rpc)
	}
	onEVM := func(of func(evm.Options) chains.Factory) func() chains.Factory {
		return func() chains.Factory { return of(evm.Options{RPC: rpc}) }
	}
	known := map[string]func() chains.Factory{
		"CITREA": onEVM(evm.Citrea), "BOTANIX": onEVM(evm.Botanix), "ALPEN": onEVM(evm.Alpen), "GOAT": onEVM(evm.Goat),
		solana.ChainID: func() chains.Factory {
			if o.network == bitcoin.Mainnet {
				return solana.Mainnet(solana.Options{RPC: rpc})
			}
			return solana.Devnet(solana.Options{RPC: rpc})
		},
		starknet.ChainID: func() chains.Factory {
			if o.network == bitcoin.Mainnet {
				return starknet.Mainnet(starknet.Options{RPC: rpc})
			}
			return starknet.Sepolia(starknet.Options{RPC: rpc})
		},
	}
	of, ok := known[o.chain]
	switch {
	case !ok:
		return nil, fmt.Errorf("chain %s is not supported", o.chain)
	case rpc == nil && (o.chain == solana.ChainID || o.chain == starknet.ChainID):
		return nil, fmt.Errorf("-rpc is required for %s: no public node is built in", o.chain)
	}
	return of(), nil
}

// client opens a client on the store, or on an empty one that is deleted.
func (o options) client(ctx context.Context) (_ *swapper.Client, shut func(), err error) {
	factory, err := o.factory()
	if err != nil {
		return nil, nil, err
	}
	clean := func() {}
	if o.store == "" {
		dir, err := os.MkdirTemp("", "import")
		if err != nil {
			return nil, nil, err
		}
		clean = func() { os.RemoveAll(dir) }
		o.store = filepath.Join(dir, "swaps.db")
	}
	store, err := bolt.Open(ctx, o.store, bolt.Options{})
	if err != nil {
		clean()
		return nil, nil, err
	}
	c := swapper.Config{Network: o.network, Store: store, Chains: []chains.Factory{factory}, LPs: swapper.LPs{URLs: o.lps, AllowHTTP: o.lps != nil, AllowLocal: o.lps != nil}}
	if o.own != nil {
		err = o.own.config(&c)
	}
	var client *swapper.Client
	if err == nil {
		client, err = swapper.Open(ctx, c)
	}
	if err != nil {
		store.Close()
		clean()
		return nil, nil, err
	}
	return client, func() { client.Close(); store.Close(); clean() }, nil
}
