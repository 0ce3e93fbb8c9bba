package main

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"reflect"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/chains/solana"
	"github.com/swapper-go/swapper/chains/starknet"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/tokens"
)

// chainsConfig are the smart chains by their ids: Solana and Starknet by their own, EVM
// chains by all others.
type chainsConfig map[string]chainConfig

// chainConfig is what is configured of one chain.
type chainConfig interface {
	factory(id string, on bitcoin.Network) (chains.Factory, error) // sends no requests; errors name the member
}

// member returns what is configured of a chain.
func (chainsConfig) member(id string) reflect.Type {
	switch id {
	case solana.ChainID:
		return reflect.TypeFor[solanaConfig]()
	case starknet.ChainID:
		return reflect.TypeFor[starknetConfig]()
	}
	return reflect.TypeFor[evmConfig]()
}

// fromYAML takes for each chain the keys of its kind.
func (c *chainsConfig) fromYAML(n *yaml.Node, path string) error {
	if n.Kind != yaml.MappingNode {
		return wrong(n, path, "must be a mapping of the chains' ids")
	}
	*c = make(chainsConfig, len(n.Content)/2)
	var all []error
	for i := 0; i < len(n.Content); i += 2 {
		id, value := n.Content[i].Value, n.Content[i+1]
		if _, twice := (*c)[id]; twice {
			all = append(all, wrong(n.Content[i], join(path, id), "is given twice"))
		}
		own := reflect.New(c.member(id))
		all = append(all, decode(value, own.Elem(), join(path, id)))
		(*c)[id] = own.Interface().(chainConfig)
	}
	return errors.Join(all...)
}

// factories returns the chains in the order in which the protocol lists those
// with a preset, then the others by their ids.
func (c chainsConfig) factories(on bitcoin.Network) ([]chains.Factory, error) {
	order := []string{starknet.ChainID, solana.ChainID, "BOTANIX", "CITREA", "ALPEN", "GOAT"}
	for _, id := range slices.Sorted(maps.Keys(c)) {
		if !slices.Contains(order, id) {
			order = append(order, id)
		}
	}
	var out []chains.Factory
	var all []error
	for _, id := range order {
		if own, ok := c[id]; ok {
			f, err := own.factory(id, on)
			if err != nil {
				all = append(all, fmt.Errorf("chains.%s.%w", id, err))
				continue
			}
			out = append(out, f)
		}
	}
	return out, errors.Join(all...)
}

// checkRPC checks the addresses of a chain's nodes.
func checkRPC(urls []string) error {
	if len(urls) == 0 {
		return fault.Invalid("rpc", "is required: at least one address")
	}
	for i, text := range urls {
		if u, err := url.Parse(text); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			return fault.Invalid(fmt.Sprintf("rpc[%d]", i), "must be a URL such as https://rpc.example")
		}
	}
	return nil
}

// tokenConfig is a token of a chain.
type tokenConfig struct {
	Ticker, Name    string
	Decimals        int
	DisplayDecimals *int // Decimals if absent
	Address         string
}

// listed are the tokens of a chain.
func listed(all []tokenConfig, chain string) (out []tokens.Token) {
	for _, t := range all {
		out = append(out, t.token(chain))
	}
	return out
}

func (t tokenConfig) token(chain string) tokens.Token {
	shown := t.Decimals
	override(&shown, t.DisplayDecimals)
	return tokens.Token{Chain: chain, Ticker: t.Ticker, Name: t.Name, Decimals: t.Decimals, DisplayDecimals: shown, Address: t.Address}
}

// override sets a value if there is another one.
func override[T any](value *T, by *T) {
	if by != nil {
		*value = *by
	}
}

// nonzero points to a value, unless it is zero.
func nonzero[T comparable](v T) *T {
	if v == *new(T) {
		return nil
	}
	return &v
}
