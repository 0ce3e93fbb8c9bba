// Command cli drives a swap service from the command line: a remote one, over HTTP, or
// one in this process, on Bitcoin testnet4 with a store on disk.
//
//	go run ./examples/cli -url http://127.0.0.1:8080 tokens
//	go run ./examples/cli -store swaps.db quote -from LIGHTNING-BTC -to CITREA-CBTC -in 0.0002
//	go run ./examples/cli help
//
// It holds no keys: what has to be signed is printed, and what was signed is handed in
// with submit. Tables are for people; -json prints the objects of the HTTP interface.
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
	"text/tabwriter"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/examples/testnet4/console"
	"github.com/swapper-go/swapper/httpapi"
	"github.com/swapper-go/swapper/storage/bolt"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	info, err := os.Stdout.Stat()
	c := &cli{in: os.Stdin, out: os.Stdout, getenv: os.Getenv, live: err == nil && info.Mode()&os.ModeCharDevice != 0}
	err = c.run(ctx, os.Args[1:])
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

// cli is one call of the command.
type cli struct {
	in     io.Reader
	out    io.Writer
	getenv func(string) string
	keys   string          // file of swaps' keys
	live   bool            // out is a terminal, on which a line can be written again
	swaps  swapper.Service // nil: as the flags say

	json bool
}

// command is one thing that can be done.
type command struct {
	name, args, does string
	flags            func(*flag.FlagSet, *request)
	do               func(*cli, context.Context, *request) error
}

// request is what the flags and arguments of a command say.
type request struct {
	args []string

	from, to         string
	in, out          string
	source, receiver string
	gas              string
	bitcoin, public  string
	watch, pending   bool
	chain            string
}

func (c *cli) run(ctx context.Context, args []string) (err error) {
	global := flag.NewFlagSet("cli", flag.ContinueOnError)
	global.SetOutput(c.out)
	url, store, key := "", "", ""
	global.StringVar(&url, "url", c.getenv("SWAPPER_URL"), "base URL of a remote service (or $SWAPPER_URL)")
	global.StringVar(&key, "key", "", "API key of the remote service; better $SWAPPER_API_KEY, which other users of the machine do not see")
	global.StringVar(&store, "store", "", "file of swaps: the service runs in this process, on Bitcoin testnet4")
	global.StringVar(&c.keys, "keys", "", "file in which the keys of a remote service's swaps are kept, readable by you alone; usually $SWAPPER_KEYS, or swapper/keys where you keep configuration")
	global.BoolVar(&c.json, "json", false, "print JSON instead of tables")
	global.Usage = func() { c.usage(global) }
	if err := global.Parse(args); err != nil {
		return misuse{err}
	}
	name := global.Arg(0)
	switch {
	case name == "help" && global.NArg() > 1, name == "completion" && global.NArg() > 2:
		return misuse{fmt.Errorf("%q is one argument too many for %s", global.Arg(global.NArg()-1), name)}
	case name == "", name == "help":
		c.usage(global)
		return nil
	case name == "completion":
		return c.completion(global.Arg(1))
	}
	for _, cmd := range commands {
		if cmd.name != name {
			continue
		}
		req, err := c.parse(cmd, global.Args()[1:])
		if err != nil {
			return err
		}
		if c.swaps == nil {
			if key == "" {
				key = c.getenv("SWAPPER_API_KEY")
			}
			closes, err := c.open(ctx, url, store, key)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, closes()) }()
		}
		return said(cmd.do(c, ctx, req))
	}
	return misuse{fmt.Errorf("%q is not a command; see help", name)}
}

// parse reads the flags of a command, which may stand before and behind its arguments.
func (c *cli) parse(cmd command, args []string) (*request, error) {
	flags := flag.NewFlagSet(cmd.name, flag.ContinueOnError)
	flags.SetOutput(c.out)
	flags.Usage = func() {
		fmt.Fprintf(c.out, "%s %s: %s\n", cmd.name, cmd.args, cmd.does)
		flags.PrintDefaults()
	}
	req := new(request)
	if cmd.flags != nil {
		cmd.flags(flags, req)
	}
	for len(args) > 0 {
		if err := flags.Parse(args); err != nil {
			return nil, misuse{err}
		}
		if args = flags.Args(); len(args) > 0 {
			req.args, args = append(req.args, args[0]), args[1:]
		}
	}
	least := strings.Count(cmd.args, "<")
	switch {
	case len(req.args) < least:
		return nil, misuse{fmt.Errorf("usage: %s %s", cmd.name, cmd.args)}
	case len(req.args) > least && !strings.Contains(cmd.args, "..."):
		return nil, misuse{fmt.Errorf("%q is one argument too many; usage: %s %s", req.args[least], cmd.name, cmd.args)}
	}
	return req, nil
}

// open opens the service that the flags name.
func (c *cli) open(ctx context.Context, url, store, key string) (func() error, error) {
	nothing := func() error { return nil }
	switch {
	case store != "":
		s, err := bolt.Open(ctx, store, bolt.Options{})
		if err != nil {
			return nil, err
		}
		config := console.Testnet4().Config()
		config.Store = s
		client, err := swapper.Open(ctx, config)
		if err != nil {
			return nil, errors.Join(err, s.Close())
		}
		c.swaps = client
		return func() error { return errors.Join(client.Close(), s.Close()) }, nil
	case url != "":
		var options []httpapi.ClientOption
		if key != "" {
			options = append(options, httpapi.WithHeader("x-api-key", key))
		}
		if c.keys == "" {
			var err error
			if c.keys, err = c.keysFile(); err != nil {
				return nil, err
			}
		}
		remote, err := httpapi.NewClient(url, options...)
		c.swaps = keyed{remote, c.keys}
		return nothing, err
	}
	return nil, errors.New("name a service with -url, or a file of swaps with -store")
}

func (c *cli) usage(global *flag.FlagSet) {
	fmt.Fprintln(c.out, "cli [flags] <command> [flags] [arguments]")
	fmt.Fprintln(c.out)
	w := tabwriter.NewWriter(c.out, 0, 0, 2, ' ', 0)
	for _, cmd := range commands {
		fmt.Fprintf(w, "  %s %s\t%s\n", cmd.name, cmd.args, cmd.does)
	}
	fmt.Fprintf(w, "  completion bash|zsh|fish\tprint a script that completes commands and flags\n")
	_ = w.Flush()
	fmt.Fprintln(c.out, "\nFlags:")
	global.PrintDefaults()
}

// said adds to an error of the service its code.
func said(err error) error {
	var e *swapper.Error
	if !errors.As(err, &e) {
		return err
	}
	return fmt.Errorf("%w (%s)", err, e.Code)
}
