package settle

import (
	"slices"

	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/tokens"
)

// Tokens are those that a chain is configured with, the built-in ones if there are none, and
// among them the one in which fees are paid: at the address that is says, which an error
// describes as where.
func Tokens(chain string, own []tokens.Token, is func(address string) bool, where string) (known []tokens.Token, native tokens.Token, err error) {
	if known = own; known == nil {
		known = tokens.Known(chain)
	}
	i := slices.IndexFunc(known, func(t tokens.Token) bool { return is(t.Address) })
	if i < 0 {
		return nil, tokens.Token{}, fault.Invalid("tokens", "%s has no native token, which must have %s", chain, where)
	}
	return known, known[i], nil
}
