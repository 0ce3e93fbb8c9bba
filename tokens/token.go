// Package tokens has the value types of everything that can be swapped: a
// [Token], an [Amount] of it in base units, their text forms, and the registry
// of the tokens that the swap network knows.
package tokens

// Chain identifiers of the two forms of bitcoin that belong to no smart chain.
const (
	Bitcoin   = "BITCOIN"
	Lightning = "LIGHTNING"
)

// Token is one asset on one chain. It is a value: comparable, copied freely,
// never changed.
type Token struct {
	Chain           string // chain identifier: BITCOIN, LIGHTNING, SOLANA, STARKNET, CITREA, ...
	Ticker          string // case matters: strkBTC, _TESTNET_WBTC_VESU
	Name            string
	Decimals        int    // base units per token are 10^Decimals
	DisplayDecimals int    // decimal places that are shown, at most Decimals
	Address         string // contract, mint or zero address in the chain's own form; empty for bitcoin on Bitcoin and Lightning
}

// ID returns the canonical identifier `<chain>-<ticker>`, the form that every
// operation accepts and answers with.
func (t Token) ID() string { return t.Chain + "-" + t.Ticker }

// String returns the short text by which a token is shown to people: `BTC`,
// `BTC-LN`, else the identifier. It names the token to [Registry.Resolve] too.
func (t Token) String() string {
	if t.Ticker == "BTC" {
		switch t.Chain {
		case Bitcoin:
			return "BTC"
		case Lightning:
			return "BTC-LN"
		}
	}
	return t.ID()
}
