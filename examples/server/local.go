package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"

	"github.com/ethereum/go-ethereum/common"

	"github.com/swapper-go/swapper/chains/solana"
	"github.com/swapper-go/swapper/chains/starknet"
)

// local fills the network's members for a network that examples/devnet runs, from
// what it printed:
//
//	go run ./examples/devnet -mine 1s > examples/server/local.json
//	go run ./examples/server -config examples/server/config.local.yaml
//
// Members of the file that are given beside it stay as they are.
func (c *config) local() error {
	text, err := os.ReadFile(c.path(c.Local))
	if err != nil {
		return err
	}
	var d struct {
		Bitcoin struct{ REST string }
		EVM     struct {
			Chain           string
			ChainID         uint64
			RPC             string
			ContractVersion string
			Contracts       map[string]common.Address
			Listed          []tokenConfig
			L1Fee           bool
		}
		Solana *struct {
			RPC, Genesis, ProgramVersion string
			Programs                     map[string]struct{ SwapProgram, BtcRelay string } // by version
			Listed                       []tokenConfig
		}
		Starknet *struct {
			RPC     string
			Network starknet.Network
			Listed  []tokenConfig
		}
		LPs   []string
		Nostr string
		LNURL struct{ Domain, Host, CA string }
		Clock string
	}
	if err := json.Unmarshal(text, &d); err != nil {
		return fmt.Errorf("%s: is not the whole of what examples/devnet prints: wait until it has started (%w)", c.Local, err)
	}
	if d.EVM.Chain == "" || d.Bitcoin.REST == "" || len(d.LPs) == 0 {
		return errors.New(c.Local + ": is not what examples/devnet prints")
	}
	at := d.EVM.Contracts
	wrapped := at["wrappedNative"]
	c.BitcoinNetwork = "REGTEST"
	c.Chains = chainsConfig{d.EVM.Chain: &evmConfig{
		RPC: []string{d.EVM.RPC}, ChainID: d.EVM.ChainID, Tokens: d.EVM.Listed, WrappedNative: &wrapped, StateDiffFee: &d.EVM.L1Fee, FinalizedBlock: "safe",
		Contracts: []contractsConfig{{
			Version: d.EVM.ContractVersion, EscrowManager: at["escrowManager"], BtcRelay: at["btcRelay"], VaultManager: at["vaultManager"],
			Execution: at["execution"], TimelockRefundHandler: at["timelockRefundHandler"], HashlockClaimHandler: at["hashlockClaimHandler"],
			OutputClaimHandler: at["outputClaimHandler"], NoncedOutputClaimHandler: at["noncedOutputClaimHandler"], TxIDClaimHandler: at["txIdClaimHandler"],
		}},
	}}
	if on := d.Solana; on != nil {
		own := &solanaConfig{RPC: []string{on.RPC}, Genesis: on.Genesis, Version: on.ProgramVersion, Tokens: on.Listed}
		for version, p := range on.Programs {
			own.Programs = append(own.Programs, programConfig{version, p.SwapProgram, p.BtcRelay})
		}
		c.Chains[solana.ChainID] = own
	}
	if on := d.Starknet; on != nil {
		c.Chains[starknet.ChainID] = &starknetConfig{RPC: []string{on.RPC}, Tokens: on.Listed, network: &on.Network}
	}
	c.LPs.URLs, c.LPs.AllowLocal = d.LPs, true
	if c.Bitcoin == nil {
		c.Bitcoin = &bitcoinConfig{URLs: []string{d.Bitcoin.REST}}
	}
	if c.Prices == nil { // what the local LPs take for right
		id := d.EVM.Chain
		c.Prices = &pricesConfig{USDPerBitcoin: 100_000, Fixed: map[string]string{id + "-CBTC": "100000000", id + "-WBTC": "100000000", id + "-USDC": "1000"}}
		if d.Solana != nil {
			maps.Copy(c.Prices.Fixed, map[string]string{"SOLANA-SOL": "160000", "SOLANA-WBTC": "100000000", "SOLANA-USDC": "1000"})
		}
		if d.Starknet != nil {
			maps.Copy(c.Prices.Fixed, map[string]string{"STARKNET-STRK": "130", "STARKNET-WBTC": "100000000", "STARKNET-USDC": "1000"})
		}
	}
	if c.Relays == nil && d.Nostr != "" {
		c.Relays = &[]string{d.Nostr}
	}
	if c.Clock == "" {
		c.Clock = d.Clock
	}
	c.LNURL.AllowLocal = true
	if c.LNURL.Hosts == nil && d.LNURL.Host != "" {
		c.LNURL.Hosts, c.LNURL.ca = map[string]string{d.LNURL.Domain: d.LNURL.Host}, []byte(d.LNURL.CA)
	}
	return nil
}
