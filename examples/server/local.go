package main

import (
	"strconv"

	"github.com/swapper-go/swapper/chains/solana"
	"github.com/swapper-go/swapper/chains/starknet"
	"github.com/swapper-go/swapper/examples/internal/running"
	"github.com/swapper-go/swapper/tokens"
)

// local fills the network's members for a network that examples/devnet runs, from
// what it printed:
//
//	go run ./examples/devnet -mine 1s > examples/server/local.json
//	go run ./examples/server -config examples/server/config.local.yaml
//
// Members of the file that are given beside it stay as they are.
func (c *config) local() error {
	d, err := running.Read(c.path(c.Local))
	if err != nil {
		return err
	}
	at := d.EVM.Contracts
	wrapped := at["wrappedNative"]
	c.BitcoinNetwork = "REGTEST"
	c.Chains = chainsConfig{d.EVM.Chain: &evmConfig{
		RPC: []string{d.EVM.RPC}, ChainID: d.EVM.ChainID, Tokens: configured(d.EVM.Listed), WrappedNative: &wrapped, StateDiffFee: &d.EVM.L1Fee, FinalizedBlock: "safe",
		Contracts: []contractsConfig{{
			Version: d.EVM.ContractVersion, EscrowManager: at["escrowManager"], BtcRelay: at["btcRelay"], VaultManager: at["vaultManager"],
			Execution: at["execution"], TimelockRefundHandler: at["timelockRefundHandler"], HashlockClaimHandler: at["hashlockClaimHandler"],
			OutputClaimHandler: at["outputClaimHandler"], NoncedOutputClaimHandler: at["noncedOutputClaimHandler"], TxIDClaimHandler: at["txIdClaimHandler"],
		}},
	}}
	if on := d.Solana; on != nil {
		own := &solanaConfig{RPC: []string{on.RPC}, Genesis: on.Genesis, Version: on.ProgramVersion, Tokens: configured(on.Listed)}
		for version, p := range on.Programs {
			own.Programs = append(own.Programs, programConfig{version, p.SwapProgram, p.BtcRelay})
		}
		c.Chains[solana.ChainID] = own
	}
	if on := d.Starknet; on != nil {
		c.Chains[starknet.ChainID] = &starknetConfig{RPC: []string{on.RPC}, Tokens: configured(on.Listed), network: &on.Network}
	}
	c.LPs.URLs, c.LPs.AllowLocal = d.LPs, true
	if c.Bitcoin == nil {
		c.Bitcoin = &bitcoinConfig{URLs: []string{d.Bitcoin.REST}}
	}
	if c.Prices == nil {
		c.Prices = &pricesConfig{USDPerBitcoin: running.USDPerBitcoin, Fixed: map[string]string{}}
		for id, sats := range d.Prices() {
			c.Prices.Fixed[id] = strconv.FormatInt(sats, 10)
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

// configured are a network's tokens as a configuration has them.
func configured(all []tokens.Token) (out []tokenConfig) {
	for _, t := range all {
		out = append(out, tokenConfig{Ticker: t.Ticker, Name: t.Name, Decimals: t.Decimals, DisplayDecimals: &t.DisplayDecimals, Address: t.Address})
	}
	return out
}
