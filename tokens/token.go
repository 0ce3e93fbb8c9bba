// Package tokens defines the tokens that can be swapped: a [Token], an [Amount] of
// it in base units, their text forms, and the registry of the tokens that the swap
// network knows.
package tokens

// Chain identifiers of the two forms of bitcoin that are not on a smart chain.
const (
	Bitcoin   = "BITCOIN"
	Lightning = "LIGHTNING"
)

// Token is one asset on one chain. It is a comparable, immutable value.
type Token struct {
	Chain           string // chain identifier: BITCOIN, LIGHTNING, SOLANA, STARKNET, CITREA, ...
	Ticker          string // case matters: strkBTC, _TESTNET_WBTC_VESU
	Name            string
	Decimals        int    // base units per token are 10^Decimals
	DisplayDecimals int    // decimal places for display, at most Decimals
	Address         string // contract, mint or zero address in the chain's own form; empty for bitcoin on Bitcoin and Lightning
}

// ID returns the canonical identifier `<chain>-<ticker>`, which every operation
// accepts and returns.
func (t Token) ID() string { return t.Chain + "-" + t.Ticker }

// String returns the short display name of a token: `BTC`, `BTC-LN`, otherwise
// the identifier. [Registry.Resolve] accepts it too.
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
