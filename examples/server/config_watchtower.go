package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/big"
	"slices"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/examples/internal/running"
	"github.com/swapper-go/swapper/storage/bolt"
	"github.com/swapper-go/swapper/tokens"
	"github.com/swapper-go/swapper/watchtower"
)

// watchtowerConfig is a watchtower of one's own, which claims for users who are away.
type watchtowerConfig struct {
	Claims string                   // "own": the service's swaps; "all": also what others' messages and the chains' vaults and escrows tell of
	Store  string                   // file of what is to be claimed, beside a file of swaps; "watchtower.db"
	Schema string                   // of the same, in the database of the swaps; "watchtower"
	Every  duration                 // how often it looks
	Chains map[string]accountConfig // by id; at least one
}

// accountConfig is the operator's account on a chain, and what a claim must earn and may cost,
// in whole native tokens.
type accountConfig struct {
	KeyFile string // with the account's key
	KeyEnv  string // variable that has it, in place of the file
	Account string // address on Starknet; "": OpenZeppelin's account of the key

	Profit, Allowance, MaxFee string
}

// file is where what is to be claimed is kept, without a database.
func (w *watchtowerConfig) file() string { return cmp.Or(w.Store, "watchtower.db") }

func (w *watchtowerConfig) check(database bool) error {
	var all []error
	w.Claims = cmp.Or(w.Claims, "own")
	if w.Claims != "own" && w.Claims != "all" {
		all = append(all, fmt.Errorf("watchtower.claims: must be own or all, not %q", w.Claims))
	}
	switch {
	case database && w.Store != "":
		all = append(all, errors.New("watchtower.store: cannot be combined with a database, which has it: name a schema with watchtower.schema"))
	case !database && w.Schema != "":
		all = append(all, errors.New("watchtower.schema: is of a database; name a file with watchtower.store"))
	}
	if len(w.Chains) == 0 {
		all = append(all, errors.New("watchtower.chains: at least one is required, such as {CITREA: {keyFile: citrea.key}}"))
	}
	return errors.Join(all...)
}

// accounts reads the keys. Errors name the member.
func (w *watchtowerConfig) accounts(on []chains.Factory, path func(string) string) ([]watchtower.Account, error) {
	var out []watchtower.Account
	var all []error
	for _, id := range slices.Sorted(maps.Keys(w.Chains)) {
		i := slices.IndexFunc(on, func(f chains.Factory) bool { return f.ID() == id })
		if i < 0 {
			all = append(all, fmt.Errorf("watchtower.chains.%s: is not one of the chains above", id))
			continue
		}
		a := watchtower.Account{Chain: on[i]}
		own := w.Chains[id]
		var fault error
		faults := func(err error) {
			if err != nil {
				fault = errors.Join(fault, fmt.Errorf("watchtower.chains.%s.%w", id, err))
			}
		}
		var err error
		a.Signer, err = own.signer(id, path)
		faults(err)
		a.Policy, err = own.policy(id)
		faults(err)
		if fault != nil {
			all = append(all, fault)
			continue
		}
		out = append(out, a)
	}
	return out, errors.Join(all...)
}

func (a accountConfig) signer(id string, path func(string) string) (watchtower.Signer, error) {
	if (a.KeyFile == "") == (a.KeyEnv == "") {
		return nil, errors.New("keyFile: or keyEnv is required, and not both")
	}
	from := "keyFile"
	key, err := secret("key", "", a.KeyEnv)
	if a.KeyFile != "" {
		key, err = running.ReadKey(path(a.KeyFile))
	} else if from = "keyEnv"; err != nil {
		return nil, err // it names the member
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", from, err)
	}
	s, err := running.Open(id, key, a.Account)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", from, err)
	}
	return s, nil
}

func (a accountConfig) policy(id string) (p watchtower.Policy, err error) {
	decimals := 18 // of the native coin of every EVM chain
	if native, ok := tokens.Native(id); ok {
		decimals = native.Decimals
	}
	for _, m := range []struct {
		name, text string
		to         **big.Int
	}{{"profit", a.Profit, &p.Profit}, {"allowance", a.Allowance, &p.Allowance}, {"maxFee", a.MaxFee, &p.MaxFee}} {
		if m.text == "" {
			continue
		}
		n, err := tokens.ParseDecimal(m.text, decimals)
		if err != nil || n.Sign() < 0 {
			return p, fmt.Errorf("%s: must be an amount of whole native tokens such as 0.001, with %d decimals at most", m.name, decimals)
		}
		*m.to = n
	}
	return p, nil
}

// watchtower is what the configuration says of one, nil for none. It sends no requests.
func (c *config) watchtower(s *settings, log *slog.Logger) (*watchtower.Config, error) {
	w := c.Watchtower
	if w == nil {
		return nil, nil
	}
	out := &watchtower.Config{Network: s.Network, Bitcoin: s.Bitcoin, AllNodes: s.AllNodes, Prices: s.Prices, Every: time.Duration(w.Every), HTTP: s.HTTP, Now: s.Now, Log: log.With("part", "watchtower")}
	var err error
	all := []error{w.check(c.Database != nil)}
	if out.Chains, err = w.accounts(s.Chains, c.path); err != nil {
		all = append(all, err)
	}
	if s.Bitcoin == nil {
		all = append(all, errors.New("watchtower: needs bitcoin, because the network has no public servers"))
	}
	if w.Claims == "all" {
		o := watchtower.NostrOptions{Network: s.Network, Log: out.Log}
		if c.Relays != nil {
			o.Relays = *c.Relays
		}
		source, err := watchtower.NewNostrSource(o)
		if err != nil {
			err = fmt.Errorf("watchtower.claims: all needs relays: %w", err)
		}
		all, out.Sources, out.Vaults, out.Payments = append(all, err), []watchtower.Source{source}, true, true
	}
	return out, errors.Join(all...)
}

// openTowerStore opens what keeps the watchtower's claims, and what copies it if it is a file.
func (c *config) openTowerStore(ctx context.Context) (s store, file *bolt.Store, err error) {
	if c.Database != nil {
		s, file, err = c.openSchema(ctx, cmp.Or(c.Watchtower.Schema, "watchtower"))
	} else {
		s, file, err = openFile(ctx, c.state(c.Watchtower.file()))
	}
	if err != nil {
		return nil, nil, fmt.Errorf("watchtower: %w", err)
	}
	return s, file, nil
}

// openTower opens the watchtower on its store.
func (c *config) openTower(ctx context.Context, w *watchtower.Config) (*watchtower.Tower, error) {
	tower, err := watchtower.Open(ctx, *w)
	if err != nil {
		return nil, fmt.Errorf("watchtower: %w", err)
	}
	for _, a := range w.Chains {
		w.Log.Info("claims for users who are away", "chain", a.Chain.ID(), "account", a.Signer.Address(), "claims", c.Watchtower.Claims)
	}
	return tower, nil
}
