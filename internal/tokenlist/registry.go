// Package tokenlist looks up the tokens of the configured chains by what callers write.
package tokenlist

import (
	"errors"
	"fmt"
	"strings"

	"github.com/swapper-go/swapper/tokens"
)

// Chain is a smart chain's part of a [Registry].
type Chain struct {
	ID     string         // as in [tokens.Token].Chain; without a hyphen
	Tokens []tokens.Token // in the order in which they are shown, usually [tokens.Known] of ID

	// TokenAddress returns the canonical text of a token address, or an error
	// if s is not a token address on this chain. It must accept the address of
	// every token, the zero address of a native one included, and be safe for
	// concurrent use.
	TokenAddress func(s string) (string, error)
}

// Registry looks up tokens: those of the chains that it was built from, and
// bitcoin on Bitcoin and Lightning. It is immutable and safe for concurrent
// use. Every look-up takes constant time, except [Registry.Resolve] of a bare
// address or ticker, which tries each chain.
type Registry struct {
	chains    []Chain
	byID      map[string]tokens.Token
	byAddress map[chainAddress]tokens.Token
}

type chainAddress struct{ chain, canonical string }

// New returns the registry of the given chains, in that order. It
// refuses chains and tokens whose identifiers or addresses are not unique.
func New(chains ...Chain) (*Registry, error) {
	r := &Registry{byID: map[string]tokens.Token{}, byAddress: map[chainAddress]tokens.Token{}}
	for _, t := range []tokens.Token{tokens.BTC(), tokens.LightningBTC()} {
		r.byID[t.ID()] = t
	}
	for _, c := range chains {
		if err := r.add(c); err != nil {
			return nil, fmt.Errorf("tokens on chain %q: %w", c.ID, err)
		}
	}
	return r, nil
}

func (r *Registry) add(c Chain) error {
	if c.ID == "" || c.ID == tokens.Bitcoin || c.ID == tokens.Lightning || strings.Contains(c.ID, "-") {
		return errors.New("invalid smart chain identifier")
	}
	if r.has(c.ID) {
		return errors.New("the chain is registered twice")
	}
	if c.TokenAddress == nil {
		return errors.New("the chain has no TokenAddress function")
	}
	for _, t := range c.Tokens {
		switch {
		case t.Chain != c.ID:
			return fmt.Errorf("token %s belongs to another chain", t.ID())
		case t.Ticker == "" || strings.Contains(t.Ticker, "-"):
			return fmt.Errorf("%q is not a valid ticker", t.Ticker)
		case t.Decimals < 0 || t.Decimals > maxDecimals || t.DisplayDecimals < 0 || t.DisplayDecimals > t.Decimals:
			return fmt.Errorf("token %s has %d decimals but displays %d", t.ID(), t.Decimals, t.DisplayDecimals)
		}
		canonical, err := c.TokenAddress(t.Address)
		if err != nil {
			return fmt.Errorf("token %s: %w", t.ID(), err)
		}
		at := chainAddress{c.ID, canonical}
		if other, taken := r.byAddress[at]; taken {
			return fmt.Errorf("tokens %s and %s have the same address", other.ID(), t.ID())
		}
		if _, taken := r.byID[t.ID()]; taken {
			return fmt.Errorf("token %s is registered twice", t.ID())
		}
		r.byAddress[at] = t
		r.byID[t.ID()] = t
	}
	r.chains = append(r.chains, c)
	return nil
}

// maxDecimals is what the API's decimals can sensibly be: 10^77 still fits 256 bits.
const maxDecimals = 77

// has reports whether chain is one of the registry's smart chains, or one of
// [tokens.Bitcoin] and [tokens.Lightning].
func (r *Registry) has(chain string) bool {
	return chain == tokens.Bitcoin || chain == tokens.Lightning || r.chain(chain) != nil
}

// ByID returns the token with a canonical identifier such as `SOLANA-SOL`. It
// accepts no aliases; see [Registry.Resolve].
func (r *Registry) ByID(id string) (tokens.Token, bool) {
	t, ok := r.byID[id]
	return t, ok
}

// ByTicker returns the token of a chain with the given ticker; case matters.
func (r *Registry) ByTicker(chain, ticker string) (tokens.Token, bool) {
	return r.ByID(chain + "-" + ticker)
}

// ByAddress returns the token of a smart chain at the given address. Addresses
// compare by value, so any spelling that the chain accepts will do.
func (r *Registry) ByAddress(chain, address string) (tokens.Token, bool) {
	c := r.chain(chain)
	if c == nil {
		return tokens.Token{}, false
	}
	return r.at(c, address)
}

func (r *Registry) at(c *Chain, address string) (tokens.Token, bool) {
	canonical, err := c.TokenAddress(address)
	if err != nil {
		return tokens.Token{}, false
	}
	t, ok := r.byAddress[chainAddress{c.ID, canonical}]
	return t, ok
}

func (r *Registry) chain(id string) *Chain {
	for i := range r.chains {
		if r.chains[i].ID == id {
			return &r.chains[i]
		}
	}
	return nil
}
