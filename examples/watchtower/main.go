// Command watchtower claims swaps of users who are away, for pay: it hears the messages that
// wallets publish to the network's Nostr relays, looks at the escrows and vaults on the chains, and
// claims what pays. It runs until Ctrl-C; the same command again goes on.
//
//	go run ./examples/watchtower -dry-run            # testnet4: says what it would claim and earn
//	go run ./examples/watchtower -chains CITREA
//	go run ./examples/watchtower -network mainnet -chains CITREA -rpc CITREA=https://a.example,https://b.example
//	go run ./examples/watchtower -network local      # without internet, with users of its own
//	go run ./examples/watchtower -running local.json # on the network that examples/devnet runs
//
// Its accounts have one secret, in a file of the folder that -dir names. Send them the native tokens
// that claims need for some days, and no more.
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"math/big"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/chains/bitcoin/mempoolspace"
	"github.com/swapper-go/swapper/chains/evm"
	"github.com/swapper-go/swapper/chains/solana"
	"github.com/swapper-go/swapper/chains/starknet"
	"github.com/swapper-go/swapper/examples/internal/running"
	"github.com/swapper-go/swapper/examples/testnet4/console"
	"github.com/swapper-go/swapper/price"
	"github.com/swapper-go/swapper/storage/bolt"
	"github.com/swapper-go/swapper/swappertest"
	"github.com/swapper-go/swapper/tokens"
	"github.com/swapper-go/swapper/watchtower"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Getenv, os.Stdout)
	stop()
	switch {
	case err == nil || errors.Is(err, flag.ErrHelp):
	case errors.Is(err, console.ErrStopped):
		fmt.Fprintln(os.Stderr, err)
		os.Exit(130) // as shells say of a program that was interrupted
	default:
		fmt.Fprintln(os.Stderr, "watchtower:", err)
		if _, ok := errors.AsType[misuse](err); ok {
			os.Exit(2)
		}
		os.Exit(1)
	}
}

// misuse is an error of the command line.
type misuse struct{ error }

// options are the flags.
type options struct {
	network, running, dir, profit, maxFee string
	chains                                []string
	rpc                                   map[string][]string
	dry                                   bool
}

func read(args []string, out io.Writer) (options, error) {
	o := options{rpc: map[string][]string{}}
	flags := flag.NewFlagSet("watchtower", flag.ContinueOnError)
	flags.SetOutput(out)
	flags.StringVar(&o.network, "network", "", "testnet4, mainnet, or local: a network that runs in this process, without internet, with users who leave (default testnet4, or local with -running)")
	flags.StringVar(&o.running, "running", "", "the local network that examples/devnet runs in another process: the `file` into which it has printed; with it a claim outlives this program")
	names := flags.String("chains", "CITREA,SOLANA,STARKNET", "where to claim")
	flags.Func("rpc", "CHAIN=URL,URL: nodes of a chain, of different operators; required on mainnet", func(text string) error {
		chain, urls, ok := strings.Cut(text, "=")
		if !ok || urls == "" {
			return errors.New("must be such as CITREA=https://rpc.example")
		}
		o.rpc[chain] = strings.Split(urls, ",")
		return nil
	})
	flags.StringVar(&o.profit, "profit", "0", "what a claim must earn beyond its cost, in whole native tokens")
	flags.StringVar(&o.maxFee, "max-fee", "", "the most that a claim may cost, in whole native tokens (default: what it earns)")
	flags.StringVar(&o.dir, "dir", "", "where the key, the claims under way and the books are kept (default: swapper-watchtower-<network> in the user's configuration folder; for a network of -running, beside its file; for -network local, nowhere)")
	flags.BoolVar(&o.dry, "dry-run", false, "claim nothing: say what would be claimed, and what it would earn")
	err := flags.Parse(args)
	o.chains = strings.Split(*names, ",")
	if o.network == "" {
		if o.network = "testnet4"; o.running != "" {
			o.network = "local"
		}
	}
	switch {
	case errors.Is(err, flag.ErrHelp):
		return o, err
	case err != nil:
		return o, misuse{err}
	case flags.NArg() > 0:
		return o, misuse{fmt.Errorf("%q is not a flag; see -help", flags.Arg(0))}
	case !slices.Contains([]string{"testnet4", "mainnet", "local"}, o.network):
		return o, misuse{fmt.Errorf("-network must be testnet4, mainnet or local, not %q", o.network)}
	}
	if o.running != "" && o.network != "local" {
		return o, misuse{errors.New("-running is a local network: leave -network out, or make it local")}
	}
	for _, id := range o.chains {
		if o.network == "mainnet" && len(o.rpc[id]) == 0 {
			return o, misuse{fmt.Errorf("-rpc %s=https://... is required on mainnet: name nodes of several operators, because a node that lies can cost fees", id)}
		}
		if _, err := o.policy(id); err != nil {
			return o, misuse{err}
		}
	}
	return o, nil
}

func (o options) policy(chain string) (p watchtower.Policy, err error) {
	native, known := tokens.Native(chain)
	if !known {
		return p, fmt.Errorf("-chains: %q is not known; there are CITREA, SOLANA and STARKNET", chain)
	}
	if p.Profit, err = tokens.ParseDecimal(o.profit, native.Decimals); err != nil {
		return p, fmt.Errorf("-profit must be an amount such as 0.0001: %w", err)
	}
	if o.maxFee != "" {
		if p.MaxFee, err = tokens.ParseDecimal(o.maxFee, native.Decimals); err != nil {
			return p, fmt.Errorf("-max-fee must be an amount such as 0.0001: %w", err)
		}
	}
	return p, nil
}

// place is where the program claims.
type place struct {
	network bitcoin.Network
	chains  []chains.Factory
	bitcoin bitcoin.Backend
	prices  price.Source
	relays  []string // nil: the network's
	now     func() time.Time
	every   time.Duration
	play    console.Network      // whose money is free; nil: a public one
	test    *swappertest.Network // that runs in this process; nil: another
	user    swapper.Config       // of a service on it
	close   func() error
}

func (o options) place(ctx context.Context) (*place, error) {
	switch {
	case o.running != "":
		return elsewhere(ctx, o.running)
	case o.network == "local":
		return local(ctx)
	case o.network == "mainnet":
		p := &place{network: bitcoin.Mainnet}
		for _, f := range []func(...string) chains.Factory{
			func(rpc ...string) chains.Factory { return evm.Citrea(evm.Options{RPC: rpc}) },
			func(rpc ...string) chains.Factory { return solana.Mainnet(solana.Options{RPC: rpc}) },
			func(rpc ...string) chains.Factory { return starknet.Mainnet(starknet.Options{RPC: rpc}) },
		} {
			if rpc := o.rpc[f().ID()]; len(rpc) > 0 {
				p.chains = append(p.chains, f(rpc...))
			}
		}
		return p.public()
	}
	p := &place{network: bitcoin.Testnet4}
	for _, f := range console.Testnet4().Config().Chains {
		if rpc := o.rpc[f.ID()]; len(rpc) > 0 {
			f = map[string]chains.Factory{"CITREA": evm.Citrea(evm.Options{RPC: rpc}), "SOLANA": solana.Devnet(solana.Options{RPC: rpc}), "STARKNET": starknet.Sepolia(starknet.Options{RPC: rpc})}[f.ID()]
		}
		p.chains = append(p.chains, f)
	}
	return p.public()
}

func (p *place) public() (*place, error) {
	b, err := mempoolspace.New(mempoolspace.Options{Network: p.network})
	if err != nil {
		return nil, err
	}
	p.bitcoin, p.close, p.prices = b, b.Close, price.Market(price.Options{})
	return p, nil
}

// local starts a network whose own watchtower is silent.
func local(ctx context.Context) (*place, error) {
	n, err := swappertest.New(ctx, swappertest.Options{MineEvery: 500 * time.Millisecond, Hear: true, Solana: swappertest.SolanaOptions{Version: "v2"}, Starknet: swappertest.StarknetOptions{On: true}})
	if err != nil {
		return nil, err
	}
	n.Misbehave(swappertest.WatchtowerFault{Off: true})
	var text strings.Builder
	var says struct{ Nostr string }
	if err = n.Describe(&text); err == nil {
		err = json.Unmarshal([]byte(text.String()), &says)
	}
	if err != nil {
		return nil, errors.Join(err, n.Close())
	}
	c := n.Config()
	return &place{network: c.Network, chains: c.Chains, bitcoin: c.Bitcoin, prices: c.Prices, relays: []string{says.Nostr}, now: c.Now, every: 200 * time.Millisecond, play: console.Local(n), test: n, user: c, close: n.Close}, nil
}

// elsewhere is a local network that another process runs.
func elsewhere(ctx context.Context, path string) (*place, error) {
	at, err := running.Read(path)
	if err != nil {
		return nil, err
	}
	n, err := console.Running(ctx, path)
	if err != nil {
		return nil, err
	}
	c := n.Config()
	return &place{network: c.Network, chains: c.Chains, bitcoin: c.Bitcoin, prices: c.Prices, relays: []string{at.Nostr}, now: c.Now, every: 200 * time.Millisecond, play: n, close: func() error { return nil }}, nil
}

// follow keeps the clock of another process's network.
func (p *place) follow(ctx context.Context) {
	for ctx.Err() == nil {
		if err := p.play.Wait(ctx, 0); err != nil { // it is away
			select {
			case <-ctx.Done():
			case <-time.After(time.Second):
			}
		}
	}
}

func run(ctx context.Context, args []string, getenv func(string) string, out io.Writer) (err error) {
	o, err := read(args, out)
	if err != nil {
		return err
	}
	p, err := o.place(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.close()) }()
	state, keep, err := o.folders()
	if err != nil {
		return err
	}
	if state != keep {
		defer os.RemoveAll(state)
	}
	secret := ""
	if o.network != "mainnet" { // the variable names test money
		secret = getenv(console.KeyVariable)
	}
	keys, err := console.OpenKeys(secret, filepath.Join(cmp.Or(keep, state), "key"), p.network)
	if err != nil {
		return err
	}
	store, err := bolt.Open(ctx, filepath.Join(state, "watchtower.db"), bolt.Options{})
	if err != nil {
		return err
	}
	defer store.Close()
	s := &screen{out: out}
	source, err := watchtower.NewNostrSource(watchtower.NostrOptions{Network: p.network, Relays: p.relays, Log: s.log()})
	if err != nil {
		return err
	}
	c := watchtower.Config{Network: p.network, Bitcoin: p.bitcoin, Store: store, Sources: []watchtower.Source{source}, Vaults: true, Payments: true, Prices: p.prices, Every: p.every, Now: p.now, Log: s.log(), Approve: s.approve(!o.dry)}
	if c.Chains, err = o.accounts(ctx, p, keys); err != nil {
		return err
	}
	tower, err := watchtower.Open(ctx, c)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, tower.Close()) }()
	s.say("Watchtower on %s (its secret is in %s)", o.network, keys.Where)
	if err := s.balances(ctx, tower); err != nil {
		return err
	}
	if o.dry {
		s.say("Dry run: nothing is claimed.")
	}
	var working sync.WaitGroup
	working.Go(func() { _ = tower.Run(ctx) })
	switch {
	case p.test != nil:
		working.Go(func() { s.users(ctx, p, o.chains) })
	case p.play != nil:
		working.Go(func() { p.follow(ctx) })
	}
	defer working.Wait()
	return s.watch(ctx, tower)
}

// folders are where the claims under way and the books are kept, and the key: another folder, if nothing
// is to be left of a dry run, and "" on a network that ends with this process.
func (o options) folders() (state, keep string, err error) {
	switch keep = o.dir; {
	case keep != "":
	case o.running != "":
		keep = o.running + ".watchtower"
	case o.network != "local":
		parent, err := os.UserConfigDir()
		if err != nil {
			return "", "", fmt.Errorf("%w: name a folder with -dir", err)
		}
		keep = filepath.Join(parent, "swapper-watchtower-"+o.network)
	}
	if keep != "" && !o.dry {
		return keep, keep, nil
	}
	state, err = os.MkdirTemp("", "watchtower")
	return state, keep, err
}

// accounts are those that claim on the chosen chains. On a network whose money is free they get some.
func (o options) accounts(ctx context.Context, p *place, keys *console.Keys) (all []watchtower.Account, err error) {
	for _, f := range p.chains {
		if !slices.Contains(o.chains, f.ID()) {
			continue
		}
		policy, err := o.policy(f.ID())
		if err != nil {
			return nil, err
		}
		all = append(all, watchtower.Account{Chain: f, Signer: keys.Signer(f.ID()), Policy: policy})
		if p.play != nil && !o.dry {
			if _, err := p.play.Fund(ctx, keys, f.ID()); err != nil {
				return nil, err
			}
		}
	}
	if len(all) == 0 {
		return nil, misuse{fmt.Errorf("-chains names none of %s's chains", o.network)}
	}
	return all, nil
}

// screen says what happens. Its methods may be called concurrently.
type screen struct {
	mu   sync.Mutex
	out  io.Writer
	told map[string]bool

	tokens []tokens.Token // of the chains
}

func (s *screen) say(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	fmt.Fprintf(s.out, format+"\n", args...)
}

// Write takes lines of the log.
func (s *screen) Write(line []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.out.Write(line)
}

// log shows warnings and worse.
func (s *screen) log() *slog.Logger {
	return slog.New(slog.NewTextHandler(s, &slog.HandlerOptions{Level: slog.LevelWarn}))
}

// approve says once what is claimed, or what would be.
func (s *screen) approve(yes bool) func(watchtower.Claim) bool {
	does := map[bool]string{true: "claims", false: "would claim"}[yes]
	return func(c watchtower.Claim) bool {
		native, _ := tokens.Native(c.Chain)
		amount := func(n *big.Int) string { return tokens.NewAmount(n, native).Decimal() + " " + native.Ticker }
		s.mu.Lock()
		again := s.told[c.ID]
		if s.told == nil {
			s.told = map[string]bool{}
		}
		s.told[c.ID] = true
		s.mu.Unlock()
		if !again {
			s.say("%s (%s): earns %s, costs up to %s, gains %s: %s", does, c.Kind, amount(c.Pay), amount(c.Cost), amount(new(big.Int).Sub(c.Pay, c.Cost)), c.ID)
		}
		return yes
	}
}

func (s *screen) balances(ctx context.Context, tower *watchtower.Tower) error {
	reports, err := tower.Reports(ctx)
	for _, r := range reports {
		has := "the nodes do not say what it has"
		if r.Balance != nil {
			has = "has " + tokens.NewAmount(r.Balance, r.Info.Native).String()
		}
		s.tokens = append(s.tokens, r.Info.Tokens...)
		s.say("  %-8s %s: %s", r.Chain, r.Account, has)
	}
	return err
}

// watch shows the books whenever they have changed, until ctx ends.
func (s *screen) watch(ctx context.Context, tower *watchtower.Tower) error {
	shown := ""
	for {
		books, err := tower.Books(context.WithoutCancel(ctx)) // the last ones too
		if err != nil {
			return err
		}
		var lines []string
		for _, b := range books {
			if b.Claims+b.Lost+b.Left == 0 {
				continue
			}
			native, _ := tokens.Native(b.Chain)
			line := fmt.Sprintf("  %-8s %d claimed, %d lost, %d left to others; spent %s", b.Chain, b.Claims, b.Lost, b.Left, tokens.NewAmount(b.Spent, native))
			for _, t := range s.tokens {
				if n := b.Earned[t.Address]; n != nil && t.Chain == b.Chain {
					line += fmt.Sprintf(", %s earned", tokens.NewAmount(n, t))
				}
			}
			lines = append(lines, line)
		}
		if text := strings.Join(lines, "\n"); text != shown {
			shown = text
			s.say("Books:\n%s", text)
		}
		select {
		case <-ctx.Done():
			return console.ErrStopped
		case <-time.After(time.Second):
		}
	}
}

// users of the local network pay on Lightning, one after the other, and leave at once.
func (s *screen) users(ctx context.Context, p *place, ids []string) {
	client, err := swapper.Open(ctx, p.user)
	if err != nil {
		s.say("no user comes: %v", err)
		return
	}
	defer client.Close()
	var running sync.WaitGroup
	defer running.Wait()
	running.Go(func() { _ = client.Run(ctx) })
	for n := 0; ctx.Err() == nil; n++ {
		id := ids[n%len(ids)]
		err := s.leaves(ctx, client, p.test, id)
		if ctx.Err() == nil && err != nil {
			s.say("a user's swap to %s failed: %v", id, err)
		}
		for range 3 { // blocks come on every chain
			if err := p.test.Advance(time.Second); err != nil {
				return
			}
			select {
			case <-ctx.Done():
				return
			case <-time.After(time.Second):
			}
		}
	}
}

// leaves makes a swap of a user who pays and leaves.
func (s *screen) leaves(ctx context.Context, client *swapper.Client, n *swappertest.Network, id string) error {
	user, err := n.NewUser()
	if err != nil {
		return err
	}
	q, err := client.CreateSwap(ctx, swapper.CreateSwapInput{SrcToken: "LIGHTNING-BTC", DstToken: id + "-WBTC", Amount: big.NewInt(100_000), AmountType: swapper.ExactIn, DstAddress: user.Address(id)})
	if err != nil {
		return err
	}
	status, err := client.GetSwapStatus(ctx, swapper.GetSwapStatusInput{SwapID: q.SwapID})
	if err != nil {
		return err
	}
	pay, ok := status.CurrentAction.(*swapper.SendToAddress)
	if !ok {
		return fmt.Errorf("it asks for no payment in %s", status.State.Name)
	}
	s.say("a user pays for %s on %s, and leaves", q.Quote.OutputAmount.Amount+" "+q.Quote.OutputAmount.Symbol, id)
	return n.Pay(pay.Txs[0].Address)
}
