package price

// symbols is what the services call a token: trading pairs joined by ";", of
// which those that begin with "!" are inverted, an identifier, or "" if the
// service does not know it (protocol: swap-flows-spv-and-core.md C9.1).
type symbols struct{ binance, okx, coinGecko, coinPaprika, kraken string }

// fixedPrefix begins a symbol that says the price itself, in sats.
const fixedPrefix = "$fixed-"

// pegged are tokens that stand for one bitcoin by construction.
var pegged = symbols{
	fixedPrefix + "100000000", fixedPrefix + "100000000", fixedPrefix + "100000000", fixedPrefix + "100000000", fixedPrefix + "100000000",
}

var wrapped = symbols{"WBTCBTC", "WBTC-BTC", "wrapped-bitcoin", "wbtc-wrapped-bitcoin", "WBTCXBT"}

// known lists the symbols by ticker: a ticker means the same on every chain.
var known = map[string]symbols{
	"WBTC": wrapped, "_TESTNET_WBTC_VESU": wrapped,
	"TBTC": {coinGecko: "tbtc", coinPaprika: "tbtc-tbtc"},
	"USDC": {"!BTCUSDC", "!BTC-USDC", "usd-coin", "usdc-usd-coin", "!XBTUSDC"},
	"USDT": {"!BTCUSDT", "!BTC-USDT", "tether", "usdt-tether", "!XBTUSDT"},
	"SOL":  {"SOLBTC", "SOL-BTC", "solana", "sol-solana", "SOLXBT"},
	"BONK": {"BONKUSDC;!BTCUSDC", "BONK-USDT;!BTC-USDT", "bonk", "bonk-bonk", "BONKUSD;!XXBTZUSD"},
	"ETH":  {"ETHBTC", "ETH-BTC", "ethereum", "eth-ethereum", "XETHXXBT"},
	"STRK": {"STRKUSDT;!BTCUSDT", "STRK-USDT;!BTC-USDT", "starknet", "strk-starknet", "STRKUSD;!XXBTZUSD"},
	"CBTC": pegged, "BTC": pegged, "BBTC": pegged, "ABTC": pegged, "PBTC": pegged, "_PBTC_DEV": pegged,
	"strkBTC": pegged, "_TESTNET_strkBTC": pegged,
}
