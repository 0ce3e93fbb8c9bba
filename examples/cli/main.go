// Command cli uses a swap service from the command line: a service at an address, over
// HTTP (without flags the one on this machine), or a client in this process, on Bitcoin
// testnet4 or the local network of a running examples/devnet, with a store on disk.
//
//	go run ./examples/cli tokens
//	go run ./examples/cli -url https://swaps.example create
//	go run ./examples/cli -store swaps.db quote -from LIGHTNING-BTC -to CITREA-CBTC -in 0.0002 -recipient 0x...
//	go run ./examples/cli -store swaps.db -running local.json gas -out 0.001 CITREA 0x...
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
// 2 if the command line or the file of -verify is wrong, 3 if a watched swap ended without
// success, and 4 if the service or something that it needs cannot answer now; the same command
// may be tried again.
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
	"time"

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
	pause  time.Duration   // the longest between two looks at a swap that is followed; 0: as long as its action says

	json bool
}

// command is one thing that can be done.
type command struct {
	name, args, does string
	example          string // what is behind its name, to be tried
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

// general are the flags that every command has; those of a person's environment are in place.
type general struct{ base, store, running, trusted, key, own string }

// flags gives a set the general flags.
func (c *cli) flags(f *flag.FlagSet, g *general) {
	f.StringVar(&g.base, "url", g.base, "base URL of a service, with or without the /api at its end (or $SWAPPER_URL); without -store the one on this machine, "+local)
	f.StringVar(&g.key, "key", g.key, "API key of the remote service; better $SWAPPER_API_KEY, which other users of the machine do not see")
	f.StringVar(&g.store, "store", g.store, "file of swaps: the service runs in this process, on Bitcoin testnet4")
	f.StringVar(&g.running, "running", g.running, "with -store: file into which a running examples/devnet has printed its network, which is used instead of testnet4")
	f.StringVar(&g.trusted, "lp", g.trusted, "with -store: URL of the provider that is trusted for gas; testnet4 has none of its own")
	f.StringVar(&g.own, "verify", g.own, "JSON file with your own nodes, with which every answer of a remote service is compared")
	f.StringVar(&c.keys, "keys", c.keys, "file in which the keys of a remote service's swaps are kept, readable by you alone; usually $SWAPPER_KEYS, or swapper/keys where you keep configuration")
	f.BoolVar(&c.json, "json", c.json, "print JSON instead of tables")
}

func (c *cli) run(ctx context.Context, args []string) (err error) {
	global, g := silent("cli"), &general{base: c.getenv("SWAPPER_URL")}
	c.flags(global, g)
	if err := global.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			c.usage()
			return err
		}
		return misuse{fmt.Errorf("%w; see cli help", err)}
	}
	name := global.Arg(0)
	most := map[string]int{"help": 2, "completion": 2, "version": 1}[name]
	switch {
	case most > 0 && global.NArg() > most:
		return misuse{fmt.Errorf("%q is one argument too many for %s", global.Arg(global.NArg()-1), name)}
	case name == "", name == "help" && global.NArg() == 1:
		c.usage()
		return nil
	case name == "completion":
		return c.completion(global.Arg(1))
	case name == "version":
		return c.version()
	case name == "help":
		return c.help(global.Arg(1))
	}
	for _, cmd := range commands {
		if cmd.name != name {
			continue
		}
		req, err := c.parse(cmd, global.Args()[1:], g)
		if err != nil {
			return err
		}
		if c.swaps == nil {
			closes, err := c.open(ctx, g)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, closes()) }()
		}
		err = cmd.do(c, ctx, req)
		if g.store == "" && g.own == "" { // no other node than the service is asked
			err = away(err, cmp.Or(g.base, local))
		}
		return err
	}
	return misuse{fmt.Errorf("%q is not a command; see cli help", name)}
}

// silent is a set of flags that leaves it to the caller to say what is wrong.
func silent(name string) *flag.FlagSet {
	f := flag.NewFlagSet(name, flag.ContinueOnError)
	f.SetOutput(io.Discard)
	return f
}

// parse reads the flags of a command, and the general ones, which may be before and behind its arguments.
func (c *cli) parse(cmd command, args []string, g *general) (*request, error) {
	flags, req := silent(cmd.name), new(request)
	if cmd.flags != nil {
		cmd.flags(flags, req)
	}
	c.flags(flags, g)
	for len(args) > 0 {
		if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
			c.describe(cmd)
			return nil, err
		} else if err != nil {
			return nil, misuse{fmt.Errorf("%w; see cli help %s", err, cmd.name)}
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
		return nil, misuse{fmt.Errorf("%s is missing; usage: %s", strings.Fields(cmd.args)[len(req.args)], cmd.usage())}
	case len(req.args) > most && !strings.Contains(cmd.args, "..."):
		return nil, misuse{fmt.Errorf("%q is one argument too many; usage: %s", req.args[most], cmd.usage())}
	}
	return req, nil
}

// usage is how a command is written.
func (cmd command) usage() string {
	words := []string{"cli", cmd.name, "[flags]", cmd.args}
	if cmd.do == nil { // which needs no service
		words[2] = ""
	}
	return strings.Join(slices.DeleteFunc(words, func(s string) bool { return s == "" }), " ")
}

// describe says how a command is used, and which flags are its own.
func (c *cli) describe(cmd command) {
	fmt.Fprintf(c.out, "usage: %s: %s\n", cmd.usage(), cmd.does)
	if cmd.flags != nil {
		flags := flag.NewFlagSet(cmd.name, flag.ContinueOnError)
		flags.SetOutput(c.out)
		cmd.flags(flags, new(request))
		flags.PrintDefaults()
	}
	if cmd.example != "" {
		fmt.Fprintf(c.out, "\nFor example: cli %s %s\n", cmd.name, cmd.example)
	}
	if cmd.do != nil {
		fmt.Fprintln(c.out, "\nThe flags of every command: -json, -url, -key, -keys, -store, -running, -lp, -verify; cli help explains them")
	}
}

// help describes one command.
func (c *cli) help(name string) error {
	for _, cmd := range slices.Concat(commands, others) {
		if cmd.name == name {
			c.describe(cmd)
			return nil
		}
	}
	return misuse{fmt.Errorf("%q is not a command; see cli help", name)}
}

// others are the commands that need no service.
var others = []command{
	{name: "completion", args: "bash|zsh|fish", does: "print a script that completes commands and flags", example: "bash > /etc/bash_completion.d/cli"},
	{name: "help", args: "[command]", does: "say what a command does and which flags it has"},
	{name: "version", does: "print the version of this program"},
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
func (c *cli) open(ctx context.Context, g *general) (func() error, error) {
	closes := func() error { return nil }
	switch {
	case g.store != "" && g.own != "":
		return nil, misuse{errors.New("-verify is for a remote service; the one of -store runs in this process")}
	case g.store != "":
		return c.openOwn(ctx, g)
	case g.running != "" || g.trusted != "":
		return nil, misuse{errors.New("-running and -lp are for a service in this process: name its file of swaps with -store")}
	}
	if c.keys == "" {
		var err error
		if c.keys, err = c.keysFile(); err != nil {
			return nil, err
		}
	}
	remote, err := reach(ctx, cmp.Or(g.base, local), cmp.Or(g.key, c.getenv("SWAPPER_API_KEY")))
	if err == nil && g.own != "" {
		remote, closes, err = distrust(ctx, remote, g.own)
	}
	c.swaps = keyed{remote, c.keys}
	return closes, err
}

// openOwn opens a service in this process.
func (c *cli) openOwn(ctx context.Context, g *general) (func() error, error) {
	network := console.Testnet4()
	if g.running != "" {
		var err error
		if network, err = console.Running(ctx, g.running); err != nil {
			return nil, err
		}
	}
	config := network.Config()
	config.LPs.Trusted = cmp.Or(g.trusted, config.LPs.Trusted)
	s, err := bolt.Open(ctx, g.store, bolt.Options{})
	if err != nil {
		return nil, err
	}
	config.Store = s
	client, err := swapper.Open(ctx, config)
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	c.swaps = client
	return func() error { return errors.Join(client.Close(), s.Close()) }, nil
}

// reach returns the service at a URL. One without a path is that of the operations, or
// has them under /api, as examples/server does.
func reach(ctx context.Context, base, key string) (swapper.Service, error) {
	var options httpapi.ClientOptions
	if key != "" {
		options.Header = http.Header{"X-Api-Key": {key}}
	}
	given, err := httpapi.NewClient(base, options)
	if err != nil {
		return nil, misuse{fmt.Errorf("-url: %q is not the URL of a service: it must begin with http:// or https://, and have no query", base)}
	}
	if u, fault := url.Parse(base); fault != nil || strings.Trim(u.Path, "/") != "" {
		return given, nil
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

func (c *cli) usage() {
	fmt.Fprint(c.out, `Swaps between Bitcoin, Lightning and smart chains, by a swap service. It holds no keys: your wallets sign and pay.

usage: cli <command> [flags] [arguments]

`)
	w := tabwriter.NewWriter(c.out, 0, 0, 2, ' ', 0)
	for _, cmd := range slices.Concat(commands, others) {
		fmt.Fprintf(w, "  %s %s\t%s\n", cmd.name, cmd.args, cmd.does)
	}
	_ = w.Flush()
	fmt.Fprint(c.out, `
A swap: create it, do what it says (pay, or sign and submit), and follow it until it has ended:
  cli create -from LIGHTNING-BTC -to CITREA-CBTC -in 0.0002 -recipient 0x...
  cli status -watch <swap>

Flags of every command:
`)
	global := flag.NewFlagSet("cli", flag.ContinueOnError)
	global.SetOutput(c.out)
	(&cli{}).flags(global, new(general)) // without the values of this call
	global.PrintDefaults()
	fmt.Fprint(c.out, `
Exit status:
  0  the command did what it says
  1  it was refused, or failed
  2  the command line or the file of -verify is wrong
  3  a watched swap ended without success
  4  the service, or something that it needs, cannot answer now: try the same command again
`)
}
