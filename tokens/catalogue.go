package tokens

const (
	evmZero  = "0x0000000000000000000000000000000000000000"
	namedBTC = "Bitcoin"
)

// Tokens of the two forms of bitcoin that are not on a smart chain.
var (
	bitcoinToken   = Token{Bitcoin, "BTC", "Bitcoin (on-chain L1)", 8, 8, ""}
	lightningToken = Token{Lightning, "BTC", "Bitcoin (lightning L2)", 8, 8, ""}
)

// BTC returns bitcoin on the Bitcoin chain.
func BTC() Token { return bitcoinToken }

// LightningBTC returns bitcoin on Lightning.
func LightningBTC() Token { return lightningToken }

// catalogue holds every token of the swap network. A chain has the same tokens,
// with the same addresses, on all of its networks; what can be swapped is what
// liquidity providers announce. Tickers that begin with an underscore are test
// tokens. The first token of a chain whose address is the chain's native one is
// the native token (protocol: utilities.md §4, swap-flows-spv-and-core.md C3,
// chain-evm.md §1.3, chain-solana.md §2, chain-starknet.md §2).
var catalogue = []struct {
	chain, native string // native: address that stands for the chain's own currency
	tokens        []Token
}{
	{"STARKNET", "0x04718f5a0fc34cc1af16a1cdee98ffb20c31f5cd61d6ab07201858f4287c938d", []Token{
		{"STARKNET", "ETH", "Ether", 18, 9, "0x049d36570d4e46f48e99674bd3fcc84644ddd6b96f7c741b1562b82f9e004dc7"},
		{"STARKNET", "STRK", "Starknet", 18, 9, "0x04718f5a0fc34cc1af16a1cdee98ffb20c31f5cd61d6ab07201858f4287c938d"},
		{"STARKNET", "WBTC", "Wrapped BTC (WBTC)", 8, 8, "0x03fe2b97c1fd336e750087d68b9b867997fd64a2661ff3ca5a7c771641e8e7ac"},
		{"STARKNET", "TBTC", "Threshold BTC (tBTC)", 18, 8, "0x04daa17763b286d1e59b97c283c0b8c949994c361e426a28f743c67bdfe9a32f"},
		{"STARKNET", "USDC", "USD Circle", 6, 6, "0x033068f6539f8e6e6b131e6b2b814e6c34a5224bc66947c47dab9dfee93b35fb"},
		{"STARKNET", "USDT", "Tether USD", 6, 6, "0x068f5c6a61780768455de69077e07e89787839bf8166decfbf92b645209c0fb8"},
		{"STARKNET", "strkBTC", "strkBTC", 8, 8, "0x0787150e306e6eae6e3f79dea881770e8bbff2c1b8eb490f969669ee945b3135"},
		{"STARKNET", "_TESTNET_WBTC_VESU", "Wrapped BTC (WBTC)", 8, 8, "0x04861ba938aed21f2cd7740acd3765ac4d2974783a3218367233de0153490cb6"},
		{"STARKNET", "_TESTNET_strkBTC", "strkBTC (dev)", 8, 8, "0x018a6bbc4b0c05135af4a1ff8251687d689b64609bbd79b7cb044f410e0a8ab2"},
	}},
	{"SOLANA", "So11111111111111111111111111111111111111112", []Token{
		{"SOLANA", "WBTC", "Wrapped BTC (WBTC)", 8, 8, "3NZ9JMVBmGAqocybic2c7LQCJScmgsAZ6vQqTDzcqmJh"},
		{"SOLANA", "USDC", "USD Circle", 6, 6, "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v"},
		{"SOLANA", "USDT", "Tether USD", 6, 6, "Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB"},
		{"SOLANA", "SOL", "Solana", 9, 9, "So11111111111111111111111111111111111111112"},
		{"SOLANA", "BONK", "Bonk", 5, 5, "DezXAZ8z7PnrnRJjz3wXBoRgixCa6xjnB7YaB1pPB263"},
	}},
	{"BOTANIX", evmZero, []Token{
		{"BOTANIX", "BTC", namedBTC, 18, 8, evmZero},
	}},
	{"CITREA", evmZero, []Token{
		{"CITREA", "CBTC", "Citrea BTC", 18, 8, evmZero},
		{"CITREA", "WBTC", "Wrapped BTC (WBTC)", 8, 8, "0xDF240DC08B0FdaD1d93b74d5048871232f6BEA3d"},
		{"CITREA", "USDC", "USD Circle", 6, 6, "0xE045e6c36cF77FAA2CfB54466D71A3aEF7bbE839"},
	}},
	{"ALPEN", evmZero, []Token{
		{"ALPEN", "BTC", namedBTC, 18, 8, evmZero},
	}},
	{"GOAT", evmZero, []Token{
		{"GOAT", "BTC", namedBTC, 18, 8, evmZero},
		{"GOAT", "PBTC", "pegBTC", 18, 8, "0xdA97429ea2082334C63813f092B6A6209bfC4DEb"},
		{"GOAT", "_PBTC_DEV", "pegBTC (dev)", 18, 8, "0x42Dff13a9D6C33f89311C188F6eA780D00287F17"},
	}},
}

// Known returns the swap network's tokens on a chain, in display order, or nil
// for a chain that is not in the catalogue. The caller owns the slice.
func Known(chain string) []Token {
	switch chain {
	case Bitcoin:
		return []Token{bitcoinToken}
	case Lightning:
		return []Token{lightningToken}
	}
	for _, c := range catalogue {
		if c.chain == chain {
			return append([]Token(nil), c.tokens...)
		}
	}
	return nil
}

// Native returns the token of a chain's own currency, in which its fees are
// paid, and whether the chain is in the catalogue.
func Native(chain string) (Token, bool) {
	switch chain {
	case Bitcoin:
		return bitcoinToken, true
	case Lightning:
		return lightningToken, true
	}
	for _, c := range catalogue {
		for _, t := range c.tokens {
			if c.chain == chain && t.Address == c.native {
				return t, true
			}
		}
	}
	return Token{}, false
}
