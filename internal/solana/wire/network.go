package wire

import (
	"fmt"
	"slices"

	"github.com/swapper-go/swapper/chains/bitcoin"
)

// Versions of the swap program.
const (
	V1 = "v1"
	V2 = "v2"
)

// Programs are one deployment: a swap program and the relay that its claims by
// Bitcoin proof are checked against.
type Programs struct {
	Version string // V1 or V2
	Swap    Key
	Relay   Key
}

// Cluster is a Solana network.
type Cluster string

// The clusters. Testnet has no deployment.
const (
	MainnetBeta Cluster = "mainnet-beta"
	Devnet      Cluster = "devnet"
	Testnet     Cluster = "testnet"
)

// Network is a cluster and what is deployed there for one Bitcoin network.
type Network struct {
	Bitcoin  bitcoin.Network
	Cluster  Cluster
	Programs []Programs // the versions that a client uses, oldest first
	Other    []Programs // documented, but used by no client unless it is configured
}

var (
	firstV2 = Programs{V2, MustKey("atq2FYuvww5EF6qeB28gj9tkao6Ld9mEGUzF4M93cCC"), MustKey("btc2WHkrjoZU9xzFJupDCmMaUTRHyYTzJE25LvEi9Ls")}
	firstV1 = Programs{V1, MustKey("4hfUykhqmD7ZRvNh1HuzVKEY7ToENixtdUKZspNDCrEM"), MustKey("3KHSHFpEK6bsjg3bqcxQ9qssJYtRCMi2S9TYVe4q6CQc")}
)

// networks are all deployments (§1). The public documentation lists v2 on mainnet,
// the network's own clients do not use it.
var networks = []Network{
	{Bitcoin: bitcoin.Mainnet, Cluster: MainnetBeta, Programs: []Programs{firstV1}, Other: []Programs{firstV2}},
	{Bitcoin: bitcoin.Testnet3, Cluster: Devnet, Programs: []Programs{firstV1, firstV2}},
	{Bitcoin: bitcoin.Testnet4, Cluster: Devnet, Programs: []Programs{
		{V1, MustKey("7g6iDybm7XiiPidYwQ5DbuCREro39St52Xn7V3NV2EE4"), MustKey("CBYz9cgBG6v8kF19jhLk46gPRhY858NV1MfngzGzwgdX")},
		{V2, MustKey("8YiqJKjuS7zKPYoxdMFsfPpavPYCnu13Yx1CFqgV6o43"), MustKey("HKKJKW1jWh3DZptNSABZ4iKUvjxYvic4tb3qnqNvBZoF")},
	}},
}

// NetworkFor returns the deployments for a Bitcoin network, and false if there are none.
func NetworkFor(n bitcoin.Network) (Network, bool) {
	for _, w := range networks {
		if w.Bitcoin == n {
			w.Programs, w.Other = slices.Clone(w.Programs), slices.Clone(w.Other)
			return w, true
		}
	}
	return Network{}, false
}

// Version returns the deployment of a version that clients use.
func (n Network) Version(version string) (Programs, error) {
	for _, p := range n.Programs {
		if p.Version == version {
			return p, nil
		}
	}
	return Programs{}, fmt.Errorf("no %s of the swap program is deployed on Solana for Bitcoin's %s", version, n.Bitcoin)
}

// LPInit says that an LP can open an escrow towards somebody who signs nothing.
func (p Programs) LPInit() bool { return p.Version == V2 }

var genesis = map[string]Cluster{
	"5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d": MainnetBeta,
	"EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG": Devnet,
	"4uhcVJyU9pJkvQyS88uRDiswHXSCkY3zQawwpjk2NsNY": Testnet,
}

// Genesis returns the genesis hash of a cluster, in base58.
func Genesis(c Cluster) string {
	for hash, cluster := range genesis {
		if cluster == c {
			return hash
		}
	}
	return ""
}

// CheckGenesis refuses the genesis hash of another cluster than the one that is wanted:
// what is signed is good on one alone.
func CheckGenesis(want, hash string) error {
	if hash != want {
		return fmt.Errorf("serves the cluster with the genesis hash %.64s instead of %s", hash, want)
	}
	return nil
}

// Token is a token that is traded, with its mint. Mints are the same on all clusters.
type Token struct {
	Ticker   string
	Mint     Key
	Decimals int
}

// Tokens are the tokens of the network (§2).
func Tokens() []Token {
	return []Token{
		{"SOL", WSOL, 9},
		{"WBTC", MustKey("3NZ9JMVBmGAqocybic2c7LQCJScmgsAZ6vQqTDzcqmJh"), 8},
		{"USDC", MustKey("EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v"), 6},
		{"USDT", MustKey("Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB"), 6},
		{"BONK", MustKey("DezXAZ8z7PnrnRJjz3wXBoRgixCa6xjnB7YaB1pPB263"), 5},
	}
}
