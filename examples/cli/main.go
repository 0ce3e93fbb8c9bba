// Command cli uses a swap service from the command line: a service at an address, over
// HTTP (without flags the one on this machine), or a client in this process, on Bitcoin
// testnet4 with a store on disk.
//
//	go run ./examples/cli tokens
//	go run ./examples/cli -url https://swaps.example create
//	go run ./examples/cli -store swaps.db quote -from LIGHTNING-BTC -to CITREA-CBTC -in 0.0002 -recipient 0x...
//	go run ./examples/cli -url https://swaps.example -verify own.json create
//	go run ./examples/cli help create
//
// It holds no keys: it prints the transactions to sign, and submit takes the signed ones.
// With -verify a remote service is not trusted: the file has the wallet's own nodes, as in
// {"network": "mainnet", "store": "agreed.db", "nodes": {"CITREA": ["https://node.example"]}},
// and docs/verify.md says what is verified. Tables are for people; -json prints the objects
// of the HTTP interface. Errors go to standard error, with -json as objects too.
//
// The exit status is 0 if the command did what it says, 1 if it was refused or failed,
// 2 if the command line is wrong, 3 if a watched swap ended without success, and 4 if the
// service or something that it needs cannot answer now; the same command may be tried again.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"slices"
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
	c := &cli{in: os.Stdin, out: os.Stdout, getenv: os.Getenv, live: terminal(os.Stdout)}
	c.asks = c.live && terminal(os.Stdin)
	err := c.run(ctx, os.Args[1:])
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		c.fail(os.Stderr, err)
		os.Exit(status(err))
	}
}

// terminal reports whether a person is at the other end of a file.
func terminal(file *os.File) bool {
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// cli is one call of the command.
type cli struct {
	in     io.Reader
	out    io.Writer
	getenv func(string) string
	keys   string          // file of swaps' keys
	live   bool            // out is a terminal, on which a line can be written again
	asks   bool            // a person is there to answer questions
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
	qr               bool
	chain            string
	limit            int
	after            string
}

func (c *cli) run(ctx context.Context, args []string) (err error) {
	global := flag.NewFlagSet("cli", flag.ContinueOnError)
	global.SetOutput(c.out)
	base, store, key, own := "", "", "", ""
	global.StringVar(&base, "url", c.getenv("SWAPPER_URL"), "base URL of a service, with or without the /api at its end (or $SWAPPER_URL); without -store the one on this machine, "+local)
	global.StringVar(&key, "key", "", "API key of the remote service; better $SWAPPER_API_KEY, which other users of the machine do not see")
	global.StringVar(&store, "store", "", "file of swaps: the service runs in this process, on Bitcoin testnet4")
	global.StringVar(&own, "verify", "", "JSON file with your own nodes, with which every answer of a remote service is compared")
	global.StringVar(&c.keys, "keys", "", "file in which the keys of a remote service's swaps are kept, readable by you alone; usually $SWAPPER_KEYS, or swapper/keys where you keep configuration")
	global.BoolVar(&c.json, "json", false, "print JSON instead of tables")
	global.Usage = func() { c.usage(global) }
	if err := global.Parse(args); err != nil {
		return misuse{err}
	}
	name := global.Arg(0)
	most := map[string]int{"help": 2, "completion": 2, "version": 1}[name]
	switch {
	case most > 0 && global.NArg() > most:
		return misuse{fmt.Errorf("%q is one argument too many for %s", global.Arg(global.NArg()-1), name)}
	case name == "", name == "help" && global.NArg() == 1:
		c.usage(global)
		return nil
	case name == "completion":
		return c.completion(global.Arg(1))
	case name == "version":
		return c.version()
	case name == "help":
		name = global.Arg(1)
	}
	for _, cmd := range commands {
		if cmd.name != name {
			continue
		}
		if global.Arg(0) == "help" {
			flags := flag.NewFlagSet(cmd.name, flag.ContinueOnError)
			c.describe(cmd, flags, new(request))
			flags.Usage()
			return nil
		}
		req, err := c.parse(cmd, global.Args()[1:])
		if err != nil {
			return err
		}
		if c.swaps == nil {
			if key == "" {
				key = c.getenv("SWAPPER_API_KEY")
			}
			closes, err := c.open(ctx, base, store, key, own)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, closes()) }()
		}
		return cmd.do(c, ctx, req)
	}
	return misuse{fmt.Errorf("%q is not a command; see help", name)}
}

// parse reads the flags of a command, which may stand before and behind its arguments.
func (c *cli) parse(cmd command, args []string) (*request, error) {
	flags, req := flag.NewFlagSet(cmd.name, flag.ContinueOnError), new(request)
	c.describe(cmd, flags, req)
	for len(args) > 0 {
		if err := flags.Parse(args); err != nil {
			return nil, misuse{err}
		}
		if args = flags.Args(); len(args) > 0 {
			req.args, args = append(req.args, args[0]), args[1:]
		}
	}
	req.chain = strings.ToUpper(req.chain)
	least := strings.Count(cmd.args, "<")
	most := least + strings.Count(cmd.args, "[")
	switch {
	case len(req.args) < least:
		return nil, misuse{fmt.Errorf("usage: %s %s", cmd.name, cmd.args)}
	case len(req.args) > most && !strings.Contains(cmd.args, "..."):
		return nil, misuse{fmt.Errorf("%q is one argument too many; usage: %s %s", req.args[most], cmd.name, cmd.args)}
	}
	return req, nil
}

// describe gives a set the flags of a command, and says how it is used.
func (c *cli) describe(cmd command, flags *flag.FlagSet, r *request) {
	flags.SetOutput(c.out)
	flags.Usage = func() {
		fmt.Fprintf(c.out, "%s: %s\n", strings.TrimSpace("usage: "+cmd.name+" [flags] "+cmd.args), cmd.does)
		flags.PrintDefaults()
	}
	if cmd.flags != nil {
		cmd.flags(flags, r)
	}
}

// version prints which version of the library this is.
func (c *cli) version() error {
	version, info := "unknown", map[string]string{}
	if build, ok := debug.ReadBuildInfo(); ok {
		version = build.Main.Version
		for _, s := range build.Settings {
			info[s.Key] = s.Value
		}
	}
	if c.json {
		return c.print(map[string]string{"version": version, "revision": info["vcs.revision"], "go": runtime.Version()}, nil)
	}
	_, err := fmt.Fprintln(c.out, strings.Join(slices.DeleteFunc([]string{"swapper", version, info["vcs.revision"], runtime.Version()}, func(s string) bool { return s == "" }), " "))
	return err
}

// local is where examples/server listens if its configuration says nothing else.
const local = "http://127.0.0.1:3000"

// open opens the service that the flags name.
func (c *cli) open(ctx context.Context, base, store, key, own string) (func() error, error) {
	closes := func() error { return nil }
	if store != "" {
		if own != "" {
			return nil, misuse{errors.New("-verify is for a remote service; the one of -store runs in this process")}
		}
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
	}
	if c.keys == "" {
		var err error
		if c.keys, err = c.keysFile(); err != nil {
			return nil, err
		}
	}
	remote, err := reach(ctx, cmp.Or(base, local), key)
	if err == nil && own != "" {
		remote, closes, err = distrust(ctx, remote, own)
	}
	c.swaps = keyed{remote, c.keys}
	return closes, err
}

// reach returns the service at a URL. One without a path is that of the operations, or
// has them under /api, as examples/server does.
func reach(ctx context.Context, base, key string) (swapper.Service, error) {
	var options httpapi.ClientOptions
	if key != "" {
		options.Header = http.Header{"X-Api-Key": {key}}
	}
	given, err := httpapi.NewClient(base, options)
	if u, fault := url.Parse(base); err != nil || fault != nil || strings.Trim(u.Path, "/") != "" {
		return given, err
	}
	below, err := httpapi.NewClient(strings.TrimRight(base, "/")+"/api", options)
	if err != nil {
		return nil, err
	}
	if _, err := below.GetSupportedTokens(ctx, swapper.GetSupportedTokensInput{Side: swapper.SideInput}); err == nil {
		return below, nil
	}
	if _, err := given.GetSupportedTokens(ctx, swapper.GetSupportedTokensInput{Side: swapper.SideInput}); err == nil {
		return given, nil
	}
	return below, nil // whose answer says what is wrong
}

func (c *cli) usage(global *flag.FlagSet) {
	fmt.Fprintln(c.out, "cli [flags] <command> [flags] [arguments]")
	fmt.Fprintln(c.out)
	w := tabwriter.NewWriter(c.out, 0, 0, 2, ' ', 0)
	for _, cmd := range commands {
		fmt.Fprintf(w, "  %s %s\t%s\n", cmd.name, cmd.args, cmd.does)
	}
	fmt.Fprintf(w, "  completion bash|zsh|fish\tprint a script that completes commands and flags\n")
	fmt.Fprintf(w, "  help [command]\tsay what a command does and which flags it has\n")
	fmt.Fprintf(w, "  version\tprint the version of this program\n")
	_ = w.Flush()
	fmt.Fprintln(c.out, "\nFlags:")
	global.PrintDefaults()
	fmt.Fprint(c.out, `
Exit status:
  0  the command did what it says
  1  it was refused, or failed
  2  the command line is wrong
  3  a watched swap ended without success
  4  the service, or something that it needs, cannot answer now: try the same command again
`)
}
