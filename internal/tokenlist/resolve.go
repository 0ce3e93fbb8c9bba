package tokenlist

import (
	"strings"

	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/tokens"
)

// maxNameText bounds what [Registry.Resolve] looks at: no identifier is longer.
const maxNameText = 256

// Resolve returns the token that a string names, exactly as written (case
// matters, nothing is trimmed):
//
//   - `BTC`, `BITCOIN-BTC`: bitcoin on Bitcoin;
//   - `BTCLN`, `BTC-LN`, `LIGHTNING-BTC`: bitcoin on Lightning;
//   - `<chain>-<ticker>` and `<chain>-<address>`, with exactly one hyphen;
//   - a bare address or ticker, if it is unique among all chains.
//
// A name shared by several tokens, such as the zero address of two EVM chains
// or the ticker USDC, is refused as ambiguous. The error is a [fault.Error]
// without field: [fault.Unsupported] for a chain that the registry was not
// built from, else [fault.InvalidInput] (protocol: utilities.md §4).
func (r *Registry) Resolve(name string) (tokens.Token, error) {
	switch name {
	case "BTC":
		return tokens.BTC(), nil
	case "BTCLN", "BTC-LN":
		return tokens.LightningBTC(), nil
	}
	if len(name) > maxNameText {
		return tokens.Token{}, fault.New(fault.InvalidInput, "token identifier is longer than %d characters", maxNameText)
	}
	chain, rest, prefixed := strings.Cut(name, "-")
	switch {
	case !prefixed:
		return r.resolveBare(name)
	case strings.Contains(rest, "-"):
		return tokens.Token{}, fault.New(fault.InvalidInput, "%q is not a token identifier: use <chain>-<ticker>, with a single hyphen", name)
	case !r.has(chain):
		return tokens.Token{}, fault.New(fault.Unsupported, "chain %q is not supported: it must be one of %s", chain, strings.Join(r.names(), ", "))
	}
	if t, ok := r.ByTicker(chain, rest); ok {
		return t, nil
	}
	if t, ok := r.ByAddress(chain, rest); ok {
		return t, nil
	}
	return tokens.Token{}, fault.New(fault.InvalidInput, "chain %s has no token %q: it has %s", chain, rest, strings.Join(r.tickers(chain), ", "))
}

// names returns the identifiers of all chains, Bitcoin's and Lightning's first.
func (r *Registry) names() []string {
	all := []string{tokens.Bitcoin, tokens.Lightning}
	for i := range r.chains {
		all = append(all, r.chains[i].ID)
	}
	return all
}

// tickers returns the tickers of a chain's tokens, of many the first ones.
func (r *Registry) tickers(chain string) []string {
	const few = 8
	c := r.chain(chain)
	if c == nil {
		return []string{"BTC"}
	}
	var all []string
	for _, t := range c.Tokens {
		all = append(all, t.Ticker)
	}
	if len(all) > few {
		all = append(all[:few], "or another that getSupportedTokens lists")
	}
	return all
}

func (r *Registry) resolveBare(name string) (tokens.Token, error) {
	var hits []string
	var found tokens.Token
	for i := range r.chains {
		c := &r.chains[i]
		t, ok := r.at(c, name)
		if !ok {
			t, ok = r.ByTicker(c.ID, name)
		}
		if ok {
			found, hits = t, append(hits, t.ID())
		}
	}
	switch len(hits) {
	case 0:
		return tokens.Token{}, fault.New(fault.InvalidInput, "no token has the address or ticker %q: use <chain>-<ticker>, such as BITCOIN-BTC", name)
	case 1:
		return found, nil
	}
	return tokens.Token{}, fault.New(fault.InvalidInput, "%q is ambiguous: use one of %s", name, strings.Join(hits, ", "))
}
