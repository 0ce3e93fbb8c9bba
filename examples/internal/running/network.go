// Package running reads what examples/devnet prints: the local network of another process, for
// the programs that use it.
//
// It also signs transactions of smart chains with a key: as a wallet of its user, or as
// the account of a watchtower. Keys stay in memory and are in no error.
package running

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/ethereum/go-ethereum/common"

	"github.com/swapper-go/swapper/chains/evm"
	"github.com/swapper-go/swapper/chains/solana"
	"github.com/swapper-go/swapper/chains/starknet"
	"github.com/swapper-go/swapper/tokens"
)

// Network is where the parts of a local network are.
type Network struct {
	Bitcoin struct{ REST string } // mempool.space's API
	EVM     struct {
		Chain           string
		ChainID         uint64
		RPC             string
		ContractVersion string
		Contracts       map[string]common.Address
		L1Fee           bool // blocks have the field l1FeeRate
		Network         evm.Network
		Listed          []tokens.Token
	}
	Solana *struct {
		RPC, Genesis, ProgramVersion string
		Programs                     map[string]struct{ SwapProgram, BtcRelay string } // by version
		Listed                       []tokens.Token
	} // nil: the network has none
	Starknet *struct {
		RPC     string
		Network starknet.Network
		Listed  []tokens.Token
	} // the same

	LPs   []string
	Nostr string // a relay
	LNURL struct{ Domain, Host, CA string }

	Control string // base URL of the control calls
	Clock   string // URL that tells the network's time
}

// Read reads the file into which examples/devnet has printed.
func Read(path string) (*Network, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	n := new(Network)
	if err := json.Unmarshal(text, n); err != nil {
		return nil, fmt.Errorf("%s: is not the whole of what examples/devnet prints: wait until it has started (%w)", path, err)
	}
	if n.EVM.Chain == "" || n.Bitcoin.REST == "" || len(n.LPs) == 0 {
		return nil, fmt.Errorf("%s: is not what examples/devnet prints", path)
	}
	return n, nil
}

// USDPerBitcoin is the price that the network's providers take for right.
const USDPerBitcoin = 100_000

// Prices are those that the network's providers take for right: sats per whole token, by
// the token's identifier.
func (n *Network) Prices() map[string]int64 {
	all := map[string]int64{}
	add := func(chain string, native string, sats int64) {
		all[chain+"-"+native], all[chain+"-WBTC"], all[chain+"-USDC"] = sats, 100_000_000, 1000
	}
	add(n.EVM.Chain, "CBTC", 100_000_000)
	if n.Solana != nil {
		add(solana.ChainID, "SOL", 160_000)
	}
	if n.Starknet != nil {
		add(starknet.ChainID, "STRK", 130)
	}
	return all
}
